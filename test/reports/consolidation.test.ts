import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createCashAccount } from '../../db/cash/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { makeBook, postPlain } from './support.ts'
import type { BookOfYears } from './support.ts'

type Row = { key: string; code: string | null; amount: number; columns: { key: string; amount: number }[] }

describe('statements of several books in one currency', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let brazil: BookOfYears
  let abroad: BookOfYears
  const [from, to] = ['2025-01-01', '2025-01-10']

  const rates = (list: Record<string, string>) =>
    inTenant(house.tenantId, (trx) =>
      sql(
        trx,
        `insert into exchange_rate (tenant_id, from_currency, to_currency, date, rate)
         select ?, 'EUR', 'BRL', key::date, value::numeric from jsonb_each_text(?::jsonb)`,
        [house.tenantId, JSON.stringify(list)],
      ),
    )

  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeHouse({ units: 1 })
    owner = await openDesk(world, house, 'owner')
    brazil = await makeBook(house.tenantId)
    abroad = await makeBook(house.tenantId, { currency: 'EUR' })
    // Capital at 5.00, revenue of 100.01 and cost in between, of which 40.00 were sold to the other book.
    await postPlain(abroad, [
      {
        on: '2025-01-01',
        lines: [
          { code: '1.1.2.01', debit: 100_000 },
          { code: '3.1.01', credit: 100_000 },
        ],
      },
      {
        on: '2025-01-04',
        lines: [
          { code: '1.1.2.01', debit: 6_001 },
          { code: '4.1.01', credit: 6_001 },
        ],
      },
      {
        on: '2025-01-05',
        lines: [
          { code: '1.1.8.01', debit: 4_000, partyId: brazil.bookId },
          { code: '4.3.08', credit: 4_000, partyId: brazil.bookId },
        ],
      },
    ])
    await postPlain(brazil, [
      {
        on: '2025-01-02',
        lines: [
          { code: '1.1.2.01', debit: 50_000 },
          { code: '3.1.01', credit: 50_000 },
        ],
      },
      {
        on: '2025-01-05',
        lines: [
          { code: '6.1.02', debit: 22_000, partyId: abroad.bookId },
          { code: '1.1.8.01', credit: 22_000, partyId: abroad.bookId },
        ],
      },
    ])
  })

  const ask = async (statement: string, more = '') => {
    const books = [brazil, abroad].map(({ bookId }) => `bookId=${bookId}`).join('&')
    return owner.get(
      `reports/consolidated-statements?${books}&statement=${statement}&startDate=${from}&endDate=${to}&currency=BRL${more}`,
    )
  }
  const rowOf = (body: Record<string, unknown>, key: string) => (body.data as Row[]).find((row) => row.key === key)

  it('names the pair and days of rates that are missing, or older than 7 days', async () => {
    await rates({ '2024-12-31': '5' })
    const { status, body } = await ask('income_statement')
    expect([status, body.code]).to.deep.equal([422, 'rate_missing'])
    expect(body.errors).to.deep.equal([
      { field: 'EUR/BRL', message: '2025-01-08' },
      { field: 'EUR/BRL', message: '2025-01-09' },
      { field: 'EUR/BRL', message: '2025-01-10' },
    ])
    expect(
      (await inTenant(house.tenantId, (trx) => sql(trx, `select id from exchange_rate where used_at is not null`)))
        .length,
    ).to.equal(0)
  })

  it('takes income at the mean, the balance sheet at the last day, equity at its day, and shows what is left', async () => {
    // Ten days: 5.00 on three, 5.50 on seven; the mean is 5.35.
    await rates({ '2025-01-01': '5', '2025-01-04': '5.5', '2025-01-10': '5.5' })
    const income = await ask('income_statement')
    expect(income.status, JSON.stringify(income.body)).to.equal(200)
    // 60.01 at 5.35 is 321.0535: 321.05. Sold to the other book: 40.00, here 214.00, against its cost of 220.00.
    expect(rowOf(income.body, '4.1.01')?.amount).to.equal(32_105)
    expect(rowOf(income.body, '4.3.08')?.columns.map(({ amount }) => amount)).to.deep.equal([0, 21_400, -21_400])
    expect(rowOf(income.body, '6.1.02')?.amount).to.equal(0)
    expect(income.body.totals).to.deep.equal({
      result: 32_105 + 21_400 - 22_000,
      eliminationDifference: 21_400 - 22_000,
    })
    expect(rowOf(income.body, 'elimination_difference')?.amount).to.equal(-600)

    const sheet = await ask('balance_sheet')
    const totals = sheet.body.totals as Record<string, number>
    // Bank abroad 1,060.01 at 5.50; at home 500.00. Between the books: 40.00 at 5.50 is 220.00, and −220.00.
    expect(rowOf(sheet.body, '1.1.2.01')?.columns.map(({ amount }) => amount)).to.deep.equal([50_000, 583_006, 0])
    expect(rowOf(sheet.body, '1.1.8.01')?.amount).to.equal(0)
    expect(totals['assets']).to.equal(633_006)
    expect(totals['equity']).to.equal(50_000 + 500_000)
    expect(totals['resultNotClosed']).to.equal(31_505)
    expect(totals['eliminationDifference']).to.equal(0)
    expect(totals['translationDifference']).to.equal(633_006 - 550_000 - 31_505)
    expect(totals['otherProperties']).to.equal(0)
    const used = await inTenant(house.tenantId, (trx) =>
      sql(trx, `select id from exchange_rate where used_at is not null`),
    )
    expect(used).to.have.length(3)
  })

  it('cash flows end at the cash of the last day, what the rates changed in between beside them', async () => {
    await rates({ '2024-12-31': '5', '2025-01-04': '5.5', '2025-01-10': '5.5' })
    const { body } = await ask('cash_flow')
    const totals = body.totals as Record<string, number>
    expect(totals['opening']).to.equal(0)
    expect(totals['closing']).to.equal(633_006)
    const flows = (totals['operating'] ?? 0) + (totals['investing'] ?? 0) + (totals['financing'] ?? 0)
    expect(flows + (totals['translationDifference'] ?? 0)).to.equal(633_006)
    expect(totals['financing']).to.equal(50_000 + 535_000)
  })

  it('takes out what two books owe each other by money that went from one to the other, and names a side that is missing', async () => {
    const other = await makeBook(house.tenantId)
    const finance = await openDesk(world, house, 'finance')
    const bank = ({ bookId }: BookOfYears, code: string) =>
      inTenant(house.tenantId, (trx) =>
        createCashAccount(trx, { bookId, kind: 'bank', code, name: 'Banco', opening: { amount: 90_000, on: from } }),
      )
    const [ours, theirs] = [await bank(brazil, 'OURS'), await bank(other, 'THEIRS')]
    const moved = async (cashAccountId: string, amount: number, counterBookId: string) => {
      const body = { cashAccountId, amount, counterBookId, bookedOn: '2025-01-07', description: 'Loan between houses' }
      const reply = await finance.send('POST', 'cash/movements', body, { idempotencyKey: randomUUID() })
      expect(reply.status, JSON.stringify(reply.body)).to.equal(201)
    }
    const sheet = async () => {
      await world.drain()
      const path = `reports/consolidated-statements?bookId=${brazil.bookId}&bookId=${other.bookId}&statement=balance_sheet&startDate=${from}&endDate=${to}`
      return (await owner.get(path)).body
    }
    const before = (await sheet()).totals as Record<string, number>
    await moved(ours, -30_000, other.bookId)
    const half = (await sheet()).totals as Record<string, number>
    expect(half['eliminationDifference']).to.equal((before['eliminationDifference'] ?? 0) + 30_000)
    await moved(theirs, 30_000, brazil.bookId)
    const whole = await sheet()
    expect(whole.totals).to.deep.equal(before)
    // The company that is no part of this consolidation stays in it.
    expect(rowOf(whole, '1.1.8.01')?.amount).to.equal(-22_000)
    const control = `select distinct l.party_type, l.party_id from journal_line l join account a on a.id = l.account_id where a.role = 'intercompany' and l.book_id = ?`
    const parties = await inTenant(house.tenantId, (trx) => sql(trx, control, [other.bookId]))
    expect(parties).to.deep.equal([{ partyType: 'book', partyId: brazil.bookId }])
    const none = { cashAccountId: ours, amount: 1, counterBookId: brazil.bookId, description: 'With itself' }
    const itself = await finance.send('POST', 'cash/movements', none, { idempotencyKey: randomUUID() })
    expect([itself.status, itself.body.code]).to.deep.equal([422, 'reference_not_found'])
  })

  it('leaves out no book: at once it is of 20 at most, and a run is of all', async () => {
    for (let count = 0; count < 19; count += 1) await makeBook(house.tenantId, { currency: 'EUR' })
    const days = { startDate: from, endDate: to, currency: 'EUR' }
    await rates({ '2025-01-01': '5.000000', '2025-01-06': '5.000000' })
    const { status, body } = await owner.get(`reports/consolidated-statements?${new URLSearchParams(days).toString()}`)
    expect([status, body.code]).to.deep.equal([422, 'report_too_large'])
    const run = await owner.send('POST', 'reports/runs', {
      ...(JSON.parse(body.errors[0].message) as object),
      format: 'json',
    })
    expect(run.status, JSON.stringify(run.body)).to.equal(201)
    await world.drain({ kinds: ['reports.run'] })
    const { meta } = (await owner.get(`reports/runs/${run.body.id}/file`)).body as { meta: { bookIds: string[] } }
    expect(meta.bookIds).to.have.length(22)
  })

  it('needs no rate between books of one currency, and is for members of all properties', async () => {
    const other = await makeBook(house.tenantId)
    const path = `reports/consolidated-statements?bookId=${brazil.bookId}&bookId=${other.bookId}&startDate=${from}&endDate=${to}`
    expect((await owner.get(path)).status).to.equal(200)
    const part = await openDesk(world, house, 'finance', [house.propertyId])
    expect((await part.get(path)).status).to.equal(403)
    expect((await owner.get(`${path}&bookId=${house.propertyId}`)).status).to.equal(404)
  })
})
