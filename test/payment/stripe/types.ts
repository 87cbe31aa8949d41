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
export type DisputeClose = Stripe.DisputeCloseParams
export type PaymentMethodDetach = Stripe.PaymentMethodDetachParams
/** Replies: what the adapter reads of them. */
export type PaymentIntentReply = Pick<
  Stripe.PaymentIntent,
  | 'id'
  | 'object'
  | 'amount'
  | 'currency'
  | 'status'
  | 'amount_received'
  | 'amount_capturable'
  | 'capture_method'
  | 'client_secret'
  | 'metadata'
>
export type RefundReply = Pick<Stripe.Refund, 'id' | 'object' | 'amount' | 'currency' | 'status' | 'metadata'>
export type CustomerReply = Pick<Stripe.Customer, 'id' | 'object' | 'metadata'>
export type BalanceTransactionList = Stripe.BalanceTransactionListParams
