import { randomUUID } from 'node:crypto'
import type { ChannelRevision } from '../../config/channels.ts'
import { addDays, daysIn } from '../../config/time.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { amendReservation } from '../../db/reservations/amend.ts'
import { assignUnits } from '../../db/reservations/assign.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { adjustCharge } from '../../db/reservations/folio/adjust.ts'
import { chargeFolio } from '../../db/reservations/folio/charge.ts'
import { transferLines } from '../../db/reservations/folio/transfer.ts'
import { setAllotment } from '../../db/reservations/group/allotment.ts'
import { createGroup } from '../../db/reservations/group/create.ts'
import { importRoomingList } from '../../db/reservations/group/rooming-list.ts'
import { cancelGroup } from '../../db/reservations/group/cancel.ts'
import { advanceGroup, confirmGroup, optionGroup, releaseGroup } from '../../db/reservations/group/status.ts'
import { cancelStay, changeStay } from '../../db/reservations/import-changes.ts'
import { importStay } from '../../db/reservations/import.ts'
import { cancelBlock, endBlock } from '../../db/units/blocks/end.ts'
import { changeBlock } from '../../db/units/blocks/change.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { archiveUnit, restoreUnit } from '../../db/units/units/status.ts'
import { changeUnit } from '../../db/units/units/change.ts'
import { repackPools } from '../../db/units/assignments/repack.ts'
import type { Random } from '../chaos/random.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { arrive, leave } from '../units/stays.ts'
import { deskActsOn, deskWeights } from './desk-acts.ts'
import { stockActsOn, stockWeights } from './stock-acts.ts'
import type { StockGround } from './stock-acts.ts'

/** The ground that players fight for: a house with a channel, and the types, plans and pools that it sells. */
export type Ground = {
  house: House
  stock: StockGround
  connectionId: string
  /** Types with the plan that sells each; one takes two units of another's pool. */
  sold: { unitTypeId: string; ratePlanId: string }[]
  /** Types that units may be of. */
  homes: string[]
  poolIds: string[]
}

/** Days that all players want. */
const days = 7

const revisionOf = (random: Random, { house, sold }: Ground, externalId: string, revision: number) => {
  const rooms = Array.from({ length: random.pick([1, 1, 2]) }, () => {
    const mapped = random.pick(sold)
    const [arrival, nights] = [random.between(0, days - 1), random.between(1, 3)]
    return { mapped, arrival: house.day(arrival), departure: house.day(arrival + nights) }
  })
  const said: ChannelRevision = {
    externalId,
    revision,
    kind: revision === 0 ? 'new' : 'modified',
    issuedAt: '2026-11-20T12:00:00.000Z',
    booker: { name: 'Ana Souza' },
    rooms: rooms.map(({ mapped, arrival, departure }) => ({
      externalUnitTypeId: mapped.unitTypeId,
      externalRatePlanId: mapped.ratePlanId,
      arrival,
      departure,
      adults: 2,
      childrenAges: [],
      guestNames: [random.pick(['Ana Souza', 'Bea Lima', 'Caio Reis'])],
      nights: daysIn(arrival, departure).map((date) => ({ date, amount: 10_000 })),
    })),
    currency: 'BRL',
    total: rooms.reduce((sum, { arrival, departure }) => sum + daysIn(arrival, departure).length * 10_000, 0),
    collectedBy: 'channel',
  }
  return { revision: said, mapped: rooms.map((room) => room.mapped) }
}

/** All that may happen to a house at once. Each answers whether there was something to do. */
export const actsOn = (ground: Ground, random: Random) => {
  const { house, connectionId } = ground
  const { propertyId } = house
  const { inHouse } = house
  const one = async (text: string, values: unknown[] = []): Promise<string | null> =>
    (await inHouse((trx) => sqlOne<{ id: string }>(trx, `${text} order by random() limit 1`, values)))?.id ?? null
  const booking = (statuses: string[], source?: string) =>
    one(
      `select b.id from booking b where (?::text is null or b.source = ?) and exists (select from reservation r where r.booking_id = b.id and r.status = any(?::text[]))`,
      [source ?? null, source ?? null, statuses],
    )
  const reservation = (statuses: string[]) =>
    one(`select id from reservation where status = any(?::text[])`, [statuses])
  const unit = (status = 'active') => one(`select id from unit where status = ?`, [status])
  const block = () => one(`select id from unit_block where status = 'open'`)
  const on = async (found: Promise<string | null>, work: (id: string) => Promise<unknown>) => {
    const id = await found
    if (id !== null) await work(id)
    return id !== null
  }
  const span = () => {
    const from = random.between(0, days - 1)
    return { from: house.day(from), to: house.day(from + random.between(1, 3)) }
  }

  const folio = () => one(`select id from folio where status = 'open'`)
  const group = (statuses: string[]) => one(`select id from booking_group where status = any(?::text[])`, [statuses])
  const rooms = () => {
    const from = random.between(1, days - 1)
    const [first, end] = [house.day(from), house.day(from + random.between(1, 3))]
    return { unitTypeId: random.pick(ground.sold).unitTypeId, from: first, to: end, quantity: random.between(0, 2) }
  }

  return {
    ...deskActsOn(ground, random, { one, on, reservation, booking, unit, span }),
    ...stockActsOn(ground, random, { one, on }),
    charge: () =>
      on(folio(), (id) =>
        inHouse((trx) =>
          chargeFolio(trx, id, { category: 'minibar', description: 'Water', unitAmount: random.between(1, 999) }),
        ),
      ),
    adjust: () =>
      on(one(`select id from folio_line where kind = 'charge' and source_type = 'manual_charge'`), (lineId) =>
        inHouse(async (trx) => {
          const line = await sqlOne<{ folioId: string }>(trx, `select folio_id from folio_line where id = ?`, [lineId])
          const amount = random.between(1, 400)
          return adjustCharge(trx, line?.folioId ?? '', { lineId, amount, reason: 'a race' }, { limited: false })
        }),
      ),
    transfer: () =>
      on(one(`select id from folio_line where kind in ('charge', 'transfer_in') and category <> 'tax'`), (lineId) =>
        inHouse(async (trx) => {
          const found = await sqlOne<{ folioId: string; toFolioId: string | null }>(
            trx,
            `select l.folio_id, (select f.id from folio f where f.id <> l.folio_id and f.status = 'open' order by random() limit 1) as to_folio_id
             from folio_line l where l.id = ?`,
            [lineId],
          )
          if (!found?.toFolioId) return
          const amount = random.chance(0.5) ? random.between(1, 400) : undefined
          await transferLines(trx, found.folioId, { toFolioId: found.toFolioId, lines: [{ lineId, amount }] })
        }),
      ),
    group: async () => {
      const { ratePlanId } = random.pick(ground.sold)
      await inHouse((trx) =>
        createGroup(trx, {
          propertyId,
          code: randomUUID().slice(0, 13).toUpperCase(),
          name: 'A group',
          arrival: house.day(1),
          departure: house.day(days + 3),
          ratePlanId,
          release: { type: 'rolling', daysBefore: random.between(0, 2) },
          allotment: { nights: [rooms()] },
        }),
      )
      return true
    },
    groupMove: () =>
      on(group(['inquiry', 'optional', 'confirmed']), (id) =>
        inHouse((trx) =>
          random.pick([
            () => confirmGroup(trx, id),
            () => confirmGroup(trx, id),
            () => optionGroup(trx, id, new Date(Date.now() + 1_000).toISOString()),
            () => releaseGroup(trx, id, {}),
            () => advanceGroup(trx, id),
            () => setAllotment(trx, id, [rooms()], null),
            () => cancelGroup(trx, id, { reason: 'test' }),
            () => cancelGroup(trx, id, { reason: 'test', cancelReservations: true }),
          ])(),
        ),
      ),
    pickUp: () =>
      on(group(['confirmed']), (id) =>
        inHouse((trx) => {
          const row = () => {
            const { unitTypeId, from: arrival, to: departure } = rooms()
            const guests = [{ firstName: 'Ana', lastName: 'Souza' }]
            return { rowKey: randomUUID(), unitTypeId, arrival, departure, adults: 2, childrenAges: [], guests }
          }
          return importRoomingList(trx, id, random.chance(0.3) ? [row(), row()] : [row()])
        }),
      ),
    hold: async () => {
      const nobody = randomUUID()
      await makeHold(house, {
        ...random.pick(ground.sold),
        from: random.between(0, days - 1),
        nights: random.between(1, 3),
        rooms: random.pick([1, 1, 2]),
        email: `${nobody}@example.com`,
        address: nobody,
      })
      return true
    },
    confirm: () => on(booking(['held']), (id) => inHouse((trx) => confirmBooking(trx, id))),
    cancel: () =>
      on(booking(['held', 'confirmed']), (id) =>
        inHouse((trx) => cancelReservations(trx, id, { terms: 'free', reason: 'guest_request' })),
      ),
    amend: () =>
      on(reservation(['held', 'confirmed']), (id) => {
        const { from, to } = span()
        const change = random.chance(0.3) ? random.pick(ground.sold) : { arrival: from, departure: to }
        return inHouse((trx) => amendReservation(trx, id, change, random.chance(0.2) ? { force: true } : {}))
      }),
    /** A guest in the house stays longer, or leaves sooner. */
    extend: () =>
      on(reservation(['checked_in']), (id) =>
        inHouse((trx) => amendReservation(trx, id, { departure: house.day(random.between(1, 4)) })),
      ),
    /** The time of a hold is over: the next command that wants the room ends it, or `expire`. */
    outlive: () =>
      on(booking(['held']), (id) =>
        inHouse((trx) =>
          sql(
            trx,
            `update booking set hold_expires_at = now() - interval '1 second' where id = ? and hold_expires_at is not null`,
            [id],
          ),
        ),
      ),
    expire: () =>
      on(one(`select id from booking where hold_expires_at < now()`), (id) => inHouse((trx) => expireHold(trx, id))),
    assign: () => on(reservation(['confirmed', 'checked_in']), (id) => inHouse((trx) => assignUnits(trx, id))),
    arrive: () =>
      on(one(`select id from reservation where status = 'confirmed' and arrival = ?`, [house.today]), (id) =>
        arrive(house, id),
      ),
    leave: () => on(reservation(['checked_in']), (id) => leave(house, id)),
    repack: async () => {
      const [from, to] = [house.day(0), house.day(days + 3)]
      const poolIds = [random.pick(ground.poolIds)]
      await inHouse((trx) => repackPools(trx, { poolIds, from, to, unassigned: true }))
      return true
    },
    block: () =>
      on(unit(), async (first) => {
        const second = random.chance(0.3) ? await unit() : null
        const unitIds = [...new Set([first, second ?? first])]
        const override = random.chance(0.2) ? { rules: ['availability' as const], reason: 'a burst pipe' } : undefined
        const kind = random.pick(['out_of_order', 'out_of_order', 'out_of_service'] as const)
        return inHouse((trx) => createBlock(trx, { propertyId, unitIds, kind, reason: 'damage', ...span(), override }))
      }),
    changeBlock: () =>
      on(block(), (id) =>
        inHouse(async (trx) => {
          const row = await sqlOne<{ from: string }>(trx, `select "from" from unit_block where id = ?`, [id])
          const to = addDays(row?.from ?? house.today, random.between(1, 5))
          return changeBlock(trx, id, { to }, null)
        }),
      ),
    endBlock: () =>
      on(block(), (id) =>
        inHouse((trx) => (random.chance(0.5) ? endBlock(trx, id, 'clean', null) : cancelBlock(trx, id, null, null))),
      ),
    import: async () => {
      const stay = { propertyId, channelConnectionId: connectionId, ...revisionOf(random, ground, randomUUID(), 0) }
      await inHouse((trx) => importStay(trx, stay))
      return true
    },
    importChange: () =>
      on(booking(['confirmed'], 'channel'), (id) =>
        inHouse((trx) => {
          if (random.chance(0.6)) return cancelStay(trx, id, 'channel')
          const changed = {
            propertyId,
            channelConnectionId: connectionId,
            ...revisionOf(random, ground, randomUUID(), 1),
          }
          const before = { ...revisionOf(random, ground, randomUUID(), 0).revision, notes: 'A quiet room' }
          return changeStay(trx, id, changed, before)
        }),
      ),
    place: () =>
      on(unit(), (id) => {
        const change = random.pick([
          { unitTypeId: random.pick(ground.homes) },
          { activeUntil: random.pick([null, house.day(random.between(1, days + 2))]) },
          { activeFrom: house.day(random.between(-1, 2)) },
        ])
        return inHouse((trx) => changeUnit(trx, id, change, null))
      }),
    archive: () => on(unit(), (id) => inHouse((trx) => archiveUnit(trx, id, null))),
    restore: () => on(unit('archived'), (id) => inHouse((trx) => restoreUnit(trx, id, null))),
  } satisfies Record<string, () => Promise<boolean>>
}

export type Act = keyof ReturnType<typeof actsOn>

/** The frequency of each beside the others. */
export const weights: Readonly<Record<Act, number>> = {
  ...deskWeights,
  ...stockWeights,
  charge: 2,
  adjust: 1,
  transfer: 2,
  group: 1,
  groupMove: 2,
  pickUp: 2,
  hold: 8,
  confirm: 5,
  cancel: 3,
  amend: 4,
  extend: 1,
  outlive: 2,
  expire: 2,
  assign: 4,
  arrive: 2,
  leave: 2,
  repack: 1,
  block: 2,
  changeBlock: 1,
  endBlock: 3,
  import: 2,
  importChange: 2,
  place: 2,
  archive: 1,
  restore: 2,
}
