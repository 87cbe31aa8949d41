import type { PostingContext } from './payload.ts'

/** The search of a line for its account: by name, by a role of the chart, or by a tax code with a role to fall back on. */
export type Search =
  | { by: 'account'; accountId: string }
  | { by: 'role'; role: string }
  | { by: 'tax_code'; taxCodeId: string; contra: boolean }
  | { by: 'tax_name'; code: string; kind: 'withheld_from_suppliers' | 'withheld_by_customers'; fallback: string }

/** An event whose payload does not say what one of its lines needs. A fault of the caller in our own code, not of a person. */
export class PostingError extends Error {
  override readonly name = 'PostingError'
}

const role = (name: string): Search => ({ by: 'role', role: name })
const from = (table: Record<string, string>, key: string | undefined, what: string): Search => {
  const found = key === undefined ? undefined : table[key]
  if (found === undefined) throw new PostingError(`${what} ${key ?? '(none)'} has no account`)
  return role(found)
}

const room = { group: 'revenue_room_group', long_stay: 'revenue_room_contract' } as Record<string, string>
const revenue: Record<string, string> = {
  rooms: 'revenue_room_other',
  early_departure: 'revenue_room_other',
  food: 'revenue_food',
  beverage: 'revenue_beverage',
  minibar: 'revenue_minibar',
  laundry: 'revenue_laundry',
  spa: 'revenue_spa',
  parking: 'revenue_parking',
  tours: 'revenue_tours',
  other: 'revenue_other',
  cancellation: 'cancellation_income',
  no_show: 'no_show_income',
  damage: 'damage_income',
  service_charge: 'gratuities_payable',
}
const allowance: Record<string, string> = {
  room: 'allowance_rooms',
  food: 'allowance_food_beverage',
  beverage: 'allowance_food_beverage',
  minibar: 'allowance_food_beverage',
  service_charge: 'gratuities_payable',
}
const stock: Record<string, string> = {
  food: 'stock_food_beverage',
  beverage: 'stock_food_beverage',
  supplies: 'stock_supplies',
  other: 'stock_other',
}
const cost: Record<string, string> = {
  food: 'cost_food',
  beverage: 'cost_beverage',
  guest_supplies: 'cost_guest_supplies',
  cleaning_supplies: 'cost_cleaning_supplies',
  operating_supplies: 'cost_operating_supplies',
  other: 'cost_other',
}

const stages = { deposit: 'deposits', guest: 'guest_ledger' }
const folio = (stage: PostingContext['folioStage']) => from(stages, stage, 'folio stage')

const money = (context: PostingContext): Search => {
  if (context.money === 'gateway') return role('gateway_clearing')
  throw new PostingError('money needs the ledger account of its cash account, or context.money "gateway"')
}

/** Role and document of what money is allocated to. */
const targets = {
  booking: { document: 'booking', find: () => role('deposits') },
  reservation: { document: 'folio', find: (context: PostingContext) => folio(context.folioStage) },
  folio: { document: 'folio', find: (context: PostingContext) => folio(context.folioStage) },
  pos_order: { document: 'order', find: () => role('pos_clearing') },
  receivable: { document: 'receipt', find: () => role('unallocated_receipts') },
}
const targetOf = (context: PostingContext) => {
  if (!context.target) throw new PostingError('context.target is missing')
  return targets[context.target]
}

const needs = (name: string) => (): Search => {
  throw new PostingError(`accounts.${name} is missing`)
}
const tax =
  (contra: boolean) =>
  (context: PostingContext): Search => {
    if (context.taxCodeId) return { by: 'tax_code', taxCodeId: context.taxCodeId, contra }
    if (contra) return role('sales_taxes_in_prices')
    return from({ tax: 'sales_taxes_payable', fee: 'tourism_fees_payable' }, context.taxKind, 'tax of kind')
  }
const withheld =
  (kind: 'withheld_from_suppliers' | 'withheld_by_customers', fallback: string) =>
  (context: PostingContext): Search =>
    context.taxCode ? { by: 'tax_name', code: context.taxCode, kind, fallback } : role(fallback)

const table: Record<string, (context: PostingContext, document: string | null) => Search> = {
  folio: (context, document) =>
    folio(
      (document === 'to' ? context.toStage : document === 'from' ? context.fromStage : undefined) ?? context.folioStage,
    ),
  target: (context) => targetOf(context).find(context),
  money,
  from: money,
  to: money,
  account: needs('account'),
  source_account: needs('source_account'),
  target_account: needs('target_account'),
  result: needs('result'),
  revenue: (context) =>
    context.category === 'room'
      ? role(room[context.marketSegment ?? ''] ?? 'revenue_room_transient')
      : from(revenue, context.category, 'revenue of category'),
  allowance: (context) => {
    if (!context.category) throw new PostingError('context.category is missing')
    return role(allowance[context.category] ?? 'allowance_other')
  },
  tax: tax(false),
  tax_contra: tax(true),
  withholding: withheld('withheld_from_suppliers', 'withholdings_payable'),
  withheld: withheld('withheld_by_customers', 'withheld_by_customers'),
  receivable: (context) => role(context.customerKind === 'ota' ? 'channel_receivables' : 'city_ledger'),
  fee: (context) =>
    role(context.customerKind === 'agency' || context.customerKind === 'ota' ? 'commissions_payable' : 'bank_fees'),
  credit: (context) =>
    from({ credit_note: 'suppliers', advance: 'supplier_advances' }, context.credit, 'credit of kind'),
  stock: (context) => from(stock, context.stockGroup, 'stock of group'),
  cost: (context) =>
    context.consumption === 'staff' || context.consumption === 'complimentary'
      ? role('cost_complimentary')
      : from(cost, context.expenseGroup, 'cost of group'),
  between: (context) =>
    from({ locations: 'stock_in_transit', books: 'intercompany' }, context.between, 'transfer between'),
}

export const selectors: readonly string[] = Object.keys(table)

/** The account that a selector means when neither the payload nor a rule names one. */
export const select = (selector: string, context: PostingContext, document: string | null): Search => {
  const find = table[selector]
  if (!find) throw new PostingError(`@${selector} is no selector`)
  return find(context, document)
}

/** The key in payload.documents and the type of document of a line; null where the line carries none. */
export const documentOf = (
  target: string,
  selector: boolean,
  document: string | null,
  context: PostingContext,
): { key: string; type: string } | null => {
  if (selector && target === 'target') {
    const key = targetOf(context).document
    return { key, type: key }
  }
  if (selector && target === 'folio') return { key: document ?? 'folio', type: 'folio' }
  // The file names none for goods on their way, and their account is a control account.
  if (selector && target === 'between') return { key: 'movement', type: 'movement' }
  if (document === null) return null
  return { key: document, type: document === 'account' ? 'gateway_account' : document }
}
