import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { stripe } from '../../workers/gateways/stripe/index.ts'

describe('the list of what moved a balance at Stripe', () => {
  const former = settings.stripe
  let server: Server
  let data: object[] = []
  before(async () => {
    server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ object: 'list', url: '/v1/balance_transactions', has_more: false, data }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const apiBase = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    settings.stripe = { ...settings.stripe, secretKey: 'sk_test_x', apiBase }
  })
  after(() => {
    settings.stripe = former
    server.closeAllConnections()
    server.close()
  })

  it('has each of its fees as one of the gateway', async () => {
    const types = ['stripe_fee', 'stripe_fx_fee', 'tax_fee', 'adjustment']
    data = types.map((type) => ({
      object: 'balance_transaction',
      id: `txn_${type}`,
      amount: -150,
      fee: 0,
      net: -150,
      currency: 'brl',
      type,
      created: 1_700_000_000,
      available_on: 1_700_000_000,
      fee_details: [],
      source: null,
    }))
    const list = await stripe.transactions('acct_1', new Date(0), null, new AbortController().signal)
    const kinds = list.kind === 'known' ? list.snapshot.entries.map(({ kind, net }) => [kind, net]) : list
    expect(kinds).to.deep.equal([
      ['gateway_fee', -150],
      ['gateway_fee', -150],
      ['gateway_fee', -150],
      ['adjustment', -150],
    ])
  })
})
