import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { verifyFacts } from '../../db/reports/index.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { arrive, closeOpenDay, makeLateHouse, makeStays, payAll } from '../night-audit/support.ts'
import { post } from '../financial/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { deskOf } from '../reservations/desk.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

type Row = Record<string, number | string | null> & { key: string }
type Answer = { meta: Record<string, unknown>; data: Row[]; totals: Row }

// Six units at 200.00 a night for two: 169.98 is the room, and 30.02 breakfast. Parking is 10.03 a night, and a welcome 29.99 a stay.
const room = 16_998

describe('days of a house by hand, as its accountant and its revenue manager read them', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let [guest, missing, own, paid] = ['', '', '', '']
  const { folioOf } = deskOf(() => house)

  const ask = async (report: string, query: Record<string, string> = {}): Promise<Answer> => {
    const { status, body } = await owner.get(`reports/${report}?${new URLSearchParams(query).toString()}`)
    expect(status, `${report} ${JSON.stringify(body)}`).to.equal(200)
    return body as Answer
  }
  const send = async (path: string, body: object, method = 'POST') => {
    const reply = await owner.send(method, path, body, { idempotencyKey: randomUUID() })
    expect(reply.status, `${path} ${JSON.stringify(reply.body)}`).to.be.below(300)
    return reply.body as Record<string, unknown>
  }
  const on = (days: number) => ({ startDate: house.day(days), endDate: house.day(days) })
  const ofDay = async (days: number, ...names: string[]) => {
    const { data } = await ask('occupancy', { ...on(days), propertyId: house.propertyId })
    return names.map((name) => data[0]?.[name])
  }
  const close = async () => {
    await closeOpenDay(house)
    await post(house)
  }
  const figures = ['units', 'outOfOrder', 'outOfService', 'available', 'sold', 'houseUse', 'roomRevenue', 'occupancy', 'occupancyWithFree', 'adr', 'revpar', 'noShowRate'] // prettier-ignore

  before(async () => {
    house = await makeLateHouse(3, { units: 6 })
    owner = await openDesk(world, house, 'owner')
    ;[guest = '', missing = '', own = ''] = await makeStays(house, 3, { from: -3, nights: 2 })
    ;[paid = ''] = await makeStays(house, 1, { from: -1, nights: 1 })
    await house.inHouse((trx) => sql(trx, `select record_on_the_books(array_agg(id)) from reservation`))
    for (const [unit, kind] of [
      [4, 'out_of_order'],
      [5, 'out_of_service'],
    ] as const)
      await house.inHouse((trx) =>
        createBlock(trx, {
          propertyId: house.propertyId,
          unitIds: [house.unitIds[unit] ?? ''],
          kind,
          reason: 'maintenance',
          from: house.day(-3),
          to: house.day(-1),
        }),
      )
    await send(`reservations/${own}`, { marketSegment: 'house_use' }, 'PATCH')
    await payAll(house, paid)
  })

  it('a no-show takes no night, a house use none that is sold, and a unit out of order leaves the house', async () => {
    // Three stays on the books: two are sold, five units are there to sell, for out of service is still sold.
    const before = await ofDay(-3, ...figures)
    expect(before).to.deep.equal([6, 1, 1, 5, 2, 1, 3 * room, '0.4000', '0.6000', 25_497, 10_199, '0.0000'])
    expect(await ofDay(-2, 'outOfOrder', 'outOfService', 'available')).to.deep.equal([1, 1, 5])
    expect(await ofDay(-1, 'outOfOrder', 'outOfService', 'available')).to.deep.equal([0, 0, 6])
    for (const id of [guest, own]) await arrive(house, id)
    await send(`reservations/${missing}/no-show`, {})
    const after = [6, 1, 1, 5, 1, 1, 2 * room, '0.2000', '0.4000', 33_996, 6_799, '0.3333']
    expect(await ofDay(-3, ...figures)).to.deep.equal(after)
    await close()
    expect(await ofDay(-3, ...figures)).to.deep.equal(after)
    const [count] = await house.inHouse((trx) =>
      sql(
        trx,
        `select arrivals, departures, no_shows, stay_overs, guests_in_house from property_day_count where property_id = ?`,
        [house.propertyId],
      ),
    )
    expect(count).to.deep.equal({ arrivals: 2, departures: 0, noShows: 1, stayOvers: 0, guestsInHouse: 4 })
    const fees = await house.inHouse((trx) =>
      sql<{ category: string; amount: number }>(
        trx,
        `select category, sum(amount)::bigint as amount from folio_line where kind = 'fee' group by 1 order by 1`,
      ),
    )
    expect(fees.map(({ category }) => category)).to.include('no_show')
    const production = await ask('production', { ...on(-3), by: 'segment' })
    const transient = production.data.find(({ key }) => key === 'transient') as unknown as {
      unitNights: number
      otherRevenueByCategory: { category: string; amount: number }[]
    }
    expect(transient.unitNights).to.equal(1)
    for (const { category, amount } of fees)
      expect(transient.otherRevenueByCategory).to.deep.include({ category, amount })
    // Revenue is all that was charged: taxes in prices are told as deductions, and those on top are not the house's.
    const [charged] = await house.inHouse((trx) =>
      sql<{ amount: number }>(
        trx,
        `select sum(amount)::bigint as amount from folio_line where kind in ('charge', 'fee') and category <> 'tax' and business_date = ?`,
        [house.day(-3)],
      ),
    )
    expect((await ofDay(-3, 'totalRevenue'))[0]).to.equal(charged?.amount)
  })

  it('a correction of a closed day counts on the day on which it is made, and the closed day stays as it was', async () => {
    const read = async () => {
      const answers = []
      for (const [report, query] of [
        ['occupancy', on(-3)],
        ['production', { ...on(-3), by: 'segment' }],
        ['daily-revenue', { date: house.day(-3) }],
        ['hotel-ledgers', { ...on(-3) }],
      ] as const) {
        const { data, totals } = await ask(report, { propertyId: house.propertyId, ...query })
        answers.push({ data, totals })
      }
      return answers
    }
    const known = await read()
    const folio = await folioOf(guest)
    const [line] = await house.inHouse((trx) =>
      sql<{ id: string }>(
        trx,
        `select id from folio_line where folio_id = ? and category = 'room' and kind = 'charge' order by business_date limit 1`,
        [folio.id],
      ),
    )
    await send(`folios/${folio.id}/adjustments`, { lineId: line?.id, amount: 5_000, reason: 'A loud night' })
    await post(house)
    expect(await read()).to.deep.equal(known)
    await close()
    expect(await read()).to.deep.equal(known)
    // Two nights of 169.98, one of them the house's own, less 50.00; five units.
    expect(await ofDay(-2, 'sold', 'roomRevenue', 'adr', 'revpar')).to.deep.equal([1, 28_996, 28_996, 5_799])
  })

  it('ledgers of deposits and guests are the control accounts at the end of each day, and what the day froze', async () => {
    const override = { rules: ['balance'], reason: 'pays by transfer' }
    for (const id of [guest, own]) await send(`reservations/${id}/check-out`, { override })
    await close()
    const [frozen, control, accounts] = await house.inHouse(async (trx) => [
      await sql<{ date: string; guest: number; deposit: number }>(
        trx,
        `select date, (totals #>> '{ledgers,guest}')::bigint as guest, (totals #>> '{ledgers,deposit}')::bigint as deposit
         from business_day where property_id = ? and status = 'closed' order by date`,
        [house.propertyId],
      ),
      await sql<{ role: string; date: string; amount: number }>(
        trx,
        `select a.role, l.posting_date as date, sum(l.debit - l.credit)::bigint as amount from journal_line l join account a on a.id = l.account_id
         where l.property_id = ? and a.role in ('deposits', 'guest_ledger') group by 1, 2`,
        [house.propertyId],
      ),
      await sql<{ id: string; role: string }>(
        trx,
        `select id, role from account where role in ('deposits', 'guest_ledger')`,
      ),
    ])
    expect(frozen.map(({ date }) => date)).to.deep.equal([-3, -2, -1].map(house.day))
    const { data } = await ask('hotel-ledgers', {
      startDate: house.day(-5),
      endDate: house.day(0),
      propertyId: house.propertyId,
    })
    const closing = (ledger: string, date: string) =>
      data.find((row) => row['ledger'] === ledger && row['date'] === date)?.['closing']
    const until = (role: string, date: string) =>
      control.filter((one) => one.role === role && one.date <= date).reduce((sum, { amount }) => sum + amount, 0)
    for (const { date, guest: owed, deposit } of frozen) {
      expect([closing('guest_ledger', date), until('guest_ledger', date)], date).to.deep.equal([owed, owed])
      expect([closing('deposits', date), 0 - until('deposits', date)], date).to.deep.equal([deposit, deposit])
      const trial = await ask('trial-balance', {
        bookId: house.bookId,
        propertyId: house.propertyId,
        startDate: date,
        endDate: date,
      })
      for (const [role, amount] of [
        ['guest_ledger', owed],
        ['deposits', 0 - deposit],
      ] as const) {
        const account = accounts.find((one) => one.role === role)
        const found = trial.data.find((row) => row['accountId'] === account?.id)
        expect(found?.['closing'] ?? 0, `${role} on ${date}`).to.equal(amount)
      }
      const { body: run } = await owner.send('POST', 'reports/runs', {
        report: 'deposits_held',
        format: 'json',
        parameters: { propertyId: [house.propertyId], asOf: date },
      })
      await world.drain({ kinds: ['reports.run'] })
      const held = (await owner.get(`reports/runs/${run.id}/file`)).body as unknown as Answer
      expect(held.totals['balance']).to.equal(deposit)
    }
    expect(frozen.map(({ deposit }) => deposit > 0).slice(0, 2)).to.deep.equal([true, true])
    const ledgers = await ask('daily-revenue', { date: house.day(-1) })
    for (const row of ledgers.data.filter(({ group }) => group === 'ledgers'))
      expect(row['day'], row.key).to.equal(closing(row.key, house.day(-1)))
    expect(await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).to.deep.equal([])
  })
})
