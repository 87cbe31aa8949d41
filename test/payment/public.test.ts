import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { until } from '../support/until.ts'
import type { House } from '../support/factories.ts'
import { useGuests } from './guests.ts'

describe('a guest who pays', () => {
  const guests = useGuests()
  const { world, request, hold, create, status, shown, callbacks, columnsOf } = guests
  let house: House
  before(() => {
    house = guests.house()
  })

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
