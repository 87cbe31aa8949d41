import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import type { GatewayPayment } from '../../workers/gateways/gateway.ts'
import { fromStripe, toStripe } from '../../workers/gateways/stripe/amounts.ts'
import { stripe } from '../../workers/gateways/stripe/index.ts'
import { parseForm } from './stripe/peer.ts'

describe('amounts of currencies that Stripe counts otherwise', () => {
  const { signal } = new AbortController()
  const asked: Record<string, unknown>[] = []
  let server: Server
  let former: typeof settings.stripe

  before(async () => {
    server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const body = parseForm(Buffer.concat(parts).toString('utf8'))
        asked.push(body)
        const answer =
          request.url === '/v1/refunds'
            ? { id: 're_1', object: 'refund', status: 'succeeded', currency: 'isk' }
            : { id: 'pi_1', object: 'payment_intent', status: 'succeeded', capture_method: 'automatic' }
        const amount = Number(body['amount'])
        const reply = {
          currency: body['currency'],
          ...answer,
          amount,
          amount_received: amount,
          metadata: body['metadata'],
        }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    former = settings.stripe
    const apiBase = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    settings.stripe = { ...former, secretKey: 'sk_test_x', publishableKey: 'pk_test_x', apiBase }
  })
  beforeEach(() => void asked.splice(0))
  after(() => {
    settings.stripe = former
    server.closeAllConnections()
    server.close()
  })

  const payment = (amount: number, currency: string): GatewayPayment => ({
    id: randomUUID(),
    accountRef: 'acct_1',
    externalId: null,
    linkId: null,
    mode: 'charge',
    amount,
    currency,
    method: 'card',
    platformFee: Math.floor(amount / 10),
    installments: 1,
    expiresAt: null,
    cardToken: 'pm_card_visa',
    returnUrl: null,
    methodRef: null,
    customerRef: null,
    save: false,
    linkMethods: null,
    description: null,
    payer: null,
    createdAt: new Date(),
  })
  const submit = async (amount: number, currency: string) => {
    const wanted = payment(amount, currency)
    const outcome = await stripe.submit(wanted, `pay-${wanted.id}`, signal)
    const [sent] = asked
    return {
      sent: sent && [Number(sent['amount']), Number(sent['application_fee_amount'])],
      taken: outcome.kind === 'known' ? outcome.snapshot.capturedAmount : outcome.kind,
    }
  }

  for (const [currency, amount, sent] of [
    ['BRL', 5_000, [5_000, 500]],
    ['JPY', 5_000, [5_000, 500]],
    ['ISK', 5_000, [500_000, 50_000]],
    ['UGX', 5_000, [500_000, 50_000]],
    ['MGA', 500_000, [5_000, 500]],
  ] as const)
    it(`of ${currency} are charged as they are meant, and come back as ours`, async () => {
      expect(await submit(amount, currency)).to.deep.equal({ sent, taken: amount })
    })

  it('that Stripe cannot take are refused before anything is asked', async () => {
    expect(await submit(500_050, 'MGA')).to.deep.equal({ sent: undefined, taken: 'refused' })
  })

  it('go back as they came', async () => {
    const refund = {
      id: randomUUID(),
      accountRef: 'acct_1',
      externalId: null,
      paymentRef: 'pi_1',
      amount: 700,
      currency: 'ISK',
      reason: 'guest_request',
      returnsFee: false,
    } as const
    // The peer answers with the id of the refund that was asked for.
    const outcome = await stripe.refund(refund, `ref-${refund.id}`, signal)
    expect(outcome.kind === 'known' && outcome.snapshot.status).to.equal('succeeded')
    expect(Number(asked[0]?.['amount'])).to.equal(70_000)
  })

  it('of fees in hundredths are the nearest whole, and others are as they are', () => {
    expect([2_950, 2_949, -2_950].map((amount) => fromStripe(amount, 'isk'))).to.deep.equal([30, 29, -29])
    expect([12_345, 0, -1].map((amount) => fromStripe(amount, 'brl'))).to.deep.equal([12_345, 0, -1])
    expect(toStripe(12_345, 'KWD')).to.equal(12_345)
  })
})
