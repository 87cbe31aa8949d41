import { unprocessable } from '../../../config/errors.ts'
import { daysBetween } from '../../../config/time.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PromoCodeRow } from '../../rows.ts'

export type PromoCode = Omit<
  PromoCodeRow,
  'tenantId' | 'propertyId' | 'type' | 'status' | 'version' | 'createdAt' | 'updatedAt'
> & { type: 'percent' | 'amount' }

/** One answer whatever is wrong with it, so that codes cannot be found by trying. */
export const promoCodeInvalid = () =>
  unprocessable('promo_code_invalid', 'This promo code does not apply', [
    { field: 'promoCode', message: 'does not apply' },
  ])

const columns = `id, code, type, value, rate_plan_ids, unit_type_ids, bookable_from, bookable_until, stay_from, stay_until, min_nights,
  max_redemptions, max_per_booker, redeemed`

export const findPromoCode = (trx: Trx, propertyId: string, code: string) =>
  sqlOne<PromoCode>(trx, `select ${columns} from promo_code where property_id = ? and code = ? and status = 'active'`, [
    propertyId,
    code.toUpperCase(),
  ])

const among = (ids: readonly string[], id: string) => ids.length === 0 || ids.includes(id)
const within = (day: string, from: string | null, until: string | null) =>
  (from === null || day >= from) && (until === null || day <= until)

export type PromoStay = { arrival: string; departure: string; today: string }

/** Tells whether a code is good for a stay at all, whatever is booked. */
export const promoCovers = (promo: PromoCode, { arrival, departure, today }: PromoStay): boolean =>
  promo.redeemed < (promo.maxRedemptions ?? Infinity) &&
  within(today, promo.bookableFrom, promo.bookableUntil) &&
  within(arrival, promo.stayFrom, promo.stayUntil) &&
  (promo.stayUntil === null || departure <= promo.stayUntil || daysBetween(promo.stayUntil, departure) <= 1) &&
  daysBetween(arrival, departure) >= (promo.minNights ?? 1)

export const promoIncludes = (promo: PromoCode, ratePlanId: string, unitTypeId: string) =>
  among(promo.ratePlanIds, ratePlanId) && among(promo.unitTypeIds, unitTypeId)

/** Counts one use under the code's row lock (after the pool nights, before units); 422 when none is left. Answers its limit per booker. */
export const redeemPromoCode = async (trx: Trx, promoCodeId: string): Promise<{ maxPerBooker: number | null }> => {
  const row = await sqlOne<{ maxPerBooker: number | null }>(
    trx,
    `update promo_code set redeemed = redeemed + 1
     where id = ? and status = 'active' and redeemed < coalesce(max_redemptions, redeemed + 1) returning max_per_booker`,
    [promoCodeId],
  )
  if (!row) throw promoCodeInvalid()
  return row
}

/** Counts a use again, by a booking that was over and stands again; answers whether there was one left. */
export const retakePromoCode = async (trx: Trx, promoCodeId: string): Promise<boolean> =>
  (await sqlOne(
    trx,
    `update promo_code set redeemed = redeemed + 1 where id = ? and redeemed < coalesce(max_redemptions, redeemed + 1) returning id`,
    [promoCodeId],
  )) !== null

/** Gives a use back when what was booked with it has expired or is cancelled. */
export const returnPromoCode = (trx: Trx, promoCodeId: string) =>
  sqlOne(trx, `update promo_code set redeemed = greatest(redeemed - 1, 0) where id = ? returning id`, [promoCodeId])
