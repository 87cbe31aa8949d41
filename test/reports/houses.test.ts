import { expect } from 'chai'
import { extractText, getDocumentProxy } from 'unpdf'
import { readPart } from '../../db/reports/runs.ts'
import { createReceipt } from '../../db/accounts-receivable/index.ts'
import { createCashAccount } from '../../db/cash/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { postWaiting } from '../../db/financial/waiting.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { closeOpenDay, makeLateHouse, makeStays, openDay, payAll } from '../night-audit/support.ts'
import { deskOf, openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { owe } from './owing.ts'

type Row = Record<string, unknown> & { group: string; key: string; day: number | string | null }
type Answer = { meta: Record<string, unknown>; data: Row[]; totals: Record<string, unknown> }

describe('reports of a house', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeLateHouse(2, { units: 4 })
    owner = await openDesk(world, house, 'owner')
  })
  const ask = async (report: string, query: Record<string, string> = {}, desk = owner): Promise<Answer> => {
    const { status, body } = await desk.get(`reports/${report}?${new URLSearchParams(query).toString()}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as Answer
  }
  const posted = () => house.inHouse((trx) => postWaiting(house.bookId, (work) => work(trx)))
  const valueOf = ({ data }: Answer, group: string, key: string) =>
    data.find((row) => row.group === group && row.key === key)

  it('taxes of prices have the names of their rules', async () => {
    house = await makeLateHouse(2, { units: 2, taxes: true })
    owner = await openDesk(world, house, 'owner')
    const { arrive } = await import('../night-audit/support.ts')
    for (const id of await makeStays(house, 1, { from: -2, nights: 3 })) await arrive(house, id)
    await closeOpenDay(house)
    await posted()
    const range = { startDate: house.day(-2), endDate: house.day(-2) }
    const rules = await house.inHouse((trx) =>
      sql<{ code: string; name: Record<string, string> }>(trx, `select code, name from tax_rule order by code`),
    )
    for (const by of ['period', 'property']) {
      const rows = (await ask('taxes', { ...range, by })).data.filter(({ kind }) => kind === 'rule')
      expect(rows.map(({ code, name }) => [code, name])).to.deep.equal(
        rules.map(({ code, name }) => [code, name['pt-BR'] ?? name['en']]),
      )
    }
  })

  it('the day says what occupancy, production, the ledger and its own folios say', async () => {
    const stays = await makeStays(house, 3, { from: -2, nights: 3 })
    for (const id of stays.slice(0, 2)) await payAll(house, id)
    const { arrive } = await import('../night-audit/support.ts')
    for (const id of stays.slice(0, 2)) await arrive(house, id)
    const { userId } = await makeUser({ [house.tenantId]: 'finance' })
    await inTenant(
      house.tenantId,
      async (trx) => {
        const head = { bookId: house.bookId, propertyId: house.propertyId }
        const cashAccountId = await createCashAccount(trx, { ...head, kind: 'bank', code: 'BANK9', name: 'Banco' })
        const receipt = { cashAccountId, method: 'bank' as const, amount: 12_345, receivedOn: house.day(-2) }
        await createReceipt(trx, receipt, { ownOf: null, judge: () => {} })
      },
      { actor: { type: 'user', id: userId } },
    )
    await closeOpenDay(house)
    await posted()
    const date = house.day(-2)
    const day = await ask('daily-revenue')
    expect(valueOf(day, 'payments', 'received_bank')?.day).to.equal(12_345)
    expect(day.meta).to.include({ endDate: date, provisional: true })
    const range = { startDate: date, endDate: date }
    const { totals } = await ask('occupancy', range)
    const production = await ask('production', { ...range, by: 'segment' })
    const folio = await house.inHouse((trx) =>
      sql<{ room: number; all: number; taxes: number }>(
        trx,
        `select sum(amount) filter (where category = 'room')::bigint as room,
           sum(amount) filter (where category <> 'tax' and kind <> 'payment')::bigint as all,
           (select sum((t ->> 'amount')::bigint) from folio_line x cross join jsonb_array_elements(x.taxes) t
            where x.business_date = ?::date and (t ->> 'included')::boolean)::bigint as taxes
         from folio_line where business_date = ?`,
        [date, date],
      ),
    )
    const { room, all, taxes } = folio[0] ?? { room: 0, all: 0, taxes: 0 }
    expect(room).to.be.greaterThan(0)
    expect([
      totals['roomRevenue'],
      production.totals['roomRevenue'],
      valueOf(day, 'statistics', 'roomRevenue')?.day,
    ]).to.deep.equal([room, room, room])
    expect([totals['sold'], totals['available'], totals['occupancy'], totals['revpar']]).to.deep.equal([
      2,
      4,
      '0.5000',
      room / 4,
    ])
    // The ledger's revenue is what was charged without taxes, those inside prices too where they are contra accounts.
    const revenue = (valueOf(day, 'revenue', 'total_revenue')?.day ?? 0) as number
    expect([all, all - taxes]).to.include(revenue)
    expect(day.totals['day']).to.equal(revenue)
    expect(totals['totalRevenue']).to.equal(revenue)
    const sections = day.data.filter(
      (row) => row.group === 'revenue' && row['level'] === 0 && row.key !== 'total_revenue',
    )
    expect(sections.reduce((sum, row) => sum + (row.day as number), 0)).to.equal(revenue)
    // As a PDF it has the same figures, once above and once in the table: two days of revenue, which are looked at.
    const days = await ask('occupancy', { startDate: date, endDate: house.day(-1) })
    const { body: run } = await owner.send('POST', 'reports/runs', {
      report: 'occupancy',
      format: 'pdf',
      locale: 'en',
      parameters: { startDate: date, endDate: house.day(-1) },
    })
    await world.drain({ kinds: ['reports.run'] })
    const file = await house.inHouse((trx) => readPart(trx, String(run.id), 1))
    const [page = ''] = (await extractText(await getDocumentProxy(new Uint8Array(file)))).text
    for (const { roomRevenue, occupancy } of days.data as unknown as { roomRevenue: number; occupancy: string }[]) {
      expect(page.split((roomRevenue / 100).toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ',')).length - 1).to.be.at.least(2)
      expect(page.split(occupancy).length - 1).to.be.at.least(2)
    }
    const paid = await house.inHouse((trx) =>
      sql<{ paid: number }>(trx, `select sum(captured_amount)::bigint as paid from payment`),
    )
    expect(valueOf(day, 'payments', 'received_card')?.day).to.equal(paid[0]?.paid)
    const ledgers = await ask('hotel-ledgers', range)
    for (const row of ledgers.data)
      expect([row['ledger'], valueOf(day, 'ledgers', String(row['ledger']))?.day]).to.deep.equal([
        row['ledger'],
        row['closing'],
      ])
    // The next day stands beside it in the month.
    const next = await ask('daily-revenue', { date: await openDay(house) })
    if (date.slice(0, 7) === house.day(-1).slice(0, 7))
      expect(valueOf(next, 'revenue', 'total_revenue')).to.deep.include({ day: 0, monthToDate: revenue })
    expect((await owner.get(`reports/daily-revenue?date=${house.day(5)}`)).body.code).to.equal('range_invalid')
  })

  it('housekeeping counts tasks by attendant, who sees their own lines alone', async () => {
    const [one, two] = await Promise.all(
      ['housekeeper', 'housekeeper'].map(async (role) => {
        const person = await makeUser()
        await house.inHouse((trx) => addMembership(trx, { userId: person.userId, role, propertyIds: null }))
        return { ...deskOf(world, house.tenantId, (await signIn(world, person)).token), userId: person.userId }
      }),
    )
    const date = await openDay(house)
    const task = (assignee: string | undefined, status: string, { due = false, minutes = 30 } = {}) =>
      house.inHouse((trx) =>
        sql(
          trx,
          `insert into housekeeping_task (property_id, unit_id, date, kind, status, assignee_id, priority, credits, due_at, completed_at, completed_by, minutes, skip_reason, inspected_at, inspected_by)
           values (:propertyId, :unit, :date, 'departure', :status, :assignee, 3, 1, case when :due then now() - interval '1 hour' end,
             case when :status in ('done', 'passed', 'failed') then now() end, case when :status in ('done', 'passed', 'failed') then cast(:assignee as uuid) end,
             case when :status in ('done', 'passed', 'failed') then cast(:minutes as int) end, case when :status = 'skipped' then 'no_time' end,
             case when :status in ('passed', 'failed') then now() end, case when :status in ('passed', 'failed') then gen_random_uuid() end)`,
          {
            propertyId: house.propertyId,
            unit: house.unitIds[0],
            date,
            status,
            assignee: assignee ?? null,
            due,
            minutes,
          },
        ),
      )
    await task(one?.userId, 'passed', { minutes: 20 })
    await task(one?.userId, 'passed', { minutes: 41, due: true })
    await task(one?.userId, 'failed', { minutes: 30 })
    await task(one?.userId, 'skipped')
    await task(two?.userId, 'done', { minutes: 10 })
    await task(undefined, 'open')
    const range = { startDate: date, endDate: date }
    const { data, totals } = await ask('housekeeping', range)
    expect(data).to.have.length(3)
    expect(data.find((row) => row['attendantId'] === one?.userId)).to.deep.include({
      planned: 4,
      done: 2,
      failed: 1,
      skipped: 1,
      minutes: 91,
      passRate: '0.6667',
      onTimeRate: '0.0000',
    })
    expect(totals).to.include({ planned: 6, minutes: 101 })
    expect((totals['days'] as object[])[0]).to.deep.include({ date, propertyId: house.propertyId })
    for (const desk of [one, two]) {
      const own = await ask('housekeeping', range, desk)
      expect(own.data.map((row) => row['attendantId'])).to.deep.equal([desk?.userId])
      const others = await ask(
        'housekeeping',
        { ...range, attendantId: (desk === one ? two : one)?.userId ?? '' },
        desk,
      )
      expect(others.data.map((row) => row['attendantId'])).to.deep.equal([desk?.userId])
    }
    const filtered = await ask('housekeeping', { ...range, attendantId: two?.userId ?? '' })
    expect(filtered.data).to.have.length(1)
  })

  it('the overview sums houses before it divides, in one currency, and needs its feature', async () => {
    const other = await makeLateHouse(2, { units: 2, tenantId: house.tenantId })
    const { arrive } = await import('../night-audit/support.ts')
    for (const [of, count] of [
      [house, 1],
      [other, 2],
    ] as const) {
      for (const id of await makeStays(of, count, { from: -2, nights: 1 })) await arrive(of, id)
      await closeOpenDay(of)
    }
    await posted()
    const date = house.day(-2)
    await owe(other, [
      { dueOn: house.day(-5), amount: 30_000 },
      { dueOn: house.day(9), amount: 50_000 },
    ])
    const refused = await owner.get(`reports/financial-overview?startDate=${date}&endDate=${date}`)
    if (refused.status === 403) {
      expect(refused.body.code).to.equal('feature_not_enabled')
      await house.inHouse((trx) =>
        sql(trx, `update tenant set features = array_append(features, 'financial_overview') where id = ?`, [
          house.tenantId,
        ]),
      )
    }
    const { data, totals } = await ask('financial-overview', {
      startDate: date,
      endDate: date,
      compare: 'previous_period',
    })
    const sum = (field: string) => data.reduce((all, row) => all + ((row[field] as number | null) ?? 0), 0)
    expect(data).to.have.length(2)
    expect(totals).to.include({ sold: 3, available: 6, occupancy: '0.5000' })
    const overdue = { overdueReceivables: 30_000, overduePayables: 30_000 }
    expect(data.find((row) => row['propertyId'] === other.propertyId)).to.include(overdue)
    expect(data.find((row) => row['propertyId'] === house.propertyId)).to.include({ overdueReceivables: 0 })
    expect(totals).to.include(overdue)
    expect(totals['compared']).to.include(overdue)
    expect([totals['goppar'], totals['grossOperatingProfit']]).to.deep.equal([null, sum('grossOperatingProfit')])
    expect([totals['roomRevenue'], totals['result'], totals['totalRevenue']]).to.deep.equal([
      sum('roomRevenue'),
      sum('result'),
      sum('totalRevenue'),
    ])
    expect(totals['cash']).to.equal(data[0]?.['cash'])
    expect(totals['revpar']).to.equal(Math.floor(sum('roomRevenue') / 6 + 0.5))
    expect((totals['compared'] as Record<string, number>)['sold']).to.equal(0)
    expect(
      (await owner.get(`reports/financial-overview?startDate=${date}&endDate=${date}&currency=USD`)).body.code,
    ).to.equal('rate_missing')
    const part = await openDesk(world, house, 'manager', [house.propertyId])
    const seen = await ask('financial-overview', { startDate: date, endDate: date }, part)
    expect(seen.data.map((row) => row['propertyId'])).to.deep.equal([house.propertyId])
    expect(seen.totals['cash']).to.equal(null)
  })

  it('inventory cost has opening, movements and closing, and what sales should have taken', async () => {
    const range = { startDate: house.day(-1), endDate: house.day(0) }
    const { data, totals } = await ask('inventory-cost', range)
    expect(data).to.deep.equal([])
    expect(totals).to.include({ opening: 0, closing: 0, theoretical: 0, variance: 0, costRate: null })
  })
})
