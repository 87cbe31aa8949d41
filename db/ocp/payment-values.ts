import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Value } from './rules/template.ts'

type PaymentFacts = {
  amount: number
  capturedAmount: number
  refundReserved: number
  currency: string
  method: string
  capturedAt: Date | null
}

const methods: Record<string, Record<string, string>> = {
  en: {
    card: 'card',
    pix: 'Pix',
    boleto: 'boleto',
    cash: 'cash',
    bank_transfer: 'bank transfer',
    terminal: 'card at the desk',
    cheque: 'cheque',
    other: 'other',
  },
  pt: {
    card: 'cartão',
    pix: 'Pix',
    boleto: 'boleto',
    cash: 'dinheiro',
    bank_transfer: 'transferência',
    terminal: 'cartão na recepção',
    cheque: 'cheque',
    other: 'outro',
  },
  es: {
    card: 'tarjeta',
    pix: 'Pix',
    boleto: 'boleto',
    cash: 'efectivo',
    bank_transfer: 'transferencia',
    terminal: 'tarjeta en recepción',
    cheque: 'cheque',
    other: 'otro',
  },
}
const methodIn = (method: string, locale: string) =>
  (methods[locale.split('-')[0] ?? ''] ?? methods.en)?.[method] ?? method

const readPayment = (trx: Trx, id: string) =>
  sqlOne<PaymentFacts>(
    trx,
    `select amount, captured_amount, refund_reserved, currency, method, captured_at from payment where id = ?`,
    [id],
  )

/** Values of a payment in the words of a language; null where there is none. */
export const paymentValues = async (trx: Trx, id: string, locale: string): Promise<Record<string, Value> | null> => {
  const payment = await readPayment(trx, id)
  if (!payment) return null
  const paid = (amount: number): Value => ({ type: 'money', amount, currency: payment.currency })
  return {
    amount: paid(payment.capturedAmount || payment.amount),
    method: methodIn(payment.method, locale),
    capturedAt: payment.capturedAt && { type: 'instant', at: payment.capturedAt },
    refunded: paid(payment.refundReserved),
  }
}
