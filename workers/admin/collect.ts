import { cut } from '../../config/cut.ts'
import { applyInvoicePayment, invoiceCall, invoiceUnheard, platformAccount } from '../../db/admin/index.ts'
import type { BillingAddress, InvoiceCall } from '../../db/admin/index.ts'
import { notFoundAfterMs, repeatForMs } from '../../db/payment/index.ts'
import type { Payer, PaymentSnapshot } from '../../db/payment/index.ts'
import { collectInvoice, readInvoicePayment } from '../../jobs/admin.ts'
import { gatewayOf } from '../gateways/index.ts'
import type { Gateway, GatewayPayment } from '../gateways/gateway.ts'
import { gatewayJob, unheard } from '../lib/gateway-job.ts'
import type { Answer, Applying, Asking } from '../lib/gateway-job.ts'

type OfInvoice = { tenantId: string; invoicePaymentId: string }
const dayMs = 86_400_000

const adapter = ({ giveUp }: Pick<Asking, 'giveUp'>, provider: string): Gateway =>
  gatewayOf(provider) ?? giveUp('provider_not_configured', `This installation has no gateway ${provider}`)

const addressOf = ({ line1, line2, city, region, postalCode, countryCode }: BillingAddress): Payer['address'] => ({
  street: line1,
  complement: line2,
  city,
  region,
  postalCode,
  country: countryCode,
})

/** The customer of the invoice. A slip names the payer's document and address. */
const payerOf = ({ name, billingEmail: email, document, billingAddress }: InvoiceCall['customer']): Payer => ({
  name,
  email,
  ...(document === null
    ? {}
    : { document: { type: document.replace(/\D/g, '').length === 11 ? 'cpf' : 'cnpj', number: document } }),
  ...(billingAddress === null ? {} : { address: addressOf(billingAddress) }),
})

/** Equal on every try: its columns do not change once it was sent. */
const asked = (call: InvoiceCall): GatewayPayment => ({
  id: call.id,
  accountRef: platformAccount,
  externalId: call.externalId,
  linkId: null,
  mode: 'charge',
  amount: call.amount,
  currency: call.currency,
  method: call.method,
  platformFee: 0,
  installments: 1,
  expiresAt: call.method === 'card' ? null : new Date(call.createdAt.getTime() + 10 * dayMs),
  cardToken: call.cardToken,
  returnUrl: call.returnUrl,
  methodRef: call.methodRef,
  customerRef: call.customerRef,
  save: call.method === 'card' && call.methodRef === null,
  linkMethods: null,
  description: `Invoice ${call.number}`,
  payer: payerOf(call.customer),
  createdAt: call.createdAt,
})

const failure = (code: 'declined' | 'other', message: string): PaymentSnapshot => ({
  status: 'failed',
  externalId: null,
  currency: '',
  authorisedAmount: 0,
  capturedAmount: 0,
  action: null,
  failure: { code, message: cut(message, 200) },
  authorisationExpiresAt: null,
})

const submit = (asking: Asking, call: InvoiceCall) => {
  const key = `sub-${call.id}`
  return asking.act({ provider: call.provider, operation: 'submit', key }, () =>
    adapter(asking, call.provider).submit(asked(call), key, asking.signal),
  )
}

/** Asks what became of a try: reads it where it is known, sends it again under its key, and looks for it once the key is old. */
const pursue = async (asking: Asking, call: InvoiceCall): Promise<Answer<OfInvoice, PaymentSnapshot>> => {
  const gateway = adapter(asking, call.provider)
  const name = { provider: call.provider, operation: 'read' }
  if (call.externalId !== null) return unheard(await asking.read(name, () => gateway.read(asked(call), asking.signal)))
  const age = call.now.getTime() - (call.sentAt ?? call.createdAt).getTime()
  if (age < repeatForMs) return submit(asking, call)
  const found = unheard(await asking.read(name, () => gateway.find(asked(call), asking.signal)))
  if (found.kind !== 'known') return found
  if (found.snapshot) return { kind: 'known', snapshot: found.snapshot }
  return age > repeatForMs + notFoundAfterMs
    ? { kind: 'known', snapshot: failure('other', 'The gateway has no such payment') }
    : { kind: 'unknown', code: 'not_found' }
}

const applying: Applying<OfInvoice, PaymentSnapshot> = {
  known: (trx, { invoicePaymentId }, snapshot) => applyInvoicePayment(trx, invoicePaymentId, snapshot),
  refused: (trx, { invoicePaymentId }, { message }) =>
    applyInvoicePayment(trx, invoicePaymentId, failure('declined', message)),
  unknown: (trx, { invoicePaymentId }, wasReached) => invoiceUnheard(trx, invoicePaymentId, wasReached),
}

export const collectProcessors = [
  gatewayJob(collectInvoice, {
    load: (trx, { invoicePaymentId }) => invoiceCall(trx, invoicePaymentId),
    ask: pursue,
    apply: applying,
    isScheduled: false,
  }),
  gatewayJob(readInvoicePayment, {
    load: (trx, { invoicePaymentId }) => invoiceCall(trx, invoicePaymentId),
    ask: pursue,
    apply: applying,
    isScheduled: true,
  }),
]
