import PdfDocument from 'pdfkit'
import SvgToPdf from 'svg-to-pdfkit'
import type { Column, FileRow } from '../../db/reports/index.ts'
import { majorText } from '../../config/minor-units.ts'
import { wordOf } from '../../config/report-texts.ts'
import { chartHeight, chartOf, mostMarks } from './chart.ts'
import { kindIn, pointOf } from './source.ts'
import type { Source, Writer } from './source.ts'

const margin = 36
const fontSize = 7.5
const lineHeight = 11
const indentOfLines = 18
const regular = 'Helvetica'
const strong = 'Helvetica-Bold'

// The letters of Windows-1252 beyond Latin-1, which the fonts of every reader have.
const beyond = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ'
const isShown = (sign: string) =>
  (sign >= ' ' && sign <= '~') || (sign >= '\u00a0' && sign <= '\u00ff') || beyond.includes(sign)

/** Text in the letters that the fonts have: marks are taken off others where that helps, and the rest are question marks. */
export const transliterated = (text: string): string =>
  Array.from(text.normalize('NFC').replace(/\s+/g, ' '))
    .map((sign) => {
      if (isShown(sign)) return sign
      const base = sign.normalize('NFKD').replace(/\p{M}/gu, '')
      return base !== '' && Array.from(base).every(isShown) ? base : '?'
    })
    .join('')

const cellOf = ({ currency, locale }: Source, column: Column, row: FileRow): string => {
  const { key } = column
  const kind = kindIn(column, row)
  const value = row[key]
  if (value === null || value === undefined) return ''
  if (kind === 'amount') {
    const [whole = '', fraction] = majorText(Number(value), currency, '.').split('.')
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, locale === 'en' ? ',' : '.')
    return fraction === undefined ? grouped : `${grouped}${pointOf(locale)}${fraction}`
  }
  if (kind === 'ratio') return String(value).replace('.', pointOf(locale))
  if (kind === 'flag') return wordOf(value === true ? 'yes' : 'no', locale)
  return transliterated(String(value))
}

const isNumber = ({ kind }: Column) => kind === 'amount' || kind === 'count' || kind === 'ratio' || kind === 'measure'
const share = ({ width, kind }: Column) => Math.min(width ?? (kind === 'amount' ? 15 : 11), 40)

/** Points in which the figures of a column can be read, and most of its title. */
const leastOf = (doc: PDFKit.PDFDocument, { title, kind, width = 11 }: Column): number => {
  const least = { amount: 60, measure: 60, count: 32, ratio: 36, day: 44, flag: 24, text: Math.min(width * 2.4, 100) }
  return Math.max(least[kind], Math.min(doc.widthOfString(transliterated(title)), 72)) + 4
}

type Placed = { column: Column; line: number; left: number; width: number }

/** Places of columns on a page: side by side where that leaves room for their figures, else a row takes several lines, of which all but the first are indented. */
const placesOf = (doc: PDFKit.PDFDocument, columns: readonly Column[]): Placed[] => {
  const room = doc.page.width - 2 * margin
  const lines: Column[][] = [[]]
  let used = 0
  for (const column of columns) {
    const least = leastOf(doc, column)
    if (used > 0 && used + least > room) {
      lines.push([])
      used = indentOfLines
    }
    lines.at(-1)?.push(column)
    used += least
  }
  const weigh = (column: Column) => (lines.length === 1 ? share(column) : leastOf(doc, column))
  return lines.flatMap((of, line) => {
    const indent = line === 0 ? 0 : indentOfLines
    const all = of.reduce((sum, column) => sum + weigh(column), 0)
    let left = margin + indent
    return of.map((column): Placed => {
      // The last line is as wide as it needs to be.
      const width =
        (weigh(column) * (room - indent)) / (line > 0 && line === lines.length - 1 ? Math.max(all, room - indent) : all)
      const placed = { column, line, left, width: width - 4 }
      left += width
      return placed
    })
  })
}

/** The end of a text that does not fit is cut off. Widths are measured, since letters differ. */
const fitted = (doc: PDFKit.PDFDocument, text: string, width: number): string => {
  if (doc.widthOfString(text) <= width) return text
  let most = text.length
  while (most > 0 && doc.widthOfString(`${text.slice(0, most)}…`) > width)
    most -= Math.max(1, Math.floor((doc.widthOfString(text.slice(0, most)) - width) / fontSize))
  return `${text.slice(0, Math.max(0, most))}…`
}

/** Members of pdfkit that its types lack: objects of the file, and the font in use. */
type Objects = PDFKit.PDFDocument & {
  ref: (data: object) => { write: (bytes: Buffer) => void; end: () => void; data: Record<string, unknown> }
  _font: { id: string; ref: () => unknown }
  page: { xobjects: Record<string, unknown> }
}

class Pages {
  private readonly doc: Objects
  private readonly source: Source
  private readonly columns: readonly Placed[]
  /** Points that a row takes. */
  private readonly height: number
  /** Drawn on every page, and written once the number of pages is known: no page waits in memory for it. */
  private readonly total: ReturnType<Objects['ref']>
  private count = 0
  private y = 0

  constructor(doc: PDFKit.PDFDocument, source: Source) {
    this.doc = doc as Objects
    this.source = source
    this.total = this.doc.ref({ Type: 'XObject', Subtype: 'Form', BBox: [0, -4, 60, 12] })
    const shown = source.columns.filter(({ key }) => key !== 'usaliCode' && key !== 'referentialCode')
    doc.font(strong).fontSize(fontSize)
    this.columns = placesOf(doc, shown)
    const lines = (this.columns.at(-1)?.line ?? 0) + 1
    this.height = lines * lineHeight + (lines > 1 ? 3 : 0)
  }

  private text(text: string, left: number, width: number, align: 'left' | 'right' = 'left', line = 0) {
    const y = this.y + line * lineHeight
    this.doc.text(fitted(this.doc, text, width), left, y, { width: width + 1, align, lineBreak: false })
  }

  /** A figure is never cut off: one that does not fit is written smaller. */
  private figure(text: string, { left, width, line }: Placed) {
    const { doc } = this
    const wide = doc.widthOfString(text)
    if (wide > width) doc.fontSize((fontSize * width) / (wide + 1))
    this.text(text, left, width, 'right', line)
    doc.fontSize(fontSize)
  }

  /** A page with its head, below which rows or charts stand. */
  private begin() {
    const { doc, source } = this
    if (this.count > 0) doc.addPage()
    this.count += 1
    this.y = margin
    doc.font(strong).fontSize(10)
    this.text(transliterated(source.title), margin, doc.page.width - 2 * margin)
    doc.font(regular).fontSize(fontSize)
    this.y += 14
    for (const [label, value] of [['', source.house] as const, ...(this.count === 1 ? source.head.slice(1) : [])]) {
      this.text(transliterated(label === '' ? value : `${label}: ${value}`), margin, doc.page.width - 2 * margin)
      this.y += lineHeight
    }
    this.y += 4
    this.foot()
  }

  private titles() {
    const { doc } = this
    doc.font(strong)
    for (const { column, left, width, line } of this.columns)
      this.text(transliterated(column.title), left, width, isNumber(column) ? 'right' : 'left', line)
    this.y += this.height
    doc
      .moveTo(margin, this.y - 2)
      .lineTo(doc.page.width - margin, this.y - 2)
      .lineWidth(0.5)
      .stroke()
    doc.font(regular)
  }

  private foot() {
    const { doc } = this
    const [before = ''] = wordOf('page_of', this.source.locale).replace('{page}', String(this.count)).split('{pages}')
    const y = this.y
    this.y = doc.page.height - margin + 6
    const width = doc.widthOfString(before)
    const left = doc.page.width - margin - width - 24
    this.text(before, left, width + 4)
    doc.page.xobjects['Pages'] = this.total
    doc.addContent(`q 1 0 0 -1 ${(left + width).toFixed(2)} ${(this.y + fontSize * 0.72).toFixed(2)} cm /Pages Do Q`)
    this.y = y
  }

  /** Draws the charts of all rows above them. */
  charts(rows: readonly FileRow[]) {
    const { doc, source } = this
    const { columns } = source
    const width = doc.page.width - 2 * margin
    const figure = (column: Column, row: FileRow) => cellOf(source, column, row)
    const series = columns.map((column) => ({ ...column, title: transliterated(column.title) }))
    for (const chart of source.charts) {
      const svg = chartOf(chart, { rows, columns: series, figure, width })
      if (svg === null) continue
      if (this.count === 0 || this.y + chartHeight > doc.page.height - margin) this.begin()
      SvgToPdf(doc, svg, margin, this.y, { fontCallback: () => regular, assumePt: true })
      doc.font(regular).fontSize(fontSize).fillColor('black').strokeColor('black')
      this.y += chartHeight + 8
    }
    if (this.count > 0) this.titles()
  }

  row(row: FileRow, isStrong: boolean) {
    const { doc } = this
    if (this.count === 0 || this.y > doc.page.height - margin - this.height) {
      this.begin()
      this.titles()
    }
    doc.font(isStrong ? strong : regular)
    const indent = typeof row.level === 'number' ? row.level * 6 : 0
    for (const placed of this.columns) {
      const { column, left, width, line } = placed
      const text = cellOf(this.source, column, row)
      if (text === '') continue
      const inset = column.key === 'name' ? indent : 0
      if (isNumber(column)) this.figure(text, placed)
      else this.text(text, left + inset, width - inset, 'left', line)
    }
    this.y += this.height
  }

  end() {
    if (this.count === 0) {
      this.begin()
      this.titles()
    }
    this.doc.font(regular)
    const font = this.doc._font
    this.total.data['Resources'] = { Font: { [font.id]: font.ref() } }
    this.total.write(Buffer.from(`BT /${font.id} ${fontSize} Tf 0 0 Td (${this.count}) Tj ET`))
    this.total.end()
    this.doc.end()
  }
}

/** So many rows, or all of them where there are fewer. */
const ahead = async (rows: AsyncIterator<FileRow>, most: number): Promise<FileRow[]> => {
  const taken: FileRow[] = []
  while (taken.length < most) {
    const { done, value } = await rows.next()
    if (done === true) break
    taken.push(value)
  }
  return taken
}

/** A PDF on A4, landscape where it has many columns, with head, charts and page of pages. Pages are written as they are filled. */
export const pdfFile: Writer = async function* (source) {
  const layout = source.columns.length > 6 ? 'landscape' : 'portrait'
  const doc = new PdfDocument({ size: 'A4', layout, margin, info: { Title: transliterated(source.title) } })
  // pdfkit breaks pages by itself below the margin, where the number of the page stands.
  doc.page.margins.bottom = 0
  doc.on('pageAdded', () => {
    doc.page.margins.bottom = 0
  })
  const pages = new Pages(doc, source)
  const isOfLevels = source.columns.some(({ key }) => key === 'name')
  let written = 0
  const taken = function* () {
    for (let bytes = doc.read() as Buffer | null; bytes !== null; bytes = doc.read() as Buffer | null) yield bytes
  }
  const rows = source.rows[Symbol.asyncIterator]()
  const first = source.charts.length === 0 ? [] : await ahead(rows, mostMarks + 1)
  if (first.length <= mostMarks) pages.charts(first)
  const all = async function* () {
    yield* first
    yield* { [Symbol.asyncIterator]: () => rows }
  }
  for await (const row of all()) {
    pages.row(row, isOfLevels && row.level === 0 && source.columns.length < 8)
    written += 1
    // Compressed pages come a moment later.
    if (written % 200 === 0) {
      await new Promise((resolve) => setImmediate(resolve))
      yield* taken()
    }
  }
  const last = source.foot()
  if (last) pages.row(last, true)
  pages.end()
  for await (const bytes of doc) yield bytes as Buffer
}
