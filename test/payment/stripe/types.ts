/** Requests of the adapter, by the types of the SDK: what they say is judged by, so none of it is ours. */
import type Stripe from 'stripe'
export type PaymentIntentCreate = Stripe.PaymentIntentCreateParams
export type PaymentIntentConfirm = Stripe.PaymentIntentConfirmParams
export type PaymentIntentCapture = Stripe.PaymentIntentCaptureParams
export type PaymentIntentCancel = Stripe.PaymentIntentCancelParams
export type RefundCreate = Stripe.RefundCreateParams
export type AccountCreate = Stripe.AccountCreateParams
export type AccountLinkCreate = Stripe.AccountLinkCreateParams
export type PaymentLinkCreate = Stripe.PaymentLinkCreateParams
export type PaymentLinkUpdate = Stripe.PaymentLinkUpdateParams
export type SetupIntentCreate = Stripe.SetupIntentCreateParams
export type CustomerCreate = Stripe.CustomerCreateParams
export type DisputeUpdate = Stripe.DisputeUpdateParams
export type BalanceTransactionList = Stripe.BalanceTransactionListParams
