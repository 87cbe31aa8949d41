import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { provisionBook } from '../../db/financial/index.ts'
import { postWaiting } from '../../db/financial/waiting.ts'
import { forgetLimits } from '../auth/support.ts'
import { applyRefundSnapshot } from '../../db/payment/refunds/snapshot.ts'
import { arrive, closeOpenDay, makeLateHouse, makeStays, payAll } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makePayables } from '../support/payables.ts'
import { makeStore } from '../support/stock.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'

type File = { data: Record<string, unknown>[]; totals: Record<string, number>; meta: Record<string, unknown> }

describe('lists that are made as files alone', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeLateHouse(2, { units: 4 })
    owner = await openDesk(world, house, 'owner')
  })
  const made = async (report: string, parameters: object = {}): Promise<File> => {
    const { status, body } = await owner.send('POST', 'reports/runs', { report, parameters, format: 'json' })
    expect(status, JSON.stringify(body)).to.equal(201)
    await world.drain({ kinds: ['reports.run'] })
    const run = (await owner.get(`reports/runs/${body.id}`)).body
    expect(run.status, JSON.stringify(run)).to.equal('succeeded')
    const file = await owner.get(`reports/runs/${body.id}/file`)
    return file.body as File
  }
  const posted = () => house.inHouse((trx) => postWaiting(house.bookId, (work) => work(trx)))

  it('are told of, and have no endpoint', async () => {
    const { body } = await owner.get('reports')
    const runOnly = (body.data as { key: string; atOnce: boolean }[]).flatMap(({ key, atOnce }) =>
      atOnce ? [] : [key],
    )
    expect(runOnly).to.have.members([
      'payables_ageing',
      'receivables_ageing',
      'open_folios',
      'deposits_held',
      'payments_by_method',
      'register_sessions',
      'stock_value',
    ])
    expect((await owner.get('reports/open-folios')).status).to.equal(404)
  })

  it('say what guests owe and have paid in advance, as folios and the ledger do', async () => {
    const [first = '', second = ''] = await makeStays(house, 2, { from: -2, nights: 2 })
    await payAll(house, first)
    await payAll(house, second)
    await posted()
    const [ledger] = await house.inHouse((trx) =>
      sql<{ held: number }>(
        trx,
        `select coalesce(sum(l.credit - l.debit), 0)::bigint as held from journal_line l join account a on a.id = l.account_id where a.role = 'deposits'`,
      ),
    )
    const before = await made('deposits_held')
    expect(before.totals['balance']).to.equal(ledger?.held)
    expect(ledger?.held).to.be.greaterThan(0)
    expect(before.data).to.have.length(2)
    await arrive(house, first)
    const [folios] = await house.inHouse((trx) =>
      sql<{ balance: number; count: number }>(
        trx,
        `select coalesce(sum(balance), 0)::bigint as balance, count(*)::int as count from folio where status = 'open' and balance <> 0`,
      ),
    )
    const open = await made('open_folios', { propertyId: [house.propertyId] })
    expect([open.totals['balance'], open.data.length]).to.deep.equal([folios?.balance, folios?.count])
    const paid = await made('payments_by_method', { startDate: house.day(-400), endDate: house.day(1) })
    const [payments] = await house.inHouse((trx) =>
      sql<{ received: number }>(trx, `select sum(captured_amount)::bigint as received from payment`),
    )
    expect(paid.totals).to.include({ received: payments?.received, net: payments?.received })
  })

  it('date a refund as the ledger does, and leave the closed day as it was where the money comes back', async () => {
    const [stay = ''] = await makeStays(house, 1, { from: 1, nights: 2 })
    await payAll(house, stay)
    const rows = (text: string) => house.inHouse((trx) => sql<{ id: string; amount: number }>(trx, text))
    const [payment] = await rows(`select id, captured_amount as amount from payment`)
    const { status, body } = await owner.send(
      'POST',
      `payments/${payment?.id}/refunds`,
      { amount: 3_000, reason: 'error' },
      { idempotencyKey: randomUUID() },
    )
    expect(status, JSON.stringify(body)).to.equal(201)
    const [refund] = await rows(`select id, amount from refund`)
    const says = (told: 'succeeded' | 'failed') =>
      house.inHouse((trx) =>
        applyRefundSnapshot(trx, refund?.id ?? '', { status: told, externalId: 're_1', failure: null }),
      )
    expect(await says('succeeded')).to.equal(true)
    await closeOpenDay(house)
    const [closed, next] = [house.day(-2), house.day(-1)]
    const told = async () => {
      const list = await made('payments_by_method', { startDate: house.day(-3), endDate: house.day(0) })
      const days: unknown[] = []
      for (const date of [closed, next]) {
        const { body: daily } = await owner.get(`reports/daily-revenue?date=${date}`)
        const row = (daily.data as { key: string; day: number }[]).find(({ key }) => key === 'refunded_card')
        days.push(row?.day ?? null)
      }
      return { list: list.data.map(({ date, received, refunded }) => [date, received, refunded]), days }
    }
    const before = [closed, payment?.amount, 3_000]
    expect(await told()).to.deep.equal({ list: [before], days: [3_000, 0] })
    expect(await says('failed')).to.equal(true)
    expect(await told()).to.deep.equal({ list: [before, [next, 0, -3_000]], days: [3_000, -3_000] })
  })

  it('say what is owed and what is in store as their modules do', async () => {
    await makePayables(house)
    await makeStore(house)
    const ageing = (await owner.get(`accounts-payable/ageing?bookId=${house.bookId}&limit=100`)).body
    const owed = await made('payables_ageing', { bookId: house.bookId })
    expect(owed.totals).to.deep.include({ total: ageing.totals.total, credits: ageing.totals.credits })
    expect(owed.data).to.have.length(ageing.data.length)
    expect((await made('receivables_ageing', { bookId: house.bookId })).totals['total']).to.equal(0)
    const stock = (await owner.get(`inventory/stock?propertyId=${house.propertyId}`)).body
    const value = await made('stock_value')
    expect(value.totals['value']).to.equal(stock.value)
    expect(value.data).to.have.length(stock.rows.length)
    expect((await made('register_sessions', { startDate: house.day(-2), endDate: house.day(0) })).data).to.be.an(
      'array',
    )
  })

  it('are the Z reports of registers: what came and went, what was counted, and what was paid by other means', async () => {
    const manager = await openDesk(world, house, 'manager')
    const good = async (method: string, path: string, body: object, desk = manager): Promise<Parsed> => {
      const reply = await desk.send(method, path, body, { idempotencyKey: randomUUID() })
      expect(reply.status, JSON.stringify(reply.body)).to.be.below(300)
      return reply.body
    }
    const register = { kind: 'register', code: 'CAIXA', name: 'Front', propertyId: house.propertyId }
    const { id: registerId } = await good('POST', 'cash/accounts', { ...register, differenceLimit: 10_000 }, owner)
    const [expense] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from account where book_id = ? and code = '6.1.10'`, [house.bookId]),
    )
    const days = { startDate: house.day(-3), endDate: house.day(1) }
    for (const [first, counted] of [
      [0, 4],
      [4, 5],
    ] as const) {
      const { id } = await good('POST', 'cash/sessions', { registerId, count: { '10000': first } })
      for (const amount of [70_000, -30_000])
        await good('POST', 'cash/movements', {
          cashAccountId: registerId,
          amount,
          accountId: expense?.id,
          description: 'By hand',
        })
      const open = await made('register_sessions', days)
      expect(
        open.data.find(({ status }) => status === 'aberta' || status === 'open'),
        JSON.stringify(open.data),
      ).to.include({
        cashIn: null,
        expected: null,
      })
      await good('POST', `cash/sessions/${id}/close`, { count: { '10000': counted } })
    }
    const { data, totals } = await made('register_sessions', days)
    expect(
      data.map((row) => [row['number'], row['cashIn'], row['cashOut'], row['expected'], row['difference']]),
    ).to.deep.equal([
      [1, 70_000, 30_000, 40_000, 0],
      [2, 70_000, 30_000, 80_000, -30_000],
    ])
    const { body: csv } = await owner.send('POST', 'reports/runs', {
      report: 'register_sessions',
      parameters: days,
      format: 'csv',
    })
    await world.drain({ kinds: ['reports.run'] })
    const file = String((await owner.get(`reports/runs/${csv.id}/file`)).body)
    expect(file, file).to.match(/700[.,]00.*300[.,]00/)
    expect(totals).to.include({ cashIn: 140_000, cashOut: 60_000, difference: -30_000, otherMethods: 0 })
  })

  it('keep the parameters that they have, of the days that are meant, so that they can be asked for again', async () => {
    const second = await house.inHouse((trx) =>
      provisionBook(trx, {
        name: 'Second',
        countryCode: 'BR',
        currency: 'BRL',
        timeZone: 'America/Sao_Paulo',
        locale: 'pt-BR',
        isDefault: false,
      }),
    )
    const other = await makeHouse({ units: 1, tenantId: house.tenantId })
    await house.inHouse((trx) => sql(trx, `update property set book_id = ? where id = ?`, [second, other.propertyId]))
    const both = [house.propertyId, other.propertyId]
    const ask = (report: string, parameters: object) =>
      owner.send('POST', 'reports/runs', { report, parameters, format: 'json' })
    const asOf = house.day(-40)
    const cases: [report: string, given: object, kept: object][] = [
      ['stock_value', { propertyId: both, asOf }, { propertyId: both, asOf }],
      ['deposits_held', { propertyId: [house.propertyId] }, { propertyId: [house.propertyId], asOf: house.day(-2) }],
      ['open_folios', { propertyId: both }, { propertyId: both }],
      ['payables_ageing', { bookId: house.bookId, asOf }, { bookId: house.bookId, asOf }],
    ]
    for (const [report, given, kept] of cases) {
      const { status, body } = await ask(report, given)
      expect(status, JSON.stringify(body)).to.equal(201)
      expect(body.parameters, report).to.deep.equal(kept)
      expect([body.startsOn, body.endsOn], report).to.deep.equal([null, 'asOf' in kept ? kept.asOf : null])
      await world.drain({ kinds: ['reports.run'] })
      const { body: run } = await owner.get(`reports/runs/${body.id}`)
      expect(run.status, `${report} ${JSON.stringify(run.error)}`).to.equal('succeeded')
      expect((await ask(report, run.parameters)).status, `${report} again`).to.equal(201)
      await world.drain({ kinds: ['reports.run'] })
    }
  })

  it('are for who may read their figures', async () => {
    const housekeeper = await openDesk(world, house, 'housekeeper')
    for (const report of ['deposits_held', 'open_folios', 'payables_ageing', 'stock_value']) {
      const { status } = await housekeeper.send('POST', 'reports/runs', { report, parameters: {}, format: 'csv' })
      expect(status, report).to.equal(403)
    }
  })
})
