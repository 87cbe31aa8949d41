import { randomUUID } from 'node:crypto'
import { ApiError } from '../../config/errors.ts'
import { overrideRules } from '../../config/override-rules.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { cancelReservations, checkIn, checkOut, markNoShow } from '../../db/reservations/index.ts'
import { chargeFolio } from '../../db/reservations/folio/charge.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { setRouting } from '../../db/reservations/folio/set-routing.ts'
import { payForBooking } from '../../db/reservations/payments.ts'
import type { ReservationRow } from '../../db/rows.ts'
import type { Random } from '../chaos/random.ts'
import { arrive, makeStays, payAll } from '../night-audit/support.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'

export const everyRule = { rules: [...overrideRules], reason: 'a test', priceCutBps: null }

/** Stays of a house in every status that offers commands, some with money, extras, a second folio, or another room beside them. */
export const stock = async (house: House): Promise<string[]> => {
  const of = async (bookingId: string) =>
    (
      await house.inHouse((trx) =>
        sql<{ id: string }>(trx, `select id from reservation where booking_id = ? order by position`, [bookingId]),
      )
    ).map(({ id }) => id)
  const ids = await makeStays(house, 8, { from: -1, nights: 2 })
  const [inHouse = '', paid = '', left = '', missed = '', cancelled = '', refunded = '', routed = '', prepaid = ''] =
    ids
  for (const id of [paid, left, refunded, prepaid]) await payAll(house, id)
  for (const id of [inHouse, paid, left, routed]) await arrive(house, id)
  const override = everyRule
  await house.inHouse(async (trx) => {
    const folioId = await openFolio(trx, {
      propertyId: house.propertyId,
      kind: 'guest',
      reservationId: routed,
      label: 'Extras',
    })
    await setRouting(trx, routed, [{ categories: ['room', 'food'], folioId }], null)
    await checkOut(trx, left, { early: true, override })
    await markNoShow(trx, missed)
  })
  for (const id of [cancelled, refunded])
    await house.inHouse(async (trx) => {
      const row = await sqlOne<ReservationRow>(trx, `select * from reservation where id = ?`, [id])
      await cancelReservations(trx, row?.bookingId ?? '', {
        reservationIds: [id],
        terms: id === refunded ? 'free' : undefined,
        reason: 'changed_plans',
        desk: id === refunded ? undefined : { fee: 10_000, override },
      })
    })
  const held = await of(await makeHold(house, { from: 1, nights: 2 }))
  const twoRooms = await of(await makeHold(house, { from: 0, nights: 1, rooms: 2 }))
  return [...ids, ...held, ...twoRooms, ...(await makeStays(house, 2, { from: 0, nights: 3 }))]
}

/** Does something in a savepoint, and answers its error, if it has one: then, or where that is asked for, nothing of it is left. */
export const attempt = async (trx: Trx, work: () => Promise<unknown>, undo = false): Promise<ApiError | null> => {
  await sql(trx, `savepoint state`)
  let refused: ApiError | null = null
  try {
    await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    refused = error
  }
  if (undo || refused) await sql(trx, `rollback to savepoint state`)
  return refused
}

/** Changes that chance makes to the world around a stay, of which several may come together. */
export const changes = (house: House, ids: readonly string[], trx: Trx, id: string, random: Random) => {
  const { propertyId } = house
  const stay = () => sqlOne<ReservationRow>(trx, `select * from reservation where id = ?`, [id])
  const property = (set: string, values: unknown[]) =>
    sql(trx, `update property set ${set} where id = ?`, [...values, propertyId])
  const folioOf = async () =>
    (
      await sqlOne<{ id: string }>(
        trx,
        `select id from folio where reservation_id = ? and status = 'open' order by random() limit 1`,
        [id],
      )
    )?.id
  return [
    async () => {
      const day = house.day(random.between(-2, 2))
      await sql(trx, `update business_day set date = ? where property_id = ? and status = 'open'`, [day, propertyId])
      await property(`business_date = ?`, [day])
    },
    () =>
      sql(trx, `update unit set condition = ? where property_id = ?`, [
        random.pick(['dirty', 'inspected', 'clean', 'pickup']),
        propertyId,
      ]),
    async () => {
      const guestId = (await stay())?.primaryGuestId
      if (guestId)
        await sql(
          trx,
          `insert into guest_block (guest_id, level, starts_on, sealed, created_by) values (?, ?, ?, 'x', ?) on conflict do nothing`,
          [guestId, random.pick(['warn', 'refuse']), house.day(-5), randomUUID()],
        )
    },
    () =>
      sql(
        trx,
        `insert into deposit (reservation_id, position, due_at, amount) values (?, 9, now() - interval '1 day', 100) on conflict do nothing`,
        [id],
      ),
    () =>
      property(`settings = jsonb_set(settings, '{registration}', ?::jsonb)`, [
        JSON.stringify({ mode: random.pick(['strict', 'warn', 'off']) }),
      ]),
    () => property(`check_in_from = ?`, [random.pick(['00:00', '23:59'])]),
    () =>
      property(`settings = jsonb_set(settings, '{frontDesk}', ?::jsonb)`, [
        JSON.stringify({
          noShowFrom: random.pick(['00:00', '23:59']),
          conditions: random.pick([['clean'], ['dirty']]),
        }),
      ]),
    async () => {
      const row = await stay()
      if (row) await attempt(trx, () => payForBooking(trx, row.bookingId, { method: 'card', amount: 'all' }))
    },
    () => sql(trx, `update reservation_guest set age = 9 where reservation_id = ?`, [id]),
    async () => {
      const other = random.pick(ids.filter((one) => one !== id))
      await attempt(trx, () => checkIn(trx, other, { override: everyRule }))
    },
    () =>
      sql(
        trx,
        `update pool_night set sold = greatest(sold, capacity - held - blocked - allotted) where pool_id = ? and night = ?`,
        [house.poolId, house.day(random.between(-1, 2))],
      ),
    async () => {
      const folioId = await folioOf()
      if (folioId)
        await attempt(trx, () =>
          chargeFolio(trx, folioId, {
            category: 'minibar',
            description: 'Water',
            unitAmount: random.between(1, 9_999),
          }),
        )
    },
    // The unit that a guest has left is taken out of the house.
    () =>
      sql(
        trx,
        `update unit set status = 'archived' where id in (select unit_id from unit_assignment where reservation_id = ? and status = 'ended')`,
        [id],
      ),
    () => sql(trx, `update folio set locked = true where reservation_id = ?`, [id]),
    () => sql(trx, `update reservation_guest set role = 'companion' where reservation_id = ?`, [id]),
  ]
}

export type Outcome = {
  id: string
  bookingId: string
  propertyId: string
  status: string
  total: number
  fee: number | null
  balance: number
  refunds: number
  /** Status by date. */
  nights: Record<string, string>
}
export const outcomeOf = async (trx: Trx, id: string): Promise<Outcome> => {
  const row = await sqlOne<Outcome>(
    trx,
    `select r.id, r.booking_id, r.property_id, r.status, r.total, r.fee_amount as fee,
       (select coalesce(sum(f.charges - f.credits), 0)::bigint from folio f where f.reservation_id = r.id) as balance,
       (select coalesce(sum(x.amount), 0)::bigint from refund x) as refunds,
       (select coalesce(jsonb_object_agg(n.date, n.status), '{}') from reservation_night n where n.reservation_id = r.id) as nights
     from reservation r where r.id = ?`,
    [id],
  )
  if (!row) throw new Error('no such stay')
  return row
}
