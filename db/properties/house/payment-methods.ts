import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lockForChange, requireTexts } from '../../lib/locked-property.ts'
import { readPropertyRecord } from './properties/read.ts'
import { closeSet } from './properties/change.ts'
import { refuseStrangers } from '../../lib/sets.ts'
import { randomUUID } from 'node:crypto'
import type { LocalText } from '../../../config/local-text.ts'
import { changePortal } from '../../lib/public-version.ts'

export type PaymentMethodOffer = {
  id?: string
  method: 'card' | 'pix' | 'boleto' | 'bank_transfer' | 'cash' | 'pay_at_property'
  offeredTo: 'portal' | 'staff' | 'both'
  gatewayAccountId?: string | null
  minDaysBeforeArrival?: number
  maxAmount?: number | null
  maxInstallments?: number
  instructions?: LocalText
}

/** Replaces the set of payment methods, in this order. */
export const setPaymentMethods = async (trx: Trx, propertyId: string, methods: PaymentMethodOffer[]): Promise<void> => {
  await changePortal(trx, propertyId, 'nothing')
  await sql(trx, `delete from property_payment_method where property_id = ?`, [propertyId])
  const rows = methods.map((offer, position) => ({
    id: offer.id ?? randomUUID(),
    position,
    method: offer.method,
    offeredTo: offer.offeredTo,
    gatewayAccountId: offer.gatewayAccountId ?? null,
    minDaysBeforeArrival: offer.minDaysBeforeArrival ?? (offer.method === 'boleto' ? 5 : 0),
    maxAmount: offer.maxAmount ?? null,
    maxInstallments: offer.maxInstallments ?? 1,
    instructions: offer.instructions ?? {},
  }))
  await sql(
    trx,
    `insert into property_payment_method (id, property_id, method, offered_to, position, gateway_account_id, min_days_before_arrival, max_amount, max_installments, instructions)
     select m.id, ?, m.method, m."offeredTo", m.position, m."gatewayAccountId", m."minDaysBeforeArrival", m."maxAmount", m."maxInstallments", m.instructions
     from jsonb_to_recordset(?::jsonb) as m (id uuid, method text, "offeredTo" text, position int, "gatewayAccountId" uuid, "minDaysBeforeArrival" int,
       "maxAmount" bigint, "maxInstallments" int, instructions jsonb)`,
    [propertyId, JSON.stringify(rows)],
  )
}

export type PaymentMethodShown = {
  method: Exclude<PaymentMethodOffer['method'], 'bank_transfer' | 'cash'>
  gatewayAccountId: string | null
  provider: string | null
  publishableKey: string | null
  minDaysBeforeArrival: number
  maxAmount: number | null
  maxInstallments: number
  instructions: LocalText
}

/** Methods that guests may pay with: those by a gateway only while their account can charge by them. */
export const portalMethods = (trx: Trx, propertyId: string) =>
  sql<PaymentMethodShown>(
    trx,
    `select m.method, m.gateway_account_id, a.provider, case a.provider when 'sandbox' then 'pk_sandbox' end as publishable_key, m.min_days_before_arrival, m.max_amount, m.max_installments, m.instructions
     from property_payment_method m
     left join gateway_account a on a.tenant_id = m.tenant_id and a.id = m.gateway_account_id
     where m.property_id = ? and m.offered_to in ('portal', 'both')
       and (m.gateway_account_id is null or (a.charges_enabled and a.status in ('active', 'restricted') and a.capabilities ->> m.method = 'active'))
     order by m.position, m.method`,
    [propertyId],
  )

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
