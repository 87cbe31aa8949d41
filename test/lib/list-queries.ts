import { addDays } from '../../config/time.ts'
import { routes } from '../../api/routes.ts'
import { idOf } from './made-rows.ts'

type Field = { type?: string; enum?: string[]; format?: string; pattern?: string }
type Given = { propertyId: string; bookId: string; guestId: string; today: string; yesterday: string }

const fieldsOf = (query: unknown) => ({
  fields: (query as { properties?: Record<string, Field> } | undefined)?.properties ?? {},
  required: (query as { required?: string[] } | undefined)?.required ?? [],
})

/** Every list of the API: a route that answers pages. */
export const lists = routes.filter(({ method, query }) => method === 'GET' && 'page' in fieldsOf(query).fields)
export type ListRoute = (typeof lists)[number]

/** A record that no list has, and days before and after all. */
const noRecord = 'b0000000-0000-4000-8000-0000000000ff'
const [before, after] = ['2001-01-01', '2090-01-01']

const values = (name: string, { enum: choices, format, pattern }: Field, given: Given): string[] => {
  if (name === 'q') return ['zzqxv']
  if (name === 'propertyId' || name === 'bookId') return [given[name]]
  if (format === 'uuid4') return [noRecord]
  if (name === 'feature' && choices) return ['core', 'sla']
  if (name === 'asOf') return [given.yesterday]
  if (format === 'day' && /from$|^startDate$/i.test(name)) return [after]
  if (format === 'day' && /to$|^endDate$/i.test(name)) return [before]
  if (name === 'status' && pattern?.includes('confirmed')) return ['confirmed']
  // Made rows have the first of a column; of the last there is none.
  return (name === 'status' || name === 'kind') && choices ? [...new Set([choices[0]!, choices.at(-1)!])] : []
}

/** A list of one person or another: it is asked for those of a guest, and never for those of both. */
const ofOnePerson: ReadonlySet<string> = new Set(['paymentMethods.list'])

/** Flags that are measured, by list: those that are, and those that are not. */
const flags: Readonly<Record<string, readonly string[]>> = {
  'payables.list': ['onHold', 'awaitingMe'],
  'suppliers.list': ['blocked'],
  'supplierCredits.list': ['available'],
  'payableInstallments.list': ['open', 'overdue', 'inPayment'],
  'customers.list': ['onHold', 'overdue'],
  'receivables.list': ['overdue'],
  'receivableInstallments.list': ['open', 'overdue'],
  'privacyRequests.list': ['overdue'],
  'receipts.list': ['unidentified', 'available'],
  'payments.list': ['late', 'unallocated'],
  'cashMovements.list': ['unmatched'],
  'superuser.tenants.list': ['pastDue'],
  'superuser.invoices.list': ['overdue'],
  'superuser.supportSessions.list': ['running'],
  'ledgerEntries.list': ['late'],
  'ledgerLines.list': ['late'],
  'bookings.list': ['held'],
  'waitlist.list': ['matched'],
  'issues.list': ['late', 'escalated', 'recurring'],
  'lostItems.list': ['disposalDue'],
  'conversations.list': ['unanswered'],
  'suppressions.list': ['lifted'],
}

/** The first and the last day of a list that is asked for all of its last year and of what is to come: most made rows are of these days. */
const widest = { from: -365, to: 365 }
const week = { from: -47, to: -41 }
/** Days that cut months, on both sides of others that are whole, and a few. */
const cuts = [{ from: -80, to: -10 }, week]

/** Lists whose days are bounded, and the most that they answer. */
const bounded: Readonly<Record<string, { from: number; to: number }>> = {
  'reports.generalLedger': { from: -365, to: 30 },
  'auditLog.list': { from: -90, to: 1 },
  'superuser.auditLog.list': { from: -90, to: 1 },
}

/** Lists of what is to come, that are asked for it by a first day. */
const coming: ReadonlySet<string> = new Set([
  'reservations.list',
  'groups.list',
  'quotes.list',
  'waitlist.list',
  'unitBlocks.list',
  'unitAssignments.list',
  'purchaseOrders.list',
])

/** Lists that a wide range of days still makes grow, by the name of its first day: they are asked for a week. */
const growing: Readonly<Record<string, string>> = {
  'reports.journal startDate':
    'it sums up the entries of its days, in the order of numbers that the close of a period gives',
}

/** Filters by a first and a last day, or time. */
const pairsOf = ({ query }: ListRoute): [from: string, to: string][] => {
  const { fields } = fieldsOf(query)
  return Object.keys(fields).flatMap((name): [string, string][] => {
    const to = name
      .replace(/From$/, 'To')
      .replace(/^from$/, 'to')
      .replace(/^startDate$/, 'endDate')
    const isDays = /^(day|instant)$/.test(fields[name]?.format ?? '')
    return to !== name && to in fields && isDays ? [[name, to]] : []
  })
}

const askedOn = ({ query }: ListRoute, name: string, day: string): string =>
  `&${name}=${fieldsOf(query).fields[name]?.format === 'day' ? day : `${day}T12:00:00Z`}`

const wideOf = (list: ListRoute, today: string, beside: readonly string[]): string[] => {
  const { from, to } = bounded[list.id] ?? widest
  const on = (name: string, days: number) => askedOn(list, name, addDays(today, days))
  const changed = 'updatedSince' in fieldsOf(list.query).fields ? [on('updatedSince', from)] : []
  const within = pairsOf(list).flatMap(([first, last]) => {
    if (`${list.id} ${first}` in growing) return [`${on(first, week.from)}${on(last, week.to)}`]
    const [since, till] = [on(first, from), on(last, to)]
    const wide = [
      // Without the other day a list whose days are bounded takes one of its own.
      ...(list.id in bounded ? [] : [since, till]),
      ...['', ...beside].map((more) => `${more}${since}${till}`),
    ]
    return [
      ...(coming.has(list.id) ? [askedOn(list, first, today)] : []),
      ...['', ...aboutOf(list)].flatMap((about) => wide.map((one) => `${about}${one}`)),
    ]
  })
  return [...within, ...changed]
}

/** Dates that the days of a list may be about, where it has several. */
const aboutOf = ({ query }: ListRoute): string[] =>
  (fieldsOf(query).fields['dateField']?.enum ?? []).map((name) => `&dateField=${name}`)

/** Queries of a list by days that cut what is counted of it, alone and beside a house. */
export const cutsOf = (list: ListRoute, { propertyId, today }: Pick<Given, 'propertyId' | 'today'>): string[] => {
  const { fields, required } = fieldsOf(list.query)
  const house = 'propertyId' in fields ? `&propertyId=${propertyId}` : ''
  const always = required.includes('propertyId') ? house : ''
  return pairsOf(list).flatMap(([first, last]) =>
    cuts.flatMap(({ from, to }) => {
      const [since, till] = [askedOn(list, first, addDays(today, from)), askedOn(list, last, addDays(today, to))]
      return ['', ...aboutOf(list)].flatMap((about) =>
        [since, till, `${since}${till}`, ...(house === always ? [] : [`${house}${since}${till}`])].map(
          (one) => `${always}${about}${one}`,
        ),
      )
    }),
  )
}

/**
 * Queries of a list by the filters that people use: none, the house, the book, the state, the kind, one record, days, flags, and words that few have;
 * orders come from `sortsIn`. Amounts and other flags are not measured: they look at what other filters leave.
 */
export const queriesOf = (list: ListRoute, given: Given): string[] => {
  const { id, query } = list
  const { fields, required: named } = fieldsOf(query)
  const required = ofOnePerson.has(id) ? [...named, 'guestId'] : named
  const all = Object.entries(fields).filter(([name]) => name !== 'customerId' || !ofOnePerson.has(id))
  const valueOf = (name: string) =>
    name === 'date' ? given.today : name === 'guestId' ? given.guestId : values(name, fields[name]!, given)[0]
  const always = required.map((name) => `&${name}=${valueOf(name) ?? ''}`).join('')
  const filters = all.flatMap(([name, field]) =>
    required.includes(name) ? [] : values(name, field, given).map((value) => `&${name}=${value}`),
  )
  // Flags stand alone, and beside the house and the state, as people ask for them.
  const beside = ['propertyId', 'status'].flatMap((name) =>
    name in fields && !required.includes(name) ? [`&${name}=${valueOf(name) ?? ''}`] : [],
  )
  const flagged = (flags[id] ?? []).flatMap((flag) =>
    ['', ...beside].flatMap((more) => [`${more}&${flag}=true`, `${more}&${flag}=false`]),
  )
  return ['', ...filters, ...flagged, ...wideOf(list, given.today, beside)].map((one) => `${always}${one}`)
}

/** Orders of a list, by its refusal of one that it does not have. */
export const sortsIn = (refusal: string): string[] =>
  (/must be among (.*), with/.exec(refusal)?.[1] ?? '')
    .split(', ')
    .filter((name) => name !== '')
    .flatMap((name) => [`&sort=${name}`, `&sort=-${name}`])

type Ask = (paging: string) => Promise<{ status: number; body: { data?: unknown } }>

/** Difference of the second page of a list from what follows its first; null where there is none. */
export const wrongPages = async (ask: Ask): Promise<string | null> => {
  const [both, second] = [await ask('limit=4'), await ask('limit=2&page=2')]
  if (both.status !== 200 || second.status !== 200) return `${both.status} and ${second.status}`
  const [first, next] = [both.body.data, second.body.data]
  // A report has its rows elsewhere.
  if (!Array.isArray(first)) return null
  const [found, expected] = [JSON.stringify(next), JSON.stringify(first.slice(2))]
  return found === expected ? null : `${found} is not ${expected}`
}

export const hasSorts = ({ query }: ListRoute): boolean => 'sort' in fieldsOf(query).fields

type House = { tenantId: string; propertyId: string }
type Rows = (text: string, values: unknown[]) => Promise<Record<string, unknown>[]>

/** Paths that are read of a house all day beside its lists: a folio, what is to come on it, and the tape chart of two weeks. */
export const dayOf = async ({ tenantId, propertyId }: House, today: string, rows: Rows): Promise<string[]> => {
  const [folio] = await rows(`select id from folio where tenant_id = ? and reservation_id is not null limit 1`, [
    tenantId,
  ])
  const id = folio?.['id'] as string
  const weeks = `propertyId=${propertyId}&from=${today}&to=${addDays(today, 14)}`
  return [`folios/${id}`, `folios/${id}/lines`, `unit-calendar?${weeks}`].map(
    (path) => `/api/tenants/${tenantId}/${path}`,
  )
}

/** The path of a list, below the made record of each that it names. */
export const pathOf = async ({ path }: ListRoute, { tenantId, propertyId }: House, rows: Rows): Promise<string> => {
  let found = path.replace(':tenantId', tenantId).replace(':propertyId', propertyId)
  found = found.replace(/^(.superuser.tenants.):id/, `$1${tenantId}`)
  for (const [param, name = ''] of found.matchAll(/:([A-Za-z]+)Id/g)) {
    const table = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const [row] = await rows(
      `select id from ${table} where tenant_id = ? order by id = ${idOf(table, `'1'`)} desc limit 1`,
      [tenantId],
    )
    found = found.replace(param, (row?.['id'] as string | undefined) ?? param)
  }
  return found
}
