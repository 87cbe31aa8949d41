import { randomUUID } from 'node:crypto'
import { ApiError } from '../../config/errors.ts'
import { overrideRules } from '../../config/override-rules.ts'
import { mergeGuests, unmergeGuest } from '../../db/guests/index.ts'
import { always } from '../../db/lib/conditions.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import {
  acceptAmendment,
  addRoom,
  addStayExtra,
  addStayGuest,
  assignBestFit,
  cancelStayExtra,
  changeStayExtra,
  closeFolio,
  closeWaitlistEntry,
  confirmHeld,
  confirmPaid,
  createBooking,
  createWaitlistEntry,
  extendHold,
  markNoShow,
  matchWaitlistEntry,
  moveStay,
  openFolio,
  postCharges,
  promiseUnit,
  proposeAmendment,
  reinstate,
  removeStayGuest,
  reopenFolio,
  reverseCharges,
  replaceDeposits,
  revertCheckIn,
  revertCheckOut,
  setRouting,
  unassignUnits,
  waiveDeposit,
} from '../../db/reservations/index.ts'
import { swapUnits } from '../../db/units/index.ts'
import type { Random } from '../chaos/random.ts'
import { gatewaySays, startPayment } from '../support/pay.ts'
import type { Ground } from './acts.ts'

const everyRule = { rules: [...overrideRules], reason: 'a race', priceCutBps: null }
const names = ['Ana', 'Rui', 'Lia', 'Ivo', 'Eva']

/** A day that is none of the stay, or a room too many, is no more than a refusal here. */
const asked = async (work: Promise<unknown>) => {
  try {
    await work
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error
  }
}

/** Finds a record by chance, and does something with it. */
export type Finder = {
  one: (text: string, values?: unknown[]) => Promise<string | null>
  on: (found: Promise<string | null>, work: (id: string) => Promise<unknown>) => Promise<boolean>
  reservation: (statuses: string[]) => Promise<string | null>
  booking: (statuses: string[]) => Promise<string | null>
  unit: () => Promise<string | null>
  span: () => { from: string; to: string }
}

/** All that desks do at once beside holding and cancelling: walk-ins, waiting guests, units, deposits, folios and who is who. */
export const deskActsOn = (ground: Ground, random: Random, { one, on, reservation, booking, unit, span }: Finder) => {
  const { house } = ground
  const { propertyId, inHouse } = house
  const open = ['confirmed', 'checked_in']
  const folioOf = (id: string) =>
    one(`select id from folio where status = 'open' and (reservation_id = ? or kind = 'house')`, [id])
  const room = (days = span()) => ({
    ...random.pick(ground.sold),
    arrival: days.from,
    departure: days.to,
    adults: 2,
    childrenAges: [],
    extras: [],
  })
  const person = () => ({ firstName: random.pick(names), lastName: 'Souza' })

  return {
    book: async () => {
      const waiting = random.chance(0.3) ? await one(`select id from waitlist_entry where status = 'waiting'`) : null
      const guestId = random.chance(0.4) ? await one(`select id from guest where status <> 'erased'`) : null
      const until = new Date(Date.now() + random.between(1, 5) * 1_000).toISOString()
      await inHouse((trx) =>
        createBooking(trx, {
          propertyId,
          source: 'phone',
          booker: guestId ? { guestId } : person(),
          rooms: Array.from({ length: random.pick([1, 1, 2]) }, () => room()),
          ...(waiting ? { waitlistEntryId: waiting } : {}),
          ...(random.chance(0.3) ? { hold: { kind: 'payment' as const, until } } : {}),
        }),
      )
      return true
    },
    walkIn: async () => {
      await inHouse((trx) =>
        createBooking(trx, {
          propertyId,
          source: 'walk_in',
          booker: person(),
          rooms: [room({ from: house.today, to: house.day(random.between(1, 3)) })],
          checkIn: {},
          override: { ...everyRule, rules: ['early_check_in', 'unit_condition', 'deposit'] },
        }),
      )
      return true
    },
    wait: async () => {
      const { from, to } = span()
      await inHouse((trx) =>
        createWaitlistEntry(trx, {
          propertyId,
          contact: { name: 'Rui Alves', phone: '+5524999990001' },
          arrival: from,
          departure: to,
          adults: 2,
        }),
      )
      return true
    },
    match: () =>
      on(one(`select id from waitlist_entry where status in ('waiting', 'booked')`), (id) =>
        inHouse<unknown>(async (trx) => {
          if (random.chance(0.8)) return matchWaitlistEntry(trx, id)
          await sql(trx, `select id from waitlist_entry where id = ? for no key update`, [id])
          return closeWaitlistEntry(trx, id, 'a race')
        }),
      ),
    confirmDesk: () =>
      on(booking(['held']), (id) =>
        inHouse((trx) =>
          random.chance(0.7)
            ? confirmHeld(trx, id, { override: everyRule })
            : extendHold(trx, id, { until: new Date(Date.now() + 60_000).toISOString(), mayTakeOver: true }),
        ),
      ),
    pay: () =>
      on(booking(['held', 'confirmed']), async (id) => {
        const paymentId = await startPayment(house, id, 'all')
        await gatewaySays(house, paymentId, 'captured')
        await inHouse((trx) => confirmPaid(trx, id))
      }),
    move: () =>
      on(reservation(['checked_in']), async (id) => {
        const unitId = await unit()
        if (!unitId) return
        const from = random.chance(0.3) ? house.day(1) : undefined
        await asked(inHouse((trx) => moveStay(trx, id, { unitId, from, reason: 'noise', override: everyRule })))
      }),
    part: () =>
      on(reservation(['confirmed']), async (id) => {
        const unitId = await unit()
        if (!unitId) return
        const row = await inHouse((trx) =>
          sqlOne<{ arrival: string; departure: string }>(
            trx,
            `select arrival, departure from reservation where id = ?`,
            [id],
          ),
        )
        const part = random.chance(0.5) ? { from: row?.arrival } : random.chance(0.5) ? { to: row?.departure } : {}
        await asked(inHouse((trx) => promiseUnit(trx, id, unitId, { ...part, lock: random.chance(0.5) })))
      }),
    bestFit: () =>
      on(reservation(['confirmed']), (id) =>
        inHouse((trx) =>
          random.chance(0.6) ? assignBestFit(trx, id, { lock: random.chance(0.3) }) : unassignUnits(trx, id, null),
        ),
      ),
    swap: () =>
      on(
        one(`select reservation_id as id from unit_assignment where status in ('proposed', 'locked', 'occupied')`),
        async (id) => {
          const other = await one(
            `select reservation_id as id from unit_assignment where status in ('proposed', 'locked', 'occupied') and reservation_id <> ?`,
            [id],
          )
          if (other) await inHouse((trx) => swapUnits(trx, [id, other], undefined, always))
        },
      ),
    split: () =>
      on(reservation(['checked_in']), async (id) => {
        const change = { departure: house.day(random.between(1, 5)), allowMove: true }
        await asked(
          (async () => {
            const proposal = await inHouse((trx) => proposeAmendment(trx, id, change))
            await inHouse((trx) => acceptAmendment(trx, id, proposal, null))
          })(),
        )
      }),
    revert: () =>
      on(reservation(['checked_in', 'checked_out']), (id) =>
        inHouse(async (trx) => {
          const row = await sqlOne<{ status: string }>(trx, `select status from reservation where id = ?`, [id])
          const back = row?.status === 'checked_in' ? revertCheckIn : revertCheckOut
          return back(trx, id, { reason: 'a race' })
        }),
      ),
    noShow: () =>
      on(one(`select id from reservation where status = 'confirmed' and arrival = ?`, [house.today]), (id) =>
        inHouse((trx) => markNoShow(trx, id)),
      ),
    reinstate: () =>
      on(reservation(['no_show', 'cancelled']), (id) =>
        inHouse((trx) => reinstate(trx, id, { reason: 'a race', fee: random.pick(['keep', 'reverse']) })),
      ),
    deposits: () =>
      on(reservation(['held', 'confirmed']), (id) =>
        inHouse(async (trx) => {
          const row = await sqlOne<{ id: string }>(
            trx,
            `select id from deposit where reservation_id = ? order by random() limit 1`,
            [id],
          )
          if (row && random.chance(0.4)) return waiveDeposit(trx, id, row.id, { reason: 'a race', expected: null })
          const installment = (days: number) => ({
            dueAt: `${house.day(days)}T12:00:00.000Z`,
            amount: random.between(1, 9_000),
          })
          return replaceDeposits(trx, id, [installment(1), installment(2)], null)
        }),
      ),
    folios: () =>
      on(reservation(open), async (id) => {
        const folioId = await folioOf(id)
        await inHouse<unknown>((trx) =>
          folioId === null || random.chance(0.3)
            ? openFolio(trx, { propertyId, kind: 'guest', reservationId: id, label: 'Extras' })
            : setRouting(trx, id, [{ categories: ['minibar', 'room'], folioId }], null),
        )
      }),
    groupFolios: () =>
      on(one(`select id from booking_group where status = 'confirmed'`), (groupId) =>
        inHouse((trx) => openFolio(trx, { propertyId, kind: 'group', groupId, label: 'Bar' })),
      ),
    folioEnds: () =>
      on(one(`select id from folio where is_primary or kind = 'guest'`), (id) =>
        inHouse((trx) => (random.chance(0.5) ? closeFolio(trx, id) : reopenFolio(trx, id))),
      ),
    companions: () =>
      on(reservation(open), (id) =>
        inHouse(async (trx) => {
          const row = await sqlOne<{ id: string }>(
            trx,
            `select id from reservation_guest where reservation_id = ? and role = 'companion' limit 1`,
            [id],
          )
          return row ? removeStayGuest(trx, id, row.id) : addStayGuest(trx, id, person(), {})
        }),
      ),
    /** A service with a daily limit, which is a counter as the nights are. */
    service: () =>
      on(reservation(['held', ...open]), (id) =>
        asked(
          inHouse<unknown>(async (trx) => {
            const row = await sqlOne<{ id: string }>(
              trx,
              `select id from reservation_extra where reservation_id = ? and status = 'active' order by random() limit 1`,
              [id],
            )
            if (row && random.chance(0.6))
              return random.chance(0.5)
                ? cancelStayExtra(trx, id, row.id)
                : changeStayExtra(trx, id, row.id, { quantity: random.between(1, 3) })
            const extra = await sqlOne<{ id: string }>(trx, `select id from extra where property_id = ? limit 1`, [
              propertyId,
            ])
            return addStayExtra(trx, id, { extraId: extra?.id ?? '', quantity: random.between(1, 3) })
          }),
        ),
      ),
    furtherRoom: () =>
      on(booking(['held', 'confirmed']), (id) =>
        asked(inHouse((trx) => addRoom(trx, id, { ...room(), guests: [person()] }))),
      ),
    /** An outlet charges the stay, and sometimes takes it back. */
    order: () =>
      on(reservation(['checked_in']), async (id) => {
        const source = { type: 'pos_order' as const, id: randomUUID() }
        const lines = [{ category: 'beverage' as const, description: 'Coffee', amount: random.between(1, 900) }]
        await inHouse((trx) => postCharges(trx, { to: { reservationId: id }, source, lines }))
        if (random.chance(0.5)) await inHouse((trx) => reverseCharges(trx, source))
      }),
    merge: () =>
      on(one(`select id from guest where status = 'active'`), async (id) => {
        const merged = await one(`select id from guest where status = 'active' and id <> ?`, [id])
        if (merged) await inHouse((trx) => mergeGuests(trx, id, { mergedGuestId: merged, reason: 'a race' }))
      }),
    unmerge: () =>
      on(one(`select id from guest where status = 'merged'`), (id) =>
        inHouse((trx) => unmergeGuest(trx, id, 'a race')),
      ),
    /** Beds are made: units are fit for the next guests. */
    clean: async () => {
      await inHouse((trx) =>
        sql(
          trx,
          `update unit set condition = 'inspected' where id in (select id from unit where condition <> 'inspected' order by id for update skip locked)`,
        ),
      )
      return true
    },
  } satisfies Record<string, () => Promise<boolean>>
}

/** The frequency of each beside the others. */
export const deskWeights: Readonly<Record<keyof ReturnType<typeof deskActsOn>, number>> = {
  book: 4,
  walkIn: 2,
  wait: 1,
  match: 1,
  confirmDesk: 2,
  pay: 3,
  move: 2,
  part: 2,
  bestFit: 2,
  swap: 2,
  split: 2,
  revert: 2,
  noShow: 1,
  reinstate: 2,
  deposits: 1,
  groupFolios: 1,
  folios: 1,
  folioEnds: 1,
  companions: 1,
  service: 2,
  furtherRoom: 1,
  order: 1,
  merge: 1,
  unmerge: 1,
  clean: 1,
}
