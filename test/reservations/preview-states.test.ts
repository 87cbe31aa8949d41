import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { overrideRules } from '../../config/override-rules.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import {
  cancelReservations,
  checkIn,
  checkOut,
  confirmHeld,
  markNoShow,
  previewTransitions,
  reinstate,
  revertCheckIn,
  revertCheckOut,
} from '../../db/reservations/index.ts'
import { chargeFolio } from '../../db/reservations/folio/charge.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { setRouting } from '../../db/reservations/folio/set-routing.ts'
import { payForBooking } from '../../db/reservations/payments.ts'
import type { ReservationRow } from '../../db/rows.ts'
import { randomOf } from '../chaos/random.ts'
import type { Random } from '../chaos/random.ts'
import { arrive, makeLateHouse, makeStays, payAll } from '../night-audit/support.ts'
import type { House } from '../support/factories.ts'
import { useDatabase } from '../support/database.ts'
import { makeHold, miscounted } from '../support/stay.ts'

const states = 1_000
const lanes = 2

type Shown = Awaited<ReturnType<typeof previewTransitions>>['commands'][number]

const everyRule = { rules: [...overrideRules], reason: 'a test', priceCutBps: null }

/** Stays of a house in every status that offers commands, some with money, extras, a second folio, or another room beside them. */
const stock = async (house: House): Promise<string[]> => {
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
const attempt = async (trx: Trx, work: () => Promise<unknown>, undo = false): Promise<ApiError | null> => {
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
const changes = (house: House, ids: readonly string[], trx: Trx, id: string, random: Random) => {
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
    () => sql(trx, `update folio set locked = true where reservation_id = ?`, [id]),
    () => sql(trx, `update reservation_guest set role = 'companion' where reservation_id = ?`, [id]),
  ]
}

const command = (trx: Trx, stay: Outcome, shown: Shown, waives: boolean): Promise<unknown> | null => {
  const override = waives ? everyRule : null
  switch (shown.command) {
    case 'cancel':
      return cancelReservations(trx, stay.bookingId, {
        reservationIds: [stay.id],
        reason: 'guest_request',
        acceptedFee: shown.effects.fee,
        desk: { override },
      })
    case 'check_in':
      return checkIn(trx, stay.id, { override })
    case 'check_out':
      return checkOut(trx, stay.id, { override })
    case 'no_show':
      return markNoShow(trx, stay.id, { override })
    case 'revert_check_in':
      return revertCheckIn(trx, stay.id, { reason: 'a test' })
    case 'revert_check_out':
      return revertCheckOut(trx, stay.id, { reason: 'a test' })
    case 'reinstate':
      return reinstate(trx, stay.id, { reason: 'a test', override })
    case 'confirm':
      return confirmHeld(trx, stay.bookingId, { reservationIds: [stay.id], override })
    default:
      return null
  }
}

type Outcome = {
  id: string
  bookingId: string
  status: string
  fee: number | null
  balance: number
  refunds: number
  /** Status by date. */
  nights: Record<string, string>
}
const outcomeOf = async (trx: Trx, id: string): Promise<Outcome> => {
  const row = await sqlOne<Outcome>(
    trx,
    `select r.id, r.booking_id, r.status, r.fee_amount as fee,
       (select coalesce(sum(f.charges - f.credits), 0)::bigint from folio f where f.reservation_id = r.id) as balance,
       (select coalesce(sum(x.amount), 0)::bigint from refund x) as refunds,
       (select coalesce(jsonb_object_agg(n.date, n.status), '{}') from reservation_night n where n.reservation_id = r.id) as nights
     from reservation r where r.id = ?`,
    [id],
  )
  if (!row) throw new Error('no such stay')
  return row
}

const codes = (fields: readonly string[]) => [...new Set(fields)].sort()
/** Told by their own codes in place of a list of blockers. */
const ownCodes = new Set(['sold_out', 'unit_conflict'])

const judge = (
  what: string,
  shown: Shown,
  waives: boolean,
  before: Outcome,
  after: Outcome,
  error: ApiError | null,
) => {
  const standing = shown.blockers.filter(({ rule }) => !waives || rule === null)
  const own = standing.filter(({ code }) => ownCodes.has(code))
  const listed = standing.filter(({ code }) => !ownCodes.has(code))
  if (listed.length > 0) {
    expect(error?.code, what).to.equal('transition_blocked')
    expect(codes((error?.errors ?? []).map(({ field }) => field.replace('blockers.', ''))), what).to.deep.equal(
      codes(listed.map(({ code }) => code)),
    )
    return
  }
  if (own.length > 0) {
    expect(
      own.map(({ code }) => code),
      what,
    ).to.include(error?.code)
    return
  }
  expect(error, `${what} ${error?.code} ${JSON.stringify(error?.errors)}`).to.equal(null)
  const { effects } = shown
  const became = (from: string[], to: string[]) =>
    Object.entries(after.nights)
      .flatMap(([date, status]) => (from.includes(before.nights[date] ?? '') && to.includes(status) ? [date] : []))
      .sort()
  expect(after.status, what).to.equal(shown.to)
  expect(became(['open'], ['released']), `${what} released`).to.deep.equal(effects.nightsReleased)
  expect(became(['released'], ['open', 'waived']), `${what} taken`).to.deep.equal(effects.nightsTaken)
  expect(after.balance, `${what} balance`).to.equal(effects.balanceDue)
  if (shown.command === 'cancel') expect(after.refunds - before.refunds, `${what} refund`).to.equal(effects.refund)
  if (shown.command === 'cancel' || shown.command === 'no_show')
    expect(after.fee ?? 0, `${what} fee`).to.equal(effects.fee)
}

describe('The preview of transitions', () => {
  useDatabase()

  it(`names all blockers at once and equals the outcome, in ${states} states that chance has made`, async function () {
    this.timeout(600_000)
    const met: Record<string, number> = {}
    const play = async (lane: number) => {
      const house = await makeLateHouse(1, { units: 9, settings: { frontDesk: { noShowFrom: '00:00' } } })
      const ids = await stock(house)
      const random = randomOf(7, `lane ${lane}`)
      for (let step = 0; step < states / lanes; step += 1) {
        const id = random.pick(ids)
        const waives = random.chance(0.5)
        await house
          .inHouse(async (trx) => {
            const made: number[] = []
            for (let count = random.between(0, 4); count > 0; count -= 1) {
              const all = changes(house, ids, trx, id, random)
              const index = random.between(0, all.length - 1)
              made.push(index)
              await all[index]?.()
            }
            const { commands } = await previewTransitions(trx, id, () => true)
            const before = await outcomeOf(trx, id)
            for (const shown of random.chance(0.3)
              ? commands
              : commands.slice(random.between(0, commands.length - 1)).slice(0, 1)) {
              let after = before
              let isKnown = true
              const error = await attempt(
                trx,
                async () => {
                  const doing = command(trx, before, shown, waives)
                  isKnown = doing !== null
                  await doing
                  await sql(trx, `set constraints all immediate`)
                  after = await outcomeOf(trx, id)
                },
                true,
              )
              if (!isKnown) continue
              const outcome = `${shown.command} ${error?.code ?? 'done'}`
              met[outcome] = (met[outcome] ?? 0) + 1
              const what = `lane ${lane}, state ${step} of ${id} (changes ${made.join()}), waived ${waives}: ${JSON.stringify(shown)}`
              judge(what, shown, waives, before, after, error)
            }
            throw new Undo()
          })
          .catch((error: unknown) => {
            if (!(error instanceof Undo)) throw error
          })
      }
      expect(await miscounted(house)).to.deep.equal([])
    }
    await Promise.all(Array.from({ length: lanes }, (_, lane) => play(lane)))
    for (const name of ['cancel', 'check_in', 'check_out', 'no_show', 'reinstate', 'revert_check_in', 'confirm'])
      expect(met, JSON.stringify(met)).to.include.keys(`${name} done`, `${name} transition_blocked`)
    expect(met, JSON.stringify(met)).to.include.keys('revert_check_out done')
  })
})

class Undo extends Error {}
