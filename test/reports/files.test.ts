import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import { readSheet } from 'read-excel-file/node'
import { extractText, getDocumentProxy } from 'unpdf'
import { wordOf } from '../../config/report-texts.ts'
import { reports } from '../../config/reports.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { deskOf } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { pay } from '../support/pay.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { postPlain, randomFrom } from './support.ts'

type Row = { key?: string; amount?: number } & Record<string, unknown>
type Told = { data: Row[]; totals: Record<string, unknown> }
type Cell = string | number
/** A total in a file: the row by its words, and the column by its title. */
type Place = { row: string; column: string; amount: number }

const statements = reports.filter(({ subject, atOnce }) => subject === 'FinancialReport' && atOnce)
/** Totals that stand in rows of other names. */
const rowNames: Record<string, string> = { opening: 'opening_cash', closing: 'closing_cash' }
/** Totals of the reply that are no amount of a file: a count, and the sums of each account, which stand beside its lines. */
const noAmounts = ['entries', 'accounts']
const word = (key: string) => wordOf(key, 'en')
const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

describe('files of statements', () => {
  const world = useWorld()
  let house: House
  let desk: Desk
  let token: string
  let range: { startDate: string; endDate: string }

  before(async () => {
    house = await makeHouse({ units: 1, amount: 20_000 })
    const person = await makeUser()
    await house.inHouse((trx) => addMembership(trx, { userId: person.userId, role: 'owner', propertyIds: null }))
    token = (await signIn(world, person)).token
    desk = deskOf(world, house.tenantId, token)
    range = { startDate: house.day(-20), endDate: house.today }
    await pay(house, await makeHold(house))
    await world.drain()
    const random = randomFrom(3)
    const codes = ['1.1.2.01', '1.2.3.03', '2.1.1.01', '2.1.3.05', '3.1.01', '4.1.01', '4.4.06', '5.1.09', '6.8.01']
    const some = () => codes[Math.floor(random() * codes.length)] as string
    await postPlain(
      house,
      Array.from({ length: 60 }, (_, index) => {
        const amount = 1 + Math.floor(random() * 9_000_000)
        const propertyId = house.propertyId
        return {
          on: house.day(-(index % 40)),
          lines: [
            { code: some(), debit: amount, propertyId },
            { code: some(), credit: amount, propertyId },
          ],
        }
      }),
    )
  })
  beforeEach(() => forgetLimits(world))

  const fileOf = async (report: string, format: string): Promise<Buffer> => {
    const body = { report, format, locale: 'en', parameters: { bookId: house.bookId, ...parametersOf(report) } }
    const { status, body: run } = await desk.send('POST', 'reports/runs', body)
    expect(status, JSON.stringify(run)).to.equal(201)
    await world.drain({ kinds: ['reports.run'] })
    const id = (run as { id: string }).id
    const reply = await fetch(`${world.baseUrl}/api/tenants/${house.tenantId}/reports/runs/${id}/file`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(reply.status).to.equal(200)
    return Buffer.from(await reply.arrayBuffer())
  }
  const parametersOf = (report: string): Record<string, string> =>
    report === 'balance_sheet' ? { asOf: range.endDate } : range
  const read = async (report: string): Promise<Told> => {
    const query = new URLSearchParams({ bookId: house.bookId, ...parametersOf(report) })
    const { status, body } = await desk.get(`reports/${report.replaceAll('_', '-')}?${query.toString()}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as Told
  }

  /** Places in a file of the totals of the reply: in a row of its own, or in the last row under its title. */
  const placesOf = ({ data, totals }: Told): Place[] => {
    const keys = new Set(data.map(({ key }) => key))
    const inRows = keys.has('assets') || keys.has('net_revenue') || keys.has('opening_cash')
    return Object.entries(totals)
      .filter(([key]) => !noAmounts.includes(key))
      .flatMap(([key, amount]): Place[] => {
        expect(amount, key).to.be.a('number')
        const name = rowNames[key] ?? snake(key)
        if (!inRows) return [{ row: word('totals'), column: word(key), amount: amount as number }]
        // A row of nothing may be left out.
        if (!keys.has(name)) expect(amount, `${key} has no row`).to.equal(0)
        return keys.has(name) ? [{ row: word(name), column: word('amount'), amount: amount as number }] : []
      })
  }
  const amountsIn = (rows: readonly Cell[][], places: readonly Place[]): number[] => {
    const header = rows.findIndex((row) => row.includes(word('code')) || row.includes(word('ledger')))
    expect(header).to.be.above(-1)
    return places.map(({ row, column }) => {
      const found = rows.slice(header + 1).filter((cells) => cells.some((cell) => String(cell).trim() === row))
      // The last: a group may have the name of its only account.
      const at = (rows[header] as Cell[]).lastIndexOf(column)
      expect(at, column).to.be.above(-1)
      return Math.round(Number(found.at(row === word('totals') ? -1 : 0)?.[at]) * 100)
    })
  }

  it('are those of the eight statements', () => {
    expect(statements.map(({ key }) => key)).to.have.members([
      'trial_balance',
      'balance_sheet',
      'income_statement',
      'cash_flow',
      'general_ledger',
      'journal',
      'taxes',
      'hotel_ledgers',
    ])
  })

  for (const { key } of statements) {
    it(`${key}: CSV, XLSX and PDF have the totals of the reply`, async () => {
      const told = await read(key)
      const places = placesOf(told)
      const amounts = places.map(({ amount }) => amount)
      expect(places.length, JSON.stringify(told.totals)).to.be.above(0)
      const csv = parse(await fileOf(key, 'csv'), { bom: true, relax_column_count: true, record_delimiter: '\r\n' })
      expect(amountsIn(csv, places), 'csv').to.deep.equal(amounts)
      const sheet = (await readSheet(await fileOf(key, 'xlsx'))) as Cell[][]
      expect(amountsIn(sheet, places), 'xlsx').to.deep.equal(amounts)
      const bytes = new Uint8Array(await fileOf(key, 'pdf'))
      const { text } = await extractText(await getDocumentProxy(bytes), { mergePages: true })
      for (const { row, amount } of places) {
        const shown = (Math.abs(amount) / 100).toLocaleString('en-US', { minimumFractionDigits: 2 })
        const from = text.lastIndexOf(row)
        expect(from, row).to.be.above(-1)
        expect(row === word('totals') ? text.slice(from) : text, `${row} of the PDF`).to.contain(shown)
      }
    })
  }

  it('have amounts to compare in every statement', async () => {
    for (const { key } of statements.filter((one) => one.key !== 'taxes')) {
      const amounts = placesOf(await read(key)).map(({ amount }) => amount)
      expect(
        amounts.filter((amount) => amount !== 0),
        key,
      ).to.have.length.above(0)
    }
  })
})
