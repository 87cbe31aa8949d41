import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { replaceMappings } from '../../db/channels/mappings.ts'
import { applyNow } from '../../db/channels/apply.ts'
import { acceptAmendment, addRoom, proposeAmendment, readAmendment } from '../../db/reservations/index.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import type { BookingRow, ReservationNightRow } from '../../db/rows.ts'
import { recountNights } from '../../db/units/recount.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { refusal } from '../support/refusals.ts'
import { writeRestrictions } from '../support/restrictions.ts'
import { makeHold } from '../support/stay.ts'
import {
  bookingRow,
  counters,
  makeConnection,
  mappingsOf,
  newExternalId,
  receive,
  revisionOf,
  staysOf,
} from './support.ts'

describe('What a channel books', function () {
  this.timeout(120_000)
  const held = useDatabase()
  let house: House
  let id: string
  let week = 0

  before(async () => {
    house = await makeHouse({ units: 2, suite: true, taxes: true, settings: { portal: { holdShare: 10_000 } } })
    id = await makeConnection(house, { name: 'bookings', secret: 'x'.repeat(20) })
    await house.inHouse((trx) => sql(trx, `update channel_connection set status = 'paused' where id = ?`, [id]))
  })
  // Each test has days of its own, and leaves counters as a recount finds them.
  beforeEach(() => void (week += 1))
  afterEach(async () => {
    const wrong = await house.inHouse((trx) =>
      recountNights(trx, house.propertyId, house.day(week * 10), house.day(week * 10 + 10)),
    )
    expect(wrong, 'counters equal a recount').to.deep.equal([])
  })
  const revision = (given: Parameters<typeof revisionOf>[1] = {}) =>
    revisionOf(house, { ...given, from: week * 10 + (given.from ?? 0) })
  const sell = async (from = 0, nights = 2) => {
    const bookingId = await makeHold(house, { from: week * 10 + from, nights })
    await house.inHouse((trx) => sql(trx, `update deposit set waived_amount = amount`))
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    return bookingId
  }
  const nights = (from = 0, count = 2) => counters(house, week * 10 + from, count)
  const nightsOf = (reservationId: string) =>
    house.inHouse((trx) =>
      sql<ReservationNightRow>(trx, `select * from reservation_night where reservation_id = ? order by date`, [
        reservationId,
      ]),
    )
  const bookingOf = async (bookingId: string | null) =>
    (await house.inHouse((trx) => sql<BookingRow>(trx, `select * from booking where id = ?`, [bookingId])))[0]

  it('is taken though its guest comes from a country that there is not', async () => {
    const [stored] = await receive(house, id, revision({ booker: { name: 'Ana Souza', countryCode: 'XX' } }))
    expect(stored).to.include({ status: 'applied', error: null })
    const guests = await house.inHouse((trx) =>
      sql(trx, `select g.residence_country from guest g join booking b on b.booker_guest_id = g.id where b.id = ?`, [
        stored?.bookingId,
      ]),
    )
    expect(guests).to.deep.equal([{ residenceCountry: null }])
  })

  it('becomes a confirmed stay at the channel’s price, to the cent, with its guest and its commission by night', async () => {
    const [stored] = await receive(
      house,
      id,
      revision({ total: 34_667, commission: 5_201, notes: 'A quiet room', rooms: 1 }),
    )
    expect(stored).to.include({ status: 'applied', error: null })
    const booking = await bookingOf(stored?.bookingId ?? null)
    expect(booking).to.include({
      source: 'channel',
      channelConnectionId: id,
      collectedBy: 'channel',
      commission: 5_201,
    })
    const [stay] = await staysOf(house, stored?.bookingId ?? null)
    expect(stay).to.include({
      status: 'confirmed',
      channelManaged: true,
      guarantee: 'channel',
      overbooked: false,
      total: 34_667,
    })
    const rows = await nightsOf(stay?.id ?? '')
    expect(rows.map((night) => night.amount)).to.deep.equal([17_334, 17_333])
    expect(rows.map((night) => night.commission)).to.deep.equal([2_601, 2_600])
    const [guest] = await house.inHouse((trx) =>
      sql(trx, `select first_name, last_name, source from guest where id = ?`, [stay?.primaryGuestId]),
    )
    expect(guest).to.deep.equal({ firstName: 'Ana Clara', lastName: 'Souza', source: 'channel' })
    const [folio] = await house.inHouse((trx) =>
      sql(trx, `select status, is_primary from folio where reservation_id = ?`, [stay?.id]),
    )
    expect(folio).to.deep.equal({ status: 'open', isPrimary: true })
    expect((await nights()).map((night) => night.sold)).to.deep.equal([1, 1])
  })

  it('keeps its dates, price and rooms from the desk, unless it says that it overrides the channel', async () => {
    const [stored] = await receive(house, id, revision({ total: 34_667, rooms: 1 }))
    const [stay] = await staysOf(house, stored?.bookingId ?? null)
    const longer = { departure: house.day(week * 10 + 3) }
    const [stayId, bookingId] = [stay?.id ?? '', stored?.bookingId ?? '']
    const proposal = await house.inHouse((trx) => proposeAmendment(trx, stayId, longer))
    const shown = await house.inHouse((trx) => readAmendment(trx, stayId, proposal))
    expect(shown.needsOverride).to.include('channel')
    const refused = await refusal(house.inHouse((trx) => acceptAmendment(trx, stayId, proposal, null)))
    expect(refused.code).to.equal('transition_blocked')
    expect(JSON.stringify(refused.errors)).to.include('channel_managed')
    const { unitTypeId, ratePlanId } = house
    const [arrival, departure] = [house.day(week * 10), house.day(week * 10 + 1)]
    const room = { unitTypeId, ratePlanId, arrival, departure, adults: 2, childrenAges: [], extras: [] }
    const more = await refusal(house.inHouse((trx) => addRoom(trx, bookingId, room, {})))
    expect(more.code).to.equal('channel_managed')
    const override = { rules: ['channel'] as const, reason: 'The channel was told', priceCutBps: null }
    await house.inHouse((trx) => acceptAmendment(trx, stayId, proposal, override))
    expect((await staysOf(house, bookingId))[0]?.departure).to.equal(longer.departure)
  })

  it('tells taxes on top apart where the channel’s total holds them', async () => {
    const withTaxes = 2 * 17_333 + 2 * 2 * 300
    const [stored] = await receive(house, id, revision({ total: withTaxes }))
    const [stay] = await staysOf(house, stored?.bookingId ?? null)
    expect(stay).to.include({ roomTotal: 34_666, taxTotal: 1_200, total: withTaxes })
  })

  it('links nobody to a profile that stands, and changes none', async () => {
    const [first] = await receive(house, id, revision())
    const [second] = await receive(house, id, revision({ from: 2 }))
    const [one] = await staysOf(house, first?.bookingId ?? null)
    const [other] = await staysOf(house, second?.bookingId ?? null)
    expect(one?.primaryGuestId).to.not.equal(other?.primaryGuestId)
  })

  it('of a house that is full is forced and flagged, whatever the restrictions say; releases bring what was forced back to 0', async () => {
    const ours = [await sell(), await sell()]
    await house.inHouse((trx) =>
      writeRestrictions(trx, house.propertyId, [{ date: house.day(week * 10), stopSell: true, closedToArrival: true }]),
    )
    const [stored] = await receive(house, id, revision({ rooms: 2 }))
    expect(stored?.status).to.equal('applied')
    const stays = await staysOf(house, stored?.bookingId ?? null)
    expect(stays.map((stay) => stay.overbooked)).to.deep.equal([true, true])
    expect((await nights()).map(({ sold, forced }) => [sold, forced])).to.deep.equal([
      [4, 2],
      [4, 2],
    ])
    for (const bookingId of ours)
      await house.inHouse((trx) => cancelReservations(trx, bookingId, { reason: 'property_fault' }))
    expect((await nights()).map((night) => night.forced)).to.deep.equal([0, 0])
    const told = await house.inHouse((trx) =>
      sql(trx, `select type from event where type = 'reservation.overbooked' and data ->> 'bookingId' = ?`, [
        stored?.bookingId,
      ]),
    )
    expect(told).to.have.length(2)
  })

  it('and changes moves its stays: dates, price, one room more, one room less', async () => {
    const externalId = newExternalId()
    const [first] = await receive(house, id, revision({ externalId }))
    const [second] = await receive(
      house,
      id,
      revision({ externalId, revision: 2, kind: 'modified', from: 1, nights: 3, amount: 15_000, rooms: 2 }),
    )
    expect(second).to.include({ status: 'applied', bookingId: first?.bookingId })
    const grown = await staysOf(house, first?.bookingId ?? null)
    expect(grown.map((stay) => [stay.status, stay.arrival, stay.total])).to.deep.equal([
      ['confirmed', house.day(week * 10 + 1), 45_000],
      ['confirmed', house.day(week * 10 + 1), 45_000],
    ])
    expect((await nights(0, 4)).map((night) => night.sold)).to.deep.equal([0, 2, 2, 2])
    await receive(
      house,
      id,
      revision({ externalId, revision: 3, kind: 'modified', from: 1, nights: 1, unitType: 'STE' }),
    )
    const left = await staysOf(house, first?.bookingId ?? null)
    expect(left.map((stay) => [stay.status, stay.unitTypeId])).to.deep.equal([
      ['confirmed', house.suiteTypeId],
      ['cancelled', house.unitTypeId],
    ])
    expect((await nights(0, 4)).map((night) => night.sold)).to.deep.equal([0, 0, 0, 0])
  })

  it('is applied in the order of its revisions, whatever the order in which they come', async () => {
    const externalId = newExternalId()
    const third = revision({ externalId, revision: 3, kind: 'modified', nights: 3 })
    const [applied] = await receive(house, id, third)
    const [late] = await receive(house, id, revision({ externalId, revision: 2, kind: 'modified', nights: 1 }))
    expect(late).to.include({ status: 'superseded', bookingId: null })
    const [stay] = await staysOf(house, applied?.bookingId ?? null)
    expect(stay?.departure).to.equal(house.day(week * 10 + 3))
    const other = newExternalId()
    const rows = await receive(
      house,
      id,
      revision({ externalId: other, revision: 2, kind: 'modified', nights: 1, from: 4 }),
      revision({ externalId: other, from: 4 }),
    )
    expect(
      rows.map((row) => row.status),
      'both were there: the first, then the second',
    ).to.deep.equal(['applied', 'applied'])
    const [last] = await staysOf(house, rows[0]?.bookingId ?? null)
    expect(last).to.include({ departure: house.day(week * 10 + 5), version: 3 })
  })

  it('and cancels before it was heard of is over: what comes later is set aside', async () => {
    const externalId = newExternalId()
    const [cancelled] = await receive(house, id, revision({ externalId, revision: 2, kind: 'cancelled' }))
    expect(cancelled).to.include({ status: 'applied', bookingId: null })
    const later = await receive(
      house,
      id,
      revision({ externalId, revision: 1 }),
      revision({ externalId, revision: 3, kind: 'modified' }),
    )
    expect(later.map((row) => row.status)).to.deep.equal(['superseded', 'superseded'])
    expect((await nights()).map((night) => night.sold)).to.deep.equal([0, 0])
  })

  it('and cancels while it waits for a mapping comes back with a later revision', async () => {
    const externalId = newExternalId()
    const [waiting] = await receive(house, id, revision({ externalId, unitType: 'CASTLE' }))
    expect(waiting?.status).to.equal('needs_mapping')
    const [cancelled] = await receive(house, id, revision({ externalId, revision: 2, kind: 'cancelled' }))
    expect(cancelled).to.include({ status: 'applied', bookingId: null })
    const [back] = await receive(house, id, revision({ externalId, revision: 3, kind: 'modified' }))
    expect(back?.status).to.equal('applied')
    expect((await staysOf(house, back?.bookingId ?? null)).map(({ status }) => status)).to.deep.equal(['confirmed'])
    expect((await nights()).map((night) => night.sold)).to.deep.equal([1, 1])
  })

  it('and cancels is released; the channel’s own money costs no fee here', async () => {
    const externalId = newExternalId()
    const [stored] = await receive(house, id, revision({ externalId }))
    await receive(house, id, revision({ externalId, revision: 2, kind: 'cancelled', rooms: [], total: 0 }))
    const [stay] = await staysOf(house, stored?.bookingId ?? null)
    expect(stay).to.include({ status: 'cancelled', feeAmount: 0 })
    expect((await nights()).map((night) => night.sold)).to.deep.equal([0, 0])
  })

  it('delivered five times at once, and applied by five workers, is one stay', async () => {
    const same = revision()
    const rows = await Promise.all([1, 2, 3, 4, 5].map(() => receive(house, id, same)))
    expect(new Set(rows.flat().map((row) => row.id))).to.have.length(1)
    expect((await nights()).map((night) => night.sold)).to.deep.equal([1, 1])
    const usage = await held.database.admin.raw(
      `select count(*)::int as count from usage_event where meter = 'channels.bookings' and key like '%' || ? || ' 1'`,
      [same.externalId],
    )
    expect((usage as { rows: { count: number }[] }).rows[0]?.count, 'metered once').to.equal(1)
  })

  it('that cannot be taken in calls for a person, until a later revision has set it aside', async () => {
    const externalId = newExternalId()
    const issuesOf = async (bookingId: string) =>
      (
        await house.inHouse((trx) =>
          sql<{ status: string; cause: string | null }>(trx, `select status, cause from issue where source_key = ?`, [
            `channel_booking:${bookingId}`,
          ]),
        )
      ).map(({ status, cause }) => [status, cause])
    const kinds = ['maintenance.open-issue', 'maintenance.end-issue']
    const [first] = await receive(house, id, revision({ externalId, unitType: 'PALACE', from: 3 }))
    await drain({ kinds })
    expect(await issuesOf(first?.id ?? '')).to.deep.equal([['open', null]])
    const [second] = await receive(house, id, revision({ externalId, revision: 2, unitType: 'PALACE', from: 3 }))
    const [third] = await receive(house, id, revision({ externalId, revision: 3, kind: 'modified', from: 3 }))
    expect(third?.status).to.equal('applied')
    await drain({ kinds })
    expect(await issuesOf(first?.id ?? '')).to.deep.equal([['resolved', 'system']])
    expect(await issuesOf(second?.id ?? ''), 'it was over before a person was called').to.deep.equal([])
  })

  it('of a room that is not mapped waits, is applied once it is, and a later revision does not wait for it', async () => {
    const externalId = newExternalId()
    const [waiting] = await receive(house, id, revision({ unitType: 'VILLA' }))
    expect(waiting).to.include({ status: 'needs_mapping' })
    expect(waiting?.error).to.match(/^mapping_missing; rooms\.0: VILLA at BAR/)
    const refused = await house.inHouse((trx) => applyNow(trx, waiting?.id ?? '')).catch((error: unknown) => error)
    expect(refused).to.include({ status: 422, code: 'mapping_missing' })
    const [overtaken] = await receive(house, id, revision({ externalId, unitType: 'VILLA', from: 3 }))
    const [later] = await receive(house, id, revision({ externalId, revision: 2, kind: 'modified', from: 3 }))
    expect(later?.status).to.equal('applied')
    expect((await bookingRow(house, overtaken?.id ?? '')).status).to.equal('superseded')
    const villa = {
      unitTypeId: house.suiteTypeId ?? '',
      ratePlanId: house.saverPlanId,
      externalUnitTypeId: 'VILLA',
      externalRatePlanId: 'BAR',
    }
    await house.inHouse((trx) =>
      replaceMappings(trx, { id, propertyId: house.propertyId, lastPushAt: null }, [...mappingsOf(house), villa]),
    )
    await house.inHouse((trx) => applyNow(trx, waiting?.id ?? ''))
    const applied = await bookingRow(house, waiting?.id ?? '')
    expect(applied).to.include({ status: 'applied', error: null })
    expect((await staysOf(house, applied.bookingId))[0]?.unitTypeId).to.equal(house.suiteTypeId)
  })

  it('in another currency waits for a person', async () => {
    const [stored] = await receive(house, id, revision({ currency: 'EUR' }))
    expect(stored).to.include({
      status: 'needs_mapping',
      error: 'currency_mismatch; currency: must be BRL',
      bookingId: null,
    })
  })

  it('and cannot be, such as a cancellation of guests who are in the house, fails and keeps nothing of its attempt', async () => {
    const externalId = newExternalId()
    const [stored] = await receive(house, id, revision({ externalId, rooms: 2 }))
    const [first] = await staysOf(house, stored?.bookingId ?? null)
    await house.inHouse((trx) =>
      sql(
        trx,
        `update reservation set status = 'checked_in', actual_check_in_at = now(), check_in_business_date = arrival where id = ?`,
        [first?.id],
      ),
    )
    const [cancelled] = await receive(house, id, revision({ externalId, revision: 2, kind: 'cancelled', rooms: [] }))
    expect(cancelled).to.include({ status: 'failed', error: 'already_arrived' })
    expect((await staysOf(house, stored?.bookingId ?? null)).map((stay) => stay.status)).to.deep.equal([
      'checked_in',
      'confirmed',
    ])
    expect((await nights()).map((night) => night.sold)).to.deep.equal([2, 2])
  })
})
