import { stockGroupOf } from '../../../config/inventory.ts'
import { assertOpen, raisePosting, raisePostings } from '../../financial/index.ts'
import type { PostingItem, PropertyPosting } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { ItemFacts } from '../items/facts.ts'

/** Value of an item, in minor units; the sign is that of the event's own amounts. */
export type Valued = { itemId: string; value: number }
export type PostedAt = { propertyId: string; bookId: string; movementId: string; occurredOn: string }
type Items = ReadonlyMap<string, ItemFacts>

/** Accounts that categories name, as far as they are of this book: others keep the accounts of the chart. */
const accountsOf = async (trx: Trx, bookId: string, items: Items, lines: readonly Valued[]): Promise<Set<string>> => {
  const named = lines.flatMap(({ itemId }) => {
    const item = items.get(itemId)
    return [item?.stockAccountId, item?.expenseAccountId].filter((id) => typeof id === 'string')
  })
  if (named.length === 0) return new Set()
  const rows = await sql<{ id: string }>(
    trx,
    `select id from account where book_id = ? and id = any(?::uuid[]) and status = 'active'`,
    [bookId, named],
  )
  return new Set(rows.map(({ id }) => id))
}

type Group = { categoryId: string; item: ItemFacts; amount: number }

/** One amount for each category of items. */
const byCategory = (items: Items, lines: readonly Valued[]): Group[] => {
  const groups = new Map<string, Group>()
  for (const { itemId, value } of lines) {
    const item = items.get(itemId)
    if (!item) throw new Error(`item ${itemId} was not held`)
    const group = groups.get(item.categoryId) ?? { categoryId: item.categoryId, item, amount: 0 }
    groups.set(item.categoryId, { ...group, amount: group.amount + value })
  }
  return [...groups.values()].filter(({ amount }) => amount !== 0)
}

const contextOfGroup = ({ item, categoryId }: Group) => ({
  stockGroup: stockGroupOf(item.expenseGroup),
  expenseGroup: item.expenseGroup,
  itemCategoryId: categoryId,
})

/** Items of a posting whose lines are of stock alone. */
const stockItems = (groups: readonly Group[], known: ReadonlySet<string>): PostingItem[] =>
  groups.map((group) => {
    const account = group.item.stockAccountId
    return {
      amount: group.amount,
      context: contextOfGroup(group),
      ...(account !== null && known.has(account) ? { accountId: account } : {}),
    }
  })

const placed = ({ propertyId, movementId, occurredOn }: PostedAt, seq: number) => ({
  propertyId,
  postingDate: occurredOn,
  source: { id: movementId, seq },
})

/** Events whose `lines[]` stand against one total. */
export type StockEvent =
  | 'inventory.stock_opened'
  | 'inventory.goods_received'
  | 'inventory.goods_received_reversed'
  | 'inventory.stock_wasted'
  | 'inventory.stock_counted'

/**
 * Posts a change of stock against one account. Where nothing has a value, the date alone is judged: 422 `period_closed`, `period_missing`, `date_locked`.
 */
export const postStock = async (
  trx: Trx,
  event: StockEvent,
  at: PostedAt,
  items: Items,
  lines: readonly Valued[],
  seq = 0,
): Promise<void> => {
  const groups = byCategory(items, lines)
  if (groups.length === 0) return assertOpen(trx, at.bookId, at.occurredOn)
  const known = await accountsOf(trx, at.bookId, items, lines)
  const given = stockItems(groups, known)
  await raisePosting(trx, {
    event,
    ...placed(at, seq),
    payload: {
      amounts: { lines: given, total: sum(given.map(({ amount }) => amount)) },
      documents: { movement: at.movementId },
    },
  })
}

/** Groups by the stock account that their category names, '' for the account of the chart. */
const byAccount = (groups: readonly Group[], known: ReadonlySet<string>): Map<string, Group[]> => {
  const found = new Map<string, Group[]>()
  for (const group of groups) {
    const named = group.item.stockAccountId
    const key = named !== null && known.has(named) ? named : ''
    found.set(key, [...(found.get(key) ?? []), group])
  }
  return found
}

/** Posts one side of a transfer between properties, an event for each stock account. */
export const postTransfer = async (
  trx: Trx,
  side: 'sent' | 'received',
  at: PostedAt,
  items: Items,
  { lines, between }: { lines: readonly Valued[]; between: 'locations' | 'books' },
): Promise<void> => {
  const groups = byCategory(items, lines)
  if (groups.length === 0) return assertOpen(trx, at.bookId, at.occurredOn)
  const known = await accountsOf(trx, at.bookId, items, lines)
  for (const [index, [account, own]] of [...byAccount(groups, known)].entries())
    await raisePosting(trx, {
      event: 'inventory.stock_transferred',
      ...placed(at, index * 2 + (side === 'sent' ? 0 : 1)),
      payload: {
        amounts: { [side]: own.map((group) => ({ amount: group.amount, context: contextOfGroup(group) })) },
        documents: { movement: at.movementId },
        context: { between },
        ...(account === '' ? {} : { accounts: { stock: account } }),
      },
    })
}

/** Posts a production: what went in, and what came of it. */
export const postProduced = async (
  trx: Trx,
  at: PostedAt,
  items: Items,
  { inputs, outputs }: { inputs: readonly Valued[]; outputs: readonly Valued[] },
): Promise<void> => {
  const known = await accountsOf(trx, at.bookId, items, [...inputs, ...outputs])
  const taken = stockItems(byCategory(items, inputs), known)
  if (taken.length === 0) return assertOpen(trx, at.bookId, at.occurredOn)
  await raisePosting(trx, {
    event: 'inventory.stock_produced',
    ...placed(at, 0),
    payload: {
      amounts: { inputs: taken, outputs: stockItems(byCategory(items, outputs), known) },
      documents: { movement: at.movementId },
    },
  })
}

export type UseContext = { consumption: string; outletId?: string; costCenterId?: string | null }

/**
 * Postings of use by sale, meal, kit, department or staff, negative where it is given back: an event for each pair of accounts that categories name. Waste has
 * an account of its own. Where nothing has a value, the date alone is judged: 422 `period_closed`, `period_missing`, `date_locked`.
 */
export const postingsOfUse = async (
  trx: Trx,
  at: PostedAt,
  items: Items,
  lines: readonly Valued[],
  { costCenterId, ...context }: UseContext,
): Promise<PropertyPosting[]> => {
  const groups = byCategory(items, lines)
  if (groups.length === 0) {
    await assertOpen(trx, at.bookId, at.occurredOn)
    return []
  }
  const known = await accountsOf(trx, at.bookId, items, lines)
  const { movementId, occurredOn: date } = at
  if (context.consumption === 'waste') {
    const given = stockItems(groups, known)
    const amounts = { lines: given, total: sum(given.map(({ amount }) => amount)) }
    const payload = { amounts, documents: { movement: movementId } }
    return [{ event: 'inventory.stock_wasted', date, source: { id: movementId, seq: 0 }, payload }]
  }
  const usable = (id: string | null) => (id !== null && known.has(id) ? id : '')
  const isFree = context.consumption === 'staff' || context.consumption === 'complimentary'
  const pairs = new Map<string, { stock: string; cost: string; groups: Group[] }>()
  for (const group of groups) {
    const stock = usable(group.item.stockAccountId)
    const cost = isFree ? '' : usable(group.item.expenseAccountId)
    const pair = pairs.get(`${stock} ${cost}`) ?? { stock, cost, groups: [] }
    pairs.set(`${stock} ${cost}`, { ...pair, groups: [...pair.groups, group] })
  }
  return [...pairs.values()].map(({ stock, cost, groups: own }, seq) => ({
    event: 'inventory.stock_consumed',
    date,
    source: { id: movementId, seq },
    payload: {
      amounts: { lines: own.map((group) => ({ amount: group.amount, context: contextOfGroup(group) })) },
      documents: { movement: movementId },
      context,
      accounts: { ...(stock ? { stock } : {}), ...(cost ? { cost } : {}) },
      ...(costCenterId ? { costCenterId } : {}),
    },
  }))
}

/** Posts use, as `postingsOfUse` has it. */
export const postUse = async (
  trx: Trx,
  at: PostedAt,
  items: Items,
  lines: readonly Valued[],
  context: UseContext,
): Promise<void> => {
  await raisePostings(trx, at.propertyId, await postingsOfUse(trx, at, items, lines, context))
}

/** Posts the differences of a reversal to purchase price variance: positive where less value left the stock than had come (R12). */
export const postAdjusted = async (trx: Trx, at: PostedAt, items: Items, lines: readonly Valued[]): Promise<void> => {
  const known = await accountsOf(trx, at.bookId, items, lines)
  for (const [seq, item] of stockItems(byCategory(items, lines), known).entries())
    await raisePosting(trx, {
      event: 'inventory.purchase_price_adjusted',
      ...placed(at, seq),
      payload: {
        amounts: { amount: item.amount },
        documents: { movement: at.movementId },
        context: item.context ?? {},
        ...(item.accountId ? { accounts: { stock: item.accountId } } : {}),
      },
    })
}
