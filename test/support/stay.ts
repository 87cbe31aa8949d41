import { priceStay, claimsOf } from '../../db/properties/sale/quote.ts'
import type { QuoteClaims } from '../../config/quote.ts'
import { holdStay } from '../../db/reservations/hold.ts'
import type { Held } from '../../db/reservations/hold.ts'
import { hashAddress } from '../../db/reservations/limits.ts'
import type { HeldWords } from '../../db/guests/booker.ts'
import type { BookingRow, FolioRow, ReservationRow } from '../../db/rows.ts'
import type { PoolNight } from '../../db/units/rules/availability.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import type { Client, Reply } from './client.ts'
import type { House } from './factories.ts'

export type StayOptions = {
  /** Days from today. */
  from?: number
  nights?: number
  rooms?: number
  unitTypeId?: string
  ratePlanId?: string
  promoCode?: string
  /** Of each room. */
  extras?: { extraId: string; quantity: number }[]
}

const stayOf = (
  house: House,
  {
    from = 30,
    nights = 2,
    rooms = 1,
    unitTypeId = house.unitTypeId,
    ratePlanId = house.ratePlanId,
    promoCode,
    extras = [],
  }: StayOptions,
) => ({
  propertyId: house.propertyId,
  arrival: house.day(from),
  departure: house.day(from + nights),
  rooms: Array.from({ length: rooms }, () => ({ unitTypeId, ratePlanId, adults: 2, childrenAges: [], extras })),
  ...(promoCode === undefined ? {} : { promoCode }),
})

/** The claims that the token of a quote would carry. */
export const quotedClaims = (house: House, options: StayOptions = {}): Promise<QuoteClaims> =>
  house.inHouse(async (trx) => claimsOf(trx, await priceStay(trx, { ...stayOf(house, options), audience: 'portal' })))

let strangers = 0
/** An address and an e-mail that nobody has used before. */
export const stranger = () => {
  strangers += 1
  return {
    email: `guest${strangers}@example.com`,
    address: `198.51.${Math.floor(strangers / 250)}.${(strangers % 250) + 1}/32`,
  }
}

export type HoldOptions = { email?: string; address?: string; words?: Partial<HeldWords> }

/** Holds a quote as the portal does, without HTTP. */
export const holdQuote = (house: House, claims: QuoteClaims, options: HoldOptions = {}): Promise<Held> => {
  const { email, address } = { ...stranger(), ...options }
  return house.inHouse((trx) =>
    holdStay(trx, {
      claims,
      words: {
        booker: { firstName: 'Ana', lastName: 'Souza', email, phone: '+5524999990000' },
        guests: [],
        requests: null,
        marketing: null,
        termsVersion: house.termsVersion,
        ...options.words,
      },
      arrivalTime: null,
      addressHash: hashAddress(trx, address),
      locale: undefined,
    }),
  )
}

export const makeHold = async (house: House, options: StayOptions & HoldOptions = {}): Promise<string> =>
  (await holdQuote(house, await quotedClaims(house, options), options)).bookingId

/** Puts the end of a hold into the past. */
export const outlive = (house: House, bookingId: string) =>
  house.inHouse((trx) =>
    sql(trx, `update booking set hold_expires_at = now() - interval '1 second' where id = ?`, [bookingId]),
  )

export const readBooking = async (
  house: House,
  bookingId: string,
): Promise<BookingRow & { rooms: ReservationRow[]; folios: FolioRow[] }> =>
  house.inHouse(async (trx) => {
    const booking = await sqlOne<BookingRow>(trx, `select * from booking where id = ?`, [bookingId])
    if (!booking) throw new Error('no such booking')
    const rooms = await sql<ReservationRow>(trx, `select * from reservation where booking_id = ? order by position`, [
      bookingId,
    ])
    const folios = await sql<FolioRow>(
      trx,
      `select * from folio where reservation_id = any(?::uuid[]) order by number`,
      [rooms.map((one) => one.id)],
    )
    return { ...booking, rooms, folios }
  })

export const statusesOf = async (house: House, bookingId: string) =>
  (await readBooking(house, bookingId)).rooms.map((one) => one.status)

/** Counters of a pool that differ from what reservations say; none, if all is well. */
export const miscounted = (house: House): Promise<unknown[]> =>
  house.inHouse((trx) =>
    sql(
      trx,
      `select c.pool_id, c.night, c.sold, c.held, coalesce(x.sold, 0) as true_sold, coalesce(x.held, 0) as true_held from pool_night c
       left join (
         select p.unit_pool_id, n.date, sum(p.quantity) filter (where r.status <> 'held')::int as sold, sum(p.quantity) filter (where r.status = 'held')::int as held
         from reservation_night n join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
         join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id
         where n.status <> 'released' group by 1, 2) x on x.unit_pool_id = c.pool_id and x.date = c.night
       where (c.sold, c.held) is distinct from (coalesce(x.sold, 0), coalesce(x.held, 0))`,
    ),
  )

export const countersOf = async (house: House, day: number, poolId = house.poolId): Promise<PoolNight> => {
  const row = await house.inHouse((trx: Trx) =>
    sqlOne<PoolNight>(trx, `select * from pool_night where pool_id = ? and night = ?`, [poolId, house.day(day)]),
  )
  if (!row) throw new Error('no such night')
  return row
}

export const eventsOf = (house: House, type: string): Promise<{ data: Record<string, unknown> }[]> =>
  house.inHouse((trx) =>
    sql<{ data: Record<string, unknown> }>(trx, `select data from event where type = ? order by occurred_at`, [type]),
  )

export type Portal = {
  quote: (options?: StayOptions) => Promise<Reply>
  /** `address`: of the client; the test's server trusts who asks to name it. */
  hold: (
    quote: string,
    options?: { email?: string; address?: string; body?: object; idempotencyKey?: string },
  ) => Promise<Reply>
}

/** The portal of a house over HTTP. Each hold comes from a stranger unless it says from whom. */
export const portalOf = (request: Client, house: House, key?: string): Portal => ({
  quote: (options = {}) =>
    request('POST', '/api/public/quotes', {
      body: stayOf(house, options),
      headers: { 'x-client-ip': stranger().address.split('/')[0] ?? '' },
      ...(key ? { key } : {}),
    }),
  hold: (quote, { email, address, body, idempotencyKey } = {}) => {
    const nobody = stranger()
    return request('POST', '/api/public/reservations/hold', {
      body: {
        quote,
        booker: { firstName: 'Ana', lastName: 'Souza', email: email ?? nobody.email, phone: '+5524999990000' },
        acceptedTerms: house.termsVersion,
        ...body,
      },
      headers: { 'x-client-ip': (address ?? nobody.address).split('/')[0] ?? '' },
      ...(key ? { key } : {}),
      ...(idempotencyKey ? { idempotencyKey } : {}),
    })
  },
})
