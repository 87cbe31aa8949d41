import { readFileSync } from 'node:fs'

/** Reads a table that lies beside this file, in the sources and in the compiled output alike. */
const table = (name: string): Record<string, string>[] => {
  const [head = '', ...rows] = readFileSync(new URL(name, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  const columns = head.split('\t')
  return rows.map((row) => {
    const cells = row.split('\t')
    return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']))
  })
}

export const accountClasses = ['asset', 'liability', 'equity', 'revenue', 'expense'] as const
export const controls = [
  'cash',
  'transit',
  'guest',
  'deposit',
  'receivable',
  'gateway',
  'dispute',
  'unallocated',
  'refund',
  'supplier',
  'advance',
  'received',
  'stock',
  'pos',
] as const
export const journalKinds = ['general', 'sales', 'purchases', 'cash', 'stock', 'opening', 'closing'] as const

export type AccountClass = (typeof accountClasses)[number]
export type Side = 'debit' | 'credit'
export type Control = (typeof controls)[number]
export type JournalKind = (typeof journalKinds)[number]

export type ChartAccount = {
  code: string
  nameEn: string
  namePt: string
  class: AccountClass
  side: Side
  postable: boolean
  control: Control | null
  role: string | null
  section: string | null
  cashFlow: string | null
}

const oneOf = <T extends string>(values: readonly T[], value: string, where: string): T => {
  const found = values.find((one) => one === value)
  if (found === undefined) throw new Error(`${where}: ${value} is none of ${values.join(', ')}`)
  return found
}

/** The side on which accounts of a class grow; contra accounts differ from it. */
export const sideOf = (accountClass: AccountClass): Side =>
  accountClass === 'asset' || accountClass === 'expense' ? 'debit' : 'credit'

/** The default chart, parents before their children. */
export const chart: readonly ChartAccount[] = table('financial-chart.tsv').map((row) => {
  const code = row['code'] ?? ''
  const accountClass = oneOf(accountClasses, row['class'] ?? '', code)
  return {
    code,
    nameEn: row['name_en'] ?? '',
    namePt: row['name_pt'] ?? '',
    class: accountClass,
    side: row['side'] ? oneOf(['debit', 'credit'], row['side'], code) : sideOf(accountClass),
    postable: row['type'] === 'account',
    control: row['control'] ? oneOf(controls, row['control'], code) : null,
    role: row['role'] || null,
    section: row['section'] || null,
    cashFlow: row['cash_flow'] || null,
  }
})

const controlByRole = new Map(
  chart.flatMap((account) => (account.role ? [[account.role, account.control] as const] : [])),
)
export const roles: readonly string[] = [...controlByRole.keys()]
export const isRole = (role: string) => controlByRole.has(role)
export const controlOf = (role: string): Control | null => controlByRole.get(role) ?? null

/** One line of a business event: an account found by role or selector, and the key of its amount. */
export type PostingLine = {
  side: Side
  /** `role` as in the chart, or a selector without its `@`. */
  target: string
  selector: boolean
  /** The id in `payload.documents` that the line carries. */
  document: string | null
  key: string
  list: boolean
  signed: boolean
}

export type PostingDefinition = {
  event: string
  raisedWhen: string
  /** Portuguese words for the diary of a book in Brazil, which the law wants in Portuguese. */
  textPt: string
  dated: 'day' | 'document'
  source: string
  lines: readonly PostingLine[]
  /** Keys whose sums must agree. */
  identity: { left: readonly string[]; right: readonly string[] } | null
  /** Events that this one turns round; empty for ordinary events. */
  mirrors: readonly string[]
  /** Posted by the command itself, never raised. */
  inline: boolean
}

const parseLines = (side: Side, text: string, event: string): PostingLine[] =>
  text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const match = /^(@?)([a-z_]+)(?:\(([a-z_]+)\))? ([A-Za-z]+)(\[\])?(±)?$/.exec(part)
      if (!match) throw new Error(`${event}: cannot read the line "${part}"`)
      const [, at, target = '', document, key = '', list, sign] = match
      if (!at && !isRole(target)) throw new Error(`${event}: no account has the role ${target}`)
      return {
        side,
        target,
        selector: at === '@',
        document: document ?? null,
        key,
        list: list === '[]',
        signed: sign === '±',
      }
    })

const parseIdentity = (text: string): PostingDefinition['identity'] => {
  // A semicolon begins a remark.
  const [left, right] = (text.split(';')[0] ?? '').split('=').map((half) => half.split('+').map((key) => key.trim()))
  return left && right ? { left, right } : null
}

/** Every business event and its lines; the only place where postings are defined. */
export const postings: ReadonlyMap<string, PostingDefinition> = new Map(
  table('financial-postings.tsv').map((row) => {
    const event = row['event'] ?? ''
    const mirrors =
      /^mirror of (.+)$/
        .exec(row['debit'] ?? '')?.[1]
        ?.split(',')
        .map((name) => name.trim()) ?? []
    const definition: PostingDefinition = {
      event,
      raisedWhen: row['raised_when'] ?? '',
      textPt: row['text_pt'] ?? '',
      dated: row['dated'] === 'day' ? 'day' : 'document',
      source: row['source'] ?? '',
      lines:
        mirrors.length > 0
          ? []
          : [...parseLines('debit', row['debit'] ?? '', event), ...parseLines('credit', row['credit'] ?? '', event)],
      identity: row['identity'] ? parseIdentity(row['identity']) : null,
      mirrors,
      inline: event.startsWith('financial.'),
    }
    return [event, definition]
  }),
)

export const postingOf = (event: string): PostingDefinition => {
  const definition = postings.get(event)
  if (!definition) throw new Error(`${event} is no event of config/financial-postings.tsv`)
  return definition
}

/** The words with which the diary of a book in this country describes the entries of an event. */
export const wordsOf = (event: string, countryCode: string): string => {
  const { textPt, raisedWhen } = postingOf(event)
  return countryCode === 'BR' && textPt !== '' ? textPt : raisedWhen
}

/** The journal in which the entries of an event stand. */
export const journalOf = (event: string): JournalKind => {
  const [module = '', name = ''] = event.split('.')
  if (name.startsWith('pos_')) return 'sales'
  if (module === 'reservations' || module === 'properties' || module === 'accounts-receivable') return 'sales'
  if (module === 'payment' || module === 'cash') return 'cash'
  if (module === 'accounts-payable') return 'purchases'
  if (module === 'inventory') return 'stock'
  return name === 'year_closed' ? 'closing' : 'general'
}
