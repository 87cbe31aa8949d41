import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { abilityOf, abilityOfKey } from '../../db/lib/ability.ts'
import type { Ability } from '../../db/lib/ability.ts'
import { routes } from '../../api/routes.ts'
import { builtInRoles, rolePermissions } from '../../config/roles.ts'
import { actionsOf, isSubject, subjects } from '../../config/subjects.ts'
import { features } from '../../config/features.ts'
import { holds } from '../../db/lib/conditions.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeTenant, makeUser, signIn } from './support.ts'

const may = (role: string) => (action: string, of: string) => abilityOf(role, null, null).can(action, of)

describe('the table of roles', () => {
  it('names subjects, actions and features that there are', () => {
    for (const role of builtInRoles)
      for (const { subject, action } of rolePermissions[role])
        expect(isSubject(subject) && actionsOf(subject).includes(action), `${role} ${action} ${subject}`).to.equal(true)
    for (const [name, { feature }] of Object.entries(subjects))
      if (feature !== null) expect(Object.keys(features), name).to.include(feature)
  })

  it('knows what every endpoint asks for', () => {
    for (const route of routes) {
      if (!('subject' in route.access)) continue
      const { action, subject } = route.access
      expect(isSubject(subject) && actionsOf(subject).includes(action), `${route.id}: ${action} ${subject}`).to.equal(
        true,
      )
    }
  })

  it('gives owner and admin everything of a tenant, and superusers’ subjects to nobody', () => {
    for (const role of ['owner', 'admin'])
      for (const [name, { reach }] of Object.entries(subjects))
        for (const action of actionsOf(name))
          if (reach !== 'own') expect(may(role)(action, name), `${role} ${action} ${name}`).to.equal(reach === 'tenant')
    for (const role of builtInRoles) expect(may(role)('grant', 'Entitlement'), role).to.equal(false)
  })

  it('says what the design says, cell by cell where it hurts', () => {
    const cells: [string, string, string, boolean][] = [
      ['finance', 'create', 'User', false],
      ['finance', 'read', 'User', true],
      ['finance', 'post', 'LedgerEntry', true],
      ['finance', 'create', 'Reservation', false],
      ['manager', 'create', 'User', false],
      ['manager', 'read', 'ApiKey', false],
      ['manager', 'override', 'Reservation', true],
      ['manager', 'configure', 'PixConnection', false],
      ['receptionist', 'check_in', 'Reservation', true],
      ['receptionist', 'reveal', 'Guest', true],
      ['receptionist', 'read', 'LedgerEntry', false],
      ['receptionist', 'refund', 'Payment', false],
      ['housekeeper', 'read', 'Guest', false],
      ['housekeeper', 'perform', 'HousekeepingTask', true],
      ['housekeeper', 'read', 'Account', false],
      ['maintenance', 'create', 'UnitBlock', true],
      ['stock', 'create', 'InventoryMovement', true],
      ['stock', 'read', 'Guest', false],
      ['relations', 'launch', 'Campaign', true],
      ['auditor', 'read', 'LedgerEntry', true],
      ['auditor', 'read', 'Conversation', false],
      ['auditor', 'read', 'ApiKey', false],
      ['auditor', 'update', 'Guest', false],
      ['auditor', 'create', 'IntegrityCheck', true],
    ]
    for (const [role, action, of, expected] of cells)
      expect(may(role)(action, of), `${role} ${action} ${of}`).to.equal(expected)
    for (const role of [...builtInRoles, 'nobody']) {
      expect(may(role)('manage', 'all'), role).to.equal(false)
      expect(may(role)('read', 'Session'), role).to.equal(true)
    }
    expect(may('nobody')('read', 'Property')).to.equal(false)
  })

  it('gives a custom role what it names and the catalogue has, and follows its version', () => {
    const roleId = randomUUID()
    const custom = (version: number, permissions: { subject: string; actions: string[] }[]) =>
      abilityOf('night-desk', { id: roleId, version, permissions }, null)
    const first = custom(1, [
      { subject: 'Reservation', actions: ['read', 'fly'] },
      { subject: 'Nothing', actions: ['read'] },
      { subject: '__proto__', actions: ['read'] },
    ])
    expect([
      first.can('read', 'Reservation'),
      first.can('fly', 'Reservation'),
      first.can('read', 'Nothing'),
      first.can('update', 'Reservation'),
    ]).to.deep.equal([true, false, false, false])
    expect(custom(2, [{ subject: 'Reservation', actions: ['update'] }]).can('read', 'Reservation')).to.equal(false)
  })
})

describe('properties of a member or a key', () => {
  const [mine, other] = [randomUUID(), randomUUID()]
  const limited = abilityOf('manager', null, [mine])

  it('are the only ones whose records count; what belongs to none counts too', () => {
    const reads = (ability: Ability, propertyId: string | null) =>
      holds(ability.condition('read', 'Reservation'), { propertyId })
    expect([reads(limited, mine), reads(limited, other), reads(limited, null)]).to.deep.equal([true, false, true])
    expect(reads(abilityOfKey(['read'], [mine]), other)).to.equal(false)
    expect(reads(abilityOf('manager', null, null), other)).to.equal(true)
    expect(reads(abilityOf('stock', null, null), mine)).to.equal(false)
  })

  it('are asked of every record: one that was loaded without its property is a mistake, and not everybody’s', () => {
    expect(() => holds(limited.condition('read', 'Reservation'), {})).to.throw('propertyId was not loaded')
  })
})

describe('a tenant', () => {
  const world = useWorld()
  beforeEach(() => forgetLimits(world))
  const status = (tenantId: string, to: string, reason: string | null) =>
    sql(
      world.database.admin,
      `update tenant set status = ?, reason = ?, delete_after = case when ? = 'deleting' then current_date + 30 end where id = ?`,
      [to, reason, to, tenantId],
    )

  it('that is suspended or going refuses all but a look at itself', async () => {
    const tenantId = await makeTenant()
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    for (const to of ['suspended', 'deleting']) {
      await status(tenantId, to, 'not paid')
      const refused = await world.request('GET', `/api/tenants/${tenantId}/guests`, { token })
      expect([refused.status, refused.body.code, refused.body.error]).to.deep.equal([
        403,
        'tenant_suspended',
        'ForbiddenException',
      ])
      expect((await world.request('GET', `/api/tenants/${tenantId}`, { token })).status, to).to.equal(200)
    }
    await status(tenantId, 'active', null)
    expect((await world.request('GET', `/api/tenants/${tenantId}/guests`, { token })).status).to.equal(200)
  })

  it('keeps an owner, though two owners leave at the same moment', async () => {
    const tenantId = await makeTenant()
    const [one, two] = [await makeUser({ [tenantId]: 'owner' }), await makeUser({ [tenantId]: 'owner' })]
    const leave = ({ userId }: { userId: string }) =>
      inTenant(tenantId, (trx) =>
        sql(trx, `update membership set status = 'deactivated', deactivated_at = now() where user_id = ?`, [userId]),
      )
    const results = await Promise.allSettled([leave(one), leave(two)])
    expect(results.map((result) => result.status).toSorted()).to.deep.equal(['fulfilled', 'rejected'])
    const demote = inTenant(tenantId, (trx) =>
      sql(trx, `update membership set role = 'manager' where role = 'owner' and status = 'active'`),
    )
    const refused = await demote.catch((error: unknown) => error)
    expect(refused).to.include({ constraint: 'membership_last_owner' })
    const [left] = await sql<{ n: number }>(
      world.database.admin,
      `select count(*) as n from membership where tenant_id = ? and role = 'owner' and status = 'active'`,
      [tenantId],
    )
    expect(left?.n).to.equal(1)
  })

  it('writes a refusal for another tenant to the trail of the caller’s own', async () => {
    const [tenantId, other] = [await makeTenant(), await makeTenant()]
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    await world.request('GET', `/api/tenants/${other}/guests`, { token })
    const entries = await sql(
      world.database.admin,
      `select chain, subject_id from audit_entry where action = 'tenant.refused'`,
    )
    expect(entries).to.deep.equal([{ chain: tenantId, subjectId: other }])
    const foreign = await makeTenant()
    await world.request('PUT', '/api/auth/tenant-context', { token, body: { tenantId: foreign } })
    const chosen = await sql(
      world.database.admin,
      `select chain from audit_entry where action = 'tenant.refused' and subject_id = ?`,
      [foreign],
    )
    expect(chosen).to.deep.equal([{ chain: tenantId }])
  })
})
