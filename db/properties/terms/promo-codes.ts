import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { promoCodeArchived, promoCodeChanged, promoCodeCreated } from '../../../config/events/properties.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import { contains, equal, pageOf } from '../../lib/lists.ts'
import { changeRow, fieldsOf, insertRow, readRow } from '../../lib/records.ts'
import { model } from '../../lib/models.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { refuseUnitTypes } from './extras.ts'
import { changePortal } from '../../lib/public-version.ts'

const promoCodeLifecycle = archivable('A promo code')

export type NewPromoCode = {
  id?: string
  propertyId: string
  code: string
  type: 'percent' | 'amount'
  value: number
  ratePlanIds?: string[]
  unitTypeIds?: string[]
  bookableFrom?: string | null
  bookableUntil?: string | null
  stayFrom?: string | null
  stayUntil?: string | null
  minNights?: number | null
  maxRedemptions?: number | null
  maxPerBooker?: number | null
}

export const PromoCode = model<'promo_code', Pick<NewPromoCode, 'type'>>('promo_code')

export const listPromoCodes = pageOf(PromoCode, {
  order: ['code', 'id'],
  filters: { propertyId: equal('propertyId'), status: equal('status'), q: contains('code') },
  defaults: { status: 'active' },
  scope: { propertyId: 'propertyId' },
})

export const readPromoCode = (trx: Trx, id: string) => readRow(trx, PromoCode, id)

export type PromoCodeChange = {
  [Field in Exclude<keyof NewPromoCode, 'id' | 'propertyId' | 'code' | 'type' | 'value'>]?:
    | NewPromoCode[Field]
    | undefined
}
type Judged = PromoCodeChange & Partial<Pick<NewPromoCode, 'type' | 'value'>>

/** Validates a promo code beyond its schema. 400; 422 for missing records. */
export const judgePromoCode = async (trx: Trx, propertyId: string, promo: Judged): Promise<void> => {
  const crossed = (from: string | null | undefined, until: string | null | undefined) => from && until && from > until
  const errors: FieldError[] = [
    ...(promo.type === 'percent' && (promo.value ?? 0) > 10_000
      ? [{ field: 'value', message: 'must be at most 10000 basis points' }]
      : []),
    ...(crossed(promo.bookableFrom, promo.bookableUntil)
      ? [{ field: 'bookableUntil', message: 'must not be before bookableFrom' }]
      : []),
    ...(crossed(promo.stayFrom, promo.stayUntil)
      ? [{ field: 'stayUntil', message: 'must not be before stayFrom' }]
      : []),
  ]
  if (errors.length > 0) throw invalid(errors)
  await refuseUnitTypes(trx, propertyId, promo.unitTypeIds)
  const wanted = promo.ratePlanIds ?? []
  const plans = await sql<{ id: string }>(
    trx,
    `select id from rate_plan where property_id = ? and status = 'active' and id = any(?::uuid[])`,
    [propertyId, wanted],
  )
  const missing = wanted.flatMap((id, index) =>
    plans.some((plan) => plan.id === id)
      ? []
      : [{ field: `ratePlanIds.${index}`, message: 'is no active plan of this property' }],
  )
  if (missing.length > 0) throw unprocessable('reference_not_found', 'A rate plan is not sold here', missing)
}

/** 409 `duplicate_code`, 422 `reference_not_found`. */
export const createPromoCode = async (trx: Trx, promo: NewPromoCode): Promise<string> => {
  const id = promo.id ?? randomUUID()
  await lockForChange(trx, promo.propertyId)
  await judgePromoCode(trx, promo.propertyId, promo)
  await insertRow(trx, PromoCode, { ...promo, id, code: promo.code.toUpperCase() })
  await emit(trx, promoCodeCreated, {
    propertyId: promo.propertyId,
    id,
    version: 1,
    data: { promoCodeId: id, code: promo.code.toUpperCase() },
  })
  return id
}

/** Changes validity, limits or scope; bookings made with the code keep their price. The caller holds the code's row. */
export const changePromoCode = async (trx: Trx, id: string, change: PromoCodeChange): Promise<void> => {
  const promo = await readPromoCode(trx, id)
  await lockForChange(trx, promo.propertyId)
  promoCodeLifecycle.allow('changed', promo.status)
  if (fieldsOf(change).length === 0) return
  const sent = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  // A scope that was narrowed when its records were sold stays as it is until it is sent anew.
  await judgePromoCode(trx, promo.propertyId, { ...promo, ratePlanIds: [], unitTypeIds: [], ...sent })
  if (change.maxRedemptions && change.maxRedemptions < promo.redeemed)
    throw unprocessable('rule_violated', 'The code was redeemed more often', [
      { field: 'maxRedemptions', message: `must be at least ${promo.redeemed}` },
    ])
  const version = await changeRow(trx, PromoCode, id, sent)
  await changePortal(trx, promo.propertyId)
  await emit(trx, promoCodeChanged, {
    propertyId: promo.propertyId,
    id,
    version,
    data: { promoCodeId: id, code: promo.code },
    changed: sentFields(sent, promo),
  })
}

/** Ends a code; bookings made with it keep their price. The caller holds its row. */
export const archivePromoCode = async (trx: Trx, id: string): Promise<void> => {
  const promo = await readPromoCode(trx, id)
  await lockForChange(trx, promo.propertyId)
  if (!promoCodeLifecycle.isDue('archived', promo.status)) return
  const version = await changeRow(trx, PromoCode, id, { status: 'archived' })
  await changePortal(trx, promo.propertyId)
  await emit(trx, promoCodeArchived, {
    propertyId: promo.propertyId,
    id,
    version,
    data: { promoCodeId: id, code: promo.code },
    changed: [{ field: 'status', before: promo.status, after: 'archived' }],
  })
}
