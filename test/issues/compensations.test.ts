import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { useMailPeer } from '../support/messages.ts'
import { impatiently } from '../support/patience.ts'
import { stranger } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { atTheDoor, done, openInn, openTenant, useDaysAhead } from '../stories/inn.ts'
import type { Inn, Tenant } from '../stories/inn.ts'

const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

type Compensation = { id: string; status: string; refundIds: string[] }

describe('Compensations of an issue', function () {
  this.timeout(120_000)
  const world = useWorld()
  useMailPeer()
  useDaysAhead()
  let tenant: Tenant
  let inn: Inn
  let category: string
  let stay: { reservationId: string; folioId: string; lineId: string }
  before(async () => {
    tenant = await openTenant(world)
    inn = await openInn(tenant)
    const { data } = done(await tenant.owner.get('issues/categories?limit=100'))
    category = data.find(({ code }: { code: string }) => code === 'noise').id
    const booking = await inn.book([inn.room('STD', 'CORP', [0, 1], { adults: 1 })], {
      source: 'walk_in',
      booker: { firstName: 'Vera', lastName: 'Prado', email: stranger().email },
      checkIn: {},
      override: atTheDoor,
    })
    const reservationId = booking.reservations[0].id as string
    const { folioSummary } = await inn.stay(reservationId)
    const folioId = folioSummary.folios[0].id as string
    await money(`folios/${folioId}/charges`, {
      category: 'spa',
      description: 'Massagem',
      quantity: '1',
      unitAmount: 20_000,
    })
    const { data: lines } = done(await tenant.reception.get(`folios/${folioId}/lines?limit=100`))
    const lineId = lines.find((one: { category: string }) => one.category === 'spa').id as string
    stay = { reservationId, folioId, lineId }
  })
  beforeEach(() => forgetLimits(world))

  const money = async (path: string, body: object) =>
    done(await tenant.owner.send('POST', path, body, { idempotencyKey: randomUUID() }), 201)
  const balanceOf = async () => (await inn.folio(stay.folioId)).balance as number
  const limits = (more: object) => tenant.owner.send('PATCH', `issues/categories/${category}`, more)
  const open = async (): Promise<string> =>
    done(
      await tenant.reception.send('POST', 'issues', {
        propertyId: inn.propertyId,
        categoryId: category,
        title: 'Loud music',
        reservationId: stay.reservationId,
      }),
      201,
    ).id
  const propose = (issueId: string, more: object = {}) =>
    tenant.reception.send('POST', `issues/${issueId}/compensations`, {
      kind: 'adjustment',
      amount: 1_000,
      folioId: stay.folioId,
      lineId: stay.lineId,
      description: 'Noise in the night',
      reason: 'The guest could not sleep',
      ...more,
    })

  it('are approved by themselves up to the limit and no further, however many are proposed at once', async () => {
    done(await limits({ autoApproveLimit: 5_000, managerLimit: 6_500 }))
    const issueId = await open()
    const before = await balanceOf()
    const replies = await Promise.all(Array.from({ length: 8 }, () => propose(issueId)))
    expect(replies.map(({ status }) => status)).to.deep.equal(Array.from({ length: 8 }, () => 201))
    const { compensations } = done(await tenant.reception.get(`issues/${issueId}`))
    const of = (wanted: string) => (compensations as Compensation[]).filter(({ status }) => status === wanted)
    expect([of('approved').length, of('proposed').length]).to.deep.equal([5, 3])
    expect(await balanceOf()).to.equal(before - 5_000)
    const decided = await Promise.all(
      of('proposed').map(({ id }) => tenant.manager.send('POST', `issues/compensations/${id}/approve`)),
    )
    expect(decided.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([200, 403, 403])
    expect(await balanceOf()).to.equal(before - 6_000)
  })

  it('are approved and posted once, however many approve them at once, and to the unit of the limit', async () => {
    done(await limits({ autoApproveLimit: 0, managerLimit: 1_499 }))
    const issueId = await open()
    const before = await balanceOf()
    const key = { idempotencyKey: randomUUID() }
    const body = { kind: 'adjustment', amount: 1_500, folioId: stay.folioId, lineId: stay.lineId }
    const texts = { description: 'Noise in the night', reason: 'The guest could not sleep' }
    const proposals = await Promise.all(
      Array.from({ length: 20 }, () =>
        tenant.reception.send('POST', `issues/${issueId}/compensations`, { ...body, ...texts }, key),
      ),
    )
    for (const {
      status,
      body: { code },
    } of proposals)
      expect([status, code]).to.deep.be.oneOf([
        [201, undefined],
        [409, 'request_in_progress'],
      ])
    const { compensations } = done(await tenant.reception.get(`issues/${issueId}`))
    expect(compensations.map(({ status }: Compensation) => status)).to.deep.equal(['proposed'])
    const path = `issues/compensations/${compensations[0].id}/approve`
    expect(codeOf(await tenant.manager.send('POST', path))).to.deep.equal([403, 'approval_limit_exceeded'])
    expect(await balanceOf()).to.equal(before)
    done(await limits({ managerLimit: 1_500 }))
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? tenant.manager : tenant.owner).send('POST', path)),
    )
    expect(replies.map(({ status, body: reply }) => [status, reply.status])).to.deep.equal(
      replies.map(() => [200, 'approved']),
    )
    expect(await balanceOf()).to.equal(before - 1_500)
    const [written] = await tenant.inHouse((trx) =>
      sql<{ lines: number; amount: number; events: number; notes: number }>(
        trx,
        `select (select count(*) from folio_line where source_type = 'issue_compensation' and source_id = :id)::int as lines,
           (select sum(amount) from folio_line where source_type = 'issue_compensation' and source_id = :id)::int as amount,
           (select count(*) from event where type = 'compensation.approved' and entity ->> 'id' = :id)::int as events,
           (select count(*) from issue_event where command = 'approve_compensation' and issue_id = :issueId)::int as notes`,
        { id: compensations[0].id, issueId },
      ),
    )
    expect(written).to.deep.equal({ lines: 1, amount: -1_500, events: 1, notes: 1 })
  })

  it('are withdrawn by their proposer, rejected by approvers, and decided once', async () => {
    done(await limits({ autoApproveLimit: 0, managerLimit: 10_000 }))
    const issueId = await open()
    const before = await balanceOf()
    const next = async (): Promise<string> => done(await propose(issueId, { amount: 700 }), 201).compensations.at(-1).id
    const decide = (by: Desk, id: string, verb: 'approve' | 'reject') =>
      by.send('POST', `issues/compensations/${id}/${verb}`, verb === 'reject' ? { reason: 'A mistake' } : {})
    const [colleague, keeper] = [await openDesk(world, tenant, 'receptionist'), await openDesk(world, tenant, 'stock')]
    const own = await next()
    for (const other of [colleague, keeper])
      expect(codeOf(await decide(other, own, 'reject'))).to.deep.equal([403, 'forbidden'])
    expect(codeOf(await decide(tenant.reception, own, 'approve'))).to.deep.equal([403, 'forbidden'])
    expect(done(await decide(tenant.reception, own, 'reject'))).to.include({ status: 'rejected' })
    expect(codeOf(await decide(tenant.owner, own, 'approve'))).to.deep.equal([409, 'invalid_transition'])
    expect(await balanceOf()).to.equal(before)

    const both = await next()
    const [yes, no] = await Promise.all([decide(tenant.manager, both, 'approve'), decide(tenant.owner, both, 'reject')])
    expect([yes.status, no.status].toSorted((one, other) => one - other)).to.deep.equal([200, 409])
    expect(await balanceOf()).to.equal(yes.status === 200 ? before - 700 : before)
  })

  it('post nothing to a folio that was closed meanwhile, nor more than is left of the charge', async () => {
    done(await limits({ autoApproveLimit: 0, managerLimit: 10_000 }))
    const issueId = await open()
    const body = { propertyId: inn.propertyId, kind: 'guest', reservationId: stay.reservationId, label: 'Bar' }
    const folioId = (await money('folios', body)).id as string
    await money(`folios/${folioId}/charges`, { category: 'spa', description: 'Spa', quantity: '1', unitAmount: 1_000 })
    const { data } = done(await tenant.reception.get(`folios/${folioId}/lines?limit=100`))
    const lineId = data[0].id as string
    const { compensations } = done(await propose(issueId, { folioId, lineId }), 201)
    const approve = () => tenant.manager.send('POST', `issues/compensations/${compensations[0].id}/approve`)
    await money(`folios/${folioId}/adjustments`, { lineId, amount: 1, reason: 'A wrong price' })
    expect(codeOf(await approve())).to.deep.equal([422, 'adjustment_exceeds_charge'])
    await money(`folios/${folioId}/adjustments`, { lineId, amount: 999, reason: 'A wrong price' })
    const closed = await tenant.owner.send('POST', `folios/${folioId}/close`, {}, { idempotencyKey: randomUUID() })
    expect(done(closed).status).to.equal('closed')
    expect(codeOf(await approve())).to.deep.equal([422, 'folio_closed'])
    const now = done(await tenant.reception.get(`issues/${issueId}`)).compensations as Compensation[]
    expect(now.map(({ status }) => status)).to.deep.equal(['proposed'])
  })

  it('wait for a folio that is in use, and are of its currency', async () => {
    done(await limits({ autoApproveLimit: 0, managerLimit: 10_000 }))
    const issueId = await open()
    const before = await balanceOf()
    const { compensations } = done(await propose(issueId, { amount: 300 }), 201)
    const approve = () => tenant.manager.send('POST', `issues/compensations/${compensations[0].id}/approve`)
    await tenant.inHouse(async (trx) => {
      await sql(trx, `select 1 from folio where id = ? for update`, [stay.folioId])
      expect(codeOf(await impatiently(approve))).to.deep.equal([409, 'folio_busy'])
    })
    expect(await balanceOf()).to.equal(before)
    const inCurrency = (currency: string) =>
      world.database.admin.transaction(async (trx) => {
        await sql(trx, `set local session_replication_role = replica`)
        await sql(trx, `update folio set currency = ? where id = ?`, [currency, stay.folioId])
      })
    await inCurrency('EUR')
    expect(codeOf(await propose(issueId))).to.deep.equal([422, 'currency_mismatch'])
    await inCurrency('BRL')
    expect(done(await approve()).status).to.equal('approved')
    expect(await balanceOf()).to.equal(before - 300)
  })

  it('send back what they make of credit, and leave what was a credit before', async () => {
    done(await limits({ autoApproveLimit: 10_000 }))
    const issueId = await open()
    const ownIssue = await open()
    const first: Compensation = done(await propose(ownIssue, { amount: 500, refundExcess: true }), 201).compensations[0]
    expect(first.refundIds, 'the folio still owes').to.deep.equal([])
    const owed = await balanceOf()
    const payment = await money('payments', {
      method: 'card',
      amount: owed,
      currency: 'BRL',
      targetType: 'folio',
      targetId: stay.folioId,
      cardToken: 'success',
    })
    await until(
      async () => {
        await world.drain({ starts: 2_000 })
        return done(await tenant.owner.get(`payments/${payment.id}`)).status === 'captured'
      },
      { withinMs: 30_000, what: 'the payment' },
    )
    expect(await balanceOf()).to.equal(0)
    await money(`folios/${stay.folioId}/adjustments`, { lineId: stay.lineId, amount: 2_500, reason: 'A wrong price' })
    expect(await balanceOf()).to.equal(-2_500)
    const { compensations } = done(await propose(issueId, { amount: 1_500, refundExcess: true }), 201)
    const [made] = compensations as Compensation[]
    expect(made?.refundIds).to.have.length(1)
    const refund = done(await tenant.owner.get(`payments/refunds/${made?.refundIds[0]}`))
    expect(refund.amount).to.equal(1_500)
  })

  it('send back no more than cards have left of a folio that cash and cards have paid, newest first, to the cent', async () => {
    done(await limits({ autoApproveLimit: 10_000 }))
    const body = { propertyId: inn.propertyId, kind: 'guest', reservationId: stay.reservationId, label: 'Spa' }
    const folioId = (await money('folios', body)).id as string
    await money(`folios/${folioId}/charges`, { category: 'spa', description: 'Spa', quantity: '1', unitAmount: 10_000 })
    const { data } = done(await tenant.reception.get(`folios/${folioId}/lines?limit=100`))
    const lineId = data[0].id as string
    const registerId = (
      await money('cash/accounts', {
        kind: 'register',
        code: 'DESK2',
        name: 'Desk',
        propertyId: inn.propertyId,
        opening: { amount: 0, on: inn.D },
      })
    ).id as string
    const cashSessionId = (await money('cash/sessions', { registerId, count: {} })).id as string
    const common = { currency: 'BRL', targetType: 'folio', targetId: folioId }
    await money('payments/record', {
      ...common,
      propertyId: inn.propertyId,
      method: 'cash',
      amount: 4_000,
      cashSessionId,
    })
    const captured = async (amount: number): Promise<string> => {
      const { id } = await money('payments', { ...common, method: 'card', amount, cardToken: 'success' })
      await until(
        async () => {
          await world.drain({ starts: 2_000 })
          const [row] = await tenant.inHouse((trx) =>
            sql<{ status: string }>(trx, `select status from payment where id = ?`, [id]),
          )
          return row?.status === 'captured'
        },
        { withinMs: 30_000, what: 'the payment' },
      )
      return id
    }
    const [older, newer] = [await captured(3_500), await captured(2_500)]
    await money(`payments/${newer}/refunds`, { amount: 2_000, reason: 'other' })
    await money(`folios/${folioId}/charges`, { category: 'spa', description: 'Tea', quantity: '1', unitAmount: 500 })
    const balance = async () => (await inn.folio(folioId)).balance as number
    expect(await balance()).to.equal(2_500)

    const issueId = await open()
    const compensate = async (amount: number) => {
      const { compensations } = done(await propose(issueId, { folioId, lineId, amount, refundExcess: true }), 201)
      const { refundIds, status } = compensations.at(-1) as Compensation
      expect(status).to.equal('approved')
      return tenant.inHouse((trx) =>
        sql<{ paymentId: string; amount: number }>(
          trx,
          `select payment_id, amount from refund where id = any(?::uuid[]) order by amount`,
          [refundIds],
        ),
      )
    }
    expect(await compensate(3_500), 'only what is more than was owed').to.have.deep.members([
      { paymentId: newer, amount: 500 },
      { paymentId: older, amount: 500 },
    ])
    expect(await balance()).to.equal(0)
    expect(await compensate(4_500), 'the cash stays a credit').to.deep.equal([{ paymentId: older, amount: 3_000 }])
    expect(await balance()).to.equal(-1_500)
    expect(await compensate(1_000), 'no card has anything left').to.deep.equal([])
    expect(await balance()).to.equal(-2_500)
  })
})
