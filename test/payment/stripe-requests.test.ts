import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import type { GatewayMethod, GatewayPayment } from '../../workers/gateways/gateway.ts'
import { stripe } from '../../workers/gateways/stripe/index.ts'
import { stripeContract } from './stripe/contract.ts'
import { parseForm } from './stripe/peer.ts'
import type { Judge } from './stripe/peer.ts'

type Seen = { path: string; key: string | undefined; account: string | undefined; version: string | undefined }

/** Answers of the gateway to requests that the contract takes, by their path. */
const made = (path: string, metadata: unknown): object | null => {
  const setup = { object: 'setup_intent', status: 'requires_payment_method', client_secret: 'seti_1_secret' }
  const dispute = { id: 'dp_1', object: 'dispute', amount: 900, currency: 'brl', reason: 'fraudulent' }
  const answers: Record<string, object> = {
    '/v1/accounts': { id: 'acct_9', object: 'account', metadata, details_submitted: false, capabilities: {} },
    '/v1/account_links': { object: 'account_link', url: 'https://connect.example/', expires_at: 1_900_000_000 },
    '/v1/customers': { id: 'cus_1', object: 'customer', metadata },
    '/v1/setup_intents': { id: 'seti_1', ...setup, customer: 'cus_1', metadata, payment_method: null },
    '/v1/payment_methods/pm_1/detach': { id: 'pm_1', object: 'payment_method' },
    '/v1/payment_links': { id: 'plink_1', object: 'payment_link', active: true, url: 'https://buy.example/', metadata },
    '/v1/disputes/dp_1': { ...dispute, status: 'under_review', payment_intent: 'pi_1', created: 1_790_000_000 },
    '/v1/disputes/dp_1/close': { ...dispute, status: 'lost', payment_intent: 'pi_1', created: 1_790_000_000 },
  }
  return answers[path] ?? null
}

/** Requests that no story of a payment sends: the rest of what the adapter asks of Stripe. */
describe('requests of the adapter of Stripe, as the types of its SDK have them', () => {
  const signal = new AbortController().signal
  const seen: Seen[] = []
  const wrong: string[] = []
  let judge: Judge
  let server: Server
  let former: typeof settings.stripe
  let ofLink: unknown

  before(async function () {
    this.timeout(120_000)
    judge = await stripeContract()
    server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const { pathname: path } = new URL(request.url ?? '/', 'http://stripe')
        const answer = (status: number, body: object) =>
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
        if (request.method !== 'POST')
          return path === '/v1/checkout/sessions'
            ? answer(200, { object: 'list', data: [], has_more: false })
            : answer(200, {
                id: 'plink_1',
                object: 'payment_link',
                active: false,
                url: 'https://buy.example/',
                metadata: ofLink,
              })
        const body = parseForm(Buffer.concat(parts).toString('utf8'))
        const header = (name: string) => request.headers[name] as string | undefined
        seen.push({
          path,
          key: header('idempotency-key'),
          account: header('stripe-account'),
          version: header('stripe-version'),
        })
        const metadata = body['metadata']
        const refused = judge.request(path, body)
        if (refused) wrong.push(refused)
        if (path === '/v1/payment_links') ofLink = metadata
        const reply = path === '/v1/payment_links/plink_1' ? made('/v1/payment_links', ofLink) : made(path, metadata)
        return reply ? answer(200, reply) : answer(404, { error: { type: 'invalid_request_error', message: path } })
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    former = settings.stripe
    const apiBase = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    settings.stripe = { ...former, secretKey: 'sk_test_x', publishableKey: 'pk_test_x', apiBase }
  })
  beforeEach(() => {
    seen.length = 0
    wrong.length = 0
  })
  after(() => {
    settings.stripe = former
    server.closeAllConnections()
    server.close()
  })

  /** Requests that were sent, each under its key, on this account. */
  const sent = (account: string | undefined, keys: Record<string, string>) => {
    expect(wrong).to.deep.equal([])
    const version = '2026-10-28.endive'
    expect(seen).to.deep.equal(Object.entries(keys).map(([path, key]) => ({ path, key, account, version })))
  }

  it('open an account, in Brazil with Pix and slips, and its page', async () => {
    for (const country of ['BR', 'PT']) {
      const account = { id: randomUUID(), externalId: null, country, currency: 'BRL', label: 'Sol', testToken: null }
      const opened = await stripe.openAccount({ ...account, createdAt: new Date() }, `acc-${country}`, signal)
      expect(opened.kind === 'known' && opened.snapshot.externalId, JSON.stringify(opened)).to.equal('acct_9')
      sent(undefined, { '/v1/accounts': `acc-${country}` })
      seen.length = 0
    }
    const page = await stripe.onboardingLink('acct_9', 'https://portal.example/back', 'acc-page', signal)
    expect(page.kind === 'known' && page.snapshot.url).to.equal('https://connect.example/')
    sent(undefined, { '/v1/account_links': 'acc-page' })
  })

  const method = (more: Partial<GatewayMethod> = {}): GatewayMethod => ({
    id: randomUUID(),
    accountRef: 'acct_1',
    externalId: null,
    setupId: null,
    customerRef: null,
    customerKey: 'guest-1',
    cardToken: null,
    returnUrl: null,
    createdAt: new Date(),
    ...more,
  })

  it('save a card of a new customer and of a known one, and forget it', async () => {
    const keys = { customer: 'cus-1', method: 'mth-1' }
    const started = await stripe.startMethod(method(), keys, signal)
    expect(started.kind === 'known' && started.snapshot.action, JSON.stringify(started)).to.include({
      type: 'client_secret',
      clientSecret: 'seti_1_secret',
    })
    sent('acct_1', { '/v1/customers': 'cus-1', '/v1/setup_intents': 'mth-1' })
    seen.length = 0
    const again = method({ customerRef: 'cus_1', cardToken: 'pm_card_visa', returnUrl: 'https://portal.example/' })
    expect((await stripe.startMethod(again, keys, signal)).kind).to.equal('known')
    sent('acct_1', { '/v1/setup_intents': 'mth-1' })
    seen.length = 0
    expect((await stripe.detachMethod(method({ externalId: 'pm_1' }), 'mth-1-detach', signal)).kind).to.equal('known')
    sent('acct_1', { '/v1/payment_methods/pm_1/detach': 'mth-1-detach' })
  })

  it('open a page for one payment, and close it', async () => {
    const link: GatewayPayment = {
      id: randomUUID(),
      accountRef: 'acct_1',
      externalId: null,
      linkId: null,
      mode: 'charge',
      amount: 19_990,
      currency: 'BRL',
      method: 'card',
      platformFee: 300,
      installments: 1,
      expiresAt: null,
      cardToken: null,
      returnUrl: null,
      methodRef: null,
      customerRef: null,
      save: false,
      linkMethods: ['card', 'pix'],
      description: 'A stay',
      payer: null,
      createdAt: new Date(),
    }
    const opened = await stripe.openLink(link, 'pay-1', signal)
    expect(opened.kind === 'known' && opened.snapshot, JSON.stringify(opened)).to.include({ linkId: 'plink_1' })
    sent('acct_1', { '/v1/payment_links': 'pay-1' })
    seen.length = 0
    const closed = await stripe.closeLink({ ...link, linkId: 'plink_1' }, 'pay-1-cancel', signal)
    expect(closed.kind === 'known' && closed.snapshot.status, JSON.stringify(closed)).to.equal('cancelled')
    sent('acct_1', { '/v1/payment_links/plink_1': 'pay-1-cancel' })
  })

  it('contest a dispute with all that may be said, and accept one', async () => {
    const answer = { accountRef: 'acct_1', externalId: 'dp_1' }
    const evidence = {
      explanation: 'The guest stayed',
      productDescription: 'Two nights',
      policyDisclosure: 'Before payment',
      refundPolicy: 'None after arrival',
      serviceDate: '2026-11-01',
      guestCommunication: 'Thank you',
      guestName: 'Ana Souza',
      guestEmail: 'ana@guests.example',
    }
    const contested = await stripe.respondDispute({ ...answer, action: 'contest', evidence }, 'dsp-1', signal)
    expect(contested.kind === 'known' && contested.snapshot.status, JSON.stringify(contested)).to.equal('under_review')
    sent('acct_1', { '/v1/disputes/dp_1': 'dsp-1' })
    seen.length = 0
    const accepted = await stripe.respondDispute({ ...answer, action: 'accept', evidence: {} }, 'dsp-2', signal)
    expect(accepted.kind === 'known' && accepted.snapshot.status).to.equal('lost')
    sent('acct_1', { '/v1/disputes/dp_1/close': 'dsp-2' })
  })
})
