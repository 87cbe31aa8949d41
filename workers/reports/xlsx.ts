import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import { majorText, minorDigits } from '../../config/minor-units.ts'
import { dayNumber } from '../../config/time.ts'
import type { Column, FileRow } from '../../db/reports/index.ts'
import { kindIn } from './source.ts'
import type { Source, Writer } from './source.ts'

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'

// Characters that XML cannot hold, and halves of pairs.
const unfit = /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|\p{Cs}/gu
const escaped = (text: string) =>
  text
    .replace(unfit, '')
    .replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? sign)

/** Texts that are kept to be named by their number; those beyond stand in their cell, so that memory stays bounded. */
const mostTexts = 50_000

class Texts {
  private readonly places = new Map<string, number>()

  cell(at: string, text: string, style = 0): string {
    const place = this.places.get(text) ?? (this.places.size < mostTexts ? this.places.size : null)
    const open = `<c r="${at}"${style === 0 ? '' : ` s="${style}"`}`
    if (place === null) return `${open} t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`
    this.places.set(text, place)
    return `${open} t="s"><v>${place}</v></c>`
  }

  *file(): Generator<string> {
    yield `${xml}<sst xmlns="${main}" uniqueCount="${this.places.size}">`
    for (const text of this.places.keys()) yield `<si><t xml:space="preserve">${escaped(text)}</t></si>`
    yield '</sst>'
  }
}

const letters = (index: number): string =>
  index < 26 ? String.fromCharCode(65 + index) : `${letters(Math.floor(index / 26) - 1)}${letters(index % 26)}`

// Styles by their place in `cellXfs`.
const plain = 0
const bold = 1
const styleOf: Record<Exclude<Column['kind'], 'measure'>, number> = {
  text: plain,
  flag: plain,
  day: 2,
  amount: 3,
  ratio: 4,
  count: 5,
}
const boldAmount = 6

/** Days since the last day of 1899, which is the 0 of spreadsheets. */
const serialOf = (day: string) => dayNumber(day) - dayNumber('1899-12-30')

const cellOf = (
  texts: Texts,
  at: string,
  column: Column,
  row: FileRow,
  { currency }: Source,
  isStrong: boolean,
): string => {
  const { key } = column
  const kind = kindIn(column, row)
  const value = row[key]
  if (value === null || value === undefined || value === '') return ''
  const style = isStrong && kind === 'amount' ? boldAmount : isStrong && kind === 'text' ? bold : styleOf[kind]
  const number = (text: string) => `<c r="${at}" s="${style}"><v>${text}</v></c>`
  if (kind === 'amount') return number(majorText(Number(value), currency))
  if (kind === 'count' || kind === 'ratio') return number(String(value))
  if (kind === 'day') return number(String(serialOf(String(value))))
  if (kind === 'flag') return `<c r="${at}" t="b"><v>${value === true ? 1 : 0}</v></c>`
  return texts.cell(at, String(value), style)
}

const widthOf = ({ width, kind }: Column) => width ?? (kind === 'amount' || kind === 'measure' ? 18 : 12)

async function* sheet(source: Source, texts: Texts): AsyncGenerator<string> {
  const { head, columns, rows, foot } = source
  const top = head.length + 2
  let line = 0
  const row = (cells: (at: (column: number) => string) => string) => {
    line += 1
    return `<row r="${line}">${cells((column) => `${letters(column)}${line}`)}</row>`
  }
  const data = (given: FileRow, isStrong: boolean) =>
    row((at) => columns.map((column, index) => cellOf(texts, at(index), column, given, source, isStrong)).join(''))
  yield `${xml}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="${top}" topLeftCell="A${top + 1}" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`
  yield columns
    .map((column, index) => `<col min="${index + 1}" max="${index + 1}" width="${widthOf(column)}" customWidth="1"/>`)
    .join('')
  yield '</cols><sheetData>'
  for (const [label, value] of head) yield row((at) => `${texts.cell(at(0), label, bold)}${texts.cell(at(1), value)}`)
  line += 1
  yield row((at) => columns.map(({ title }, index) => texts.cell(at(index), title, bold)).join(''))
  const isOfLevels = columns.some(({ key }) => key === 'name')
  for await (const given of rows)
    yield data(given, isOfLevels && given.level === 0 && 'level' in given && columns.length < 8)
  const last = foot()
  if (last) yield data(last, true)
  yield '</sheetData></worksheet>'
}

const styles = (currency: string) => {
  const digits = minorDigits(currency)
  const money = `#,##0${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`
  const format = (id: number, font = 0) =>
    `<xf numFmtId="${id}" fontId="${font}" fillId="0" borderId="0" xfId="0"${id === 0 ? '' : ' applyNumberFormat="1"'}${font === 0 ? '' : ' applyFont="1"'}/>`
  return `${xml}<styleSheet xmlns="${main}"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="${money}"/><numFmt numFmtId="166" formatCode="0.0000"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="7">${format(0)}${format(0, 1)}${format(164)}${format(165)}${format(166)}${format(1)}${format(165, 1)}</cellXfs></styleSheet>`
}

const sheetName = (title: string) => escaped(title.replace(/[[\]:*?/\\]/g, ' ').slice(0, 31))

/** A workbook of one sheet: typed cells, no formulas, frozen header. The container is written by yazl as the rows come. */
export const xlsxFile: Writer = async function* (source) {
  const zip = new ZipFile()
  const texts = new Texts()
  const part = (type: string) => `application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml`
  const add = (path: string, text: string) => zip.addBuffer(Buffer.from(text), path)
  add(
    '[Content_Types].xml',
    `${xml}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${part('sheet.main')}"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${part('worksheet')}"/><Override PartName="/xl/styles.xml" ContentType="${part('styles')}"/><Override PartName="/xl/sharedStrings.xml" ContentType="${part('sharedStrings')}"/></Types>`,
  )
  add(
    '_rels/.rels',
    `${xml}<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  )
  add(
    'xl/workbook.xml',
    `${xml}<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="${sheetName(source.title)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  )
  add(
    'xl/_rels/workbook.xml.rels',
    `${xml}<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${office}/styles" Target="styles.xml"/><Relationship Id="rId3" Type="${office}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
  )
  add('xl/styles.xml', styles(source.currency))
  const rows = Readable.from(sheet(source, texts), { objectMode: true, encoding: 'utf8' })
  const output = zip.outputStream as Readable
  const failed = (error: Error) => output.destroy(error)
  rows.on('error', failed)
  zip.on('error', failed)
  zip.addReadStream(rows, 'xl/worksheets/sheet1.xml')
  // Asked for once the sheet is written, when all texts are known.
  zip.addReadStreamLazy('xl/sharedStrings.xml', (then) => then(null, Readable.from(texts.file())))
  zip.end()
  for await (const bytes of output) yield bytes as Buffer
}
