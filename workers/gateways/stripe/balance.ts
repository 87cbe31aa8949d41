import { cut } from '../../../config/cut.ts'
import type Stripe from 'stripe'
import type { BalanceEntry, PayoutEntry } from '../../../db/payment/index.ts'
import type { Gateway } from '../gateway.ts'
import { fromStripe } from './amounts.ts'
import { call, idOf, isList, on } from './client.ts'

type Kind = BalanceEntry['kind']
const kinds: Readonly<Record<string, Kind>> = {
  charge: 'charge',
  payment: 'charge',
  refund: 'refund',
  payment_refund: 'refund',
  refund_failure: 'refund_failure',
  payment_failure_refund: 'refund_failure',
  payout: 'payout',
  payout_cancel: 'payout_failure',
  payout_failure: 'payout_failure',
  application_fee_refund: 'platform_fee_refund',
  stripe_fee: 'gateway_fee',
  stripe_fx_fee: 'gateway_fee',
  tax_fee: 'gateway_fee',
}

type Source = { object?: string; id?: string; payment_intent?: string | { id: string } | null }

const sourceOf = ({ source }: Stripe.BalanceTransaction): BalanceEntry['source'] => {
  if (source === null) return null
  if (typeof source === 'string') return source.startsWith('po_') ? { type: 'payout', reference: source } : null
  const { object, id, payment_intent: intent } = source as Source
  if (typeof id !== 'string') return null
  const paymentRef = idOf(intent)
  switch (object) {
    case 'charge':
      return paymentRef === null ? null : { type: 'payment', reference: paymentRef }
    case 'refund':
      return { type: 'refund', reference: id, paymentRef }
    case 'dispute':
      return { type: 'dispute', reference: id }
    case 'payout':
      return { type: 'payout', reference: id }
    default:
      return null
  }
}

const entryOf = (row: Stripe.BalanceTransaction): BalanceEntry | null => {
  if (row.object !== 'balance_transaction' || typeof row.id !== 'string' || !Number.isSafeInteger(row.net)) return null
  const source = sourceOf(row)
  const ours = (amount: number) => fromStripe(amount, row.currency)
  const share = (row.fee_details ?? [])
    .filter((one) => one.type === 'application_fee')
    .reduce((total, one) => total + one.amount, 0)
  const [gross, fee, platformFee] = [ours(row.amount), ours(row.fee - share), ours(share)]
  const known = kinds[row.type] ?? 'adjustment'
  const kind = source?.type === 'dispute' ? (row.amount < 0 ? 'dispute' : 'dispute_reversal') : known
  return {
    externalId: row.id,
    kind,
    gross,
    fee,
    platformFee,
    // As it is in their units, where those are ours.
    net: ours(row.net) === row.net ? row.net : gross - fee - platformFee,
    currency: row.currency.toUpperCase(),
    occurredAt: new Date(row.created * 1_000),
    availableAt: new Date(row.available_on * 1_000),
    source,
  }
}

const payoutOf = (payout: Stripe.Payout): PayoutEntry | null => {
  const status = payout.status === 'canceled' ? 'cancelled' : payout.status
  const known = (['pending', 'in_transit', 'paid', 'failed', 'cancelled'] as const).find((one) => one === status)
  if (payout.object !== 'payout' || !known) return null
  return {
    externalId: payout.id,
    amount: fromStripe(payout.amount, payout.currency),
    currency: payout.currency.toUpperCase(),
    status: known,
    arrivesOn: new Date(payout.arrival_date * 1_000).toISOString().slice(0, 10),
    complete: payout.reconciliation_status === 'completed',
    failure:
      payout.failure_code === null || payout.failure_code === undefined
        ? null
        : { code: 'other', message: cut(payout.failure_message ?? payout.failure_code, 200) },
    createdAt: new Date(payout.created * 1_000),
  }
}

const mostPages = 100

export const balances: Pick<Gateway, 'transactions' | 'payouts' | 'paidOut'> = {
  transactions: (accountRef, from, cursor, signal) =>
    call(
      signal,
      (stripe) =>
        stripe.balanceTransactions.list(
          {
            created: { gte: Math.floor(from.getTime() / 1_000) },
            limit: 100,
            expand: ['data.source'],
            ...(cursor === null ? {} : { starting_after: cursor }),
          },
          on(accountRef),
        ),
      (list) => {
        if (!isList(list)) return null
        const entries = list.data.map(entryOf)
        if (!entries.every((entry) => entry !== null)) return null
        return { snapshot: { entries, next: entries.at(-1)?.externalId ?? null, hasMore: list.has_more } }
      },
    ),
  payouts: (accountRef, signal) =>
    call(
      signal,
      (stripe) => stripe.payouts.list({ limit: 100 }, on(accountRef)),
      (list) => {
        if (!isList(list)) return null
        const payouts = list.data.map(payoutOf)
        return payouts.every((one) => one !== null) ? { snapshot: payouts } : null
      },
    ),
  paidOut: async (accountRef, payoutRef, signal) => {
    const found: string[] = []
    let after: string | undefined
    for (let page = 0; page < mostPages; page += 1) {
      const part = await call(
        signal,
        (stripe) =>
          stripe.balanceTransactions.list(
            { payout: payoutRef, limit: 100, ...(after ? { starting_after: after } : {}) },
            on(accountRef),
          ),
        (list) => (isList(list) ? { snapshot: list } : null),
      )
      if (part.kind !== 'known') return part
      const { data, has_more: hasMore } = part.snapshot
      found.push(...data.filter((row) => row.type !== 'payout').map((row) => row.id))
      after = data.at(-1)?.id
      if (!hasMore || after === undefined) return { kind: 'known', snapshot: found, httpStatus: 200 }
    }
    return { kind: 'unknown', code: 'list_too_long' }
  },
}
