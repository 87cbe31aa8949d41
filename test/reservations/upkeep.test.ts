import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { createGuest } from '../../db/guests/create.ts'
import { findByDocumentAndEmail } from '../../db/guests/profiles.ts'
import { assignUnits } from '../../db/reservations/assign.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { eraseHolds } from '../../db/reservations/erase.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { createPromoCode } from '../../db/properties/terms/promo-codes.ts'
import { eraseEndedHolds, purgeAccessCodes, sweepHolds } from '../../jobs/reservations.ts'
import type { Job } from '../../jobs/job.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { outcomes, tally } from '../support/refusals.ts'
import {
  eventsOf,
  holdQuote,
  makeHold,
  miscounted,
  outlive,
  quotedClaims,
  readBooking,
  statusesOf,
} from '../support/stay.ts'

const failure = async (work: Promise<unknown>): Promise<{ code?: string; constraint?: string; message: string }> => {
  try {
    await work
  } catch (error) {
    return error as Error & { code?: string }
  }
  throw new Error('it was not refused')
}

describe('What keeps bookings in order', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeHouse({ units: 4, deposit: null, settings: { portal: { holdShare: 10_000 } } })
  })

  const run = async (job: Job) => {
    await inPlatform((trx) => enqueue(trx, job, {}))
    return (await drain({ kinds: [job.name] })).map((one) => one.outcome)
  }
  const confirmed = async (options: Parameters<typeof makeHold>[1] = {}) => {
    const id = await makeHold(house, options)
    await house.inHouse((trx) => confirmBooking(trx, id))
    return id
  }

  it('sweeps holds past their time, each by itself', async () => {
    const over = await Promise.all([makeHold(house), makeHold(house, { from: 40 })])
    const live = await makeHold(house)
    for (const id of over) await outlive(house, id)
    expect(await run(sweepHolds)).to.deep.equal(['done'])
    for (const id of over) expect(await statusesOf(house, id)).to.deep.equal(['expired'])
    expect(await statusesOf(house, live)).to.deep.equal(['held'])
    expect(await miscounted(house)).to.deep.equal([])
  })

  it('gives each confirmed stay a unit of its own, however many ask at once, and strands what finds none', async () => {
    const ids: string[] = []
    for (let n = 0; n < 4; n += 1) ids.push(await confirmed())
    const rooms = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from reservation where status = 'confirmed'`),
    )
    const done = await Promise.all(rooms.map((room) => house.inHouse((trx) => assignUnits(trx, room.id))))
    expect(done).to.deep.equal(['assigned', 'assigned', 'assigned', 'assigned'])
    expect(await house.inHouse((trx) => assignUnits(trx, rooms[0]!.id))).to.equal('already')
    const units = await house.inHouse((trx) =>
      sql<{ unitId: string }>(trx, `select distinct unit_id from unit_assignment where status = 'proposed'`),
    )
    expect(units).to.have.length(4)
    await house.inHouse((trx) => cancelReservations(trx, ids[0]!, { reason: 'other' }))
    expect(
      await house.inHouse((trx) => sql(trx, `select 1 from unit_assignment where status = 'proposed'`)),
    ).to.have.length(3)
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into unit_block (property_id, unit_ids, kind, reason, "from", "to")
      select property_id, array[id], 'out_of_service', 'maintenance', ?, ? from unit where name = (select min(name) from unit)`,
        [house.day(1), house.day(90)],
      ),
    )
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into unit_assignment (unit_id, unit_block_id, during, status)
      select u.id, b.id, daterange(b."from", b."to"), 'blocked' from unit_block b
      cross join lateral (select id from unit where not exists (select from unit_assignment a where a.unit_id = unit.id and a.status = 'proposed') limit 1) u`,
      ),
    )
    const late = (await readBooking(house, await confirmed())).rooms[0]!
    expect(await house.inHouse((trx) => assignUnits(trx, late.id))).to.equal('stranded')
    expect((await eventsOf(house, 'assignment.stranded'))[0]?.data.reservationIds).to.deep.equal([late.id])
  })

  it('proposes the unit with the smallest gap', async () => {
    const first = (await readBooking(house, await confirmed({ from: 30, nights: 2 }))).rooms[0]!
    await house.inHouse((trx) => assignUnits(trx, first.id))
    const next = (await readBooking(house, await confirmed({ from: 32, nights: 2 }))).rooms[0]!
    await house.inHouse((trx) => assignUnits(trx, next.id))
    const units = await house.inHouse((trx) =>
      sql<{ unitId: string }>(trx, `select distinct unit_id from unit_assignment`),
    )
    expect(units).to.have.length(1)
  })

  it('erases what strangers said of holds that came to nothing 30 days ago, and only that', async () => {
    const ended = await makeHold(house, { email: 'gone@example.com' })
    const recent = await makeHold(house, { from: 40 })
    const kept = await confirmed({ from: 50 })
    for (const id of [ended, recent]) {
      await outlive(house, id)
      await house.inHouse((trx) => expireHold(trx, id))
    }
    await house.inHouse((trx) =>
      sql(trx, `update booking set ended_at = now() - interval '31 days' where id = ?`, [ended]),
    )
    expect(await run(eraseEndedHolds)).to.deep.equal(['done'])
    expect(await readBooking(house, ended)).to.include({ sealed: null, emailIndex: null, addressHash: null })
    expect((await readBooking(house, ended)).guestTokensValidFrom).to.be.instanceOf(Date)
    expect((await readBooking(house, recent)).sealed).to.be.instanceOf(Buffer)
    expect((await readBooking(house, kept)).bookerGuestId).to.be.a('string')
    expect(await run(eraseEndedHolds)).to.deep.equal(['done'])
  })

  it('erases of a booking that was confirmed in part what its guest did not take over, and of one that lives again nothing', async () => {
    const part = await confirmed()
    const [revived, other] = [await makeHold(house, { from: 40 }), await makeHold(house, { from: 50 })]
    await house.inHouse(async (trx) => {
      await sql(trx, `update reservation set requests = 'A quiet room'`)
      await sql(
        trx,
        `update booking set ended_at = now() - interval '31 days', sealed = coalesce(sealed, '\\x00') where id in (?, ?)`,
        [part, other],
      )
    })
    await house.inHouse((trx) => eraseHolds(trx, [revived]))
    expect(await run(eraseEndedHolds)).to.deep.equal(['done'])
    const [left] = await house.inHouse((trx) =>
      sql<{ sealed: Buffer | null; emailIndex: Buffer | null; validFrom: Date | null }>(
        trx,
        `select sealed, email_index, guest_tokens_valid_from as valid_from from booking where id = ?`,
        [part],
      ),
    )
    expect(left).to.include({ sealed: null, validFrom: null })
    expect(left?.emailIndex).to.be.instanceOf(Buffer)
    const isLeft = async (id: string) => (await readBooking(house, id)).rooms[0]?.requests !== null
    expect(await Promise.all([part, revived, other].map(isLeft))).to.deep.equal([true, true, false])
  })

  it('purges strikes after a week', async () => {
    const id = await makeHold(house)
    await outlive(house, id)
    await house.inHouse((trx) => expireHold(trx, id))
    await run(purgeAccessCodes)
    expect(await house.inHouse((trx) => sql(trx, `select 1 from hold_strike`))).to.have.length(1)
    await house.inHouse((trx) => sql(trx, `delete from hold_strike returning 1`))
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into hold_strike (property_id, email_index, booking_id, expired_at) values (?, decode(repeat('00', 16), 'hex'), ?, now() - interval '8 days')`,
        [house.propertyId, id],
      ),
    )
    await run(purgeAccessCodes)
    expect(await house.inHouse((trx) => sql(trx, `select 1 from hold_strike`))).to.have.length(0)
  })

  it('counts a promo code with a hold, gives it back with its end, and never beyond its number', async () => {
    await house.inHouse((trx) =>
      createPromoCode(trx, {
        propertyId: house.propertyId,
        code: 'SUN',
        type: 'percent',
        value: 1000,
        maxRedemptions: 1,
      }),
    )
    const redeemed = async () =>
      (await house.inHouse((trx) => sql<{ redeemed: number }>(trx, `select redeemed from promo_code`)))[0]?.redeemed
    const first = await makeHold(house, { promoCode: 'SUN' })
    expect(await redeemed()).to.equal(1)
    expect(await failure(makeHold(house, { promoCode: 'SUN' }))).to.include({ code: 'promo_code_invalid' })
    await outlive(house, first)
    await house.inHouse((trx) => expireHold(trx, first))
    expect(await redeemed()).to.equal(0)
    const claims = await Promise.all(Array.from({ length: 4 }, () => quotedClaims(house, { promoCode: 'SUN' })))
    expect(tally(await outcomes(claims.map((one) => holdQuote(house, one))))).to.deep.equal({
      held: 1,
      promo_code_invalid: 3,
    })
    const [live] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from booking where hold_expires_at > now()`),
    )
    const second = live?.id ?? ''
    await house.inHouse((trx) => confirmBooking(trx, second))
    await house.inHouse((trx) => cancelReservations(trx, second, { reason: 'other' }))
    expect(await redeemed()).to.equal(0)
  })

  it('links a guest to a known profile only when document and e-mail both match', async () => {
    const document = { kind: 'passport' as const, countryCode: 'PT', number: 'XY-1' }
    const id = await house.inHouse((trx) =>
      createGuest(trx, {
        firstName: 'Known',
        lastName: 'Guest',
        language: null,
        source: 'staff',
        email: 'known@example.com',
        document,
      }),
    )
    expect(await house.inHouse((trx) => findByDocumentAndEmail(trx, 'xy1', 'KNOWN@example.com'))).to.equal(id)
    expect(await house.inHouse((trx) => findByDocumentAndEmail(trx, 'xy1', 'other@example.com'))).to.equal(null)
    expect(await house.inHouse((trx) => findByDocumentAndEmail(trx, 'xy2', 'known@example.com'))).to.equal(null)
  })

  describe('the walls of the database', () => {
    const broken = (text: string, values: unknown[] = []) => failure(house.inHouse((trx) => sql(trx, text, values)))
    let bookingId: string
    beforeEach(async () => {
      bookingId = await confirmed()
    })

    it('keep totals equal to the sums of nights and extras', async () => {
      expect(await broken(`update reservation_night set amount = amount + 1`)).to.include({
        constraint: 'reservation_totals',
      })
      expect(await broken(`update reservation set room_total = room_total + 1, total = total + 1`)).to.include({
        constraint: 'reservation_totals',
      })
      expect(await broken(`delete from reservation_night`)).to.include({ constraint: 'reservation_totals' })
    })

    it('keep charged nights, lines and history as they were written', async () => {
      await house.inHouse((trx) => sql(trx, `update reservation_night set status = 'charged'`))
      expect(await broken(`update reservation_night set amount = 0`)).to.include({ code: 'PL010' })
      expect(await broken(`update reservation_event set reason = 'x'`)).to.include({ code: 'PL010' })
      const other = `update reservation_event set override = '{"reason":"x"}'`
      expect(await broken(other)).to.include({ code: 'PL010' })
      expect(await broken(`update reservation_event set command = 'x'`)).to.include({ code: '42501' })
      expect(await broken(`delete from folio_line`)).to.include({ code: '42501' })
    })

    it('keep folios closed at zero, deposits out of debit, and sums with their lines', async () => {
      const [folio] = (await readBooking(house, bookingId)).folios
      const line = (amount: number) =>
        broken(
          `insert into folio_line (folio_id, kind, category, description, unit_amount, amount, business_date, source_type, source_id, posted_by)
           values (?, 'charge', 'other', 'x', ?, ?, ?, 'test', gen_random_uuid(), '{}')`,
          [folio?.id, amount, amount, house.today],
        )
      expect(await line(100)).to.include({ constraint: 'folio_deposit_not_in_debit' })
      await house.inHouse((trx) => sql(trx, `update folio set stage = 'guest' where id = ?`, [folio?.id]))
      await house.inHouse((trx) =>
        sql(
          trx,
          `insert into folio_line (folio_id, kind, category, description, unit_amount, amount, business_date, source_type, source_id, posted_by)
           values (?, 'charge', 'other', 'x', 100, 100, ?, 'test', gen_random_uuid(), '{}')`,
          [folio?.id, house.today],
        ),
      )
      expect((await readBooking(house, bookingId)).folios[0]).to.include({ charges: 100, balance: 100 })
      expect(await broken(`update folio set status = 'closed'`)).to.include({ constraint: 'folio_closed_is_zero' })
    })

    it('refuse moves that can never be, half a hold, and negative credit', async () => {
      expect(await broken(`update reservation set status = 'held'`)).to.include({ code: 'PL011' })
      expect(await broken(`update booking set hold_kind = 'option'`)).to.include({ constraint: 'booking_hold' })
      expect(await broken(`update booking set credit = -1`)).to.include({ constraint: 'booking_credit' })
      expect(await broken(`update reservation set primary_guest_id = null`)).to.include({
        constraint: 'reservation_guest_named',
      })
    })
  })
})
