import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { satisfactionToken } from '../../config/derived-secrets.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { useMailPeer } from '../support/messages.ts'
import { stranger } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits } from '../auth/support.ts'
import { atTheDoor, done, openInn, openTenant, useDaysAhead } from '../stories/inn.ts'
import type { Inn, Tenant } from '../stories/inn.ts'

const minutes = (from: string, to: string) => Math.round((Date.parse(to) - Date.parse(from)) / 60_000)
const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

describe('A complaint at the front desk', function () {
  this.timeout(120_000)
  const world = useWorld()
  const mail = useMailPeer()
  useDaysAhead()
  let tenant: Tenant
  let inn: Inn
  let categories: Record<string, string>
  before(async () => {
    tenant = await openTenant(world)
    inn = await openInn(tenant)
    // The question to the guest could wait for the morning.
    const messages = { quietFrom: '00:00', quietUntil: '00:00' }
    done(await tenant.owner.send('PATCH', `properties/${inn.propertyId}/settings`, { messages }))
    const { data } = done(await tenant.owner.get('issues/categories?limit=100'))
    categories = Object.fromEntries(data.map(({ code, id }: { code: string; id: string }) => [code, id]))
  })
  beforeEach(() => forgetLimits(world))

  const walkIn = async () => {
    const { email } = stranger()
    const booking = await inn.book([inn.room('STD', 'CORP', [0, 1], { adults: 1 })], {
      source: 'walk_in',
      booker: { firstName: 'Vera', lastName: 'Prado', email },
      checkIn: {},
      override: atTheDoor,
    })
    const [{ id }] = booking.reservations
    const { folioSummary } = await inn.stay(id)
    const folioId = folioSummary.folios[0].id as string
    const charge = { category: 'spa', description: 'Massagem', quantity: '1', unitAmount: 20_000 }
    done(
      await tenant.reception.send('POST', `folios/${folioId}/charges`, charge, { idempotencyKey: randomUUID() }),
      201,
    )
    const { data } = done(await tenant.reception.get(`folios/${folioId}/lines?limit=100`))
    const line = data.find((one: { category: string }) => one.category === 'spa')
    return { reservationId: id as string, folioId, lineId: line.id as string, email }
  }
  const open = async (desk: Desk, more: object = {}) =>
    done(
      await desk.send('POST', 'issues', {
        propertyId: inn.propertyId,
        categoryId: categories['noise'],
        title: 'Loud music',
        priority: 'high',
        ...more,
      }),
      201,
    )
  const post = (desk: Desk, path: string, body: object = {}) => desk.send('POST', `issues/${path}`, body)
  const balanceOf = async (folioId: string) => (await inn.folio(folioId)).balance

  it('is compensated by two people, posted once, and answered by the guest', async () => {
    const { reception, manager, owner } = tenant
    done(await owner.send('PATCH', `issues/categories/${categories['noise']}`, { autoApproveLimit: 5_000 }))
    const { reservationId, folioId, lineId, email } = await walkIn()
    expect(await balanceOf(folioId)).to.equal(20_000)
    const issue = await open(reception, { reservationId })
    expect(minutes(issue.createdAt, issue.firstResponseDueAt)).to.equal(30)
    expect(minutes(issue.createdAt, issue.resolutionDueAt)).to.equal(240)
    expect(issue.guest).to.deep.include({ name: 'Vera Prado' })

    const propose = (amount: number, more: object = {}) =>
      post(reception, `${issue.id}/compensations`, {
        kind: 'adjustment',
        amount,
        folioId,
        lineId,
        description: 'Noise in the night',
        reason: 'The guest could not sleep',
        ...more,
      })
    const first = done(await propose(4_000), 201).compensations[0]
    expect(first).to.include({ status: 'approved', automatic: true, decidedBy: null })
    const second = done(await propose(2_000), 201).compensations[1]
    expect(second).to.include({ status: 'proposed', automatic: false })
    expect(codeOf(await post(reception, `compensations/${second.id}/approve`))).to.deep.equal([403, 'forbidden'])
    expect(codeOf(await post(reception, `${issue.id}/resolve`, { resolution: 'Moved', cause: 'guest' }))).to.deep.equal(
      [422, 'compensation_pending'],
    )
    const both = await Promise.all([
      post(manager, `compensations/${second.id}/approve`),
      post(owner, `compensations/${second.id}/approve`),
    ])
    expect(both.map(({ status }) => status)).to.deep.equal([200, 200])
    done(await propose(3_000, { kind: 'gesture', folioId: null, lineId: null }), 201)
    expect(codeOf(await propose(15_000))).to.deep.equal([422, 'adjustment_exceeds_charge'])
    expect(codeOf(await post(reception, `${issue.id}/resolve`, { resolution: 'Moved' }))).to.deep.equal([
      400,
      'validation_failed',
    ])
    expect(await balanceOf(folioId)).to.equal(14_000)
    await world.drain()
    const posted = await tenant.inHouse((trx) =>
      sql<{ amount: number }>(
        trx,
        `select (payload -> 'amounts' ->> 'amount')::bigint as amount from posting_event where event = 'reservations.charge_adjusted'`,
      ),
    )
    expect(posted.map(({ amount }) => amount).toSorted((a, b) => a - b)).to.deep.equal([2_000, 4_000])
    const today = new Date().toISOString().slice(0, 10)
    const summary = done(await manager.get(`issues/summary?propertyId=${inn.propertyId}&from=${today}&to=${today}`))
    expect(summary.compensation).to.deep.equal({ adjustments: 6_000, gestures: 3_000, currency: 'BRL' })
    expect(summary.opened).to.equal(1)

    mail.peer.mails.splice(0)
    done(await post(reception, `${issue.id}/resolve`, { resolution: 'Moved the guest', cause: 'guest' }))
    await world.drain()
    const asked = mail.peer.mails.find(({ to }) => to.includes(email))
    const token = /sat_[\w-]+/.exec(asked?.text ?? '')?.[0] ?? ''
    expect(token).to.match(/^sat_/)
    const answer = (given: string, score: number, comment = '') =>
      world.request('POST', '/api/public/issues/satisfaction', { body: { token: given, score, comment } })
    const changed = `${token.slice(0, -4)}${token.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
    expect((await answer(changed, 1)).status).to.equal(404)
    for (const wrong of [satisfactionToken(tenant.tenantId, randomUUID()), 'sat_', 'x', token.slice(4)])
      expect(codeOf(await answer(wrong, 1)), wrong).to.deep.equal([404, 'not_found'])
    const twice = await Promise.all([answer(token, 2), answer(token, 2)])
    expect(twice.map(({ status }) => status)).to.deep.equal([200, 200])
    const reopened = done(await reception.get(`issues/${issue.id}`))
    expect(reopened).to.include({ status: 'open', reopenCount: 1, score: 2 })
    expect(await balanceOf(folioId)).to.equal(14_000)
    // For a day the guest may think again; then the first answer stands.
    await tenant.inHouse((trx) =>
      sql(trx, `update issue set scored_at = now() - interval '25 hours' where id = ?`, [issue.id]),
    )
    expect((await answer(token, 2)).status).to.equal(200)
    expect(codeOf(await answer(token, 5))).to.deep.equal([409, 'already_answered'])
    expect(codeOf(await answer(token, 2, 'And the food was cold'))).to.deep.equal([409, 'already_answered'])
    expect(reopened.history.map(({ command }: { command: string }) => command)).to.include.members([
      'create',
      'compensate',
      'resolve',
      'score',
      'reopen',
    ])

    // An issue that is resolved anew is answered anew.
    await forgetLimits(world)
    const resolve = () => post(reception, `${issue.id}/resolve`, { resolution: 'Moved again', cause: 'guest' })
    const now = async () => done(await reception.get(`issues/${issue.id}`))
    done(await resolve())
    expect((await answer(token, 2)).status).to.equal(200)
    expect(await now()).to.include({ status: 'open', reopenCount: 2, score: 2 })
    done(await resolve())
    expect((await answer(token, 5)).status).to.equal(200)
    expect(await now()).to.include({ status: 'resolved', reopenCount: 2, score: 5 })
    // Too late to open it again, a bad answer is a complaint; after 30 days the link ends.
    const ended = (days: number) =>
      tenant.inHouse((trx) =>
        sql(
          trx,
          `update issue set resolved_at = now() - ? * interval '1 day', scored_at = now() - ? * interval '1 day' where id = ?`,
          [days, days - 0.5, issue.id],
        ),
      )
    const complaints = () =>
      tenant.inHouse((trx) =>
        sql<{ status: string; kind: string }>(trx, `select status, kind from issue where source_key = ?`, [
          `score:${issue.id}`,
        ]),
      )
    await ended(20)
    await tenant.inHouse((trx) => sql(trx, `update issue set score = null, scored_at = null where id = ?`, [issue.id]))
    const late = await Promise.all([answer(token, 1), answer(token, 1)])
    expect(late.map(({ status }) => status)).to.deep.equal([200, 200])
    expect(await now()).to.include({ status: 'resolved', reopenCount: 2, score: 1 })
    expect(await complaints()).to.deep.equal([{ status: 'open', kind: 'complaint' }])
    await ended(31)
    expect((await answer(token, 1)).status).to.equal(404)
  })

  it('takes each move once when it is sent many times at once', async () => {
    const { reception } = tenant
    const issue = await open(reception)
    const moved = async (path: string, body: object = {}, desk = reception) => {
      await forgetLimits(world)
      const replies = await Promise.all(Array.from({ length: 12 }, () => post(desk, `${issue.id}/${path}`, body)))
      expect(replies.map(({ status }) => status)).to.deep.equal(replies.map(() => 200))
    }
    await moved('start')
    await moved('resolve', { resolution: 'Asked for quiet', cause: 'guest' })
    await moved('close', { outcome: 'resolved' }, tenant.manager)
    const types = await tenant.inHouse((trx) =>
      sql<{ type: string }>(trx, `select type from event where entity ->> 'id' = ? order by occurred_at`, [issue.id]),
    )
    expect(types.map(({ type }) => type).toSorted()).to.deep.equal([
      'issue.closed',
      'issue.opened',
      'issue.resolved',
      'issue.started',
    ])
    await forgetLimits(world)
    expect(codeOf(await post(reception, `${issue.id}/start`))).to.deep.equal([409, 'invalid_transition'])
    expect(codeOf(await reception.send('PATCH', `issues/${issue.id}`, { title: 'Another title' }))).to.deep.equal([
      409,
      'invalid_transition',
    ])
    // A bad answer to a closed issue leaves it closed, and is a complaint about the staff.
    const token = satisfactionToken(tenant.tenantId, issue.id)
    for (let time = 0; time < 2; time += 1)
      done(await world.request('POST', '/api/public/issues/satisfaction', { body: { token, score: 2 } }))
    expect(done(await reception.get(`issues/${issue.id}`))).to.include({ status: 'closed', score: 2, reopenCount: 0 })
    const complaints = await tenant.inHouse((trx) =>
      sql(
        trx,
        `select i.kind, i.priority, c.code from issue i join issue_category c on c.id = i.category_id where i.source_key = ?`,
        [`score:${issue.id}`],
      ),
    )
    expect(complaints).to.deep.equal([{ kind: 'complaint', priority: 'high', code: 'staff' }])
    expect(done(await post(reception, `${issue.id}/reopen`, { reason: 'It is back' }))).to.include({ status: 'open' })
  })

  it('keeps compensation within limits and within the reservation', async () => {
    const { reception, manager, owner } = tenant
    const { reservationId, folioId, lineId } = await walkIn()
    const other = await walkIn()
    const issue = await open(reception, { reservationId, categoryId: categories['cleanliness'] })
    const give = (more: object) =>
      post(reception, `${issue.id}/compensations`, {
        kind: 'adjustment',
        amount: 1_000,
        description: 'Dirty room',
        reason: 'Hair in the bath',
        ...more,
      })
    expect(codeOf(await give({ folioId: other.folioId }))).to.deep.equal([422, 'link_mismatch'])
    expect(codeOf(await give({ folioId, lineId: other.lineId }))).to.deep.equal([422, 'reference_not_found'])
    done(await owner.send('PATCH', `issues/categories/${categories['cleanliness']}`, { managerLimit: 1_500 }))
    const [a] = done(await give({ folioId, lineId }), 201).compensations
    const [, b] = done(await give({ folioId, lineId }), 201).compensations
    expect(done(await post(manager, `compensations/${a.id}/approve`))).to.include({ status: 'approved' })
    expect(codeOf(await post(manager, `compensations/${b.id}/approve`))).to.deep.equal([403, 'approval_limit_exceeded'])
    expect(done(await post(owner, `compensations/${b.id}/approve`))).to.include({ status: 'approved' })
    const c = done(
      await post(owner, `${issue.id}/compensations`, {
        kind: 'adjustment',
        amount: 100,
        folioId,
        lineId,
        description: 'Dirty room',
        reason: 'Hair in the bath',
      }),
      201,
    ).compensations[2]
    expect(codeOf(await post(owner, `compensations/${c.id}/approve`))).to.deep.equal([403, 'self_approval'])
    expect(done(await post(manager, `compensations/${c.id}/reject`, { reason: 'Enough' }))).to.include({
      status: 'rejected',
    })
    const bare = await open(reception)
    expect(
      codeOf(
        await post(reception, `${bare.id}/compensations`, {
          kind: 'gesture',
          amount: 1,
          description: 'A bottle',
          reason: 'To be kind',
        }),
      ),
    ).to.deep.equal([422, 'reservation_required'])
  })

  it('shows housekeepers neither complaints nor guests nor money', async () => {
    const { reception } = tenant
    const maid = await openDesk(world, tenant, 'housekeeper')
    const { reservationId } = await walkIn()
    const complaint = await open(reception, { categoryId: categories['cleanliness'], reservationId })
    const request = await open(reception, { categoryId: categories['cleanliness'], kind: 'request', reservationId })
    const elsewhere = await open(reception, { kind: 'request' })
    const { data } = done(await maid.get('issues?limit=100'))
    const ids = data.map(({ id }: { id: string }) => id)
    expect(ids).to.include(request.id)
    expect(ids).to.not.include.members([complaint.id])
    expect(ids).to.not.include.members([elsewhere.id])
    for (const id of [complaint.id, elsewhere.id]) {
      expect((await maid.get(`issues/${id}`)).status).to.equal(404)
      expect((await post(maid, `${id}/start`)).status).to.equal(404)
    }
    const seen = done(await maid.get(`issues/${request.id}`))
    expect(seen).to.include({ guestId: null, guest: null, reservationId: null })
    expect(seen.compensations).to.deep.equal([])
    expect((await maid.get('issues/compensations')).status).to.equal(403)
    const today = new Date().toISOString().slice(0, 10)
    expect((await maid.get(`issues/summary?from=${today}&to=${today}`)).status).to.equal(403)
    expect(done(await post(maid, `${request.id}/start`))).to.include({ status: 'in_progress' })
  })
})
