import type { PostingDefinition } from '../../config/financial.ts'
import type { PostingContext, PostingItem, PostingPayload } from '../../db/financial/index.ts'

/** A line that the books must have: the role of its account, or `name:` of an account that the payload gave. */
export type PostedLine = { account: string; debit: number; credit: number }

const food = new Set(['food', 'beverage', 'minibar'])
const incomeOf: Record<string, string> = {
  rooms: 'revenue_room_other',
  early_departure: 'revenue_room_other',
  cancellation: 'cancellation_income',
  no_show: 'no_show_income',
  damage: 'damage_income',
  service_charge: 'gratuities_payable',
}

/** The table of selectors as the accountants wrote it, put down a second time: a change of the code's own table shows here. */
const accountOf: Record<string, (context: PostingContext) => string> = {
  folio: ({ folioStage }) => (folioStage === 'deposit' ? 'deposits' : 'guest_ledger'),
  target: ({ target, folioStage }) => {
    if (target === 'booking') return 'deposits'
    if (target === 'pos_order') return 'pos_clearing'
    if (target === 'receivable') return 'unallocated_receipts'
    return folioStage === 'deposit' ? 'deposits' : 'guest_ledger'
  },
  money: () => 'name:money',
  from: () => 'name:from',
  to: () => 'name:to',
  account: () => 'name:account',
  revenue: ({ category = '', marketSegment }) => {
    if (category !== 'room') return incomeOf[category] ?? `revenue_${category}`
    if (marketSegment === 'group') return 'revenue_room_group'
    return marketSegment === 'long_stay' ? 'revenue_room_contract' : 'revenue_room_transient'
  },
  allowance: ({ category = '' }) => {
    if (category === 'room') return 'allowance_rooms'
    if (food.has(category)) return 'allowance_food_beverage'
    return category === 'service_charge' ? 'gratuities_payable' : 'allowance_other'
  },
  tax: ({ taxKind }) => (taxKind === 'tax' ? 'sales_taxes_payable' : 'tourism_fees_payable'),
  tax_contra: () => 'sales_taxes_in_prices',
  withholding: () => 'withholdings_payable',
  withheld: () => 'withheld_by_customers',
  receivable: ({ customerKind }) => (customerKind === 'ota' ? 'channel_receivables' : 'city_ledger'),
  fee: ({ customerKind }) =>
    customerKind === 'agency' || customerKind === 'ota' ? 'commissions_payable' : 'bank_fees',
  credit: ({ credit }) => (credit === 'credit_note' ? 'suppliers' : 'supplier_advances'),
  stock: ({ stockGroup }) => {
    if (stockGroup === 'food' || stockGroup === 'beverage') return 'stock_food_beverage'
    return stockGroup === 'supplies' ? 'stock_supplies' : 'stock_other'
  },
  cost: ({ consumption, expenseGroup }) =>
    consumption === 'staff' || consumption === 'complimentary' ? 'cost_complimentary' : `cost_${expenseGroup}`,
  between: ({ between }) => (between === 'locations' ? 'stock_in_transit' : 'intercompany'),
}

const amountsOf = (given: number | readonly PostingItem[] | undefined): number[] =>
  given === undefined ? [] : typeof given === 'number' ? [given] : given.map(({ amount }) => amount)

/** The lines that an event of this shape must leave, in the order of the table; lines of 0 are left out, negative ones stand on the other side. */
export const postedLines = (definition: PostingDefinition, payload: PostingPayload): PostedLine[] =>
  definition.lines.flatMap((line) => {
    const find = line.selector ? accountOf[line.target] : () => line.target
    if (!find) throw new Error(`the table of accounts does not know @${line.target}`)
    const account = find(payload.context ?? {})
    return amountsOf(payload.amounts?.[line.key])
      .filter((amount) => amount !== 0)
      .map((amount) =>
        (line.side === 'debit') === amount > 0
          ? { account, debit: Math.abs(amount), credit: 0 }
          : { account, debit: 0, credit: Math.abs(amount) },
      )
  })
