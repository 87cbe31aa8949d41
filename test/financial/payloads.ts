import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { postings } from '../../config/financial.ts'
import type { PostingDefinition } from '../../config/financial.ts'
import type { PostingContext, PostingItem, PostingPayload } from '../../db/financial/index.ts'

/** Events that other modules raise with amounts of their own. */
export const ordinary = [...postings.values()].filter(
  (definition) => !definition.inline && definition.mirrors.length === 0,
)
export const mirrors = [...postings.values()].filter(
  (definition) => !definition.inline && definition.mirrors.length > 0,
)

const context: fc.Arbitrary<PostingContext> = fc.record({
  folioStage: fc.constantFrom('deposit' as const, 'guest' as const),
  target: fc.constantFrom(
    'booking' as const,
    'reservation' as const,
    'folio' as const,
    'pos_order' as const,
    'receivable' as const,
  ),
  money: fc.constant('gateway' as const),
  category: fc.constantFrom(
    'room',
    'rooms',
    'food',
    'beverage',
    'minibar',
    'laundry',
    'spa',
    'parking',
    'tours',
    'other',
    'early_departure',
    'cancellation',
    'no_show',
    'damage',
    'service_charge',
  ),
  marketSegment: fc.constantFrom('group', 'long_stay', 'transient', 'corporate'),
  taxKind: fc.constantFrom('tax' as const, 'fee' as const),
  customerKind: fc.constantFrom('ota', 'agency', 'company', 'guest'),
  credit: fc.constantFrom('credit_note' as const, 'advance' as const),
  between: fc.constantFrom('locations' as const, 'books' as const),
  stockGroup: fc.constantFrom('food', 'beverage', 'supplies', 'other'),
  expenseGroup: fc.constantFrom(
    'food',
    'beverage',
    'guest_supplies',
    'cleaning_supplies',
    'operating_supplies',
    'other',
  ),
  consumption: fc.constantFrom('sale', 'staff', 'complimentary'),
})

const documentNames = [
  'folio',
  'booking',
  'order',
  'receipt',
  'to',
  'from',
  ...new Set(ordinary.flatMap(({ lines }) => lines.flatMap(({ document }) => document ?? []))),
]
const documents = Object.fromEntries(documentNames.map((name) => [name, randomUUID()]))

/** Amounts of every key, made to agree with the identity by adding what is missing to a key of the lighter side. */
const amountsOf = (definition: PostingDefinition): fc.Arbitrary<PostingPayload['amounts']> => {
  const keys = new Set([
    ...definition.lines.map((line) => line.key),
    ...(definition.identity?.left ?? []),
    ...(definition.identity?.right ?? []),
  ])
  const shape: Record<string, fc.Arbitrary<number | PostingItem[]>> = {}
  for (const key of keys) {
    const lines = definition.lines.filter((line) => line.key === key)
    const signed = lines.some((line) => line.signed)
    const amount = fc.integer({ min: signed ? -100_000_000 : 0, max: 100_000_000 })
    shape[key] = lines.some((line) => line.list) ? fc.array(fc.record({ amount }), { maxLength: 5 }) : amount
  }
  return fc.record(shape).map((amounts) => agree(definition, amounts as PostingPayload['amounts']))
}

const sum = (amounts: PostingPayload['amounts'], keys: readonly string[]) =>
  keys.reduce((total, key) => {
    const given = amounts[key] ?? 0
    return total + (typeof given === 'number' ? given : given.reduce((all, item) => all + item.amount, 0))
  }, 0)

const agree = (definition: PostingDefinition, amounts: PostingPayload['amounts']) => {
  if (!definition.identity) return amounts
  const { left, right } = definition.identity
  const missing = sum(amounts, left) - sum(amounts, right)
  const key = (missing > 0 ? right : left)[0] ?? ''
  const given = amounts[key] ?? 0
  const more = Math.abs(missing)
  return { ...amounts, [key]: typeof given === 'number' ? given + more : [...given, { amount: more }] }
}

/** Payloads that fit an event; `accounts` stand for what only the caller knows. */
export const payloadOf = (
  definition: PostingDefinition,
  accounts: Record<string, string> = { account: randomUUID() },
): fc.Arbitrary<PostingPayload> =>
  fc.record({
    amounts: amountsOf(definition),
    context,
    accounts: fc.constant(accounts),
    documents: fc.constant(documents),
  })
