import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { grantEntitlement, revokeEntitlement } from '../../db/admin/index.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { closeIssues, eraseIssueTexts, flagLostItems } from '../../jobs/issues.ts'
import { checkClocks, dueIssues, endSettled, settledStays } from '../../db/issues/index.ts'
import { addDays, localInstant, todayIn } from '../../config/time.ts'
import { forgetLimits, makeUser } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeConfirmed, useMailPeer } from '../support/messages.ts'
import { statementsOf } from '../support/statements.ts'
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

  it('count in the business hours of the house where their category says so, and go by those of now', async () => {
    const settings = (issues: object) => owner.send('PATCH', `properties/${house.propertyId}/settings`, { issues })
    const always = [{ days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', until: '00:00' }]
    for (const [businessHours, field] of [
      [[{ days: [1], from: '12:00', until: '09:00' }], 'issues.businessHours.0.until'],
      [[{ days: [1], from: '12:00', until: '13:00' }], 'issues.businessHours'],
      [[...always, { days: [3], from: '09:00', until: '18:00' }], 'issues.businessHours.1'],
    ] as const) {
      const { status, body } = await settings({ businessHours })
      expect([status, body.errors?.[0]?.field]).to.deep.equal([400, field])
    }
    const { timezone } = await inTenant(house.tenantId, async (trx) => {
      const [row] = await sql<{ timezone: string }>(trx, `select timezone from property where id = ?`, [
        house.propertyId,
      ])
      return row ?? { timezone: '' }
    })
    const today = todayIn(timezone)
    // The house is closed today and tomorrow, and always open from then on.
    expect((await settings({ businessHours: always, holidays: [today, addDays(today, 1)] })).status).to.equal(200)
    const category = await owner.send('POST', 'issues/categories', {
      code: 'office',
      name: { en: 'Office', 'pt-BR': 'Escritório' },
      kind: 'support',
      team: 'finance',
      hours: 'business',
    })
    expect([category.status, category.body.hours]).to.deep.equal([201, 'business'])
    const issue = await open({ priority: 'high', categoryId: category.body.id })
    const opens = localInstant(addDays(today, 2), '00:00', timezone).getTime()
    const dueAfter = (minutes: number) => new Date(opens + minutes * 60_000).toISOString()
    expect([issue.hours, issue.firstResponseDueAt, issue.resolutionDueAt]).to.deep.equal([
      'business',
      dueAfter(30),
      dueAfter(240),
    ])
    expect((await open({ priority: 'high' })).hours).to.equal('always')
    const other = await owner.send('PATCH', `issues/${issue.id}`, { priority: 'urgent' })
    expect([other.status, other.body.resolutionDueAt]).to.deep.equal([200, dueAfter(120)])
    const moved = await owner.send('PATCH', `issues/${issue.id}`, { categoryId: categories['equipment'] })
    expect(moved.body).to.include({ hours: 'always' })
    expect(Date.parse(moved.body.resolutionDueAt) - Date.parse(moved.body.createdAt)).to.equal(120 * 60_000)
    await settings({ holidays: [] })
  })

  it('keep a deadline that was missed before anybody looked, whatever is done then', async () => {
    for (const [move, body] of [
      ['start', {}],
      ['wait', { for: 'guest' }],
      ['resolve', { resolution: 'Mended', cause: 'property' }],
    ] as const) {
      const issue = await open({ priority: 'high' })
      await age(issue.id, 245)
      const { status, body: moved } = await post(issue.id, move, body)
      expect(status, JSON.stringify(moved)).to.equal(200)
      const { clocks, escalation, history } = await read(issue.id)
      expect([clocks.firstResponse.breachedAt, clocks.resolution.breachedAt], move).to.not.include(null)
      expect(escalation, move).to.equal(2)
      expect(
        history.filter((one: { command: string }) => one.command === 'miss_deadline'),
        move,
      ).to.have.length(2)
    }
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
    // A block that has not begun is taken back.
    const planned = await open({ unitId })
    const later = await owner.send('POST', 'unit-blocks', {
      propertyId: house.propertyId,
      unitIds: [unitId],
      kind: 'out_of_order',
      reason: 'maintenance',
      from: house.day(8),
      to: house.day(9),
      issueId: planned.id,
    })
    expect(later.status, JSON.stringify(later.body)).to.equal(201)
    const early = await post(planned.id, 'resolve', { resolution: 'It works', cause: 'none', endBlock: true })
    expect(early.body).to.include({ status: 'resolved', unitBlockId: null })
    expect((await owner.get(`unit-blocks?issueId=${planned.id}`)).body.data[0].status).to.equal('cancelled')
    // A block that still runs when its issue ends is a warning, and it takes the unit that the issue is about.
    const other = await open({ unitId: house.unitIds[1] })
    const place = (unitIds: (string | undefined)[]) =>
      owner.send('POST', 'unit-blocks', {
        propertyId: house.propertyId,
        unitIds,
        kind: 'out_of_service',
        reason: 'maintenance',
        from: house.today,
        to: house.day(2),
        issueId: other.id,
      })
    expect(codeOf(await place([unitId]))).to.deep.equal([422, 'link_mismatch'])
    const running = await place([house.unitIds[1]])
    expect(running.status, JSON.stringify(running.body)).to.equal(201)
    const moved = await owner.send('PATCH', `unit-blocks/${running.body.id}`, { unitIds: [unitId] })
    expect(codeOf(moved)).to.deep.equal([422, 'link_mismatch'])
    expect((await read(other.id)).warnings).to.deep.equal([])
    const left = await post(other.id, 'resolve', { resolution: 'A new one comes', cause: 'supplier' })
    expect(left.body.warnings.map(({ code }: { code: string }) => code)).to.deep.equal(['block_running'])
    await owner.send('POST', `unit-blocks/${running.body.id}/end`, {})
    expect((await read(other.id)).warnings).to.deep.equal([])
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
    // Those of more than 90 days before or after are no more alike.
    await world.database.admin.raw(`update issue set created_at = created_at - interval '91 days' where id = ?`, [
      ids[0] ?? '',
    ])
    expect((await read(ids[0] ?? '')).similar).to.deep.equal([])
    const now = await read(ids[3] ?? '')
    expect(now.similar.map(({ id }: { id: string }) => id)).to.have.members(ids.slice(1, 3))
    expect(now.recurring).to.equal(false)
  })

  it('refuse by names of their own, and keep what they say', async () => {
    const { name, kind, team, targets } = (await owner.get(`issues/categories?limit=1`)).body.data[0]
    const category = { code: 'noise', name, kind, team, targets }
    expect(codeOf(await owner.send('POST', 'issues/categories', category))).to.deep.equal([409, 'duplicate_code'])
    const issue = await open()
    const stale = { headers: { 'if-match': `"${issue.version + 1}"` } }
    expect(codeOf(await owner.send('PATCH', `issues/${issue.id}`, { priority: 'low' }, stale))).to.deep.equal([
      409,
      'version_conflict',
    ])
    expect(codeOf(await owner.send('POST', `issues/${issue.id}/start`, {}, stale))).to.deep.equal([
      409,
      'version_conflict',
    ])
    expect((await post(issue.id, 'resolve', { resolution: 'A new washer', cause: 'property' })).status).to.equal(200)
    for (const close of [true, false]) {
      if (!close) expect((await post(issue.id, 'close', { outcome: 'resolved' })).status).to.equal(200)
      expect(codeOf(await owner.send('PATCH', `issues/${issue.id}`, { cause: null }))).to.deep.equal([
        400,
        'validation_failed',
      ])
      expect((await owner.send('PATCH', `issues/${issue.id}`, { cause: 'supplier' })).body.cause).to.equal('supplier')
    }
    await world.database.admin.raw(`update issue set resolved_at = resolved_at - interval '15 days' where id = ?`, [
      issue.id,
    ])
    expect(codeOf(await post(issue.id, 'reopen', { reason: 'It leaks again' }))).to.deep.equal([422, 'reopen_too_late'])
    expect(await read(issue.id)).to.include({ status: 'closed', reopenCount: 0, cause: 'supplier' })
  })

  it('close, lose their texts, and tell of lost property by the days that the house says, each once', async () => {
    const settings = { issues: { closeAfterDays: 2, keepTextMonths: 6, keepLostDays: 30 } }
    expect((await owner.send('PATCH', `properties/${house.propertyId}/settings`, settings)).status).to.equal(200)
    const { admin } = world.database
    const run = async () => {
      for (const kind of [closeIssues, flagLostItems, eraseIssueTexts])
        await inPlatform((trx) => enqueue(trx, kind, {}))
      await world.drain({
        kinds: ['maintenance.close-issues', 'maintenance.flag-lost-items', 'privacy.erase-issue-texts'],
      })
    }
    const [early, due, kept, old] = [await open(), await open(), await open(), await open()]
    for (const { id } of [early, due]) await post(id, 'resolve', { resolution: 'A new washer', cause: 'property' })
    for (const { id } of [kept, old]) await post(id, 'close', { outcome: 'withdrawn', reason: 'It was dry' })
    for (const [id, ago] of [
      [early.id, '47 hours'],
      [due.id, '49 hours'],
    ])
      await admin.raw(`update issue set resolved_at = now() - ?::interval where id = ?`, [ago, id])
    for (const [id, ago] of [
      [kept.id, '5 months'],
      [old.id, '6 months 1 day'],
    ])
      await admin.raw(`update issue set closed_at = now() - ?::interval where id = ?`, [ago, id])
    const lost = async (keptFor: number) => {
      const { body } = await owner.send('POST', 'issues/lost-items', {
        propertyId: house.propertyId,
        direction: 'found',
        category: 'bag',
        description: 'A red bag',
      })
      expect(body.keepUntil).to.equal(house.day(30))
      await admin.raw(`update lost_item set keep_until = ? where id = ?`, [house.day(keptFor), body.id])
      return body.id as string
    }
    const [today, tomorrow] = [await lost(0), await lost(1)]
    await run()
    await run()
    expect((await read(early.id)).status).to.equal('resolved')
    expect(await read(due.id)).to.include({ status: 'closed', outcome: 'resolved' })
    expect((await read(kept.id)).title).to.equal('The shower leaks')
    expect(await read(old.id)).to.include({ title: null, outcome: 'withdrawn', number: old.number })
    const told = await house.inHouse((trx) =>
      sql<{ type: string; id: string }>(
        trx,
        `select type, entity ->> 'id' as id from event where type in ('issue.closed', 'lost_item.disposal_date_reached') and entity ->> 'id' = any(?::text[])`,
        [[early.id, due.id, today, tomorrow]],
      ),
    )
    expect(told).to.have.deep.members([
      { type: 'issue.closed', id: due.id },
      { type: 'lost_item.disposal_date_reached', id: today },
    ])
  })

  it('are read in seven queries, however much they hold', async () => {
    const issue = await open({ unitId: house.unitIds[2] })
    for (const text of ['One', 'Two', 'Three']) await post(issue.id, 'comments', { text })
    await read(issue.id)
    const asked = (await statementsOf(() => read(issue.id))).filter((text) =>
      /\b(from|join) (issue|compensation|attachment|unit_block)/.test(text),
    )
    expect(asked.length, asked.join('\n')).to.be.within(4, 7)
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
    await inPlatform((trx) => revokeEntitlement(trx, { tenantId: house.tenantId, key: 'ocp', reason: 'not paid' }))
    expect(codeOf(await post(issue.id, 'comments', { text: 'Hello', visibility: 'guest' }))).to.deep.equal([
      403,
      'feature_not_enabled',
    ])
    expect((await post(issue.id, 'comments', { text: 'For us' })).status).to.equal(201)
    await inPlatform((trx) => grantEntitlement(trx, { tenantId: house.tenantId, key: 'ocp', reason: 'paid' }))
  })

  it('go to the people of each level, who alone are mailed, and leave those who are below it', async () => {
    const member = async (
      role: 'manager' | 'admin' | 'housekeeper',
      propertyIds: string[] | null = [house.propertyId],
    ) => {
      const user = await makeUser()
      await house.inHouse((trx) => addMembership(trx, { userId: user.userId, role, propertyIds }))
      return user
    }
    const elsewhere = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const [manager, far, maid] = [
      await member('manager'),
      await member('manager', [elsewhere.propertyId]),
      await member('housekeeper'),
    ]
    const issue = await open({ assigneeId: maid.userId })
    const raise = async () => {
      mail.peer.mails.splice(0)
      const { body } = await post(issue.id, 'escalate', { reason: 'It takes too long' })
      await world.drain({ kinds: ['messages.send-user-mail'] })
      return [body.escalation, body.assigneeId, mail.peer.mails.flatMap(({ to }) => to)]
    }
    expect(await raise()).to.deep.equal([1, null, [manager.email]])
    expect(far.email).to.not.equal(manager.email)
    const admin = await member('admin', null)
    expect(await raise()).to.deep.equal([2, null, [admin.email]])
  })
})
