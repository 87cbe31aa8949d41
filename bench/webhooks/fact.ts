import { randomUUID } from 'node:crypto'

/** A promo code that was made. */
export const fact = (index: number) => {
  const promoCodeId = randomUUID()
  return { propertyId: null, id: promoCodeId, version: 1, data: { promoCodeId, code: `B${index}` } }
}
