import { invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { sql } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { lockForChange, requireTexts } from './editing.ts'
import { setPaymentMethods } from './portal.ts'
import type { PaymentMethodOffer } from './portal.ts'
import { readPropertyRecord } from './properties.ts'
import { closeSet, refuseStrangers } from './sets.ts'

const byGateway = new Set(['card', 'pix', 'boleto'])
const atDesk = new Set(['bank_transfer', 'cash'])
/** A slip needs its days to be paid. */
const slipDays = 5

/** Methods in the order in which they are offered. */
export const readPaymentMethods = async (trx: Trx, propertyId: string) => {
  const { version } = await readPropertyRecord(trx, propertyId)
  const data = await sql<Required<PaymentMethodOffer> & { position: number }>(
    trx,
    `select id, method, offered_to, position, gateway_account_id, min_days_before_arrival, max_amount, max_installments, instructions
     from property_payment_method where property_id = ? order by position, method`,
    [propertyId],
  )
  return { data, version }
}

const judge = (methods: readonly PaymentMethodOffer[]) => {
  const errors: FieldError[] = methods.flatMap((offer, index) => {
    const at = (field: string, message: string) => ({ field: `paymentMethods.${index}.${field}`, message })
    const public_ = offer.offeredTo !== 'staff'
    const other = methods.findIndex(
      (one) =>
        one.method === offer.method &&
        (one.offeredTo === offer.offeredTo || one.offeredTo === 'both' || offer.offeredTo === 'both'),
    )
    return [
      ...(other !== index ? [at('method', 'is offered twice to the same people')] : []),
      ...(public_ && atDesk.has(offer.method) ? [at('offeredTo', 'is never offered to the portal')] : []),
      ...(public_ && byGateway.has(offer.method) && !offer.gatewayAccountId
        ? [at('gatewayAccountId', 'is required on the portal')]
        : []),
      ...(offer.method === 'boleto' && (offer.minDaysBeforeArrival ?? slipDays) < slipDays
        ? [at('minDaysBeforeArrival', `must be at least ${slipDays}`)]
        : []),
    ]
  })
  if (errors.length > 0) throw invalid(errors)
}

/** Replaces the ways to pay, in this order. Accounts are those of the property's book. */
export const replacePaymentMethods = async (
  trx: Trx,
  propertyId: string,
  methods: PaymentMethodOffer[],
): Promise<void> => {
  judge(methods)
  const property = await lockForChange(trx, propertyId)
  for (const [index, offer] of methods.entries())
    requireTexts(property, { [`paymentMethods.${index}.instructions`]: offer.instructions })
  const stored = await sql<{ id: string }>(trx, `select id from property_payment_method where property_id = ?`, [
    propertyId,
  ])
  refuseStrangers(
    'paymentMethods',
    methods,
    stored.map((row) => row.id),
  )
  const accounts = await sql<{ id: string }>(trx, `select id from gateway_account where book_id = ?`, [property.bookId])
  const ofBook = new Set(accounts.map((row) => row.id))
  const errors = methods.flatMap((offer, index) =>
    offer.gatewayAccountId && !ofBook.has(offer.gatewayAccountId)
      ? [{ field: `paymentMethods.${index}.gatewayAccountId`, message: 'is no account of the property’s book' }]
      : [],
  )
  if (errors.length > 0) throw unprocessable('reference_not_found', 'A gateway account is not there', errors)
  await setPaymentMethods(trx, propertyId, methods)
  await closeSet(trx, propertyId, 'paymentMethods')
}
