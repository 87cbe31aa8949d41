import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { waitUntil } from '../../api/lib/waiting.ts'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/connection.ts'
import { setPaymentMethods } from '../../db/properties/portal.ts'
import { signSandbox } from '../../db/payment/signatures.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

const secondMs = 20

describe('a guest who pays', () => {
  const world = useWorld()
  let house: House

  before(async () => {
    settings.sandboxSecondMs = secondMs
    settings.publicBaseUrl = world.baseUrl
    house = await makeHouse({ units: 30 })
  })

  let clients = 0
  /** Every request comes from another client, so that limits per client do not meet. */
  const request: typeof world.request = (method, path, options) => {
    clients += 1
    return world.request(method, path, {
      from: `127.0.${Math.floor(clients / 250)}.${(clients % 250) + 2}`,
      ...options,
    })
  }

  type Held = { guest: string; bookingId: string; number: string }

  const hold = async (days = 30): Promise<Held> => {
    const quote = await request('POST', '/api/public/quotes', {
      body: {
        propertyId: house.propertyId,
        arrival: house.day(days),
        departure: house.day(days + 2),
        rooms: [
          { unitTypeId: house.unitTypeId, ratePlanId: house.ratePlanId, adults: 2, childrenAges: [], extras: [] },
        ],
      },
    })
    expect(quote.status, JSON.stringify(quote.body)).to.equal(200)
    const held = await request('POST', '/api/public/reservations/hold', {
      body: {
        quote: quote.body.quote,
        booker: {
          firstName: 'Ana',
          lastName: 'Lima',
          email: `ana-${randomUUID().slice(0, 8)}@example.com`,
          phone: '+5511987654321',
        },
        acceptedTerms: house.termsVersion,
      },
    })
    expect(held.status, JSON.stringify(held.body)).to.equal(201)
    return { guest: held.body.guestToken, bookingId: held.body.bookingId, number: held.body.number }
  }

  const create = (guest: string, body: Record<string, unknown>) =>
    request('POST', '/api/public/payments/create', { guest, body })
  const status = (guest: string, paymentId: string, query = '') =>
    request('GET', `/api/public/payments/${paymentId}/status${query}`, { guest })

  /** Runs all jobs, again and again, until the payment is shown so. */
  const shown = (guest: string, paymentId: string, wanted: string) =>
    until(
      async () => {
        await world.drain({ aheadMs: 0 })
        const reply = await status(guest, paymentId)
        return reply.body.status === wanted && reply.body
      },
      { withinMs: 8_000, what: `the payment being ${wanted}` },
    )

  const callbacks = () =>
    house.inHouse((trx) =>
      sql<{ eventType: string; status: string }>(trx, `select event_type, status from gateway_callback`),
    )
  const columnsOf = async (paymentId: string) =>
    (
      await house.inHouse((trx) => sql<Record<string, unknown>>(trx, `select * from payment where id = ?`, [paymentId]))
    )[0]!

  it('by card is confirmed by the workers', async () => {
    const { guest } = await hold()
    const made = await create(guest, { method: 'card' })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(made.body).to.deep.include({
      status: 'pending',
      method: 'card',
      amount: 12_000,
      currency: 'BRL',
      action: null,
    })
    await world.drain()
    const after = await status(guest, made.body.paymentId)
    expect(after.body.status).to.equal('paid')
    expect(after.body.booking.status).to.equal('confirmed')
  })

  it('by Pix gets a code to copy, and is confirmed when the gateway calls back', async () => {
    const { guest } = await hold()
    const made = await create(guest, { method: 'pix', amount: 'all' })
    expect(made.body).to.include({ status: 'pending', amount: 40_000 })
    await world.drain()
    const waiting = (await status(guest, made.body.paymentId)).body
    if (waiting.status === 'action_required') {
      expect(waiting.action).to.include({ type: 'pix' })
      expect(waiting.action.copyPaste).to.include(made.body.paymentId)
      expect(waiting.booking.status).to.equal('held')
    }
    const after = await shown(guest, made.body.paymentId, 'paid')
    expect(after.booking.status).to.equal('confirmed')
    expect(after.action).to.equal(null)
    expect(
      (await callbacks()).some((one) => one.eventType === 'charge.captured' && one.status === 'processed'),
    ).to.equal(true)
  })

  it('learns why a card was declined, and may try again', async () => {
    const { guest } = await hold()
    const declined = await create(guest, { method: 'card', cardToken: 'decline' })
    await world.drain()
    const after = await status(guest, declined.body.paymentId)
    expect(after.body).to.deep.include({
      status: 'failed',
      failure: { code: 'insufficient_funds', message: 'The card has not enough funds' },
    })
    expect(after.body.booking.status).to.equal('held')
    const second = await create(guest, { method: 'card' })
    expect(second.status).to.equal(201)
    await shown(guest, second.body.paymentId, 'paid')
  })

  for (const token of ['duplicate_callback', 'reordered_callback', 'action'])
    it(`is charged and confirmed once with token ${token}`, async () => {
      const { guest, bookingId } = await hold()
      const made = await create(guest, { method: 'card', cardToken: token })
      const after = await shown(guest, made.body.paymentId, 'paid')
      await until(async () => {
        await world.drain()
        const waiting = await house.inHouse((trx) =>
          sql(
            trx,
            `select id from sandbox_object where kind = 'callback' and due_at is not null and state->>'ourId' = ?`,
            [made.body.paymentId],
          ),
        )
        return waiting.length === 0
      })
      expect(after.booking.status).to.equal('confirmed')
      const posted = await house.inHouse((trx) =>
        sql(trx, `select id from posting_event where event = 'payment.payment_captured' and source_id = ?`, [
          made.body.paymentId,
        ]),
      )
      expect(posted).to.have.length(1)
      const [booking] = await house.inHouse((trx) =>
        sql<{ credit: number }>(trx, `select credit from booking where id = ?`, [bookingId]),
      )
      expect(booking?.credit).to.equal(0)
    })

  it('repeated with the same method answers 200 with the same payment; another method takes its place', async () => {
    const { guest } = await hold()
    const first = await create(guest, { method: 'pix', cardToken: 'pix_unpaid' })
    const again = await create(guest, { method: 'pix' })
    expect(again.status).to.equal(200)
    expect(again.body.paymentId).to.equal(first.body.paymentId)
    await world.drain()
    const other = await create(guest, { method: 'card' })
    expect(other.status).to.equal(201)
    await world.drain()
    expect((await status(guest, first.body.paymentId)).body.status).to.equal('cancelled')
    expect((await status(guest, other.body.paymentId)).body.status).to.equal('paid')
  })

  it('ten times at once makes one payment', async () => {
    const { guest } = await hold()
    const replies = await Promise.all(Array.from({ length: 10 }, () => create(guest, { method: 'card' })))
    expect(replies.filter((reply) => reply.status === 201)).to.have.length(1)
    expect(replies.filter((reply) => reply.status === 200)).to.have.length(9)
    expect(new Set(replies.map((reply) => reply.body.paymentId)).size).to.equal(1)
  })

  it('by another method while the first is being processed is told to wait', async () => {
    const { guest } = await hold()
    const first = await create(guest, { method: 'card', cardToken: 'timeout_taken' })
    await world.drain({ kinds: ['payments.submit'] })
    expect((await status(guest, first.body.paymentId)).body.status).to.equal('processing')
    const second = await create(guest, { method: 'pix' })
    expect(second.status).to.equal(409)
    expect(second.body.code).to.equal('payment_in_progress')
  })

  it('has nothing more to pay when nothing is due', async () => {
    const { guest } = await hold()
    await create(guest, { method: 'card', amount: 'all' })
    await world.drain()
    for (const amount of ['due', 'all']) {
      const again = await create(guest, { method: 'card', amount })
      expect(again.status).to.equal(422)
      expect(again.body.code).to.equal('nothing_due')
    }
  })

  const refusals: [string, Record<string, unknown>, number, string][] = [
    ['no method', {}, 400, 'validation_failed'],
    ['an amount of their own', { method: 'card', amount: 100 }, 400, 'validation_failed'],
    ['an unknown field', { method: 'card', total: 1 }, 400, 'validation_failed'],
    ['the number of a card', { method: 'card', cardToken: '4111111111111111' }, 400, 'card_data_refused'],
    [
      'the number of a card in a name',
      { method: 'card', payer: { name: 'Ana 4111-1111-1111-1111' } },
      400,
      'card_data_refused',
    ],
    [
      'a method that is not offered',
      { method: 'boleto', payer: { name: 'Ana', document: { type: 'cpf', number: '529.982.247-25' } } },
      422,
      'method_unavailable',
    ],
    ['a slip without a payer', { method: 'boleto' }, 400, 'validation_failed'],
    [
      'a document that is none',
      { method: 'pix', payer: { name: 'Ana', document: { type: 'cpf', number: '529.982.247-26' } } },
      400,
      'validation_failed',
    ],
    ['too many installments', { method: 'card', installments: 4 }, 422, 'method_unavailable'],
    ['installments by Pix', { method: 'pix', installments: 2 }, 422, 'method_unavailable'],
    [
      'a return address that is not listed',
      { method: 'card', returnUrl: 'https://evil.example/' },
      422,
      'return_url_not_allowed',
    ],
    [
      'a return address without https',
      { method: 'card', returnUrl: 'http://portal.example/' },
      422,
      'return_url_not_allowed',
    ],
    [
      'a return address with a user',
      { method: 'card', returnUrl: 'https://portal.example@evil.example/' },
      422,
      'return_url_not_allowed',
    ],
    [
      'a return address that is none',
      { method: 'card', returnUrl: 'javascript:alert(1)' },
      422,
      'return_url_not_allowed',
    ],
  ]
  it('is told what is wrong, and nothing is made', async () => {
    const { guest, bookingId } = await hold()
    for (const [what, body, code, name] of refusals) {
      const reply = await create(guest, body)
      expect([reply.status, reply.body.code], what).to.deep.equal([code, name])
    }
    expect(
      await house.inHouse((trx) => sql(trx, `select id from payment where target_id = ?`, [bookingId])),
    ).to.have.length(0)
  })

  it('may be sent back to a listed host', async () => {
    const { guest } = await hold()
    expect((await create(guest, { method: 'card', returnUrl: 'https://portal.example/back?x=1' })).status).to.equal(201)
  })

  it('without a token, with a bad one, or with that of another booking, reaches nothing', async () => {
    const { guest } = await hold()
    const other = await hold()
    const made = await create(guest, { method: 'card' })
    expect((await request('POST', '/api/public/payments/create', { body: { method: 'card' } })).body.code).to.equal(
      'guest_token_missing',
    )
    expect((await create('v4.public.nonsense', { method: 'card' })).status).to.equal(401)
    const foreign = await status(other.guest, made.body.paymentId)
    expect([foreign.status, foreign.body.code]).to.deep.equal([404, 'not_found'])
    const unknown = await status(other.guest, randomUUID())
    expect({ ...foreign.body, requestId: '' }).to.deep.equal({ ...unknown.body, requestId: '' })
  })

  it('after the hold has expired is told so', async () => {
    const { guest, bookingId } = await hold()
    await house.inHouse((trx) =>
      sql(trx, `update booking set hold_expires_at = now() - interval '1 second' where id = ?`, [bookingId]),
    )
    const reply = await create(guest, { method: 'card' })
    expect([reply.status, reply.body.code]).to.deep.equal([409, 'hold_expired'])
  })

  it('is refused when the house lost the feature, but money on its way arrives', async () => {
    const { guest } = await hold()
    const made = await create(guest, { method: 'pix' })
    const feature = (name: string) =>
      world.database.admin.raw(
        `update tenant set features = array_replace(features, ?, ?), features_valid_until = null where id = ?`,
        [name === 'off' ? 'payments' : 'no_payments', name === 'off' ? 'no_payments' : 'payments', house.tenantId],
      )
    await feature('off')
    try {
      const refused = await create(guest, { method: 'card' })
      expect([refused.status, refused.body.code]).to.deep.equal([403, 'feature_not_enabled'])
      await until(async () => {
        await world.drain()
        return (await columnsOf(made.body.paymentId)).status === 'captured'
      })
    } finally {
      await feature('on')
    }
  })

  describe('with a payment slip', () => {
    const slip = (number: string) => ({
      method: 'boleto',
      payer: { name: 'Ana Lima', document: { type: 'cpf', number } },
    })
    before(() =>
      house.inHouse((trx) =>
        setPaymentMethods(trx, house.propertyId, [
          { method: 'card', offeredTo: 'both', gatewayAccountId: house.gatewayAccountId, maxInstallments: 3 },
          { method: 'pix', offeredTo: 'both', gatewayAccountId: house.gatewayAccountId },
          { method: 'boleto', offeredTo: 'both', gatewayAccountId: house.gatewayAccountId },
        ]),
      ),
    )

    it('gets its line, and has one at a time', async () => {
      const [first, second] = [await hold(), await hold(33)]
      const made = await create(first.guest, slip('529.982.247-25'))
      expect(made.status, JSON.stringify(made.body)).to.equal(201)
      await world.drain({ kinds: ['payments.submit'] })
      const waiting = (await status(first.guest, made.body.paymentId)).body
      expect(waiting.action).to.include({ type: 'boleto' })
      expect(waiting.action.dueDate > house.today).to.equal(true)
      const refused = await create(second.guest, slip('52998224725'))
      expect([refused.status, refused.body.code]).to.deep.equal([429, 'hold_limit'])
      expect((await create(second.guest, slip('111.444.777-35'))).status).to.equal(201)
    })

    it('asked for twice at once for two bookings is given once', async () => {
      const held = [await hold(36), await hold(39), await hold(42)]
      const replies = await Promise.all(held.map(({ guest }) => create(guest, slip('123.456.789-09'))))
      expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).to.deep.equal([201, 429, 429])
    })

    it('is not to be had shortly before the arrival', async () => {
      const { guest } = await hold(3)
      const reply = await create(guest, slip('935.411.347-80'))
      expect([reply.status, reply.body.code]).to.deep.equal([422, 'method_unavailable'])
    })
  })

  describe('waiting for the outcome', () => {
    it('is for 200 at once; all others are answered at once', async () => {
      const gone = new AbortController()
      let reads = 0
      const read = () => Promise.resolve((reads += 1))
      const all = Array.from({ length: 250 }, () => waitUntil(read, () => false, { seconds: 20, gone: gone.signal }))
      const done = await Promise.all(
        all.map((one) => Promise.race([one.then(() => true), wait(100).then(() => false)])),
      )
      expect(done.filter(Boolean)).to.have.length(50)
      expect(reads).to.equal(200)
      gone.abort()
      await Promise.all(all)
      const free = Promise.race([
        waitUntil(read, () => false, { seconds: 1, gone: new AbortController().signal }).then(() => 'at once'),
        wait(200).then(() => 'waits'),
      ])
      expect(await free).to.equal('waits')
    })

    it('is answered when the status changes', async () => {
      const { guest } = await hold()
      const made = await create(guest, { method: 'card' })
      const started = Date.now()
      const waiting = status(guest, made.body.paymentId, '?waitSeconds=15&since=pending')
      await world.drain()
      expect((await waiting).body.status).to.equal('paid')
      expect(Date.now() - started).to.be.lessThan(6_000)
    })

    it('is answered when the time is over, and at once where the status is another already', async () => {
      const { guest } = await hold()
      const made = await create(guest, { method: 'card' })
      const started = Date.now()
      expect((await status(guest, made.body.paymentId, '?waitSeconds=1&since=pending')).body.status).to.equal('pending')
      expect(Date.now() - started).to.be.within(900, 4_000)
      const again = Date.now()
      await status(guest, made.body.paymentId, '?waitSeconds=20&since=paid')
      await status(guest, made.body.paymentId, '?waitSeconds=20')
      expect(Date.now() - again).to.be.lessThan(1_500)
    })

    it('longer than 20 s, or since nonsense, is refused', async () => {
      const { guest } = await hold()
      for (const query of ['?waitSeconds=21&since=pending', '?since=created', '?waitSeconds=-1', '?wait=1'])
        expect((await status(guest, randomUUID(), query)).status, query).to.equal(400)
    })
  })

  describe('callbacks', () => {
    const send = (body: Buffer | string, signature: string, provider = 'sandbox') =>
      request('POST', `/api/callbacks/payments/${provider}`, { raw: body, headers: { 'sandbox-signature': signature } })
    const account = async () =>
      (await house.inHouse((trx) => sql<{ externalId: string }>(trx, `select external_id from gateway_account`)))[0]!
        .externalId
    const event = async (change: Record<string, unknown> = {}) =>
      Buffer.from(
        JSON.stringify({
          id: `evt_${randomUUID()}`,
          type: 'charge.captured',
          account: await account(),
          object: 'charge',
          ref: 'ch_none',
          ourId: randomUUID(),
          ...change,
        }),
      )
    const stored = async (body: Buffer) =>
      (
        await world.database.admin.raw(`select status, error, tenant_id from gateway_callback where event_id = ?`, [
          JSON.parse(body.toString()).id,
        ])
      ).rows as {
        status: string
        error: string | null
        tenantId: string | null
      }[]

    it('with a bad signature, or one 301 s old or ahead, are 401 and not stored', async () => {
      const body = await event()
      const now = Date.now()
      for (const signature of [
        '',
        `t=${Math.floor(now / 1000)},v1=${'0'.repeat(64)}`,
        signSandbox(body, new Date(), 'another secret'),
        signSandbox(body, new Date(now - 302_000)),
        signSandbox(body, new Date(now + 302_000)),
      ]) {
        const reply = await send(body, signature)
        expect([reply.status, reply.body.code], signature).to.deep.equal([401, 'signature_invalid'])
      }
      expect(await stored(body)).to.have.length(0)
    })

    it('of a provider that is not here are 404', async () => {
      const body = await event()
      for (const provider of ['stripe', 'other'])
        expect((await send(body, signSandbox(body, new Date()), provider)).status, provider).to.equal(404)
    })

    it('five times at once are stored once, and all are thanked', async () => {
      const body = await event()
      const replies = await Promise.all(Array.from({ length: 5 }, () => send(body, signSandbox(body, new Date()))))
      expect(replies.map((reply) => reply.status)).to.deep.equal([200, 200, 200, 200, 200])
      expect(await stored(body)).to.have.length(1)
    })

    it('of an account that nobody has are ignored', async () => {
      const body = await event({ account: 'sbx_nobody' })
      expect((await send(body, signSandbox(body, new Date()))).status).to.equal(200)
      await world.drain()
      expect(await stored(body)).to.deep.equal([{ status: 'ignored', error: 'account_unknown', tenantId: null }])
    })

    it('that name a payment of another tenant are failed, and change nothing', async () => {
      const { guest } = await hold()
      const made = await create(guest, { method: 'pix', cardToken: 'pix_unpaid' })
      const other = await makeHouse()
      const [theirs] = await other.inHouse((trx) =>
        sql<{ externalId: string }>(trx, `select external_id from gateway_account`),
      )
      const body = await event({ account: theirs?.externalId, ourId: made.body.paymentId })
      await send(body, signSandbox(body, new Date()))
      await world.drain()
      expect(await stored(body)).to.deep.equal([
        { status: 'failed', error: 'not_of_this_account', tenantId: other.tenantId },
      ])
      expect((await columnsOf(made.body.paymentId)).status).to.equal('requires_action')
    })

    it('that say paid of what is not paid change nothing: the gateway is asked', async () => {
      const { guest } = await hold()
      const made = await create(guest, { method: 'pix', cardToken: 'pix_unpaid' })
      await world.drain()
      const row = await columnsOf(made.body.paymentId)
      const body = await event({ ref: row.externalId, ourId: made.body.paymentId })
      await send(body, signSandbox(body, new Date()))
      await world.drain()
      expect(await stored(body)).to.deep.include({ status: 'processed', error: null, tenantId: house.tenantId })
      expect((await status(guest, made.body.paymentId)).body.status).to.equal('action_required')
    })

    it('over 1 MiB are refused', async () => {
      const body = Buffer.alloc(1_048_577, 32)
      const reply = await send(body, signSandbox(body, new Date()))
      expect(reply.status).to.equal(400)
    })

    it('are kept sealed', async () => {
      const body = await event()
      await send(body, signSandbox(body, new Date()))
      const { rows } = await world.database.admin.raw<{ rows: { rawBody: Buffer }[] }>(
        `select raw_body from gateway_callback where event_id = ?`,
        [JSON.parse(body.toString()).id],
      )
      expect(rows[0]?.rawBody.includes(Buffer.from('charge.captured'))).to.equal(false)
    })
  })

  it('leaves no token, code or document in the clear', async () => {
    const { guest } = await hold()
    const made = await create(guest, {
      method: 'pix',
      cardToken: 'pix_unpaid',
      payer: { name: 'Beatriz Prova', document: { type: 'cpf', number: '529.982.247-25' } },
    })
    await world.drain()
    const row = JSON.stringify(await columnsOf(made.body.paymentId), (_key, value: unknown) => value)
    const text = Object.values(await columnsOf(made.body.paymentId))
      .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value)))
      .join(' ')
    for (const secret of ['Beatriz', '52998224725', '529.982', 'br.gov.bcb'])
      expect(`${row} ${text}`, secret).to.not.include(secret)
  })
})
