import type { PaymentSnapshot, RefundSnapshot, Callback, Method } from '../../db/payment/index.ts'
import type { Outcome } from '../lib/gateway-job.ts'

export type GatewayPayment = {
  /** Ours; it travels in the gateway's metadata. */
  id: string
  accountRef: string
  externalId: string | null
  amount: number
  currency: string
  method: string
  installments: number
  expiresAt: Date | null
  cardToken: string | null
  returnUrl: string | null
}

export type GatewayRefund = {
  id: string
  accountRef: string
  externalId: string | null
  paymentRef: string
  amount: number
  currency: string
}

/**
 * One adapter per gateway. Nothing throws for what the other side did; calls end within 20 s, follow no redirect and repeat nothing
 * by themselves. `key` makes a repeated call the same call.
 */
export interface Gateway {
  readonly provider: string
  readonly methods: readonly Method[]
  /** Whether `find` is to be trusted. */
  readonly canSearch: boolean
  submit(payment: GatewayPayment, key: string, signal: AbortSignal): Promise<Outcome<PaymentSnapshot>>
  cancel(payment: GatewayPayment, key: string, signal: AbortSignal): Promise<Outcome<PaymentSnapshot>>
  read(payment: GatewayPayment, signal: AbortSignal): Promise<Outcome<PaymentSnapshot>>
  /** By our id. Known and null: the gateway has no such payment. */
  find(payment: GatewayPayment, signal: AbortSignal): Promise<Outcome<PaymentSnapshot | null>>
  refund(refund: GatewayRefund, key: string, signal: AbortSignal): Promise<Outcome<RefundSnapshot>>
  /** By the gateway's id where it is known, else by ours. */
  readRefund(refund: GatewayRefund, signal: AbortSignal): Promise<Outcome<RefundSnapshot | null>>
  verify(signature: string, rawBody: Buffer, now: Date): Callback | null
}
