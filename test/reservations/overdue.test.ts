import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { dueHolds, expireHold } from '../../db/reservations/expire.ts'
import type { Held } from '../../db/reservations/hold.ts'
import { lockBooking } from '../../db/reservations/lock.ts'
import { withClockOff } from '../support/clock.ts'
import { useDatabase } from '../support/database.ts'
import { waitsForLock } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { outcomes, refusal, tally } from '../support/refusals.ts'
import { holdQuote, makeHold, miscounted, outlive, quotedClaims, statusesOf } from '../support/stay.ts'
import { until } from '../support/until.ts'

describe('A hold whose time is over', () => {
  const held = useDatabase()
  let house: House

  beforeEach(async () => {
    house = await makeHouse({ units: 4, suite: true })
  })

  it('sells what an overdue hold still takes, without waiting for the sweeper', async () => {
    const first = await makeHold(house, { unitTypeId: house.suiteTypeId ?? '' }).then(
      async (id) => (await outlive(house, id), id),
    )
    expect(await inPlatform((trx) => dueHolds(trx))).to.deep.include({ tenantId: house.tenantId, id: first })
    const claims = await quotedClaims(house, { unitTypeId: house.suiteTypeId ?? '' })
    const { bookingId } = await holdQuote(house, claims)
    expect(await statusesOf(house, first)).to.deep.equal(['expired'])
    expect(await statusesOf(house, bookingId)).to.deep.equal(['held'])
    expect(await miscounted(house)).to.deep.equal([])
  })

  it('sells what an overdue hold takes that somebody else is ending at this moment', async () => {
    const suite = { unitTypeId: house.suiteTypeId ?? '' }
    const [mine, late] = await Promise.all([quotedClaims(house, suite), quotedClaims(house, suite)])
    const { bookingId } = await holdQuote(house, late)
    await outlive(house, bookingId)
    let isOver = false
    let asked: Promise<unknown> = Promise.resolve()
    const swept = house.inHouse(async (trx) => {
      await lockBooking(trx, bookingId)
      asked = holdQuote(house, mine).finally(() => (isOver = true))
      asked.catch(() => {})
      await until(async () => isOver || (await waitsForLock(held.database.admin)))
      return expireHold(trx, bookingId)
    })
    expect(await swept).to.equal('expired')
    expect(await statusesOf(house, ((await asked) as Held).bookingId)).to.deep.equal(['held'])
    expect(await miscounted(house)).to.deep.equal([])
  })

  it('sells what several take that others are ending at this moment, one after the other', async () => {
    house = await makeHouse({ units: 4, settings: { portal: { holdShare: 10_000 } } })
    const all = await quotedClaims(house, { rooms: 4 })
    const halves = [await quotedClaims(house, { rooms: 2 }), await quotedClaims(house, { rooms: 2 })]
    const ids: string[] = []
    for (const half of halves) ids.push((await holdQuote(house, half)).bookingId)
    for (const id of ids) await outlive(house, id)
    let locked = 0
    let isOver = false
    const gone: Promise<unknown>[] = []
    const isWaitedFor = async () => locked === 2 && (isOver || (await waitsForLock(held.database.admin)))
    for (const [index, id] of ids.entries())
      gone.push(
        house.inHouse(async (trx) => {
          await lockBooking(trx, id)
          locked += 1
          await until(async () => locked === 2)
          await gone[index - 1]
          await until(isWaitedFor)
          return expireHold(trx, id)
        }),
      )
    await until(async () => locked === 2)
    const { bookingId } = await holdQuote(house, all).finally(() => (isOver = true))
    expect(await Promise.all(gone)).to.deep.equal(['expired', 'expired'])
    expect(await statusesOf(house, bookingId)).to.deep.equal(['held', 'held', 'held', 'held'])
    expect(await miscounted(house)).to.deep.equal([])
  })

  it('that cannot be ended keeps its own rooms, and nobody from those of others: they are sold, or sold out, and its job goes on trying', async () => {
    house = await makeHouse({ units: 4, settings: { portal: { holdShare: 10_000 } } })
    const [all, half] = [await quotedClaims(house, { rooms: 4 }), await quotedClaims(house, { rooms: 2 })]
    const [broken, other] = [await quotedClaims(house, { rooms: 2 }), await quotedClaims(house, { rooms: 2 })]
    const ids = [(await holdQuote(house, broken)).bookingId, (await holdQuote(house, other)).bookingId] as const
    const { admin } = held.database
    await admin.raw(
      `create function refuse_to_end() returns trigger language plpgsql as $$ begin raise exception 'its data is broken'; end $$`,
    )
    await admin.raw(
      `create trigger broken before update of status on reservation for each row when (new.booking_id = '${ids[0]}') execute function refuse_to_end()`,
    )
    try {
      await outlive(house, ids[0])
      // Nothing else is over yet: the night is sold out, and nothing worse.
      expect(await refusal(holdQuote(house, half))).to.include({ code: 'sold_out' })
      await outlive(house, ids[1])
      expect(await refusal(holdQuote(house, all))).to.include({ code: 'sold_out' })
      const { bookingId } = await holdQuote(house, half)
      expect(await statusesOf(house, bookingId)).to.deep.equal(['held', 'held'])
      expect(await statusesOf(house, ids[1])).to.deep.equal(['expired', 'expired'])
      expect(await statusesOf(house, ids[0])).to.deep.equal(['held', 'held'])
      expect(await miscounted(house)).to.deep.equal([])
      const live = await house.inHouse((trx) =>
        sql(trx, `select status from jobs where kind = 'inventory.expire-hold' and payload ->> 'bookingId' = ?`, [
          ids[0],
        ]),
      )
      expect(live).to.deep.equal([{ status: 'pending' }])
      expect(await inPlatform((trx) => dueHolds(trx))).to.deep.include({ tenantId: house.tenantId, id: ids[0] })
    } finally {
      await admin.raw(`drop function refuse_to_end() cascade`)
    }
    expect(await house.inHouse((trx) => expireHold(trx, ids[0]))).to.equal('expired')
  })

  it('sells all that an overdue hold takes to who come for it together', async () => {
    house = await makeHouse({ units: 4, settings: { portal: { holdShare: 10_000 } } })
    const late = await quotedClaims(house, { rooms: 4 })
    const claims = await Promise.all(Array.from({ length: 4 }, () => quotedClaims(house)))
    await outlive(house, (await holdQuote(house, late)).bookingId)
    expect(tally(await outcomes(claims.map((one) => holdQuote(house, one))))).to.deep.equal({ held: 4 })
    expect(await miscounted(house)).to.deep.equal([])
  })

  it('sells a limited extra that an overdue hold still takes', async () => {
    const extraId = await house.inHouse((trx) =>
      createExtra(trx, {
        propertyId: house.propertyId,
        code: 'BOAT',
        name: { en: 'Boat', 'pt-BR': 'Barco' },
        category: 'activity',
        revenueGroup: 'tours',
        amount: 5_000,
        basis: 'per_stay',
        bookableOnline: true,
        dailyLimit: 1,
      }),
    )
    await house.inHouse((trx) => sql(trx, `update property set public_version = public_version + 1`))
    const boat = { extras: [{ extraId, quantity: 1 }] }
    const [mine, late] = await Promise.all([quotedClaims(house, boat), quotedClaims(house, boat)])
    const { bookingId } = await holdQuote(house, late)
    expect(await refusal(holdQuote(house, mine))).to.include({ code: 'sold_out' })
    await outlive(house, bookingId)
    await holdQuote(house, mine)
    expect(await statusesOf(house, bookingId)).to.deep.equal(['expired'])
  })

  for (const [how, minutes] of [
    ['ahead', 20],
    ['behind', -20],
  ] as const)
    it(`lasts by the clock of PostgreSQL where that of the process is ${how}`, () =>
      withClockOff(minutes * 60_000, async () => {
        const id = await makeHold(house)
        const [left] = await house.inHouse((trx) =>
          sql<{ hold: number; job: number }>(
            trx,
            `select extract(epoch from b.hold_expires_at - now())::float8 as hold, extract(epoch from j.run_at - now())::float8 as job
             from booking b join jobs j on j.kind = 'inventory.expire-hold' and j.payload ->> 'bookingId' = b.id::text where b.id = ?`,
            [id],
          ),
        )
        expect(left?.hold).to.be.within(500, 600)
        expect(left?.job).to.equal(left?.hold)
        expect(await house.inHouse((trx) => expireHold(trx, id))).to.equal('alive')
        await outlive(house, id)
        expect(await house.inHouse((trx) => expireHold(trx, id))).to.equal('expired')
      }))
})
