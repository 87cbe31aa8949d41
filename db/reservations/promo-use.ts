import { isOfGuest } from '../guests/index.ts'
import { preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { promoCodeInvalid, redeemPromoCode, retakePromoCode, returnPromoCode } from '../properties/index.ts'
import type { BookingRow } from '../rows.ts'

type Using = Pick<BookingRow, 'id' | 'promoCodeId'>

/**
 * Counts the use of a booking's promo code, and refuses one use too many of the same booker, known by e-mail or as a guest (R19 of properties.md); under
 * the code's lock. The booking is written.
 */
export const redeemPromo = async (trx: Trx, { id, promoCodeId }: Using): Promise<void> => {
  if (promoCodeId === null) return
  const { maxPerBooker } = await redeemPromoCode(trx, promoCodeId)
  if (maxPerBooker === null) return
  const used = await preparedOne<{ count: number }>(
    trx,
    `select count(*)::int as count from booking b join booking own on own.tenant_id = b.tenant_id and own.id = ?
     where b.promo_code_id = ? and b.id <> own.id and (b.email_index = own.email_index or ${isOfGuest('b.booker_guest_id', 'own.booker_guest_id')})
       and exists (select from reservation r where r.tenant_id = b.tenant_id and r.booking_id = b.id
         and r.status in ('held', 'confirmed', 'checked_in', 'checked_out'))`,
    [id, promoCodeId],
  )
  if ((used?.count ?? 0) >= maxPerBooker) throw promoCodeInvalid()
}

/** Gives the use of a booking's promo code back, once, however its rooms have ended. The booking is locked. */
export const returnPromo = async (trx: Trx, { id, promoCodeId }: Using): Promise<void> => {
  if (promoCodeId === null) return
  const counted = await sqlOne(
    trx,
    `update booking set promo_returned = true where id = ? and not promo_returned returning id`,
    [id],
  )
  if (counted) await returnPromoCode(trx, promoCodeId)
}

/**
 * Counts the use of a booking's promo code again, where it was given back and one is left. The stay keeps its price without one: it was promised. The
 * booking is locked.
 */
export const retakePromo = async (trx: Trx, { id, promoCodeId }: Using): Promise<void> => {
  if (promoCodeId === null) return
  const given = await sqlOne(trx, `select from booking where id = ? and promo_returned`, [id])
  if (given && (await retakePromoCode(trx, promoCodeId)))
    await sql(trx, `update booking set promo_returned = false where id = ?`, [id])
}
