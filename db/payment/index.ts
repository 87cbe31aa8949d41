/** Money through gateways, as other modules see it. */
export { addSandboxAccount } from './accounts.ts'
export { cancelPaymentsOf, createPayment } from './commands.ts'
export type { NewPayment } from './commands.ts'
export { paymentsOf, paymentState } from './queries.ts'
export type { PaymentShown, PaymentState } from './queries.ts'
export { requestRefund } from './refunds.ts'
export { shownStatus } from './rules/states.ts'
