import type { BalanceEntry, OnboardingLink, PayoutEntry } from '../../db/payment/index.ts'
import type { Part } from './gateway.ts'
import { record, whole, textOf, instantOf, failureOf } from './sandbox-values.ts'
import type { Understood } from './sandbox-values.ts'

const kinds: readonly BalanceEntry['kind'][] = [
  'charge',
  'refund',
  'refund_failure',
  'dispute',
  'dispute_reversal',
  'payout',
  'platform_fee_refund',
]
const sources = { charge: 'payment', refund: 'refund', dispute: 'dispute', payout: 'payout' } as const

const entryOf = (value: unknown): BalanceEntry | null => {
  const given = record(value)
  const [externalId, currency] = [textOf(given?.['id']), textOf(given?.['currency'])]
  const [gross, fee, platformFee, net] = ['gross', 'fee', 'platformFee', 'net'].map((name) => whole(given?.[name]))
  const [occurredAt, availableAt] = [instantOf(given?.['occurredAt']), instantOf(given?.['availableAt'])]
  const kind = kinds.find((one) => one === given?.['kind'])
  if (!externalId || !currency || !occurredAt || !availableAt || !kind) return null
  if (
    typeof gross !== 'number' ||
    typeof fee !== 'number' ||
    typeof platformFee !== 'number' ||
    typeof net !== 'number'
  )
    return null
  if (net !== gross - fee - platformFee) return null
  const source = record(given?.['source'])
  const object = textOf(source?.['object'])
  const reference = textOf(source?.['id'])
  const type = object !== null && object in sources ? sources[object as keyof typeof sources] : null
  return {
    externalId,
    kind,
    gross,
    fee,
    platformFee,
    net,
    currency,
    occurredAt,
    availableAt,
    source: type && reference ? { type, reference } : null,
  }
}

export const partOf = (body: unknown): Understood<Part<BalanceEntry>> => {
  const list = record(body)
  if (!Array.isArray(list?.['data'])) return null
  const entries = list['data'].map(entryOf)
  if (!entries.every((entry) => entry !== null)) return null
  return { snapshot: { entries, next: entries.at(-1)?.externalId ?? null, hasMore: list['hasMore'] === true } }
}

const payoutStates = ['pending', 'in_transit', 'paid', 'failed', 'cancelled'] as const

export const payoutsOf = (body: unknown): Understood<PayoutEntry[]> => {
  const list = record(body)?.['data']
  if (!Array.isArray(list)) return null
  const payouts = list.map((value): PayoutEntry | null => {
    const given = record(value)
    const status = payoutStates.find((one) => one === given?.['status'])
    const [externalId, currency, arrivesOn] = [given?.['id'], given?.['currency'], given?.['arrivesOn']].map(textOf)
    const [amount, createdAt] = [whole(given?.['amount']), instantOf(given?.['createdAt'])]
    if (!externalId || !currency || !status || amount === null || !createdAt) return null
    return {
      externalId,
      amount,
      currency,
      status,
      arrivesOn: arrivesOn ?? null,
      complete: given?.['complete'] === true,
      failure: failureOf(given?.['failure']),
      createdAt,
    }
  })
  return payouts.every((one) => one !== null) ? { snapshot: payouts } : null
}

export const idsOf = (body: unknown): Understood<string[]> => {
  const list = record(body)?.['data']
  return Array.isArray(list) && list.every((one) => typeof one === 'string') ? { snapshot: list } : null
}

export const onboardingOf = (body: unknown): Understood<OnboardingLink> => {
  const given = record(body)
  const [url, expiresAt] = [textOf(given?.['url']), instantOf(given?.['expiresAt'])]
  return given?.['object'] === 'onboarding' && url && expiresAt ? { snapshot: { url, expiresAt } } : null
}
