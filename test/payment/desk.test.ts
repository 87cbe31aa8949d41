import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import type { Parsed } from '../support/client.ts'
import { impatiently } from '../support/patience.ts'
import { makeHold } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { forgetLimits } from '../auth/support.ts'
import { useWorld } from '../support/world.ts'

type Body = Parsed

describe('payments at the desk', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let bookingId: string
  let from = 4

  before(async () => {
    settings.sandboxSecondMs = 40
    settings.publicBaseUrl = world.baseUrl
    house = await makeHouse({ units: 4 })
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(async () => {
    await forgetLimits(world)
    from += 3
    bookingId = await makeHold(house, { from })
  })

  const post = (path: string, body: object, desk = owner) =>
    desk.send('POST', `payments${path}`, body, { idempotencyKey: randomUUID() }) as Promise<{
      status: number
      body: Body
    }>
  const get = (path: string, desk = owner) =>
    desk.send('GET', `payments${path}`) as Promise<{ status: number; body: Body }>
  const work = () => world.drain({ starts: 2_000 })
  const wanted = (more: object = {}) => ({
    method: 'card',
    amount: 5_000,
    currency: 'BRL',
    targetType: 'booking',
    targetId: bookingId,
    ...more,
  })
  const pay = async (more: object = {}): Promise<Body> => {
    const made = await post('', wanted(more))
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    await work()
    return (await get(`/${made.body['id']}`)).body
  }
  /** Runs what is due until something is so. */
  const becomes = async (path: string, is: (body: Body) => boolean, what: string): Promise<Body> =>
    until(
      async () => {
        await work()
        await forgetLimits(world)
        const { body } = await get(path)
        return is(body) && body
      },
      { withinMs: 20_000, what },
    )
  const refused = async (path: string, body: object, status: number, code: string, desk = owner) => {
    const reply = await post(path, body, desk)
    expect({ status: reply.status, code: reply.body['code'] }, JSON.stringify(reply.body)).to.deep.equal({
      status,
      code,
    })
  }

  it('opens an account, shows its onboarding page, makes it the default and ends it when no money is on its way', async () => {
    const made = await post('/accounts', {
      provider: 'sandbox',
      label: 'Second',
      country: 'BR',
      currency: 'BRL',
      testToken: 'active',
    })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(made.body).to.include({ status: 'opening', isDefault: false })
    const path = `/accounts/${made.body['id']}`
    const active = await becomes(path, ({ status }) => status === 'active', 'the account being active')
    expect(active['capabilities']).to.deep.equal({ card: 'active', pix: 'active', boleto: 'active' })
    const asked = await post(`${path}/onboarding-link`, { returnUrl: 'https://portal.example/back' })
    expect(asked.body['onboarding'], JSON.stringify(asked.body)).to.deep.include({ status: 'requested', url: null })
    const ready = await becomes(path, ({ onboarding }) => onboarding.status === 'ready', 'the page being there')
    expect(ready['onboarding'].url).to.equal(`https://gateway.sandbox.example/onboarding/${active['externalId']}`)
    await refused(`${path}/onboarding-link`, { returnUrl: 'https://evil.example/' }, 422, 'return_url_not_allowed')
    const before = await house.inHouse((trx) => sql(trx, `select id from gateway_account where is_default`))
    expect(before).to.deep.equal([{ id: house.gatewayAccountId }])
    expect((await owner.send('PATCH', `payments${path}`, { isDefault: true })).status).to.equal(200)
    expect((await get(`/accounts/${house.gatewayAccountId}`)).body).to.include({ isDefault: false })
    await owner.send('PATCH', `payments/accounts/${house.gatewayAccountId}`, { isDefault: true })
    const live = await post('', wanted({ gatewayAccountId: made.body['id'], method: 'pix', cardToken: 'pix_unpaid' }))
    await refused(`${path}/disconnect`, {}, 422, 'account_has_live_money')
    await post(`/${live.body['id']}/cancel`, { reason: 'not wanted' })
    await work()
    const ended = await post(`${path}/disconnect`, {})
    expect(ended.body, JSON.stringify(ended.body)).to.include({ status: 'disconnected', isDefault: false })
    await refused('', wanted({ gatewayAccountId: made.body['id'] }), 422, 'gateway_account_not_ready')
  })

  it('refuses an account that the gateway refuses, a gateway that is not there, and another currency', async () => {
    const account = { provider: 'sandbox', label: 'Third', country: 'BR', currency: 'BRL' }
    const made = await post('/accounts', { ...account, testToken: 'refused' })
    const failed = await becomes(`/accounts/${made.body['id']}`, ({ status }) => status !== 'opening', 'its end')
    expect(failed).to.deep.include({
      status: 'failed',
      failure: { code: 'other', message: 'The gateway does not open this account' },
    })
    await refused('/accounts', { ...account, provider: 'stripe' }, 422, 'provider_not_configured')
    await refused('/accounts', { ...account, currency: 'USD' }, 422, 'currency_mismatch')
    const desk = await openDesk(world, house, 'receptionist')
    await refused('/accounts', account, 403, 'forbidden', desk)
    const seen = await get(`/accounts/${house.gatewayAccountId}`, desk)
    expect(Object.keys(seen.body).sort()).to.deep.equal(['id', 'label', 'status'])
  })

  it('charges, keeps the history, and answers the live payment to the same wish', async () => {
    const payment = await pay()
    expect(payment).to.include({ status: 'captured', capturedAmount: 5_000, allocatedAmount: 5_000, channel: 'desk' })
    expect(payment['history'].map((one: Body) => `${one['status']} ${one['cause']}`)).to.deep.equal([
      'created command',
      'captured call',
    ])
    expect(payment['attempts'][0]).to.include({ operation: 'submit', tries: 1, outcome: 'known', httpStatus: 201 })
    const waiting = await post('', wanted({ method: 'pix', cardToken: 'pix_unpaid', amount: 700 }))
    const again = await post('', wanted({ method: 'pix', cardToken: 'pix_unpaid', amount: 700 }))
    expect([waiting.status, again.status]).to.deep.equal([201, 200])
    expect(again.body['id']).to.equal(waiting.body['id'])
    const listed = await get(`?targetType=booking&targetId=${bookingId}&status=captured`)
    expect(listed.body['data'].map((one: Body) => one['id'])).to.deep.equal([payment['id']])
  })

  it('refuses too much, another currency, a target that is not there, and parts of what is no card', async () => {
    await refused('', wanted({ amount: 10_000_000 }), 422, 'amount_exceeds_payable')
    await refused('', wanted({ currency: 'USD' }), 422, 'currency_mismatch')
    await refused('', wanted({ targetId: randomUUID() }), 422, 'reference_not_found')
    await refused('', wanted({ method: 'pix', installments: 2 }), 422, 'method_unavailable')
    await refused('', wanted({ method: 'pix', mode: 'authorise' }), 422, 'method_unavailable')
    await refused('', wanted({ method: 'boleto' }), 400, 'validation_failed')
    await refused('', wanted({ saveMethod: true }), 400, 'validation_failed')
    await refused('', wanted({ paymentMethodId: randomUUID() }), 422, 'reference_not_found')
    await refused('', wanted({ description: 'card 4242 4242 4242 4242' }), 400, 'card_data_refused')
    await refused('', wanted({ returnUrl: 'https://evil.example/x' }), 422, 'return_url_not_allowed')
    const [row] = await house.inHouse((trx) =>
      sql<{ count: number }>(trx, `select count(*)::int as count from payment where target_id = ?`, [bookingId]),
    )
    expect(row?.count).to.equal(0)
  })

  it('takes more than is payable where the role may, and leaves the excess unallocated', async () => {
    const desk = await openDesk(world, house, 'receptionist')
    const { payable } = await house.inHouse(async (trx) => {
      const [row] = await sql<{ payable: number }>(
        trx,
        `select sum(total)::bigint as payable from reservation where booking_id = ?`,
        [bookingId],
      )
      return row!
    })
    await refused('', wanted({ amount: payable + 500, allowExcess: true }), 403, 'forbidden', desk)
    const payment = await pay({ amount: payable + 500, allowExcess: true })
    expect(payment).to.deep.include({
      allocatedAmount: payable,
      payable: { unallocated: 500, refundable: payable + 500 },
    })
  })

  it('authorises and captures a part, once, though two ask at once', async () => {
    const payment = await pay({ mode: 'authorise' })
    expect(payment).to.include({ status: 'authorised', authorisedAmount: 5_000, capturedAmount: 0 })
    await refused(`/${payment['id']}/capture`, { amount: 5_001 }, 422, 'amount_exceeds_authorised')
    const both = await Promise.all([3_000, 4_000].map((amount) => post(`/${payment['id']}/capture`, { amount })))
    expect(both.map((one) => one.status)).to.have.members([200, 409])
    const amount = both[0]!.status === 200 ? 3_000 : 4_000
    const captured = await becomes(`/${payment['id']}`, ({ status }) => status === 'captured', 'the capture')
    expect(captured).to.include({ capturedAmount: amount, allocatedAmount: amount, authorisedAmount: 5_000 })
    await refused(`/${payment['id']}/capture`, { amount: 100 }, 409, 'invalid_transition')
  })

  it('cancels what is authorised, and nothing that is captured', async () => {
    const payment = await pay({ mode: 'authorise' })
    const asked = await post(`/${payment['id']}/cancel`, { reason: 'the guest pays cash' })
    expect(asked.status).to.equal(200)
    const gone = await becomes(`/${payment['id']}`, ({ status }) => status === 'cancelled', 'the cancelling')
    expect(gone).to.include({ capturedAmount: 0, note: 'the guest pays cash' })
    const other = await pay()
    await refused(`/${other['id']}/cancel`, { reason: 'changed minds' }, 409, 'invalid_transition')
  })

  it('answers that a payment is busy where another request holds it, and says when to come again', async () => {
    const payment = await pay({ mode: 'authorise' })
    let free = () => undefined as void
    const held = new Promise<void>((resolve) => {
      free = resolve
    })
    let holds = () => undefined as void
    const isHeld = new Promise<void>((resolve) => {
      holds = resolve
    })
    const holding = house.inHouse(async (trx) => {
      await sql(trx, `select id from payment where id = ? for update`, [payment['id']])
      holds()
      await held
    })
    try {
      await Promise.race([isHeld, holding])
      const replies = await impatiently(() =>
        Promise.all([
          post(`/${payment['id']}/capture`, {}),
          post(`/${payment['id']}/cancel`, { reason: 'not wanted' }),
          post(`/${payment['id']}/refunds`, { reason: 'error' }),
          owner.send('PUT', `payments/${payment['id']}/allocations`, { allocations: [] }),
        ]),
      )
      for (const reply of replies)
        expect([reply.status, reply.body['code']], JSON.stringify(reply.body)).to.deep.equal([409, 'payment_busy'])
    } finally {
      free()
      await holding
    }
    expect((await post(`/${payment['id']}/capture`, {})).status).to.equal(200)
    await work()
  })

  it('moves captured money between targets, refuses what is too much or stale, and changes nothing then', async () => {
    const payment = await pay({ amount: 6_000 })
    from += 3
    const otherId = await makeHold(house, { from })
    const set = (allocations: object[], version?: number) =>
      owner.send(
        'PUT',
        `payments/${payment['id']}/allocations`,
        { allocations },
        version === undefined ? {} : { headers: { 'if-match': `"${version}"` } },
      ) as Promise<{ status: number; body: Body }>
    const on = (targetId: string, amount: number) => ({ targetType: 'booking', targetId, amount })
    expect((await set([on(bookingId, 4_000), on(otherId, 2_001)])).body['code']).to.equal('allocation_exceeds_captured')
    const moved = await set([on(bookingId, 4_000), on(otherId, 1_500)])
    expect(moved.status, JSON.stringify(moved.body)).to.equal(200)
    expect(moved.body).to.deep.include({ allocatedAmount: 5_500 })
    expect((await set([], payment['version'])).body['code']).to.equal('version_conflict')
    expect((await set([on(randomUUID(), 10)])).body['code']).to.equal('reference_not_found')
    const folioId = await house.inHouse((trx) => openFolio(trx, { propertyId: house.propertyId, kind: 'house' }))
    await house.inHouse((trx) => sql(trx, `update folio set status = 'closed' where id = ?`, [folioId]))
    const onFolio = { targetType: 'folio', targetId: folioId, amount: 10 }
    expect((await set([on(bookingId, 4_000), onFolio])).body['code']).to.equal('target_closed')
    expect((await set([on(otherId, 10), on(otherId, 20)])).status).to.equal(400)
    const credits = await house.inHouse((trx) =>
      sql<{ id: string; credit: number }>(trx, `select id, credit from booking where id = any(?)`, [
        [bookingId, otherId],
      ]),
    )
    const creditOf = (id: string) => credits.find((one) => one.id === id)?.credit
    expect([creditOf(bookingId), creditOf(otherId)]).to.deep.equal([4_000, 1_500])
    const sums = await Promise.all(Array.from({ length: 5 }, (_, n) => set([on(bookingId, 1_000 * (n + 1))])))
    expect(sums.every((one) => one.status === 200)).to.equal(true)
    const after = (await get(`/${payment['id']}`)).body
    const total = after['allocations'].reduce((sum: number, one: Body) => sum + one['amount'], 0)
    expect(after['allocatedAmount']).to.equal(total)
  })

  it('writes nothing off of money that is not what was asked for, since it is booked as it arrived', async () => {
    const made = await post('', wanted({ method: 'pix', cardToken: 'pix_short' }))
    await becomes(`/${made.body['id']}`, ({ status }) => status === 'captured', 'the money')
    const { body } = await get('/exceptions?kind=amount_differs&status=open')
    const { id } = body['data'].find((one: Body) => one['subjectId'] === made.body['id'])
    const written = { resolution: 'written_off', reason: 'one cent', accountId: house.gatewayAccountId }
    await refused(`/exceptions/${id}/resolve`, written, 409, 'invalid_transition')
    const accepted = await post(`/exceptions/${id}/resolve`, { resolution: 'accepted', reason: 'one cent' })
    expect(accepted.body).to.include({ status: 'resolved', resolution: 'accepted' })
  })

  it('refunds in parts, one of twenty that ask for the whole, and not beyond what is left', async () => {
    const payment = await pay()
    const first = await post(`/${payment['id']}/refunds`, { amount: 1_000, reason: 'guest_request', note: 'a noise' })
    expect(first.body, JSON.stringify(first.body)).to.include({ status: 'requested', amount: 1_000, via: 'gateway' })
    await refused(`/${payment['id']}/refunds`, { amount: 4_001, reason: 'error' }, 422, 'amount_exceeds_refundable')
    const byHand = { amount: 1_000, reason: 'error', via: 'manual' }
    await refused(`/${payment['id']}/refunds`, byHand, 422, 'refund_through_gateway')
    const all = await Promise.all(
      Array.from({ length: 20 }, () => post(`/${payment['id']}/refunds`, { amount: 4_000, reason: 'error' })),
    )
    expect(all.filter((one) => one.status === 201)).to.have.length(1)
    const done = await becomes(`/${payment['id']}`, ({ refundedAmount }) => refundedAmount === 5_000, 'the refunds')
    expect(done).to.include({ allocatedAmount: 0, refundReserved: 5_000 })
    const listed = await get(`/refunds?paymentId=${payment['id']}`)
    expect(listed.body['data'].map((one: Body) => one['status'])).to.deep.equal(['succeeded', 'succeeded'])
  })

  it('saves a card with consent, charges it without its owner, and forgets it', async () => {
    const saved = await pay({ saveMethod: true, consentTextVersion: '2026-11' })
    const id = saved['paymentMethodId']
    const method = await becomes(`/methods/${id}`, ({ status }) => status === 'active', 'the card being saved')
    expect(method).to.deep.include({
      brand: 'visa',
      last4: '4242',
      bookingId,
      consent: { at: method['consent'].at, textVersion: '2026-11' },
    })
    const charged = await pay({ paymentMethodId: id, amount: 1_200 })
    expect(charged).to.include({ status: 'captured', capturedAmount: 1_200 })
    from += 3
    const otherId = await makeHold(house, { from })
    await refused('', wanted({ paymentMethodId: id, targetId: otherId }), 422, 'reference_not_found')
    const gone = await owner.send('DELETE', `payments/methods/${id}`)
    expect(gone.body).to.include({ status: 'detached' })
    await refused('', wanted({ paymentMethodId: id, amount: 100 }), 422, 'method_unavailable')
  })

  it('makes a page for a payment, which is paid once, and can be closed', async () => {
    const body = { amount: 2_000, currency: 'BRL', targetType: 'booking', targetId: bookingId, description: 'Deposit' }
    const made = await post('/links', body)
    expect(made.body, JSON.stringify(made.body)).to.include({ channel: 'link', status: 'created' })
    const open = await becomes(
      `/${made.body['id']}`,
      ({ action, status }) => action !== null || status === 'captured',
      'the page',
    )
    expect(open['linkId']).to.match(/^pl_/)
    const paid = await becomes(`/${made.body['id']}`, ({ status }) => status === 'captured', 'the page being paid')
    expect(paid).to.include({ capturedAmount: 2_000, allocatedAmount: 2_000 })
    const unpaid = await post('/links', { ...body, amount: 300, testToken: 'pix_unpaid' })
    await work()
    await post(`/${unpaid.body['id']}/cancel`, { reason: 'paid by other means' })
    const closed = await becomes(
      `/${unpaid.body['id']}`,
      ({ status }) => status === 'cancelled',
      'the page being closed',
    )
    expect(closed['capturedAmount']).to.equal(0)
  })

  it('sends a page to the payer where that is asked for, to an address that fits the channel', async () => {
    const body = { amount: 900, currency: 'BRL', targetType: 'booking', targetId: bookingId, description: 'Deposit' }
    const link = (send: object) => ({ ...body, send, testToken: 'pix_unpaid' })
    await refused('/links', link({ channel: 'email' }), 400, 'validation_failed')
    await refused('/links', link({ channel: 'sms', to: 'ana@guests.example' }), 400, 'validation_failed')
    await refused('/links', link({ channel: 'whatsapp' }), 400, 'validation_failed')
    const made = await post('/links', link({ channel: 'email', to: 'ana@guests.example' }))
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const sent = await until(
      async () => {
        await work()
        const rows = await house.inHouse((trx) =>
          sql<{ dedupeKey: string }>(trx, `select dedupe_key from message where payment_id = ?`, [made.body['id']]),
        )
        return rows.length > 0 && rows
      },
      { withinMs: 20_000, what: 'the message with the page' },
    )
    expect(sent).to.deep.equal([{ dedupeKey: `link-${made.body['id']}` }])
    await post(`/${made.body['id']}/cancel`, { reason: 'not wanted' })
    await work()
  })

  it('hears of a dispute, contests it with evidence that wins, and gives the money back to the payment', async () => {
    const payment = await pay({ cardToken: 'disputed' })
    const list = await becomes(
      '/disputes',
      ({ data }) => data.some((one: Body) => one['paymentId'] === payment['id']),
      'the dispute',
    )
    const { id } = list['data'].find((one: Body) => one['paymentId'] === payment['id'])
    expect((await get(`/${payment['id']}`)).body).to.deep.include({
      disputedAmount: 5_000,
      payable: { unallocated: 0, refundable: 0 },
    })
    await refused(`/${payment['id']}/refunds`, { amount: 10, reason: 'error' }, 422, 'amount_disputed')
    const read = await get(`/disputes/${id}`)
    expect(read.body['suggested'].explanation).to.contain('BRL 50.00 was paid by card')
    await refused(`/disputes/${id}/respond`, { action: 'contest' }, 422, 'rule_violated')
    const dueIn = (days: number) =>
      world.database.admin.raw(`update dispute set response_due_at = now() + make_interval(days => ?) where id = ?`, [
        days,
        id,
      ])
    await dueIn(-1)
    await refused(`/disputes/${id}/respond`, { action: 'accept' }, 422, 'response_overdue')
    await dueIn(7)
    const sent = await post(`/disputes/${id}/respond`, {
      action: 'contest',
      evidence: { explanation: 'We will win this' },
    })
    expect(sent.body).to.include({ status: 'submitted', response: 'contest' })
    await refused(`/disputes/${id}/respond`, { action: 'accept' }, 409, 'invalid_transition')
    await becomes(`/disputes/${id}`, ({ status }) => status === 'won', 'the dispute being won')
    expect((await get(`/${payment['id']}`)).body).to.include({ disputedAmount: 0 })
  })

  it('reads the gateway at once when it is asked to', async () => {
    const made = await post('', wanted({ method: 'pix', cardToken: 'pix_unpaid' }))
    await work()
    const asking = post(`/${made.body['id']}/sync`, {})
    await until(async () => (await work()).some(({ kind }) => kind === 'payments.read'), {
      withinMs: 20_000,
      what: 'the reading',
    })
    expect((await asking).body).to.include({ status: 'requires_action' })
  })
})
