import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addMembership } from '../../db/auth/members/create.ts'
import { channelFailed, channelConnected } from '../../config/events/channels.ts'
import { reservationOverbooked } from '../../config/events/reservations.ts'
import { unitDiscrepancyDetected } from '../../config/events/units.ts'
import { emit } from '../../db/lib/events.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { checkClocks, dueIssues, endFromEvent, endSettled, openFromEvent, settledStays } from '../../db/issues/index.ts'
import { forgetLimits, makeUser } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeConfirmed, useMailPeer } from '../support/messages.ts'
import { useWorld } from '../support/world.ts'

const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

describe('Issues of a house', function () {
  this.timeout(60_000)
  const world = useWorld()
  const mail = useMailPeer()
  let house: House
  let owner: Desk
  let categories: Record<string, string>
  before(async () => {
    house = await makeHouse({ units: 3, deposit: null })
    owner = await openDesk(world, house, 'owner')
    const { data } = (await owner.get('issues/categories?limit=100')).body
    categories = Object.fromEntries(data.map(({ code, id }: { code: string; id: string }) => [code, id]))
  })
  beforeEach(() => forgetLimits(world))

  const open = async (more: object = {}) => {
    const { status, body } = await owner.send('POST', 'issues', {
      propertyId: house.propertyId,
      categoryId: categories['equipment'],
      title: 'The shower leaks',
      ...more,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body
  }
  const read = async (id: string) => (await owner.get(`issues/${id}`)).body
  const post = (id: string, verb: string, body: object = {}) => owner.send('POST', `issues/${id}/${verb}`, body)
  /** The sweep of the clocks. */
  const clockJob = async () => {
    for (const { tenantId, id } of await inPlatform(dueIssues)) await inTenant(tenantId, (trx) => checkClocks(trx, id))
    for (const { tenantId, id } of await inPlatform((trx) => settledStays(trx)))
      await inTenant(tenantId, (trx) => endSettled(trx, id))
    await world.drain({ kinds: ['messages.send-user-mail'] })
  }
  /** As if the issue had been opened so many minutes earlier. */
  const age = (id: string, minutes: number) =>
    world.database.admin.raw(
      `update issue set created_at = created_at - ?::int * interval '1 minute', resolution_from = resolution_from - ?::int * interval '1 minute',
         first_response_due_at = first_response_due_at - ?::int * interval '1 minute', resolution_due_at = resolution_due_at - ?::int * interval '1 minute',
         check_at = check_at - ?::int * interval '1 minute', next_due_at = next_due_at - ?::int * interval '1 minute' where id = ?`,
      [minutes, minutes, minutes, minutes, minutes, minutes, id],
    )

  it('tell a missed deadline once, and mail the level that takes over', async () => {
    const issue = await open({ priority: 'urgent' })
    await age(issue.id, 16)
    mail.peer.mails.splice(0)
    await clockJob()
    await clockJob()
    const late = await read(issue.id)
    expect(late).to.include({ escalation: 1, late: true })
    expect(late.firstResponseBreachedAt).to.be.a('string')
    expect(late.resolutionBreachedAt).to.equal(null)
    const types = await house.inHouse((trx) =>
      sql<{ type: string }>(trx, `select type from event where entity ->> 'id' = ? and type like 'issue.%'`, [
        issue.id,
      ]),
    )
    expect(types.filter(({ type }) => type === 'issue.sla_breached')).to.have.length(1)
    expect(types.filter(({ type }) => type === 'issue.escalated')).to.have.length(1)
    // There is neither a manager nor an admin: the owner is mailed.
    expect(mail.peer.mails.map(({ text }) => text).join()).to.include(`${issue.number} (Equipment)`)
    expect((await post(issue.id, 'start')).body).to.include({ status: 'in_progress' })
    expect((await owner.get(`issues?late=true&propertyId=${house.propertyId}`)).body.data).to.have.length(0)
  })

  it('stand still while somebody is waited for, and go on by the time waited', async () => {
    const issue = await open({ priority: 'high' })
    expect((await post(issue.id, 'wait', { for: 'third_party', note: 'The plumber comes' })).body).to.include({
      status: 'waiting',
      paused: true,
      nextDueAt: issue.firstResponseDueAt,
    })
    await world.database.admin.raw(`update issue set waiting_since = now() - interval '90 minutes' where id = ?`, [
      issue.id,
    ])
    const { body } = await post(issue.id, 'start')
    const moved = Date.parse(body.resolutionDueAt) - Date.parse(issue.resolutionDueAt)
    expect(Math.round(moved / 60_000)).to.equal(90)
    expect(body.waitedSeconds).to.be.within(5_400, 5_460)
    expect(codeOf(await post(issue.id, 'escalate', { reason: 'x' }))).to.deep.equal([400, 'validation_failed'])
    for (const level of [1, 2, 3])
      expect((await post(issue.id, 'escalate', { reason: 'It takes too long' })).body.escalation).to.equal(level)
    expect(codeOf(await post(issue.id, 'escalate', { reason: 'Higher still' }))).to.deep.equal([
      409,
      'invalid_transition',
    ])
  })

  it('take links and assignees of their own house alone', async () => {
    const other = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const wrong = (more: object) =>
      owner
        .send('POST', 'issues', {
          propertyId: house.propertyId,
          categoryId: categories['equipment'],
          title: 'The shower leaks',
          ...more,
        })
        .then(codeOf)
    expect(await wrong({ unitId: other.unitIds[0] })).to.deep.equal([422, 'link_mismatch'])
    expect(await wrong({ reservationId: randomUUID() })).to.deep.equal([422, 'link_mismatch'])
    const cook = await makeUser()
    await house.inHouse((trx) =>
      addMembership(trx, { userId: cook.userId, role: 'stock', propertyIds: [house.propertyId] }),
    )
    expect(await wrong({ assigneeId: cook.userId })).to.deep.equal([422, 'assignee_not_allowed'])
    const maid = await makeUser()
    await house.inHouse((trx) =>
      addMembership(trx, { userId: maid.userId, role: 'housekeeper', propertyIds: [other.propertyId] }),
    )
    expect(await wrong({ assigneeId: maid.userId })).to.deep.equal([422, 'assignee_not_allowed'])
    await owner.send('PATCH', `issues/categories/${categories['parking']}`, { active: false })
    expect(await wrong({ categoryId: categories['parking'] })).to.deep.equal([422, 'category_inactive'])
    expect(await wrong({ categoryId: randomUUID() })).to.deep.equal([422, 'reference_not_found'])
  })

  it('are blocked with their unit, and free it when they are resolved', async () => {
    const [unitId] = house.unitIds
    const issue = await open({ unitId })
    const { body: made, status } = await owner.send('POST', 'unit-blocks', {
      propertyId: house.propertyId,
      unitIds: [unitId],
      kind: 'out_of_order',
      reason: 'maintenance',
      from: house.today,
      to: house.day(3),
      issueId: issue.id,
    })
    expect(status, JSON.stringify(made)).to.equal(201)
    expect((await read(issue.id)).unitBlockId).to.be.a('string')
    const { body } = await post(issue.id, 'resolve', { resolution: 'New washer', cause: 'property', endBlock: true })
    expect(body).to.include({ status: 'resolved', cause: 'property' })
    const [block] = (await owner.get(`unit-blocks?issueId=${issue.id}`)).body.data
    expect(block.status).to.equal('ended')
    const stranger = await owner.send('POST', 'unit-blocks', {
      propertyId: house.propertyId,
      unitIds: [unitId],
      kind: 'out_of_service',
      reason: 'maintenance',
      from: house.day(5),
      to: house.day(6),
      issueId: randomUUID(),
    })
    expect(codeOf(stranger)).to.deep.equal([422, 'reference_not_found'])
  })

  it('become recurring with three more of the same unit and category', async () => {
    const [, unitId] = house.unitIds
    const ids: string[] = []
    for (let made = 0; made < 4; made += 1) ids.push((await open({ unitId, categoryId: categories['comfort'] })).id)
    const last = await read(ids[3] ?? '')
    expect(last.recurring).to.equal(true)
    expect(last.similar.map(({ id }: { id: string }) => id)).to.have.members(ids.slice(0, 3))
    const { data } = (await owner.get(`issues?recurring=true&unitId=${unitId}`)).body
    expect(data).to.have.length(4)
  })

  const channel = (id: string, event: typeof channelFailed) =>
    house.inHouse((trx) =>
      emit(trx, event, {
        propertyId: house.propertyId,
        id,
        version: 1,
        data: { channelConnectionId: id, driver: 'sandbox', cause: 'down' },
      }),
    )
  const ofKey = async (key: string) =>
    house.inHouse((trx) =>
      sql<{ id: string; occurrences: number; status: string; cause: string | null }>(
        trx,
        `select id, occurrences, status, cause from issue where source_key = ?`,
        [key],
      ),
    )

  it('open by themselves once for a cause, count its repetitions, and end with it', async () => {
    const id = randomUUID()
    const events = await Promise.all(Array.from({ length: 10 }, () => channel(id, channelFailed)))
    await Promise.all([...events, ...events].map((eventId) => house.inHouse((trx) => openFromEvent(trx, eventId))))
    expect(await ofKey(`channel:${id}`)).to.deep.include.members([
      { ...(await ofKey(`channel:${id}`))[0], occurrences: 10, status: 'open' },
    ])
    const end = await channel(id, channelConnected)
    await house.inHouse((trx) => endFromEvent(trx, end))
    await house.inHouse((trx) => endFromEvent(trx, end))
    const [ended] = await ofKey(`channel:${id}`)
    expect(ended).to.include({ status: 'resolved', cause: 'system' })
  })

  it('do not open after their cause has ended', async () => {
    const id = randomUUID()
    const failed = await channel(id, channelFailed)
    const connected = await channel(id, channelConnected)
    await house.inHouse((trx) => endFromEvent(trx, connected))
    await house.inHouse((trx) => openFromEvent(trx, failed))
    expect(await ofKey(`channel:${id}`)).to.deep.equal([])
  })

  it('are left to the people who took them when their cause ends', async () => {
    const id = randomUUID()
    await channel(id, channelFailed)
    await world.drain()
    const [issue] = await ofKey(`channel:${id}`)
    expect((await post(issue?.id ?? '', 'start')).status).to.equal(200)
    await channel(id, channelConnected)
    await world.drain()
    const now = await read(issue?.id ?? '')
    expect(now.status).to.equal('in_progress')
    expect(now.comments.at(-1).text).to.include('channel.connected')
  })

  it('open for an overbooked stay, and end when it has its unit', async () => {
    const bookingId = await makeConfirmed(house, { from: 3 })
    const [stay] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from reservation where booking_id = ?`, [bookingId]),
    )
    const id = stay?.id ?? ''
    await house.inHouse((trx) =>
      emit(trx, reservationOverbooked, {
        propertyId: house.propertyId,
        id,
        version: 1,
        data: { reservationId: id, number: 'AB', bookingId, status: 'confirmed', nights: [] },
      }),
    )
    await world.drain({ kinds: ['maintenance.open-issue'] })
    expect((await ofKey(`reservation:${id}`))[0]).to.include({ status: 'open' })
    await world.drain()
    await clockJob()
    expect((await ofKey(`reservation:${id}`))[0]).to.include({ status: 'resolved', cause: 'system' })
  })

  it('do not open for what the house has switched off', async () => {
    const switched = await owner.send('PATCH', `properties/${house.propertyId}/settings`, {
      issues: { automaticOff: ['unit.discrepancy_detected'] },
    })
    expect(switched.status, JSON.stringify(switched.body)).to.equal(200)
    const [unitId = ''] = house.unitIds
    const eventId = await house.inHouse((trx) =>
      emit(trx, unitDiscrepancyDetected, {
        propertyId: house.propertyId,
        id: unitId,
        version: 1,
        data: { unitId, name: '1', condition: 'clean', occupancy: 'vacant', ready: true, discrepancy: 'skip' },
      }),
    )
    await house.inHouse((trx) => openFromEvent(trx, eventId))
    expect(await ofKey(`discrepancy:${unitId}`)).to.deep.equal([])
  })

  it('send a comment to the guest once, as the first response', async () => {
    const bookingId = await makeConfirmed(house, { from: 8, email: 'vera@example.com' })
    const [stay] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from reservation where booking_id = ?`, [bookingId]),
    )
    await world.drain()
    mail.peer.mails.splice(0)
    const issue = await open({ categoryId: categories['noise'], reservationId: stay?.id })
    const { body, status } = await post(issue.id, 'comments', { text: 'We are on our way', visibility: 'guest' })
    expect(status, JSON.stringify(body)).to.equal(201)
    expect(body.firstRespondedAt).to.be.a('string')
    await world.drain()
    const texts = mail.peer.mails.filter(({ to }) => to.includes('vera@example.com')).map(({ text }) => text)
    expect(texts.filter((text) => text.includes('We are on our way'))).to.have.length(1)
    expect(texts.filter((text) => text.includes('The shower leaks'))).to.have.length(1)
    const bare = await open()
    expect(codeOf(await post(bare.id, 'comments', { text: 'Hello', visibility: 'guest' }))).to.deep.equal([
      422,
      'recipient_missing',
    ])
  })
})
