import { expect } from 'chai'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { abilityOf, abilityOfKey } from '../../db/lib/ability.ts'
import { permitsOf } from '../../api/lib/access/permits.ts'
import { caller, meaningOf } from '../../config/conditions.ts'
import { builtInRoles, rolePermissions } from '../../config/roles.ts'
import { isSubject } from '../../config/subjects.ts'
import { always, holds, never, substituted, whereOf } from '../../db/lib/conditions.ts'
import type { Condition } from '../../db/lib/conditions.ts'
import { ApiError } from '../../config/errors.ts'
import { inTenant, sql, withoutTenant } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeKey, makeTenant, makeUser, signIn } from './support.ts'

const me = randomUUID()
const [here, there] = [randomUUID(), randomUUID()]
const somebody = randomUUID()
const as = (role: string, propertyIds: string[] | null = null) =>
  permitsOf(abilityOf(role, null, propertyIds), propertyIds, me)
const status = (work: () => void): number => {
  try {
    work()
    return 200
  } catch (error) {
    if (error instanceof ApiError) return error.status
    throw error
  }
}

describe('a condition of the table', () => {
  it('has a meaning, whichever it is, and one without is refused', () => {
    for (const role of builtInRoles)
      for (const { subject, condition } of rolePermissions[role])
        if (condition !== null && isSubject(subject))
          expect(meaningOf(subject, condition), `${subject} (${condition})`).to.have.property('kind')
    expect(() => meaningOf('Guest', 'on Sundays')).to.throw('nobody says')
  })

  it('of what is one’s own opens that, hides what may not be read, and forbids what may', () => {
    const keeper = as('housekeeper')
    const task = (assigneeId: string | null) =>
      status(() => keeper.check('perform', 'HousekeepingTask', { assigneeId }))
    expect([task(me), task(null), task(somebody)]).to.deep.equal([200, 200, 404])
    const note = (role: string, createdBy: string) => status(() => as(role).check('delete', 'GuestNote', { createdBy }))
    expect([note('relations', me), note('relations', somebody), note('manager', somebody)]).to.deep.equal([
      200, 403, 200,
    ])
    const run = (role: string, action: string, createdBy: string) =>
      status(() => as(role).check(action, 'ReportRun', { createdBy }))
    expect([
      run('finance', 'read', me),
      run('finance', 'read', somebody),
      run('finance', 'export', somebody),
    ]).to.deep.equal([200, 404, 404])
    expect([run('auditor', 'read', somebody), run('owner', 'export', somebody)]).to.deep.equal([200, 200])
    const draft = (createdBy: string) => status(() => as('manager').check('update', 'EntryDraft', { createdBy }))
    expect([draft(me), draft(somebody)]).to.deep.equal([200, 403])
  })

  it('of what is made is asked of what is to be made', () => {
    const block = (role: string, kind: string) => status(() => as(role).check('create', 'UnitBlock', { kind }))
    expect([
      block('receptionist', 'out_of_service'),
      block('receptionist', 'out_of_order'),
      block('maintenance', 'out_of_order'),
    ]).to.deep.equal([200, 403, 200])
    const warn = (level: string) => status(() => as('relations').check('create', 'GuestBlock', { level }))
    expect([warn('warn'), warn('refuse')]).to.deep.equal([200, 403])
  })

  it('adds to that of properties: both must hold', () => {
    const limited = as('relations', [here])
    const note = (propertyId: string | null, createdBy: string) =>
      status(() => limited.check('delete', 'GuestNote', { propertyId, createdBy }))
    expect([note(here, me), note(null, me), note(here, somebody), note(there, me)]).to.deep.equal([200, 200, 403, 404])
    const lines = as('finance', [here])
    const line = (propertyId: string | null) => status(() => lines.check('read', 'LedgerEntry', { propertyId }))
    expect([line(here), line(there), line(null)]).to.deep.equal([200, 404, 404])
    expect(status(() => lines.check('create', 'Company', { propertyId: there }))).to.equal(403)
  })

  it('asks for every field that it is about: a record that was loaded without one is nobody’s', () => {
    expect(() => as('relations').check('delete', 'GuestNote', {})).to.throw('createdBy was not loaded')
    expect(() => as('manager', [here]).check('read', 'Reservation', { id: me })).to.throw('propertyId was not loaded')
    expect(status(() => as('manager').check('read', 'Reservation', {}))).to.equal(200)
  })

  it('that an endpoint never asks for lets it answer nothing', () => {
    const keeper = as('housekeeper')
    expect(() => keeper.settled('perform', 'HousekeepingTask')).to.throw('were not asked for')
    keeper.scope('perform', 'HousekeepingTask')
    keeper.settled('perform', 'HousekeepingTask')
    as('manager').settled('perform', 'HousekeepingTask')
    as('receptionist').settled('read', 'User')
  })

  it('is shared by all who hold the role: nobody’s id stays in it', () => {
    const first = permitsOf(abilityOf('finance', null, null), null, me).scope('read', 'ReportRun')
    const second = permitsOf(abilityOf('finance', null, null), null, somebody).scope('read', 'ReportRun')
    expect([first.value, second.value]).to.deep.equal([me, somebody])
    expect(JSON.stringify(abilityOf('finance', null, null).condition('read', 'ReportRun'))).to.include(caller)
    expect(abilityOf('finance', null, null)).to.equal(abilityOf('finance', null, null))
  })

  it('is not of keys, and limits their properties alike', () => {
    const key = permitsOf(abilityOfKey(['reports:read'], [here]), [here], somebody)
    expect(key.scope('read', 'ReportRun')).to.deep.equal(
      abilityOf('owner', null, [here]).condition('read', 'ReportRun'),
    )
  })
})

describe('a condition as SQL', () => {
  const world = useWorld()
  beforeEach(() => forgetLimits(world))
  const columns = { propertyId: 'r.property_id', createdBy: 'r.created_by', kind: 'r.kind', none: null }

  it('throws for an operator that nobody has declared, and for a field without a column', () => {
    for (const operator of ['ne', 'gt', 'regex', 'exists', 'not', 'elemMatch', '__proto__']) {
      const condition: Condition = { operator, field: 'kind', value: 'x' }
      expect(() => whereOf(condition, columns), operator).to.throw('no operator of conditions')
      expect(() => holds(condition, { kind: 'x' }), operator).to.throw('no operator of conditions')
    }
    expect(() => whereOf({ operator: 'eq', field: 'secret', value: 1 }, columns)).to.throw('no column')
  })

  it('finds the very records for which it holds once they are loaded, over random records and conditions', async function () {
    this.timeout(120_000)
    const ids = [here, there, me, null]
    const record = fc.record({
      propertyId: fc.constantFrom(...ids),
      createdBy: fc.constantFrom(...ids),
      kind: fc.constantFrom('a', 'b', "o'b; --", null),
      none: fc.constant(null),
    })
    const leaf: fc.Arbitrary<Condition> = fc.oneof(
      fc.constantFrom('propertyId', 'createdBy').chain((field) =>
        fc.oneof(
          fc.constantFrom(...ids).map((value) => ({ operator: 'eq', field, value })),
          fc.subarray([here, there, me]).map((value) => ({ operator: 'in', field, value })),
        ),
      ),
      fc.constantFrom('a', "o'b; --", null).map((value) => ({ operator: 'eq', field: 'kind', value })),
      fc.constantFrom('a', null).map((value) => ({ operator: 'eq', field: 'none', value })),
    )
    const { tree } = fc.letrec<{ tree: Condition }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        leaf,
        fc.record({ operator: fc.constantFrom('and', 'or'), value: fc.array(tie('tree'), { maxLength: 3 }) }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, fc.array(record, { maxLength: 12 }), async (condition, records) => {
        const rows = records.map(({ propertyId, createdBy, kind }, at) => ({
          at,
          property_id: propertyId,
          created_by: createdBy,
          kind,
        }))
        const found = await withoutTenant((trx) =>
          sql<{ at: number }>(
            trx,
            `select r.at from jsonb_to_recordset(?::jsonb) as r (at int, property_id uuid, created_by uuid, kind text) where ? order by r.at`,
            [JSON.stringify(rows), whereOf(condition, columns)],
          ),
        )
        const expected = records.flatMap((one, at) => (holds(condition, one) ? [at] : []))
        expect(found.map(({ at }) => at)).to.deep.equal(expected)
      }),
      { numRuns: 150, seed: 20_261_121 },
    )
    expect([holds(always, {}), holds(never, {})]).to.deep.equal([true, false])
    expect(
      substituted({ operator: 'or', value: [{ operator: 'in', field: 'kind', value: [caller, 'a'] }] }, caller, me),
    ).to.deep.equal({ operator: 'or', value: [{ operator: 'in', field: 'kind', value: [me, 'a'] }] })
  })

  it('shows a limited member and a limited key the stays of their property alone, counted alike', async function () {
    this.timeout(120_000)
    const house = await makeHouse({ units: 4 })
    const other = await makeHouse({ tenantId: house.tenantId, units: 4 })
    await makeHold(house, { from: 20 })
    await makeHold(other, { from: 20 })
    await makeHold(other, { from: 24 })
    const member = await makeUser({ [house.tenantId]: 'receptionist' })
    await inTenant(house.tenantId, async (trx) => {
      await sql(trx, `update membership set all_properties = false where user_id = ?`, [member.userId])
      await sql(
        trx,
        `insert into membership_property (membership_id, property_id) select id, ? from membership where user_id = ?`,
        [house.propertyId, member.userId],
      )
    })
    const { key } = await makeKey(house.tenantId, ['read'], { propertyIds: [other.propertyId] })
    const { token } = await signIn(world, member)
    const path = `/api/tenants/${house.tenantId}/reservations`
    for (const [credential, propertyId, total] of [
      [{ token }, house.propertyId, 1],
      [{ key }, other.propertyId, 2],
    ] as const) {
      const { body } = await world.request('GET', path, credential)
      expect(body.meta.total).to.equal(total)
      expect(new Set(body.data.map((row: { propertyId: string }) => row.propertyId))).to.deep.equal(
        new Set([propertyId]),
      )
    }
    const foreign = propertyPath(house.tenantId, other.propertyId)
    const unknown = propertyPath(house.tenantId, randomUUID())
    const [seen, none] = [
      await world.request('GET', foreign, { token }),
      await world.request('GET', unknown, { token }),
    ]
    expect(seen.status).to.equal(404)
    expect({ ...seen.body, requestId: '' }).to.deep.equal({ ...none.body, requestId: '' })
  })

  it('keeps the fields of a record to who may see them', async () => {
    const tenantId = await makeTenant()
    const owner = await makeUser({ [tenantId]: 'owner' })
    const desk = await signIn(world, await makeUser({ [tenantId]: 'receptionist' }))
    const tenant = await world.request('GET', `/api/tenants/${tenantId}`, { token: desk.token })
    expect(Object.keys(tenant.body)).to.have.members(['id', 'name', 'features'])
    const manager = await signIn(world, await makeUser({ [tenantId]: 'manager' }))
    expect((await world.request('GET', `/api/tenants/${tenantId}`, { token: manager.token })).body).to.include.keys(
      'billingEmail',
      'settings',
    )
    const auditor = await signIn(world, await makeUser({ [tenantId]: 'auditor' }))
    const seen = await world.request('GET', `/api/tenants/${tenantId}/users/${owner.userId}`, { token: auditor.token })
    expect(seen.body.email).to.match(/^u\*\*\*@h\*\*\*\.example$/)
    const found = await world.request('GET', `/api/tenants/${tenantId}/users?q=${owner.email}`, {
      token: auditor.token,
    })
    expect(found.body.meta.total).to.equal(0)
  })
})

const propertyPath = (tenantId: string, propertyId: string) => `/api/tenants/${tenantId}/properties/${propertyId}`
