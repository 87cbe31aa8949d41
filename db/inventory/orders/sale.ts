import { postingEventOf, raisePosting } from '../../financial/index.ts'
import type { DayPosting, PostingItem } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { catalogueOf, extraTaxes, localTaxRules, readProperty } from '../../properties/index.ts'
import type { PosOrderRow } from '../../rows.ts'
import type { Part } from '../rules/totals.ts'

type Tax = { item: PostingItem; accountId: string | null }

/** Taxes that the prices include, by the rules of the property for extras. */
export const taxesOf = async (trx: Trx, order: PosOrderRow, parts: readonly Part[], date: string): Promise<Tax[]> => {
  if (parts.every(({ amount }) => amount === 0)) return []
  const property = await readProperty(trx, order.propertyId)
  if (!property) throw new Error(`property ${order.propertyId} is gone`)
  const rules = localTaxRules(await catalogueOf(trx, property), property, 'en')
  const due = parts
    .filter(({ category }) => category !== 'service_charge')
    .flatMap(({ category, amount }) =>
      extraTaxes(rules, { date, amount })
        .filter((tax) => tax.included)
        .map((tax) => ({ ...tax, category })),
    )
  if (due.length === 0) return []
  const facts = await sql<{ id: string; kind: 'tax' | 'fee'; accountId: string | null }>(
    trx,
    `select id, kind, account_id from tax_rule where id = any(?::uuid[])`,
    [[...new Set(due.map(({ taxRuleId }) => taxRuleId))]],
  )
  return due.map(({ taxRuleId, amount, category }) => {
    const fact = facts.find(({ id }) => id === taxRuleId)
    return {
      item: { amount, context: { taxKind: fact?.kind ?? 'tax', taxRuleId, category } },
      accountId: fact?.accountId ?? null,
    }
  })
}

const closed = 'inventory.pos_sale_closed'

/**
 * Postings of a sale: revenue by group and the service charge against the clearing account of the order, which its folio lines and payments bring to zero. Taxes on
 * accounts of their own are events of their own.
 */
export const postingsOfSale = (order: PosOrderRow, parts: readonly Part[], taxes: readonly Tax[]): DayPosting[] => {
  const total = sum(parts.map(({ amount }) => amount))
  if (total === 0) return []
  const documents = { order: order.id }
  const context = { outletId: order.outletId }
  const serviceCharge = sum(parts.filter(({ category }) => category === 'service_charge').map(({ amount }) => amount))
  const accounts = [...new Set(taxes.map(({ accountId }) => accountId).filter((id) => id !== null))]
  return [
    {
      event: closed,
      source: { id: order.id, seq: 0 },
      payload: {
        amounts: {
          total,
          revenue: parts
            .filter(({ category }) => category !== 'service_charge')
            .map(({ category, amount }) => ({ amount, context: { category } })),
          serviceCharge,
          taxes: taxes.filter(({ accountId }) => accountId === null).map(({ item }) => item),
        },
        documents,
        context,
      },
    },
    ...accounts.map((accountId, index) => ({
      event: closed,
      source: { id: order.id, seq: index + 1 },
      payload: {
        amounts: { taxes: taxes.filter((tax) => tax.accountId === accountId).map(({ item }) => item) },
        accounts: { tax: accountId },
        documents,
        context,
      },
    })),
  ]
}

/** Turns all postings of the sale of an order. */
export const postSaleBack = async (trx: Trx, order: PosOrderRow): Promise<void> => {
  for (let seq = 0; ; seq += 1) {
    const reversesEventId = await postingEventOf(trx, closed, { id: order.id, seq })
    if (reversesEventId === null) return
    await raisePosting(trx, {
      event: 'inventory.pos_sale_voided',
      propertyId: order.propertyId,
      source: { id: order.id, seq },
      reversesEventId,
    })
  }
}
