import { expect } from 'chai'
import { extractText, getDocumentProxy } from 'unpdf'
import type { Chart, Column, FileRow } from '../../db/reports/index.ts'
import { chartOf, mostMarks, stepsOf } from '../../workers/reports/chart.ts'
import { pdfFile } from '../../workers/reports/pdf.ts'

const columns: Column[] = [
  { key: 'name', title: 'Name', kind: 'text' },
  { key: 'revenue', title: 'Revenue', kind: 'amount' },
  { key: 'before', title: 'Year <before> & "all"', kind: 'amount' },
  { key: 'occupancy', title: 'Occupancy', kind: 'ratio' },
]
const figure = ({ key, kind }: Column, row: FileRow) => {
  const value = row[key]
  return value === null || value === undefined
    ? ''
    : kind === 'amount'
      ? (Number(value) / 100).toFixed(2)
      : String(value)
}
const rowsOf = (count: number): FileRow[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `Day <${index}> & "more"`,
    revenue: (index * 7_919) % 100_000,
    before: index % 5 === 3 ? null : ((index * 104_729) % 90_000) - 20_000,
    occupancy: (((index * 37) % 100) / 100).toFixed(4),
  }))
const both: Chart = { label: 'name', keys: ['revenue', 'before'] }
const draw = (rows: readonly FileRow[], chart = both) => chartOf(chart, { rows, columns, figure, width: 523 })

/** Names of the elements of a text that is well-formed XML; throws otherwise. */
const elementsOf = (xml: string): string[] => {
  const open: string[] = []
  const names: string[] = []
  const token = /<(\/?)([a-z]+)((?: [a-zA-Z][\w:-]*="[^"<&]*")*)(\/?)>|([^<>&]|&(?:amp|lt|gt|quot);)+/gy
  let end = 0
  for (let found = token.exec(xml); found; found = token.exec(xml)) {
    end = token.lastIndex
    const [, closes, name, , isEmpty] = found
    if (name === undefined) continue
    if (closes) expect(open.pop(), xml.slice(0, end).slice(-200)).to.equal(name)
    else {
      names.push(name)
      if (!isEmpty) open.push(name)
    }
    if (end === xml.length) break
  }
  expect(xml.slice(end, end + 80), 'what is no XML').to.equal('')
  expect(open).to.deep.equal([])
  return names
}
const unescaped = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
const titlesOf = (svg: string) =>
  [...svg.matchAll(/<title>([^<]*)<\/title>/g)].map(([, text = '']) => unescaped(text)).toSorted()
const told = (rows: readonly FileRow[], keys: readonly string[]) =>
  keys
    .flatMap((key) => {
      const column = columns.find((one) => one.key === key)
      return rows.flatMap((row) =>
        row[key] === null || !column ? [] : [`${String(row['name'])}: ${figure(column, row)}`],
      )
    })
    .toSorted()

describe('charts of reports', () => {
  it('are well-formed SVG, and carry the figures of the table, as bars and as lines', () => {
    for (const count of [2, 8, 62, 63, 400]) {
      const rows = rowsOf(count)
      const svg = draw(rows) ?? ''
      expect(elementsOf(svg)[0]).to.equal('svg')
      expect(titlesOf(svg), `${count} rows`).to.deep.equal(told(rows, ['revenue', 'before']))
    }
  })

  it('draw bars as long as their figures, below zero too, and tell series apart without colours', () => {
    const rows = rowsOf(30)
    const svg = draw(rows) ?? ''
    const zero = Number(/y1="([\d.]+)"[^>]*stroke="#1f2933"/.exec(svg)?.[1])
    const bars = [
      ...svg.matchAll(
        /<rect x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"[^>]*fill="([^"]+)"[^>]*><title>/g,
      ),
    ]
    const values = [...rows.map((row) => row['revenue']), ...rows.flatMap((row) => row['before'] ?? [])].map(Number)
    expect(bars).to.have.length(values.length)
    const longest = values.reduce(
      (most, value, index) => (Math.abs(value) > Math.abs(values[most] ?? 0) ? index : most),
      0,
    )
    const scale = Number(bars[longest]?.[2]) / Math.abs(values[longest] ?? 1)
    for (const [index, value] of values.entries()) {
      const [, top, height] = bars[index] ?? []
      expect(Number(height), `bar ${index}`).to.be.closeTo(Math.abs(value) * scale, 0.02)
      expect(value < 0 ? Number(top) : Number(top) + Number(height)).to.be.closeTo(zero, 0.02)
    }
    expect(new Set(bars.map(([, , , fill]) => fill))).to.deep.equal(new Set(['#1f2933', '#ffffff']))
    expect(draw(rowsOf(90))).to.match(/stroke-dasharray/)
  })

  it('have round steps that hold every value and zero, whole ones for counts and money', () => {
    for (const [values, isWhole] of [
      [[0.3, 0.81], false],
      [[1, 3], true],
      [[-20_000, 70_000], true],
      [[-5, -1], true],
      [[9_007_199_254_740_991], true],
    ] as const) {
      const steps = stepsOf(values, isWhole)
      expect(Math.min(...steps)).to.be.at.most(Math.min(0, ...values))
      expect(Math.max(...steps)).to.be.at.least(Math.max(0, ...values))
      expect(steps).to.include(0)
      expect(steps.length).to.be.within(2, 7)
      if (isWhole) expect(steps.every(Number.isInteger)).to.equal(true)
    }
  })

  it('are left out where there is nothing to compare, and take the rows that they are of', () => {
    expect(draw(rowsOf(1))).to.equal(null)
    expect(draw(rowsOf(5).map((row) => ({ ...row, revenue: 0, before: null })))).to.equal(null)
    const some = draw(rowsOf(9), { ...both, takes: ({ name }) => String(name) < 'Day <4' }) ?? ''
    expect(titlesOf(some)).to.deep.equal(told(rowsOf(4), ['revenue', 'before']))
  })

  it('stand above the table of a PDF, which has every row all the same', async () => {
    const pagesOf = async (count: number) => {
      const rows = rowsOf(count)
      const parts: Uint8Array[] = []
      const file = pdfFile({
        title: 'Occupancy',
        house: 'Sol',
        head: [['Report', 'Occupancy']],
        columns,
        charts: [{ label: 'name', keys: ['occupancy'] }, both],
        rows: (async function* () {
          yield* rows
        })(),
        foot: () => ({ name: 'Total', revenue: 1_234_567 }),
        currency: 'BRL',
        locale: 'en',
      })
      for await (const part of file) parts.push(Buffer.from(part))
      return extractText(await getDocumentProxy(new Uint8Array(Buffer.concat(parts))))
    }
    const { text } = await pagesOf(7)
    const [page = ''] = text
    for (const row of rowsOf(7)) {
      const amount = (Number(row['revenue']) / 100).toLocaleString('en-US', { minimumFractionDigits: 2 })
      // At its bar, and in the table.
      expect(page.split(amount).length - 1, amount).to.be.at.least(2)
    }
    expect(page.indexOf('Occupancy', 20)).to.be.lessThan(page.indexOf('12,345.67'))
    for (const count of [200, mostMarks + 1]) {
      const { text: pages, totalPages } = await pagesOf(count)
      const whole = pages.join(' ')
      for (const row of rowsOf(count)) expect(whole).to.contain(String(row['name']))
      // The name of a series stands above the column of each page, and once beside its chart.
      expect(whole.split('Revenue').length - 1).to.equal(totalPages + (count === 200 ? 1 : 0))
    }
  })
})
