import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import { readSheet } from 'read-excel-file/node'
import { extractText, getDocumentProxy } from 'unpdf'
import { reportKeys, reportOf } from '../../config/reports.ts'
import type { ReportKey } from '../../config/reports.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { report } from '../../db/reports/index.ts'
import type { Column, FileRow } from '../../db/reports/index.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { closeOpenDay, makeLateHouse, makeStays, payAll } from '../night-audit/support.ts'
import { deskOf } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

type Cell = string | number | boolean | Date | null
type Run = { id: string; status: string; parameters: Record<string, unknown> }
const formats = ['json', 'csv', 'xlsx', 'pdf'] as const

/** Parameters under which a report has more columns or rows than without them. */
const asked: Partial<Record<ReportKey, Record<string, unknown>>> = {
  pace: { compare: 'last_year' },
  financial_overview: { compare: 'previous_period' },
  income_statement: { compare: 'previous_period' },
  trial_balance: { level: 'group' },
  forecast: { days: 5 },
}
const ofOneHouse: ReadonlySet<ReportKey> = new Set(['daily_revenue', 'forecast'])
const ofHouses: ReadonlySet<ReportKey> = new Set([
  'occupancy',
  'pace',
  'production',
  'housekeeping',
  'inventory_cost',
  'open_folios',
  'deposits_held',
  'payments_by_method',
  'register_sessions',
  'stock_value',
])

/** A cell as people of Brazil write it; null where it is empty. */
const written = ({ kind, key }: Column, row: FileRow, grouped: boolean): string | null => {
  const value = row[key]
  if (value === null || value === undefined || value === '') return null
  const of = kind === 'measure' ? String(row['unit']) : kind
  if (of === 'ratio') return String(value).replace('.', ',')
  if (of !== 'amount') return String(value)
  const [whole = '', cents = ''] = (Math.abs(Number(value)) / 100).toFixed(2).split('.')
  return `${Number(value) < 0 ? '-' : ''}${grouped ? whole.replace(/\B(?=(\d{3})+$)/g, '.') : whole},${cents}`
}
const typed = ({ kind, key }: Column, row: FileRow): Cell => {
  const value = row[key]
  if (value === null || value === undefined || value === '') return null
  const of = kind === 'measure' ? row['unit'] : kind
  if (of === 'amount') return Number(value) / 100
  if (of === 'count' || of === 'ratio') return Number(value)
  return of === 'flag' ? value === true : String(value)
}
const plain = (cell: Cell | undefined): Cell =>
  cell instanceof Date ? cell.toISOString().slice(0, 10) : typeof cell === 'string' ? cell.trim() : (cell ?? null)

describe('a report says the same', () => {
  const world = useWorld()
  let house: House
  let desk: Desk
  let token: string

  before(async () => {
    house = await makeLateHouse(3, { units: 4 })
    await makeHouse({ units: 2, tenantId: house.tenantId })
    const person = await makeUser()
    await house.inHouse((trx) => addMembership(trx, { userId: person.userId, role: 'owner', propertyIds: null }))
    token = (await signIn(world, person)).token
    desk = deskOf(world, house.tenantId, token)
    await makeStays(house, 2, { from: -3, nights: 2, checkedIn: true })
    const [paid = ''] = await makeStays(house, 1, { from: 1, nights: 2 })
    await payAll(house, paid)
    await closeOpenDay(house)
    await closeOpenDay(house)
    await world.drain()
  })
  beforeEach(() => forgetLimits(world))

  const parametersOf = (key: ReportKey): Record<string, unknown> => {
    const { parameters, subject } = reportOf(key)
    return {
      ...(ofOneHouse.has(key) ? { propertyId: house.propertyId } : {}),
      ...(ofHouses.has(key) ? { propertyId: [house.propertyId] } : {}),
      ...(!ofOneHouse.has(key) && !ofHouses.has(key) && subject === 'FinancialReport' ? { bookId: house.bookId } : {}),
      ...('startDate' in parameters ? { startDate: house.day(-5), endDate: house.day(2) } : {}),
      ...asked[key],
    }
  }
  const runOf = async (key: ReportKey, format: string): Promise<Run> => {
    const { status, body } = await desk.send('POST', 'reports/runs', {
      report: key,
      format,
      locale: 'pt-BR',
      parameters: parametersOf(key),
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body as Run
  }
  const fileOf = async (id: string): Promise<Buffer> => {
    const reply = await fetch(`${world.baseUrl}/api/tenants/${house.tenantId}/reports/runs/${id}/file`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(reply.status, JSON.stringify((await desk.get(`reports/runs/${id}`)).body)).to.equal(200)
    return Buffer.from(await reply.arrayBuffer())
  }
  const readingOf = (key: ReportKey, parameters: Record<string, unknown>) =>
    inTenant(house.tenantId, async (trx) => {
      const reading = await report(key).open(trx, parameters, { propertyIds: null, locale: 'pt-BR' }, null)
      const rows: object[] = []
      const cells: FileRow[] = []
      for await (const row of reading.rows) {
        rows.push(row)
        cells.push(...reading.flat(row))
      }
      cells.push(...(reading.tail?.() ?? []))
      const foot = reading.foot()
      return { columns: reading.columns, rows, totals: reading.totals(), cells: foot ? [...cells, foot] : cells }
    })
  const answerOf = async (key: ReportKey, parameters: Record<string, unknown>) => {
    const query = new URLSearchParams(
      Object.entries(parameters).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, String(one)]),
      ),
    )
    const { status, body } = await desk.get(`reports/${key.replaceAll('_', '-')}?${query.toString()}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as { data: object[]; totals: object }
  }

  it('in its files as in its reply: tasks by kind, and conditions of days without tasks', async () => {
    const { cells, rows, totals } = await readingOf('housekeeping', parametersOf('housekeeping'))
    const { kinds, days } = totals as {
      kinds: object[]
      days: { date: string; conditions: { units: number }[] }[]
    }
    const ofRows = (rows as { kinds: { planned: number }[] }[]).flatMap((row) => row.kinds)
    expect(ofRows.length).to.be.greaterThan(0)
    const told = cells.filter((cell) => cell['taskKind'] !== undefined)
    expect(told.map((cell) => cell['planned'])).to.deep.equal(
      [...ofRows, ...(kinds as { planned: number }[])].map(({ planned }) => planned),
    )
    expect(days.length).to.be.greaterThan(1)
    expect(
      cells.filter((cell) => cell['condition'] !== undefined).map((cell) => [cell['date'], cell['units']]),
    ).to.deep.equal(days.flatMap(({ date, conditions }) => conditions.map(({ units }) => [date, units])))
  })

  for (const key of reportKeys)
    it(`at once, in JSON, CSV, XLSX and PDF: ${key}`, async () => {
      const runs = new Map<string, Run>()
      for (const format of formats) runs.set(format, await runOf(key, format))
      await world.drain({ kinds: ['reports.run'] })
      const file = (format: string) => fileOf(runs.get(format)?.id ?? '')
      const { parameters } = (await desk.get(`reports/runs/${runs.get('json')?.id}`)).body as Run
      const { columns, cells, rows, totals } = await readingOf(key, parameters)

      const json = JSON.parse(String(await file('json'))) as { data: object[]; totals: object }
      expect(json.data).to.deep.equal(JSON.parse(JSON.stringify(rows.filter((row) => !('mark' in row)))))
      expect(json.totals).to.deep.equal(JSON.parse(JSON.stringify(totals)))
      if (reportOf(key).atOnce) {
        const { data, totals: answered } = await answerOf(key, parameters)
        const isPaged = reportOf(key).paged === true
        expect(data.length).to.equal(isPaged ? Math.min(100, json.data.length) : json.data.length)
        const told = (of: object[]) => of.slice(0, data.length).map((row) => ({ ...row, name: '' }))
        // Names are in the language of the tenant, or of the run.
        expect(told(data)).to.deep.equal(told(json.data))
        expect({ ...answered, accounts: 0 }).to.deep.equal({ ...json.totals, accounts: 0 })
      }

      const titles = columns.map(({ title }) => title)
      const csv = parse(await file('csv'), { bom: true, delimiter: ';', relax_column_count: true })
      const header = csv.findIndex(
        (row) => row.length === titles.length && row.every((cell, at) => cell === titles[at]),
      )
      expect(header, 'header of the CSV').to.be.above(0)
      expect(csv.slice(header + 1)).to.deep.equal(
        cells.map((row) =>
          columns.map((column) =>
            column.kind === 'flag'
              ? row[column.key] === undefined
                ? ''
                : row[column.key] === true
                  ? '1'
                  : '0'
              : (written(column, row, false) ?? ''),
          ),
        ),
      )

      const sheet = ((await readSheet(await file('xlsx'))) as Cell[][]).map((row) => row.map(plain))
      expect(sheet.slice(-cells.length - 1).map((row) => titles.map((_, at) => row[at] ?? null))).to.deep.equal([
        titles.map((title) => plain(title)),
        ...cells.map((row) => columns.map((column) => plain(typed(column, row)))),
      ])

      const { text } = await extractText(await getDocumentProxy(new Uint8Array(await file('pdf'))), {
        mergePages: true,
      })
      const words = new Map<string, number>()
      for (const word of text.split(/\s+/)) words.set(word, (words.get(word) ?? 0) + 1)
      for (const row of cells)
        for (const column of columns) {
          const of = column.kind === 'measure' ? row['unit'] : column.kind
          const figure = of === 'amount' || of === 'ratio' ? written(column, row, true) : null
          if (figure === null) continue
          const left = words.get(figure) ?? 0
          expect(left, `${figure} of ${column.title}`).to.be.above(0)
          words.set(figure, left - 1)
        }
    })
})
