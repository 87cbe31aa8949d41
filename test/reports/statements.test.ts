import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { allLines, makeBook, postPlain, randomEntries } from './support.ts'
import type { BookOfYears, FullLine } from './support.ts'

type Row = Record<string, unknown> & { key: string; amount: number; level: number; accountId: string | null }
type Answer = { meta: Record<string, unknown>; data: Row[]; totals: Record<string, number> }

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)
const net = (lines: readonly FullLine[]) => sum(lines.map(({ debit, credit }) => debit - credit))
const isResult = ({ class: accountClass }: { class: string }) =>
  accountClass === 'revenue' || accountClass === 'expense'
const byAccount = (lines: readonly FullLine[]) => {
  const found = new Map<string, number>()
  for (const { accountId, debit, credit } of lines) found.set(accountId, (found.get(accountId) ?? 0) + debit - credit)
  return new Map([...found].filter(([, amount]) => amount !== 0))
}

describe('statements beside naive sums over all lines', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let book: BookOfYears
  let lines: FullLine[]
  const ranges = [
    ['2024-01-01', '2024-12-31'],
    ['2024-03-01', '2024-05-31'],
    ['2024-02-10', '2024-02-20'],
    ['2024-12-30', '2025-01-02'],
    ['2025-01-17', '2026-01-31'],
    ['2025-12-31', '2025-12-31'],
  ] as const
  const closedOn = '2024-12-31'

  before(async () => {
    house = await makeHouse({ units: 1 })
    owner = await openDesk(world, house, 'owner')
    book = await makeBook(house.tenantId)
    const entries = randomEntries(book, 250, 20_260_101)
    await postPlain(book, entries)
    // The first year is closed: its result moves to retained earnings, an account and property at a time.
    const result = (await allLines(book)).filter((line) => isResult(line) && line.on <= closedOn)
    const groups = new Map<string, FullLine[]>()
    for (const line of result) {
      const key = `${line.code} ${line.propertyId} ${line.costCenterId}`
      groups.set(key, [...(groups.get(key) ?? []), line])
    }
    const closing = [...groups.values()].flatMap((group) => {
      const amount = net(group)
      const [{ code, propertyId, costCenterId }] = group as [FullLine]
      const side = (value: number) => (value > 0 ? { debit: value } : { credit: -value })
      return amount === 0
        ? []
        : [
            { code, propertyId, costCenterId, ...side(-amount) },
            { code: '3.2.01', propertyId, ...side(amount) },
          ]
    })
    await postPlain(book, [{ on: closedOn, closing: true, lines: closing }])
    lines = await allLines(book)
  })
  beforeEach(() => forgetLimits(world))

  const ask = async (report: string, query: Record<string, string>, desk = owner): Promise<Answer> => {
    const given = new URLSearchParams({ bookId: book.bookId, ...query })
    const { status, body } = await desk.get(`reports/${report}?${given.toString()}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as Answer
  }
  const within = (from: string, to: string) => lines.filter(({ on }) => on >= from && on <= to)
  const accountRows = (rows: readonly Row[]) =>
    new Map(rows.flatMap(({ accountId, amount }) => (accountId === null ? [] : [[accountId, amount] as const])))
  const amountOf = ({ data }: Answer, key: string) => data.find((row) => row.key === key)?.amount ?? 0

  for (const [from, to] of ranges)
    it(`trial balance of ${from} to ${to}: each account, and zero in all`, async () => {
      const yearStart = `${from.slice(0, 4)}-01-01`
      for (const includeClosing of [false, true])
        for (const propertyId of [undefined, book.properties[0]]) {
          const { data, totals } = await ask('trial-balance', {
            startDate: from,
            endDate: to,
            includeClosing: String(includeClosing),
            ...(propertyId ? { propertyId } : {}),
          })
          const counted = lines.filter(
            (line) =>
              (propertyId === undefined || line.propertyId === propertyId) &&
              (!line.closing || includeClosing || line.on < yearStart),
          )
          const opening = byAccount(
            counted.filter((line) => line.on < from && (!isResult(line) || line.on >= yearStart)),
          )
          const closing = byAccount(
            counted.filter((line) => line.on <= to && (!isResult(line) || line.on >= yearStart)),
          )
          const ids = new Set([...opening.keys(), ...closing.keys()])
          const rows = new Map(data.map((row) => [row.accountId, row]))
          for (const id of ids) {
            expect(rows.get(id)?.['opening'], id).to.equal(opening.get(id) ?? 0)
            expect(rows.get(id)?.['closing'], id).to.equal(closing.get(id) ?? 0)
          }
          const moved = counted.filter(({ on }) => on >= from && on <= to)
          expect(totals['debit']).to.equal(sum(moved.map(({ debit }) => debit)))
          expect(totals['credit']).to.equal(sum(moved.map(({ credit }) => credit)))
          expect(sum(data.map((row) => row['closing'] as number))).to.equal(totals['closing'])
          if (propertyId === undefined) {
            expect(totals).to.include({ opening: 0, closing: 0 })
            expect(totals['debit']).to.equal(totals['credit'])
          }
        }
    })

  it('groups of the trial balance are the sums of their accounts', async () => {
    const query = { startDate: '2024-04-01', endDate: '2025-04-30' }
    const flat = await ask('trial-balance', query)
    const grouped = await ask('trial-balance', { ...query, level: 'group' })
    for (const key of ['opening', 'debit', 'credit', 'closing']) {
      const roots = grouped.data.filter((row) => row.level === 0)
      expect(sum(roots.map((row) => row[key] as number))).to.equal(sum(flat.data.map((row) => row[key] as number)))
    }
    expect(grouped.totals).to.deep.equal(flat.totals)
    const all = await ask('trial-balance', { ...query, includeZero: 'true' })
    expect(all.data.length).to.be.greaterThan(flat.data.length)
  })

  for (const asOf of ['2024-02-29', closedOn, '2025-01-01', '2025-06-15', '2026-12-31'])
    it(`balance sheet at ${asOf}: assets are liabilities, equity and the open result`, async () => {
      const { data, totals } = await ask('balance-sheet', { asOf, compareTo: '2024-06-30' })
      const until = lines.filter(({ on }) => on <= asOf)
      const expected = new Map(
        [...byAccount(until)].flatMap(([id, amount]) => {
          const { class: accountClass } = until.find(({ accountId }) => accountId === id) as FullLine
          return accountClass === 'asset'
            ? [[id, amount] as const]
            : isResult({ class: accountClass })
              ? []
              : [[id, -amount] as const]
        }),
      )
      const rows = new Map(
        [...accountRows(data.filter(({ level }) => level === 3))].filter(([, amount]) => amount !== 0),
      )
      expect(rows).to.deep.equal(expected)
      expect(totals).to.include({ otherProperties: 0, resultNotClosed: 0 - net(until.filter(isResult)) })
      expect(totals['assets']).to.equal(
        (totals['liabilities'] ?? 0) + (totals['equity'] ?? 0) + (totals['resultNotClosed'] ?? 0),
      )
      const other = data.find(({ key }) => key === 'assets')?.['columns'] as { amount: number; difference: number }[]
      expect(other[0]?.amount).to.equal(net(lines.filter((line) => line.class === 'asset' && line.on <= '2024-06-30')))
      expect(other[0]?.difference).to.equal((totals['assets'] ?? 0) - (other[0]?.amount ?? 0))
    })

  it('the balance sheet of a property shows what entries over several properties leave', async () => {
    const propertyId = book.properties[0] as string
    const { totals } = await ask('balance-sheet', { asOf: '2025-06-15', propertyId })
    const own = lines.filter((line) => line.on <= '2025-06-15' && line.propertyId === propertyId)
    expect(totals['assets']).to.equal(net(own.filter((line) => line.class === 'asset')))
    expect(totals['otherProperties']).to.equal(net(own))
  })

  for (const [from, to] of ranges)
    it(`income statement of ${from} to ${to}: every view has the result of the lines`, async () => {
      const counted = within(from, to).filter((line) => isResult(line) && !line.closing)
      const result = 0 - net(counted)
      const section = (...names: string[]) => 0 - net(counted.filter(({ section: name }) => names.includes(name ?? '')))
      const statement = await ask('income-statement', { startDate: from, endDate: to, view: 'accounts' })
      expect(amountOf(statement, 'result')).to.equal(result)
      expect(amountOf(statement, 'gross_revenue')).to.equal(
        section('rooms_revenue', 'food_beverage_revenue', 'other_operated_revenue', 'other_income'),
      )
      expect(amountOf(statement, 'department_costs')).to.equal(
        0 - section('rooms_cost', 'food_beverage_cost', 'other_operated_cost'),
      )
      expect(amountOf(statement, 'net_revenue')).to.equal(
        amountOf(statement, 'gross_revenue') - amountOf(statement, 'deductions'),
      )
      expect(amountOf(statement, 'ebitda')).to.equal(
        amountOf(statement, 'gross_operating_profit') -
          amountOf(statement, 'management_fees') -
          amountOf(statement, 'fixed_charges'),
      )
      const accounts = new Map([...byAccount(counted)].map(([id, amount]) => [id, Math.abs(amount)]))
      expect(new Map([...accountRows(statement.data)].map(([id, amount]) => [id, Math.abs(amount)]))).to.deep.equal(
        accounts,
      )
      const departments = await ask('income-statement', { startDate: from, endDate: to, view: 'departments' })
      for (const key of ['departmental_profit', 'gross_operating_profit', 'ebitda', 'result_before_tax', 'result'])
        expect(amountOf(departments, key), key).to.equal(amountOf(statement, key))
      const centers = await ask('income-statement', { startDate: from, endDate: to, view: 'cost_centers' })
      expect(amountOf(centers, 'result')).to.equal(result)
      for (const center of book.centers)
        expect(amountOf(centers, center)).to.equal(0 - net(counted.filter((line) => line.costCenterId === center)))
      for (const by of ['month', 'property', 'cost_center']) {
        const split = await ask('income-statement', { startDate: from, endDate: to, by })
        for (const row of split.data)
          expect(
            sum(((row['columns'] ?? []) as { amount: number }[]).map(({ amount }) => amount)),
            `${by} ${row.key}`,
          ).to.equal(row.amount)
        expect(amountOf(split, 'result')).to.equal(result)
      }
    })

  it('compares with the period before and with last year, whole months with whole months', async () => {
    const before = await ask('income-statement', {
      startDate: '2025-03-01',
      endDate: '2025-04-30',
      compare: 'previous_period',
    })
    type Compared = { amount: number; difference: number; ratio: string | null }
    const columnOf = ({ data }: Answer) =>
      (data.find(({ key }) => key === 'result')?.['columns'] as Compared[] | undefined)?.[0]
    const resultOf = (from: string, to: string) =>
      0 - net(within(from, to).filter((line) => isResult(line) && !line.closing))
    expect(columnOf(before)?.amount).to.equal(resultOf('2025-01-01', '2025-02-28'))
    const lastYear = await ask('income-statement', {
      startDate: '2025-02-01',
      endDate: '2025-02-28',
      compare: 'last_year',
    })
    expect(columnOf(lastYear)?.amount).to.equal(resultOf('2024-02-01', '2024-02-29'))
    const none = await ask('income-statement', { startDate: '2024-01-01', endDate: '2024-01-31', compare: 'last_year' })
    expect(columnOf(none)).to.include({ amount: 0, ratio: null })
    const days = await ask('income-statement', {
      startDate: '2025-03-10',
      endDate: '2025-03-19',
      compare: 'previous_period',
    })
    expect(columnOf(days)?.amount).to.equal(resultOf('2025-02-28', '2025-03-09'))
  })

  for (const [from, to] of ranges)
    it(`cash flow of ${from} to ${to}: direct, indirect and the change of cash agree`, async () => {
      const cash = (until: string) => net(lines.filter((line) => line.cashFlow === 'cash' && line.on <= until))
      for (const by of ['total', 'month']) {
        const direct = await ask('cash-flow', { startDate: from, endDate: to, by })
        const indirect = await ask('cash-flow', { startDate: from, endDate: to, by, method: 'indirect' })
        for (const { totals } of [direct, indirect]) {
          expect(totals['opening']).to.equal(cash(addDays(from, -1)))
          expect(totals['closing']).to.equal(cash(to))
          expect(
            (totals['opening'] ?? 0) +
              (totals['operating'] ?? 0) +
              (totals['investing'] ?? 0) +
              (totals['financing'] ?? 0),
          ).to.equal(totals['closing'])
        }
        const withCash = new Set(within(from, to).flatMap((line) => (line.cashFlow === 'cash' ? [line.entryId] : [])))
        const investing = within(from, to).filter((line) => line.cashFlow === 'investing' && withCash.has(line.entryId))
        expect(direct.totals['investing']).to.equal(0 - net(investing))
      }
    })

  for (const [from, to] of ranges)
    it(`cash flow of ${from} to ${to}: every line beside cash, of the book and of a house`, async () => {
      for (const propertyId of [undefined, ...book.properties]) {
        const asked = within(from, to).filter(
          (line) => !line.closing && (propertyId === undefined || line.propertyId === propertyId),
        )
        const withCash = new Set(asked.flatMap((line) => (line.cashFlow === 'cash' ? [line.entryId] : [])))
        const beside = asked.filter((line) => line.cashFlow !== 'cash' && withCash.has(line.entryId))
        const { data } = await ask('cash-flow', {
          startDate: from,
          endDate: to,
          ...(propertyId ? { propertyId } : {}),
        })
        const told = new Map([...accountRows(data)].map(([id, amount]) => [id, 0 - amount]))
        expect(told).to.deep.equal(byAccount(beside))
      }
    })

  it('a cash flow comes from totals: it stands where no line is left', async () => {
    const other = await makeBook(house.tenantId)
    await postPlain(other, randomEntries(other, 60, 7))
    const query = { bookId: other.bookId, startDate: '2024-03-01', endDate: '2025-02-28', by: 'month' }
    const before = await ask('cash-flow', query)
    expect(before.data.filter(({ level }) => level === 1)).to.have.length.above(5)
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(`delete from journal_line where book_id = ?`, [other.bookId])
    })
    const { data, totals } = await ask('cash-flow', query)
    expect({ data, totals }).to.deep.equal({ data: before.data, totals: before.totals })
  })

  it('the general ledger has every line once, with the balance after each, page by page', async () => {
    const [from, to] = ['2024-11-15', '2025-02-14']
    const expected = within(from, to)
    const seen: Row[] = []
    for (let page = 1; ; page += 1) {
      const { data, meta } = await ask('general-ledger', {
        startDate: from,
        endDate: to,
        page: String(page),
        limit: '37',
      })
      seen.push(...data)
      expect(meta['total']).to.equal(expected.length)
      if (page >= (meta['totalPages'] as number)) break
    }
    expect(seen.length).to.equal(expected.length)
    const balances = new Map<string, number>()
    for (const line of lines) {
      const counts = !isResult(line) || line.on >= '2024-01-01'
      if (line.on < from && counts)
        balances.set(
          line.accountId,
          (balances.get(line.accountId) ?? 0) + (line.side === 'debit' ? 1 : -1) * (line.debit - line.credit),
        )
    }
    for (const row of seen) {
      const side = lines.find(({ accountId }) => accountId === row.accountId)?.side === 'debit' ? 1 : -1
      const id = row.accountId as string
      balances.set(id, (balances.get(id) ?? 0) + side * ((row['debit'] as number) - (row['credit'] as number)))
      expect(row['balance']).to.equal(balances.get(id))
    }
    const { totals } = await ask('general-ledger', { startDate: from, endDate: to, limit: '1' })
    const accounts = totals['accounts'] as unknown as { accountId: string; closing: number }[]
    for (const { accountId, closing } of accounts)
      if (balances.has(accountId)) expect(closing).to.equal(balances.get(accountId))
    const last = lines.at(-1) as FullLine
    const one = await ask('general-ledger', { startDate: from, endDate: to, accountId: last.accountId, limit: '1000' })
    expect(one.data.every(({ accountId }) => accountId === last.accountId)).to.equal(true)
  })

  it('the journal has every entry once, in order, with totals of the range', async () => {
    const [from, to] = ['2024-10-01', '2025-01-31']
    const seen: string[] = []
    const { totals, meta } = await ask('journal', { startDate: from, endDate: to, limit: '1' })
    for (let page = 1; page <= Math.ceil((meta['total'] as number) / 20); page += 1) {
      const { data } = await ask('journal', { startDate: from, endDate: to, page: String(page), limit: '20' })
      seen.push(...data.map((row) => row['entryId'] as string))
      for (const row of data) {
        const inside = row['lines'] as { debit: number; credit: number }[]
        expect(sum(inside.map(({ debit }) => debit))).to.equal(row['total'])
        expect(sum(inside.map(({ credit }) => credit))).to.equal(row['total'])
      }
    }
    const expected = [...new Set(within(from, to).map(({ entryId }) => entryId))]
    expect(seen).to.deep.equal(expected)
    expect(totals['debit']).to.equal(sum(within(from, to).map(({ debit }) => debit)))
  })

  it('hotel ledgers open where the day before closed, and sum to the lines', async () => {
    const [from, to] = ['2024-07-01', '2024-07-31']
    const { data } = await ask('hotel-ledgers', { startDate: from, endDate: to })
    const codes: Record<string, string[]> = {
      deposits: ['2.1.5.01'],
      guest_ledger: ['1.1.3.01'],
      receivables: ['1.1.3.02'],
      unallocated_receipts: ['2.1.5.04'],
      gateway_clearing: ['1.1.4.01'],
    }
    for (const propertyId of book.properties)
      for (const [ledger, of] of Object.entries(codes)) {
        const rows = data.filter((row) => row['propertyId'] === propertyId && row['ledger'] === ledger)
        expect(rows).to.have.length(31)
        for (const [index, row] of rows.entries())
          if (index > 0) expect(row['opening']).to.equal(rows[index - 1]?.['closing'])
        const own = lines.filter((line) => of.includes(line.code) && line.propertyId === propertyId && line.on <= to)
        const closing = net(own)
        expect(rows.at(-1)?.['closing']).to.equal(own[0]?.side === 'credit' ? 0 - closing : closing)
      }
  })

  it('reads of a member with chosen properties are of these alone, and the whole book is not theirs', async () => {
    const [propertyId = '', other = ''] = book.properties
    const finance = await openDesk(world, house, 'finance', [propertyId])
    const query = `bookId=${book.bookId}&startDate=2024-01-01&endDate=2024-12-31`
    const mine = await ask('income-statement', { startDate: '2024-01-01', endDate: '2024-12-31' }, finance)
    const own = within('2024-01-01', '2024-12-31').filter(
      (line) => isResult(line) && !line.closing && line.propertyId === propertyId,
    )
    expect(amountOf(mine, 'result')).to.equal(0 - net(own))
    expect(mine.meta['propertyIds']).to.deep.equal([propertyId])
    const refusals = [
      `balance-sheet?bookId=${book.bookId}`,
      `journal?${query}`,
      `cash-flow?${query}`,
      `consolidated-statements?${query}`,
      `trial-balance?${query}&propertyId=${other}`,
      `trial-balance?bookId=${house.bookId}`,
    ]
    for (const path of refusals) expect((await finance.get(`reports/${path}`)).status, path).to.equal(403)
    expect((await finance.get(`reports/balance-sheet?bookId=${book.bookId}&propertyId=${propertyId}`)).status).to.equal(
      200,
    )
    const reception = await openDesk(world, house, 'receptionist')
    expect((await reception.get(`reports/trial-balance?${query}`)).status).to.equal(403)
  })

  it('refuses ranges that end before they begin, that are too long, and what is not there', async () => {
    const code = async (path: string) => {
      const { status, body } = await owner.get(`reports/${path}`)
      return `${status} ${body.code as string}`
    }
    const bookId = `bookId=${book.bookId}`
    expect(await code(`trial-balance?${bookId}&startDate=2025-02-01&endDate=2025-01-01`)).to.equal('400 range_invalid')
    expect(await code('trial-balance')).to.equal('400 validation_failed')
    expect(await code(`trial-balance?${bookId}&startDate=2024-02-30`)).to.equal('400 validation_failed')
    expect(await code(`income-statement?${bookId}&by=month&compare=last_year`)).to.equal('400 validation_failed')
    expect(await code(`income-statement?${bookId}&compare=budget`)).to.equal('422 no_budget')
    expect(await code(`trial-balance?bookId=${house.propertyId}`)).to.equal('404 not_found')
    expect(await code(`trial-balance?${bookId}&propertyId=${house.propertyId}`)).to.equal('404 not_found')
    const { status, body } = await owner.get(`reports/general-ledger?${bookId}&startDate=2024-01-01&endDate=2025-12-31`)
    expect([status, body.code]).to.deep.equal([422, 'report_too_large'])
    const [{ field, message } = { field: '', message: '' }] = body.errors as { field: string; message: string }[]
    expect(field).to.equal('run')
    expect(JSON.parse(message)).to.deep.include({ report: 'general_ledger', format: 'csv' })
  })
})
