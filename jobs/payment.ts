import { Matching, Obj, OneOf, Opt, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'

const Reference = Matching('^[A-Za-z0-9_]{1,100}$', 100)
const ofPayment = Obj({ tenantId: Uuid, paymentId: Uuid })
const ofRefund = Obj({ tenantId: Uuid, refundId: Uuid })
const ofAccount = Obj({ tenantId: Uuid, gatewayAccountId: Uuid })
const ofMethod = Obj({ tenantId: Uuid, paymentMethodId: Uuid })
const ofDispute = Obj({ tenantId: Uuid, disputeId: Uuid })

const ours = { queue: 'payments', retry: 'provider' } as const

/** The gateway is asked to take the money. */
export const submitPayment = job({ name: 'payments.submit', ...ours, payload: ofPayment, class: 'urgent' })
/** The gateway is asked what became of it. */
export const readPayment = job({
  name: 'payments.read',
  ...ours,
  payload: Obj({ tenantId: Uuid, paymentId: Uuid, cause: Opt(OneOf(['callback', 'read'])) }),
  tries: 3,
})
/** The gateway takes what it has authorised. */
export const capturePayment = job({ name: 'payments.capture', ...ours, payload: ofPayment, class: 'urgent' })
/** Asks the gateway to close a payment that was cancelled here, */
export const cancelPayment = job({ name: 'payments.cancel', ...ours, payload: ofPayment })
/** or out of time. */
export const expirePayment = job({ name: 'payments.expire', ...ours, payload: ofPayment })
export const refundPayment = job({ name: 'payments.refund', ...ours, payload: ofRefund })
export const readRefund = job({ name: 'payments.read-refund', ...ours, payload: ofRefund, tries: 3 })

export const openAccount = job({ name: 'payments.open-account', ...ours, payload: ofAccount, feature: 'payments' })
/** The gateway is asked about an account. One that it never had is opened. */
export const readAccount = job({
  name: 'payments.read-account',
  ...ours,
  payload: ofAccount,
  tries: 3,
  feature: 'payments',
})
export const onboardingLink = job({
  name: 'payments.onboarding-link',
  ...ours,
  payload: ofAccount,
  class: 'urgent',
  feature: 'payments',
})
export const closeAccount = job({ name: 'payments.close-account', ...ours, payload: ofAccount })

export const startMethod = job({
  name: 'payments.start-method',
  ...ours,
  payload: ofMethod,
  class: 'urgent',
  feature: 'payments',
})
/** The gateway is asked about a saved method. One that it never had is started. */
export const readMethod = job({
  name: 'payments.read-method',
  ...ours,
  payload: ofMethod,
  tries: 3,
  feature: 'payments',
})
export const detachMethod = job({ name: 'payments.detach-method', ...ours, payload: ofMethod })

export const respondDispute = job({ name: 'payments.respond-dispute', ...ours, payload: ofDispute })
/** The gateway is asked about a dispute, which may be unknown here. */
export const readDispute = job({
  name: 'payments.read-dispute',
  ...ours,
  payload: Obj({ tenantId: Uuid, gatewayAccountId: Uuid, reference: Reference }),
  tries: 3,
})

/** Transactions and payouts of an account are read from where the last import ended. */
export const importBalance = job({ name: 'payments.import-balance', ...ours, payload: ofAccount, tries: 3 })
export const reconcileDay = job({
  name: 'payments.reconcile',
  queue: 'payments',
  retry: 'internal',
  payload: Obj({ tenantId: Uuid, reconciliationId: Uuid }),
})

/** An installment has fallen due uncovered: a saved card is charged, else a link is sent. */
export const collectDeposit = job({
  name: 'payments.collect-deposit',
  queue: 'payments',
  retry: 'internal',
  payload: Obj({ tenantId: Uuid, depositId: Uuid }),
  feature: 'payments',
})
/** A stay was cancelled or missed for more than its folio has: a saved card is charged. */
export const collectFee = job({
  name: 'payments.collect-fee',
  queue: 'payments',
  retry: 'internal',
  payload: Obj({ tenantId: Uuid, reservationId: Uuid }),
  feature: 'payments',
})
/** The page of a link is there: its payer is told. */
export const sendPaymentLink = job({
  name: 'payments.send-link',
  queue: 'payments',
  retry: 'internal',
  payload: ofPayment,
  feature: 'payments',
})

/** A callback that was stored names an object; it is read from the gateway. */
export const processCallback = job({
  name: 'payments.process-callback',
  queue: 'payments',
  payload: Obj({ callbackId: Uuid }),
  retry: 'internal',
  class: 'urgent',
  replayable: true,
})
/** Makes the jobs of what is due to be read. */
export const sweepPayments = job({ name: 'payments.sweep', queue: 'payments', payload: Obj({}), retry: 'tick' })

/** Erases the bodies of callbacks, and what is known of payers, when 90 days have passed. */
export const eraseCallbackBodies = job({
  name: 'privacy.erase-callback-bodies',
  queue: 'privacy',
  payload: Obj({}),
  retry: 'tick',
})

export const paymentJobs = [
  submitPayment,
  readPayment,
  capturePayment,
  cancelPayment,
  expirePayment,
  refundPayment,
  readRefund,
  openAccount,
  readAccount,
  onboardingLink,
  closeAccount,
  startMethod,
  readMethod,
  detachMethod,
  respondDispute,
  readDispute,
  importBalance,
  reconcileDay,
  collectDeposit,
  collectFee,
  sendPaymentLink,
  processCallback,
  sweepPayments,
  eraseCallbackBodies,
]
export const paymentSchedules = [every(5, sweepPayments), daily('03:25', eraseCallbackBodies)]
