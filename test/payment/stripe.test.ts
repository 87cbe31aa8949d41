import { expect } from 'chai'
import { createHmac, randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { verifyStripe } from '../../db/payment/signatures.ts'
import { credentialsRefused } from '../../db/jobs/index.ts'
import type { GatewayPayment, GatewayRefund } from '../../workers/gateways/gateway.ts'
import { stripe } from '../../workers/gateways/stripe/index.ts'
import { stripeContract } from './stripe/contract.ts'
import { startStripePeer } from './stripe/peer.ts'
import type { Fault, Peer } from './stripe/peer.ts'

const payment = (more: Partial<GatewayPayment> = {}): GatewayPayment => ({
  id: randomUUID(),
  accountRef: 'acct_1',
  externalId: null,
  linkId: null,
  mode: 'charge',
  amount: 20_000,
  currency: 'BRL',
  method: 'card',
  platformFee: 300,
  installments: 1,
  expiresAt: new Date(Date.now() + 30 * 60_000),
  cardToken: 'pm_card_visa',
  returnUrl: null,
  methodRef: null,
  customerRef: null,
  save: false,
  linkMethods: null,
  description: 'A stay',
  payer: null,
  createdAt: new Date(),
  ...more,
})

describe('the adapter of Stripe', () => {
  let peer: Peer
  const signal = new AbortController().signal

  before(async function () {
    this.timeout(120_000)
    peer = await startStripePeer(await stripeContract())
    settings.stripe = { ...settings.stripe, secretKey: 'sk_test_x', publishableKey: 'pk_test_x', apiBase: peer.url }
  })
  beforeEach(() => {
    peer.fault = 'none'
    peer.seen.length = 0
    peer.kept.clear()
  })
  after(() => peer.close())

  const submit = (asked: GatewayPayment) => stripe.submit(asked, `pay-${asked.id}`, signal)

  it('tells of each decline by its charge, so that two in the same words are two', async () => {
    const asked = payment({ cardToken: null })
    const made = await submit(asked)
    const externalId = made.kind === 'known' ? made.snapshot.externalId : null
    const intent = peer.kept.get(externalId ?? '')
    const error = { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' }
    for (const charge of ['ch_1', 'ch_2']) {
      Object.assign(intent ?? {}, { last_payment_error: { ...error, charge } })
      const outcome = await stripe.read({ ...asked, externalId }, signal)
      expect(outcome.kind === 'known' && outcome.snapshot).to.deep.include({
        status: 'requires_action',
        failure: { code: 'declined', message: 'Your card was declined.' },
        declineRef: charge,
      })
    }
  })

  it('names account, key and version in every request, and asks for one method and the platform’s share', async () => {
    const asked = payment()
    const outcome = await submit(asked)
    expect(outcome).to.deep.include({ kind: 'known', httpStatus: 200 })
    expect(outcome.kind === 'known' && outcome.snapshot).to.include({ status: 'captured', capturedAmount: 20_000 })
    const [{ headers, body } = peer.seen[0]!] = peer.seen
    expect(headers).to.include({
      'stripe-account': 'acct_1',
      'idempotency-key': `pay-${asked.id}`,
      'stripe-version': '2026-10-28.endive',
    })
    expect(headers).to.not.have.property('x-stripe-client-telemetry')
    expect(body).to.deep.include({
      amount: '20000',
      currency: 'brl',
      application_fee_amount: '300',
      allowed_payment_method_types: ['card'],
      metadata: { paymentId: asked.id },
    })
  })

  const payer = {
    name: 'Ana Souza',
    email: 'ana@example.com',
    document: { type: 'cpf', number: '529.982.247-25' },
    address: { street: 'Rua A', number: '1', city: 'Rio', region: 'RJ', postalCode: '20000-000', country: 'BR' },
  } as const
  for (const [name, more] of Object.entries({
    'a card that its owner confirms': { cardToken: null },
    'an authorisation': { mode: 'authorise' },
    'a saved card': { cardToken: null, methodRef: 'pm_1', customerRef: 'cus_1' },
    'a card that is to be kept': { save: true },
    'a Pix': { method: 'pix', cardToken: null },
    'a slip': { method: 'boleto', cardToken: null, payer, expiresAt: new Date(Date.now() + 5 * 86_400_000) },
  } satisfies Record<string, Partial<GatewayPayment>>))
    it(`asks for ${name} as the types of the SDK have it`, async () => {
      expect((await submit(payment(more))).kind).to.equal('known')
    })

  it('tells of a card that it keeps: its customer, without whom it is not charged again, and its last digits', async () => {
    const first = await submit(payment({ save: true }))
    const customer = [...peer.kept.values()].find(({ object }) => object === 'customer')?.id
    expect(customer).to.match(/^cus_/)
    const card = { brand: 'visa', last4: '4242' }
    expect(first.kind === 'known' && first.snapshot).to.deep.include({
      savedMethodRef: 'pm_1',
      savedCustomerRef: customer,
      card,
    })
    const plain = await submit(payment())
    expect(plain.kind === 'known' && plain.snapshot).to.deep.include({
      savedMethodRef: null,
      savedCustomerRef: null,
      card,
    })
  })

  it('captures a part, cancels, and refunds with the share of the platform', async () => {
    const asked = payment({ mode: 'authorise' })
    const made = await submit(asked)
    if (made.kind !== 'known') throw new Error(made.kind)
    expect(made.snapshot).to.include({ status: 'authorised', authorisedAmount: 20_000 })
    const known = { ...asked, externalId: made.snapshot.externalId }
    const captured = await stripe.capture(known, 5_000, 75, 'capture', signal)
    expect(captured.kind === 'known' && captured.snapshot).to.include({
      status: 'captured',
      capturedAmount: 5_000,
      authorisedAmount: 20_000,
    })
    const refund: GatewayRefund = {
      id: randomUUID(),
      accountRef: 'acct_1',
      externalId: null,
      paymentRef: known.externalId ?? '',
      amount: 1_000,
      currency: 'BRL',
      reason: 'guest_request',
      returnsFee: true,
    }
    const sent = await stripe.refund(refund, 'refund', signal)
    expect(sent.kind === 'known' && sent.snapshot).to.include({ status: 'succeeded' })
    expect(peer.seen.at(-1)?.body).to.include({ refund_application_fee: 'true', reason: 'requested_by_customer' })
    const other = await submit(payment({ cardToken: null }))
    const ref = other.kind === 'known' ? other.snapshot.externalId : null
    const id = (peer.kept.get(ref ?? '')?.metadata ?? {})['paymentId'] ?? ''
    const gone = await stripe.cancel(payment({ id, externalId: ref }), 'cancel', signal)
    expect(gone.kind === 'known' && gone.snapshot).to.include({ status: 'cancelled' })
  })

  for (const [fault, kind] of [
    ['error_json', 'unknown'],
    ['error_html', 'unknown'],
    ['redirect', 'unknown'],
    ['empty', 'unknown'],
    ['reset', 'unknown'],
    ['other_amount', 'unknown'],
    ['other_currency', 'unknown'],
    ['other_id', 'unknown'],
    ['declined', 'refused'],
    ['busy', 'not_sent'],
    ['no_key', 'not_sent'],
  ] as [Fault, string][])
    it(`calls ${fault.replaceAll('_', ' ')} ${kind}, neither paid nor failed by mistake`, async () => {
      peer.fault = fault
      const outcome = await submit(payment())
      expect(outcome.kind, JSON.stringify(outcome)).to.equal(kind)
      if (fault === 'declined') expect(outcome).to.include({ code: 'insufficient_funds' })
      if (fault === 'busy') expect(outcome).to.include({ afterMs: 3_000 })
      if (fault === 'no_key') expect(outcome).to.include({ code: credentialsRefused })
    })

  it('was not sent where nothing listens', async () => {
    const { apiBase } = settings.stripe
    settings.stripe.apiBase = 'http://127.0.0.1:9'
    const outcome = await submit(payment())
    settings.stripe.apiBase = apiBase
    expect(outcome).to.include({ kind: 'not_sent', code: 'ECONNREFUSED' })
  })

  it('charges once though the answer was lost and the call is repeated, and finds the charge in the list without its key', async () => {
    const asked = payment()
    peer.fault = 'reset_after'
    expect((await submit(asked)).kind).to.equal('unknown')
    peer.fault = 'none'
    const again = await submit(asked)
    expect(again.kind).to.equal('known')
    expect([...peer.kept.values()].filter((one) => one.object === 'payment_intent')).to.have.length(1)
    for (let n = 0; n < 5; n += 1) await submit(payment())
    const found = await stripe.find(asked, signal)
    expect(found.kind === 'known' && found.snapshot?.externalId).to.equal(
      again.kind === 'known' && again.snapshot.externalId,
    )
    expect(peer.seen.filter(({ path }) => path.includes('search'))).to.deep.equal([])
    const nothing = await stripe.find(payment(), signal)
    expect(nothing).to.include({ kind: 'known', snapshot: null })
  })
})

describe('an event of Stripe', () => {
  const secret = 'whsec_test'
  const now = new Date('2026-11-22T12:00:00Z')
  const event = (more: object = {}) =>
    Buffer.from(
      JSON.stringify({
        id: 'evt_1',
        type: 'payment_intent.succeeded',
        account: 'acct_1',
        data: {
          object: {
            object: 'payment_intent',
            id: 'pi_1',
            metadata: { paymentId: '0b6f0c9e-7a43-4c7f-9a94-3a1c6b2d9e10' },
          },
        },
        ...more,
      }),
    )
  const sign = (body: Buffer, secondsAhead = 0, by = secret) => {
    const t = Math.floor(now.getTime() / 1_000) + secondsAhead
    return `t=${t},v1=${createHmac('sha256', by).update(`${t}.`).update(body).digest('hex')},v0=ignored`
  }
  const verify = (body: Buffer, signature: string, secrets = ['whsec_new', secret]) =>
    verifyStripe(signature, body, now, secrets)

  it('is believed under every secret in rotation, and names account, object and our record', () => {
    expect(verify(event(), sign(event()))).to.deep.equal({
      accountRef: 'acct_1',
      eventId: 'evt_1',
      eventType: 'payment_intent.succeeded',
      objectType: 'charge',
      objectRef: 'pi_1',
      ourId: '0b6f0c9e-7a43-4c7f-9a94-3a1c6b2d9e10',
    })
  })

  for (const [name, signature] of [
    ['forged', sign(event(), 0, 'whsec_other')],
    ['301 seconds old', sign(event(), -301)],
    ['301 seconds ahead, which the SDK takes', sign(event(), 301)],
    ['without a signature', 't=1'],
  ] as const)
    it(`that is ${name} is refused`, () => {
      expect(verify(event(), signature)).to.equal(null)
    })

  it('of a changed body is refused', () => {
    expect(verify(event({ account: 'acct_2' }), sign(event()))).to.equal(null)
  })

  for (const object of [
    { object: 'charge', id: 'ch_1', metadata: { paymentId: '0b6f0c9e-7a43-4c7f-9a94-3a1c6b2d9e10' } },
    { object: 'balance' },
  ])
    it(`of another kind of object, such as ${object.object}, is genuine, and names no record of ours`, () => {
      const body = event({ type: `${object.object}.updated`, data: { object } })
      expect(verify(body, sign(body))).to.deep.equal({
        accountRef: 'acct_1',
        eventId: 'evt_1',
        eventType: `${object.object}.updated`,
        objectType: 'other',
        objectRef: object.id ?? 'evt_1',
        ourId: null,
      })
    })

  it('that ends a connection names the account', () => {
    const body = event({
      type: 'account.application.deauthorized',
      data: { object: { object: 'application', id: 'ca_1' } },
    })
    expect(verify(body, sign(body))).to.include({ objectType: 'account', objectRef: 'acct_1' })
  })
})
