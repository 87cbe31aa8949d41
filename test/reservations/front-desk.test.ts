import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import type { NoShowRules } from '../../config/policy-rules.ts'
import { sql, sqlOne } from '../../db/connection.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { postWaiting } from '../../db/financial/waiting.ts'
import type { OverrideRule } from '../../db/reservations/blockers.ts'
import { checkIn } from '../../db/reservations/check-in.ts'
import { checkOut } from '../../db/reservations/check-out.ts'
import { markNoShow } from '../../db/reservations/no-show.ts'
import { nightsKept } from '../../db/reservations/rules/no-show.ts'
import type { FolioRow } from '../../db/rows.ts'
import { balanceOf } from '../financial/support.ts'
import {
  arrive,
  linesOf,
  makeLateHouse,
  makeStays,
  payAll,
  readStay,
  setDay,
  unposted,
} from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { startPayment, gatewaySays } from '../support/pay.ts'
import { eventsOf, miscounted } from '../support/stay.ts'

const refusal = async (work: Promise<unknown>): Promise<ApiError> => {
  try {
    await work
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was not refused')
}
const blockersOf = async (work: Promise<unknown>) => {
  const error = await refusal(work)
  expect(error.code).to.equal('transition_blocked')
  return (error.errors ?? []).map(({ field }) => field.replace('blockers.', '')).sort()
}

describe('The front desk', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 3 })
  })

  const enter = (id: string, ...rules: OverrideRule[]) =>
    house.inHouse((trx) => checkIn(trx, id, { override: { rules, reason: 'the guest waits' } }))
  const leave = (id: string, early = false, ...rules: OverrideRule[]) =>
    house.inHouse((trx) => checkOut(trx, id, { early, override: { rules, reason: 'pays later' } }))
  const miss = (id: string) => house.inHouse((trx) => markNoShow(trx, id))
  const change = (text: string, values: unknown[] = []) => house.inHouse((trx) => sql(trx, text, values))
  const folioOf = async (id: string) => {
    const folio = await house.inHouse((trx) =>
      sqlOne<FolioRow>(trx, `select * from folio where reservation_id = ? and is_primary`, [id]),
    )
    if (!folio) throw new Error('no folio')
    return folio
  }
  const unitsOf = (id: string) =>
    house.inHouse((trx) =>
      sql<{ status: string; condition: string; name: string }>(
        trx,
        `select a.status, u.condition, u.name from unit_assignment a join unit u on u.id = a.unit_id where a.reservation_id = ?`,
        [id],
      ),
    )
  const owe = (id: string) =>
    change(
      `insert into deposit (reservation_id, position, due_at, amount) values (?, 1, now() - interval '1 day', 5000)`,
      [id],
    )
  const bar = async (id: string) => {
    const { primaryGuestId } = await readStay(house, id)
    await change(
      `insert into guest_block (guest_id, level, starts_on, sealed, created_by) values (?, 'refuse', ?, 'x', ?)`,
      [primaryGuestId, house.day(-5), randomUUID()],
    )
  }
  const healthy = async () => {
    await house.inHouse((trx) => postWaiting(house.bookId, (work) => work(trx)))
    const results = await house.inHouse((trx) => checkBook(trx, house.bookId))
    expect(results.filter((one) => one.status !== 'passed')).to.deep.equal([])
    expect(await unposted(house)).to.deep.equal([])
    expect(await miscounted(house)).to.deep.equal([])
  }

  describe('at check-in', () => {
    const blocked: [string, () => Promise<string>, OverrideRule | null][] = [
      ['business_date_before_arrival', async () => (await makeStays(house, 1, { from: 0 }))[0]!, null],
      ['business_date_after_departure', async () => (await makeStays(house, 1, { from: -4 }))[0]!, null],
      [
        'early_check_in',
        async () => {
          await setDay(house, 2)
          return (await makeStays(house, 1, { from: 2 }))[0]!
        },
        'early_check_in',
      ],
      [
        'unit_not_assigned',
        async () => {
          const [id = ''] = await makeStays(house, 1, { from: -1 })
          await change(`update unit set status = 'archived' where property_id = ?`, [house.propertyId])
          return id
        },
        null,
      ],
      [
        'unit_condition_not_allowed',
        async () => {
          const [id = ''] = await makeStays(house, 1, { from: -1 })
          await change(`update unit set condition = 'dirty'`)
          return id
        },
        'unit_condition',
      ],
      [
        'guest_barred',
        async () => {
          const [id = ''] = await makeStays(house, 1, { from: -1 })
          await bar(id)
          return id
        },
        'barred_guest',
      ],
      [
        'deposit_missing',
        async () => {
          const [id = ''] = await makeStays(house, 1, { from: -1 })
          await owe(id)
          return id
        },
        'deposit',
      ],
    ]
    for (const [code, arrange, rule] of blocked)
      it(`${code} stands in the way${rule ? ', and can be waived' : ' whatever is waived'}`, async () => {
        const id = await arrange()
        const found = await blockersOf(enter(id))
        expect(found).to.include(code)
        expect((await readStay(house, id)).status).to.equal('confirmed')
        if (!rule)
          return expect(
            await blockersOf(enter(id, 'early_check_in', 'unit_condition', 'barred_guest', 'deposit')),
          ).to.include(code)
        expect(await enter(id, rule)).to.equal('checked_in')
        const event = await house.inHouse((trx) =>
          sqlOne<{ override: object }>(
            trx,
            `select override from reservation_event where reservation_id = ? and transition = 'T13'`,
            [id],
          ),
        )
        return expect(event?.override).to.deep.equal({ rules: [rule], reason: 'the guest waits' })
      })

    it('the guest before who has not left stands in the way', async () => {
      house = await makeLateHouse(2, { units: 1 })
      await makeStays(house, 1, { from: -2, nights: 1, checkedIn: true })
      await setDay(house, -1)
      const [id = ''] = await makeStays(house, 1, { from: -1 })
      expect(await blockersOf(enter(id))).to.deep.equal(['unit_occupied'])
    })

    it('all that stands in the way is told at once, and nothing remains of the attempt', async () => {
      await setDay(house, 2)
      const [id = ''] = await makeStays(house, 1, { from: 3 })
      await change(`update unit set condition = 'dirty'`)
      await bar(id)
      await owe(id)
      expect(await blockersOf(enter(id))).to.deep.equal(
        [
          'business_date_before_arrival',
          'deposit_missing',
          'early_check_in',
          'guest_barred',
          'unit_not_assigned',
        ].sort(),
      )
      expect(await unitsOf(id)).to.deep.equal([])
    })

    it('deposits become payments of the stay, nights before the business date are charged, and a repeat changes nothing', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -2, nights: 3 })
      await payAll(house, id)
      expect((await folioOf(id)).stage).to.equal('deposit')
      const total = (await folioOf(id)).credits
      const asked = await Promise.all([enter(id), enter(id), enter(id)])
      expect(asked.sort()).to.deep.equal(['already', 'already', 'checked_in'])
      expect(await folioOf(id)).to.include({ stage: 'guest', credits: total, charges: 20_600 })
      expect(
        (await linesOf(house, [id])).filter((line) => line.category === 'room').map((line) => line.key.slice(0, 10)),
      ).to.deep.equal([house.day(-2)])
      expect(await unitsOf(id)).to.deep.include({ status: 'occupied', condition: 'inspected', name: '101' })
      expect(await eventsOf(house, 'reservation.checked_in')).to.have.lengthOf(1)
      await healthy()
      expect(await balanceOf({ ...house }, 'deposits')).to.equal(0)
      expect(await balanceOf({ ...house }, 'guest_ledger')).to.equal(20_600 - total)
    })

    it('only a confirmed stay comes in', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -1, checkedIn: true })
      await change(`update folio set locked = false`)
      await leave(id, true, 'balance')
      expect((await refusal(enter(id))).code).to.equal('invalid_transition')
    })
  })

  describe('at check-out', () => {
    it('what is open is charged, folios without a balance are closed, and the unit is dirty', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1, checkedIn: true })
      await setDay(house, 0)
      expect(await blockersOf(leave(id))).to.deep.equal(['balance_not_zero'])
      expect(await linesOf(house, [id])).to.deep.equal([])
      await payAll(house, id)
      const asked = await Promise.all([leave(id), leave(id)])
      expect(asked.sort()).to.deep.equal(['already', 'checked_out'])
      const stay = await readStay(house, id)
      expect(stay).to.include({ status: 'checked_out', checkOutBusinessDate: house.today, postedTotal: stay.total })
      expect(await folioOf(id)).to.include({ status: 'closed', balance: 0, charges: stay.total })
      expect(await unitsOf(id)).to.deep.equal([{ status: 'ended', condition: 'dirty', name: '101' }])
      expect(await eventsOf(house, 'reservation.checked_out')).to.have.lengthOf(1)
      await healthy()
      expect(await balanceOf({ ...house }, 'guest_ledger')).to.equal(0)
    })

    it('a balance can be waived, and stays visible on the open folio', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1, checkedIn: true })
      await setDay(house, 0)
      expect(await leave(id, false, 'balance')).to.equal('checked_out')
      const { total } = await readStay(house, id)
      expect(await folioOf(id)).to.include({ status: 'open', balance: total })
    })

    it('who leaves early says so, pays for it what the policy says, and gives the nights and days of service back', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -2, nights: 5, checkedIn: true })
      expect(await blockersOf(leave(id))).to.deep.equal(['balance_not_zero', 'early_departure_not_confirmed'])
      const before = await readStay(house, id)
      expect(await leave(id, true, 'balance')).to.equal('checked_out')
      const stay = await readStay(house, id)
      // One night of the room, of those not stayed.
      const lines = await linesOf(house, [id])
      expect(lines.filter((line) => line.kind === 'fee').map((line) => [line.category, line.amount])).to.deep.equal([
        ['early_departure', 20_000],
      ])
      expect(stay.roomTotal).to.equal(20_000)
      expect(before.roomTotal).to.equal(100_000)
      expect(stay.extrasTotal).to.equal(1_003 + 2_999)
      expect(stay.postedTotal).to.equal(stay.total)
      expect((await folioOf(id)).charges).to.equal(stay.total + 20_000)
      const nights = await house.inHouse((trx) =>
        sql<{ status: string }>(trx, `select status from reservation_night where reservation_id = ? order by date`, [
          id,
        ]),
      )
      expect(nights.map((one) => one.status)).to.deep.equal(['charged', 'released', 'released', 'released', 'released'])
      await healthy()
    })

    it('a payment that is being processed stands in the way', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1, checkedIn: true })
      const { bookingId } = await readStay(house, id)
      const paymentId = await startPayment(house, bookingId, 'all')
      await gatewaySays(house, paymentId, 'processing')
      await setDay(house, 0)
      expect(await blockersOf(leave(id))).to.deep.equal(['balance_not_zero', 'payment_in_progress'])
    })

    it('only a guest in the house leaves', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -1 })
      expect((await refusal(leave(id))).code).to.equal('invalid_transition')
    })
  })

  describe('a guest who does not come', () => {
    const rules = (noShow: NoShowRules, id: string) =>
      change(`update reservation set policies = jsonb_set(policies, '{noShow,rules}', ?::jsonb) where id = ?`, [
        JSON.stringify(noShow),
        id,
      ])
    const twoNights: NoShowRules = { fee: { type: 'nights', value: 2, of: 'room' }, releaseRemaining: false }

    it('is waited for until the hour of the house', async () => {
      await setDay(house, 2)
      const [id = ''] = await makeStays(house, 1, { from: 2 })
      expect(await blockersOf(miss(id))).to.deep.equal(['no_show_too_early'])
      const [later = ''] = await makeStays(house, 1, { from: 5 })
      expect(await blockersOf(miss(later))).to.deep.equal(['no_show_too_early'])
    })

    it('pays two nights, which stay sold, and frees the others and the unit', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -1, nights: 4 })
      await rules(twoNights, id)
      expect(await Promise.all([miss(id), miss(id)])).to.have.members(['no_show', 'already'])
      expect(await readStay(house, id)).to.include({ status: 'no_show', feeAmount: 40_000 })
      const nights = await house.inHouse((trx) =>
        sql<{ status: string }>(trx, `select status from reservation_night where reservation_id = ? order by date`, [
          id,
        ]),
      )
      expect(nights.map((one) => one.status)).to.deep.equal(['open', 'open', 'released', 'released'])
      expect((await linesOf(house, [id])).map((line) => [line.kind, line.category, line.amount])).to.deep.equal([
        ['fee', 'no_show', 40_000],
      ])
      expect((await unitsOf(id)).filter((one) => one.status !== 'released')).to.deep.equal([])
      expect(await folioOf(id)).to.include({ stage: 'guest' })
      await healthy()
    })

    it('whose fee is less than what was paid keeps the rest on the folio, as a deposit', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -1, nights: 3 })
      await rules(twoNights, id)
      await payAll(house, id)
      const paid = (await folioOf(id)).credits
      await miss(id)
      expect(await folioOf(id)).to.include({ stage: 'deposit', balance: 40_000 - paid })
      await healthy()
      expect(await balanceOf({ ...house }, 'deposits')).to.equal(paid - 40_000)
    })

    it('keeps the nights that the fee covers, at least the first', () => {
      const dates = ['a', 'b', 'c']
      const kept = (fee: NoShowRules['fee'], releaseRemaining = false) => [
        ...nightsKept({ fee, releaseRemaining }, dates),
      ]
      expect(kept({ type: 'full', value: 0, of: 'total' })).to.deep.equal(dates)
      expect(kept({ type: 'nights', value: 2, of: 'room' })).to.deep.equal(['a', 'b'])
      expect(kept({ type: 'percent', value: 5000, of: 'room' })).to.deep.equal(['a'])
      expect(kept({ type: 'none', value: 0, of: 'room' })).to.deep.equal(['a'])
      expect(kept({ type: 'full', value: 0, of: 'total' }, true)).to.deep.equal([])
    })

    it('is not one who is here', async () => {
      const [id = ''] = await makeStays(house, 1, { from: -1 })
      await arrive(house, id)
      expect((await refusal(miss(id))).code).to.equal('invalid_transition')
    })
  })
})
