import type { Knex } from 'knex'

const ranked = `select b.tenant_id, b.id, b.promo_code_id, row_number() over (partition by b.tenant_id, b.promo_code_id order by b.created_at, b.id) as place
  from booking b where b.promo_code_id is not null and exists (select from reservation r where r.tenant_id = b.tenant_id and r.booking_id = b.id
    and r.status in ('held', 'confirmed', 'checked_in', 'checked_out', 'no_show'))`

/**
 * Whether a booking has given the use of its promo code back. Late money buys an expired hold again, and a cancelled room is reinstated, where no use
 * of the code may be left: such a booking counted none, and took one away from others when it ended; a room that joined guests in the house again
 * counted twice. As many bookings as a code allows keep their use, the oldest first, and each code counts them.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table booking add column promo_returned boolean not null default false`)
  // Nothing happens to a row by it.
  for (const table of ['booking', 'promo_code']) await knex.raw(`alter table ${table} disable trigger user`)
  await knex.raw(
    `update booking b set promo_returned = true where b.promo_code_id is not null and not exists (
       select from (${ranked}) k join promo_code p on p.tenant_id = k.tenant_id and p.id = k.promo_code_id
       where k.tenant_id = b.tenant_id and k.id = b.id and k.place <= coalesce(p.max_redemptions, k.place))`,
  )
  await knex.raw(
    `update promo_code p set redeemed = c.uses from (
       select p.tenant_id, p.id, count(b.id)::int as uses from promo_code p
       left join booking b on b.tenant_id = p.tenant_id and b.promo_code_id = p.id and not b.promo_returned group by p.tenant_id, p.id) c
     where p.tenant_id = c.tenant_id and p.id = c.id and p.redeemed <> c.uses`,
  )
  for (const table of ['booking', 'promo_code']) await knex.raw(`alter table ${table} enable trigger user`)
}
