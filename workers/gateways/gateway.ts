import type {
  AccountSnapshot,
  BalanceEntry,
  DisputeSnapshot,
  Method,
  MethodSnapshot,
  OnboardingLink,
  Payer,
  PaymentSnapshot,
  PayoutEntry,
  RefundSnapshot,
} from '../../db/payment/index.ts'
import type { Outcome } from '../lib/gateway-job.ts'

export type GatewayPayment = {
  /** Ours; it travels in the gateway's metadata. */
  id: string
  accountRef: string
  externalId: string | null
  linkId: string | null
  mode: 'charge' | 'authorise'
  amount: number
  currency: string
  method: string
  /** The platform's share, in minor units. */
  platformFee: number
  installments: number
  expiresAt: Date | null
  cardToken: string | null
  returnUrl: string | null
  /** A saved method and its customer at the gateway, by the gateway's ids. */
  methodRef: string | null
  customerRef: string | null
  /** The card is to be kept. */
  save: boolean
  /** Of a link: the methods that its page offers. */
  linkMethods: readonly string[] | null
  description: string | null
  payer: Payer | null
  /** The moment at which it was made here: nothing of it is older over there. */
  createdAt: Date
}

export type GatewayRefund = {
  id: string
  accountRef: string
  externalId: string | null
  paymentRef: string
  amount: number
  currency: string
  reason: string
  /** The platform's share goes back with it. */
  returnsFee: boolean
}

export type GatewayAccountOpening = {
  id: string
  externalId: string | null
  country: string
  currency: string
  label: string
  /** Of the sandbox alone. */
  testToken: string | null
  createdAt: Date
}

export type GatewayMethod = {
  id: string
  accountRef: string
  externalId: string | null
  setupId: string | null
  customerRef: string | null
  /** Names the owner's customer at the gateway. */
  customerKey: string
  cardToken: string | null
  returnUrl: string | null
  createdAt: Date
}

export type GatewayAnswer = {
  accountRef: string
  externalId: string
  action: 'contest' | 'accept'
  evidence: Readonly<Record<string, string>>
}

/** A part of a list, oldest first. `next` is where the following part begins; null: there is no more now. */
export type Part<T> = { entries: T[]; next: string | null; hasMore: boolean }

/** Keys of the two steps by which a method is saved: its customer, and the method. */
export type MethodKeys = { customer: string; method: string }

/**
 * One adapter per gateway. Nothing throws for what the other side did; calls end within 20 s, follow no redirect and repeat nothing
 * by themselves. `key` makes a repeated call the same call.
 */
export interface Gateway {
  readonly provider: string
  readonly methods: readonly Method[]
  openAccount(account: GatewayAccountOpening, key: string, signal: AbortSignal): Promise<Outcome<AccountSnapshot>>
  /** By the gateway's id where it is known, else by ours, in its list. */
  readAccount(account: GatewayAccountOpening, signal: AbortSignal): Promise<Outcome<AccountSnapshot | null>>
  onboardingLink(ref: string, returnUrl: string, key: string, signal: AbortSignal): Promise<Outcome<OnboardingLink>>
  closeAccount(ref: string, key: string, signal: AbortSignal): Promise<Outcome<true>>
  startMethod(method: GatewayMethod, keys: MethodKeys, signal: AbortSignal): Promise<Outcome<MethodSnapshot>>
  readMethod(method: GatewayMethod, signal: AbortSignal): Promise<Outcome<MethodSnapshot | null>>
  detachMethod(method: GatewayMethod, key: string, signal: AbortSignal): Promise<Outcome<true>>
  submit(payment: GatewayPayment, key: string, signal: AbortSignal): Promise<Outcome<PaymentSnapshot>>
  openLink(payment: GatewayPayment, key: string, signal: AbortSignal): Promise<Outcome<PaymentSnapshot>>
  closeLink(payment: GatewayPayment, key: string, signal: AbortSignal): Promise<Outcome<PaymentSnapshot>>
  capture(
    payment: GatewayPayment,
    amount: number,
    platformFee: number,
    key: string,
    signal: AbortSignal,
  ): Promise<Outcome<PaymentSnapshot>>
  cancel(payment: GatewayPayment, key: string, signal: AbortSignal): Promise<Outcome<PaymentSnapshot>>
  read(payment: GatewayPayment, signal: AbortSignal): Promise<Outcome<PaymentSnapshot>>
  /** By our id, in the gateway's list of what was made since, never by its search. Known and null: it has no such payment. */
  find(payment: GatewayPayment, signal: AbortSignal): Promise<Outcome<PaymentSnapshot | null>>
  refund(refund: GatewayRefund, key: string, signal: AbortSignal): Promise<Outcome<RefundSnapshot>>
  /** By the gateway's id where it is known, else by ours among the refunds of the charge. */
  readRefund(refund: GatewayRefund, signal: AbortSignal): Promise<Outcome<RefundSnapshot | null>>
  respondDispute(answer: GatewayAnswer, key: string, signal: AbortSignal): Promise<Outcome<DisputeSnapshot>>
  readDispute(accountRef: string, ref: string, signal: AbortSignal): Promise<Outcome<DisputeSnapshot | null>>
  /** Entries that moved the balance since an instant, part by part. */
  transactions(
    accountRef: string,
    since: Date,
    cursor: string | null,
    signal: AbortSignal,
  ): Promise<Outcome<Part<BalanceEntry>>>
  /** The newest payouts. */
  payouts(accountRef: string, signal: AbortSignal): Promise<Outcome<PayoutEntry[]>>
  /** The ids of the transactions that a payout pays out. */
  paidOut(accountRef: string, payoutRef: string, signal: AbortSignal): Promise<Outcome<string[]>>
}
