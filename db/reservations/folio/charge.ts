import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import { textIn } from '../../../config/local-text.ts'
import type { LocalText } from '../../../config/local-text.ts'
import { halfUp } from '../../lib/amounts.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { catalogueOf, extraTaxes, localTaxRules, readProperty } from '../../properties/index.ts'
import type { ExtraRow, FolioLineRow, FolioRow, ReservationRow } from '../../rows.ts'
import { lineTax } from '../charge-nights.ts'
import { recordOverride } from '../record.ts'
import { isWaived, usedOverride } from '../rules/blockers.ts'
import type { Override } from '../rules/blockers.ts'
import type { LineTax } from './lines.ts'
import { lockFolio } from './lock.ts'
import { refuseClosed } from './status.ts'
import { chargeFolios, owedOf, postCharged } from './write.ts'
import type { FolioCharge } from './write.ts'

/** Categories that a person charges; taxes, nights and fees come by themselves. */
export const chargeCategories = [
  'rooms',
  'food',
  'beverage',
  'laundry',
  'spa',
  'parking',
  'tours',
  'other',
  'minibar',
  'service_charge',
  'damage',
] as const
export type ChargeCategory = (typeof chargeCategories)[number]

const untaxed = new Set<FolioLineRow['category']>(['service_charge', 'damage'])
/** One charge by hand, in minor units: with its taxes it stays far within what a ledger line takes. */
const largest = 100_000_000_000n

export type ManualCharge = {
  category?: ChargeCategory | undefined
  extraId?: string | undefined
  description?: string | undefined
  /** A decimal with up to 4 places. */
  quantity?: string | undefined
  unitAmount?: number | undefined
}

/** Quantity × unit amount, half up once (R40); the quantity has up to 4 places. */
export const timesQuantity = (quantity: string, unitAmount: number): bigint => {
  const [whole = '0', places = ''] = quantity.split('.')
  return halfUp(BigInt(whole + places.padEnd(4, '0')) * BigInt(unitAmount), 10_000n)
}

type Sold = { category: NonNullable<FolioLineRow['category']>; description: string; unitAmount: number; extra: boolean }

const soldOf = async (trx: Trx, folio: FolioRow, charge: ManualCharge): Promise<Sold> => {
  const { category, extraId, description, unitAmount } = charge
  if ((category === undefined) === (extraId === undefined))
    throw invalid([{ field: 'category', message: 'send either category or extraId' }])
  if (extraId !== undefined) {
    const extra = await sqlOne<Pick<ExtraRow, 'code' | 'revenueGroup' | 'amount' | 'status'> & { name: LocalText }>(
      trx,
      `select code, name, revenue_group, amount, status from extra where id = ? and property_id = ?`,
      [extraId, folio.propertyId],
    )
    if (!extra)
      throw unprocessable('reference_not_found', 'The property does not have this extra', [
        { field: 'extraId', message: 'does not exist' },
      ])
    if (extra.status !== 'active')
      throw unprocessable('extra_unavailable', 'The extra is archived', [{ field: 'extraId', message: 'is archived' }])
    return {
      category: extra.revenueGroup,
      description: description ?? (textIn(extra.name, 'en') || extra.code),
      unitAmount: unitAmount ?? extra.amount,
      extra: true,
    }
  }
  const missing = [
    ...(description === undefined ? [{ field: 'description', message: 'is required' }] : []),
    ...(unitAmount === undefined ? [{ field: 'unitAmount', message: 'is required' }] : []),
  ]
  if (missing.length > 0) throw invalid(missing)
  return { category: category ?? 'other', description: description ?? '', unitAmount: unitAmount ?? 0, extra: false }
}

const taxesFor = async (
  trx: Trx,
  folio: FolioRow,
  { category }: Sold,
  { date, amount }: { date: string; amount: number },
): Promise<LineTax[]> => {
  if (untaxed.has(category)) return []
  const property = await readProperty(trx, folio.propertyId)
  if (!property) throw new Error(`property ${folio.propertyId} is gone`)
  const rules = localTaxRules(await catalogueOf(trx, property), property, 'en')
  return extraTaxes(rules, { date, amount }).map(lineTax)
}

const refuseLocked = ({ locked }: FolioRow) => {
  if (locked) throw unprocessable('folio_locked', 'The folio takes nights, fees and taxes alone')
}

/**
 * Refuses charges that a locked folio does not take, or that pass its credit limit (R39). 422 `folio_locked`, `credit_limit_exceeded`. Answers whether they
 * pass a limit that is waived.
 */
export const refuseBeyondLimit = (folio: FolioRow, owed: number, mayPass = false): boolean => {
  refuseLocked(folio)
  const { creditLimit, balance } = folio
  const isWithin = creditLimit === null || balance + owed <= creditLimit
  if (isWithin || mayPass) return !isWithin
  throw unprocessable('credit_limit_exceeded', `The balance would be ${balance + owed}; the limit is ${creditLimit}`, [
    { field: 'creditLimit', message: String(creditLimit) },
  ])
}

/**
 * Charges a folio by hand, at the property's business date. Answers the ids of its lines. 422 `folio_closed`, `folio_locked`,
 * `credit_limit_exceeded`, which an override waives.
 */
export const chargeFolio = async (
  trx: Trx,
  folioId: string,
  given: ManualCharge,
  { override = null, expectedVersion = null }: { override?: Override | null; expectedVersion?: number | null } = {},
): Promise<{ lineIds: string[] }> => {
  const { folio, businessDate } = await lockFolio(trx, folioId, expectedVersion)
  refuseClosed(folio)
  refuseLocked(folio)
  const sold = await soldOf(trx, folio, given)
  const quantity = given.quantity ?? '1'
  const exact = timesQuantity(quantity, sold.unitAmount)
  if (exact < 1n || exact > largest)
    throw invalid([{ field: 'unitAmount', message: `times quantity must be between 1 and ${largest}` }])
  const amount = Number(exact)
  const stay = folio.reservationId
    ? await sqlOne<NonNullable<FolioCharge['stay']> & Pick<ReservationRow, 'status'>>(
        trx,
        `select id, property_id, primary_guest_id, market_segment, status from reservation where id = ?`,
        [folio.reservationId],
      )
    : null
  const charge: FolioCharge = {
    stay,
    kind: 'charge',
    category: sold.category,
    description: sold.description,
    quantity,
    unitAmount: sold.unitAmount,
    amount,
    taxes: await taxesFor(trx, folio, sold, { date: businessDate, amount }),
    source: { type: 'manual_charge', id: randomUUID(), key: '' },
    event: sold.extra ? 'reservations.extra_charged' : 'reservations.manual_charge_posted',
  }
  const isBeyond = refuseBeyondLimit(folio, owedOf(charge), isWaived(override, 'credit_limit'))
  const used = isBeyond ? usedOverride(override, ['credit_limit']) : null
  if (stay) recordOverride(trx, { stay, command: 'charge', override: used, businessDate })
  const charged = await chargeFolios(trx, businessDate, [{ charge, folio }])
  await postCharged(trx, folio.propertyId, charged)
  return { lineIds: charged.lineIds }
}
