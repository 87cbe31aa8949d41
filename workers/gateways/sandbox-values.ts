import type { Failure, FailureCode } from '../../db/payment/index.ts'

export type Where = { url: string; secret: string }
export type Understood<S> = { snapshot: S; reference?: string } | null

export const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null

export const whole = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null
export const amountOf = (value: unknown): number | null => {
  const amount = whole(value)
  return amount !== null && amount >= 0 ? amount : null
}
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
export const instantOf = (value: unknown): Date | null => {
  const at = typeof value === 'string' ? new Date(value) : null
  return at && !Number.isNaN(at.getTime()) ? at : null
}

export const states = ['requires_action', 'processing', 'authorised', 'captured', 'failed', 'cancelled'] as const
export const refundStates = ['processing', 'succeeded', 'failed'] as const
const failures: readonly FailureCode[] = [
  'declined',
  'insufficient_funds',
  'expired_card',
  'authentication_failed',
  'other',
]

export const failureOf = (value: unknown): Failure | null => {
  const failure = record(value)
  if (!failure) return null
  return {
    code: failures.find((code) => code === failure['code']) ?? 'other',
    message: typeof failure['message'] === 'string' ? failure['message'].slice(0, 200) : '',
  }
}
