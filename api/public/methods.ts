import type { PaymentMethodShown } from '../../db/properties/index.ts'

const labels: Record<PaymentMethodShown['method'], { en: string; pt: string; es: string }> = {
  card: { en: 'Card', pt: 'Cartão', es: 'Tarjeta' },
  pix: { en: 'Pix', pt: 'Pix', es: 'Pix' },
  boleto: { en: 'Payment slip (boleto)', pt: 'Boleto bancário', es: 'Boleto bancario' },
  pay_at_property: { en: 'Pay at the property', pt: 'Pagar na propriedade', es: 'Pagar en el alojamiento' },
}

/** The name of a method for guests, in Portuguese, Spanish or else English. */
export const methodLabel = (method: PaymentMethodShown['method'], locale: string): string => {
  const language = locale.split('-')[0]
  return labels[method][language === 'pt' || language === 'es' ? language : 'en']
}
