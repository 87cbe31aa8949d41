import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits, makeUser, newEmail, signIn } from './support.ts'

type Scope = 'all' | 'mine' | 'both' | 'other'
type Sent = { method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string; body?: object }

const scopes: Scope[] = ['all', 'both', 'mine', 'other']
const actors = [
  ['owner', 'all'],
  ['admin', 'all'],
  ['admin', 'both'],
  ['admin', 'mine'],
  ['manager', 'all'],
  ['manager', 'mine'],
  ['receptionist', 'mine'],
] as const

describe('what users may do to members, roles and the tenant, by role and houses', () => {
  const world = useWorld()
  let house: House
  let houses: Record<Scope, string[] | null>
  let tenant: string
  const tokens = new Map<string, string>()

  before(async () => {
    house = await makeHouse()
    const other = await makeHouse({ tenantId: house.tenantId })
    houses = {
      all: null,
      mine: [house.propertyId],
      both: [house.propertyId, other.propertyId],
      other: [other.propertyId],
    }
    tenant = `/api/tenants/${house.tenantId}`
    await makeUser({ [house.tenantId]: 'owner' })
    for (const [role, scope] of actors) {
      const person = await makeUser({ [house.tenantId]: role })
      await limit(person.userId, scope)
      tokens.set(`${role} ${scope}`, (await signIn(world, person)).token)
    }
  })
  beforeEach(() => forgetLimits(world))

  const limit = (userId: string, scope: Scope, roleId: string | null = null) =>
    house.inHouse(async (trx) => {
      await sql(
        trx,
        `delete from membership_property where membership_id in (select id from membership where user_id = ?)`,
        [userId],
      )
      await sql(
        trx,
        `update membership set all_properties = ?, role_id = coalesce(?::uuid, role_id), role = case when ?::uuid is null then role end where user_id = ?`,
        [houses[scope] === null, roleId, roleId, userId],
      )
      await sql(
        trx,
        `insert into membership_property (membership_id, property_id) select m.id, p from membership m, unnest(?::uuid[]) p where m.user_id = ?`,
        [houses[scope] ?? [], userId],
      )
    })
  const covers = (actor: Scope, target: Scope) => {
    const [own, theirs] = [houses[actor], houses[target]]
    return own === null || (theirs !== null && theirs.every((id) => own.includes(id)))
  }
  const member = async (scope: Scope, role = 'stock'): Promise<string> => {
    const { userId } = await makeUser({ [house.tenantId]: role })
    await limit(userId, scope)
    return userId
  }
  const roleHeldIn = async (scope: Scope | null): Promise<string> => {
    const id = await house.inHouse(async (trx) => {
      const [row] = await sql<{ id: string }>(
        trx,
        `insert into role (key, name, description, permissions) values (?, 'A role', '', '[{"subject": "Guest", "actions": ["read"]}]') returning id`,
        [`role-${randomUUID().slice(0, 8)}`],
      )
      return row?.id ?? ''
    })
    if (scope !== null) await limit((await makeUser({ [house.tenantId]: 'stock' })).userId, scope, id)
    return id
  }

  const ofMember: Record<string, (userId: string) => Sent> = {
    'give another role': (id) => ({ method: 'PATCH', path: `users/${id}`, body: { role: 'maintenance' } }),
    'take houses away': (id) => ({ method: 'PATCH', path: `users/${id}`, body: { propertyIds: houses.mine } }),
    deactivate: (id) => ({ method: 'POST', path: `users/${id}/deactivate` }),
    'end sessions': (id) => ({ method: 'POST', path: `users/${id}/revoke-sessions` }),
    'remove the second factor': (id) => ({ method: 'POST', path: `users/${id}/reset-mfa` }),
  }
  const ofRole: Record<string, (roleId: string) => Sent> = {
    widen: (id) => ({
      method: 'PATCH',
      path: `roles/${id}`,
      body: { permissions: [{ subject: 'Guest', actions: ['read', 'update'] }] },
    }),
    rename: (id) => ({ method: 'PATCH', path: `roles/${id}`, body: { name: 'Another name' } }),
  }

  const ask = async (role: string, scope: Scope, { method, path, body }: Sent) => {
    await forgetLimits(world)
    const token = tokens.get(`${role} ${scope}`) ?? ''
    const reply = await world.request(method, path === '' ? tenant : `${tenant}/${path}`, {
      token,
      ...(body ? { body } : {}),
    })
    return { status: reply.status, code: String(reply.body.code) }
  }
  const isAdmin = (role: string) => role === 'owner' || role === 'admin'
  const judge = (isAllowed: boolean, { status, code }: { status: number; code: string }): boolean =>
    isAllowed ? status === 200 : status === 403 && code === 'forbidden'

  it('a member: all of their houses must be the caller’s', async () => {
    const wrong: string[] = []
    for (const [role, own] of actors)
      for (const theirs of scopes)
        for (const [act, sent] of Object.entries(ofMember)) {
          const answer = await ask(role, own, sent(await member(theirs)))
          const isAllowed = isAdmin(role) && covers(own, theirs)
          if (!judge(isAllowed, answer)) wrong.push(`${role} of ${own}: ${act} of ${theirs}: ${JSON.stringify(answer)}`)
        }
    expect(wrong).to.deep.equal([])
  })

  it('an admin of all houses is no member of a house for an admin of one', async () => {
    for (const act of Object.values(ofMember)) {
      const answer = await ask('admin', 'mine', act(await member('all', 'admin')))
      expect(answer).to.deep.equal({ status: 403, code: 'forbidden' })
    }
  })

  it('a deactivated or invited member: as one who works there', async () => {
    for (const theirs of scopes) {
      const id = await member(theirs)
      await ask('owner', 'all', { method: 'POST', path: `users/${id}/deactivate` })
      const answer = await ask('admin', 'mine', { method: 'POST', path: `users/${id}/reactivate` })
      expect(judge(covers('mine', theirs), answer), `${theirs} ${JSON.stringify(answer)}`).to.equal(true)
      const invited = await world.request('POST', `${tenant}/users`, {
        token: tokens.get('owner all') ?? '',
        body: { email: newEmail('invited'), role: 'stock', propertyIds: houses[theirs] },
      })
      const again = await ask('admin', 'mine', {
        method: 'POST',
        path: `users/${invited.body.userId}/resend-invitation`,
      })
      expect(judge(covers('mine', theirs), again), `${theirs} ${JSON.stringify(again)}`).to.equal(true)
    }
  })

  it('a role of the tenant’s own: it is held in the caller’s houses alone', async () => {
    const wrong: string[] = []
    for (const [role, own] of actors)
      for (const held of [null, ...scopes])
        for (const [act, sent] of Object.entries(ofRole)) {
          const answer = await ask(role, own, sent(await roleHeldIn(held)))
          const isAllowed = isAdmin(role) && (held === null || covers(own, held))
          if (!judge(isAllowed, answer))
            wrong.push(`${role} of ${own}: ${act} held in ${held}: ${JSON.stringify(answer)}`)
        }
    expect(wrong).to.deep.equal([])
  })

  it('the tenant: its name, its billing and its settings are those of all houses', async () => {
    for (const [role, own] of actors)
      for (const body of [
        { billingEmail: 'bills@house.example' },
        { legalName: 'Another Ltda' },
        { name: 'Another' },
        { locale: 'en' },
      ]) {
        const answer = await ask(role, own, { method: 'PATCH', path: '', body })
        expect(judge(isAdmin(role) && own === 'all', answer), `${role} of ${own} ${JSON.stringify(answer)}`).to.equal(
          true,
        )
      }
  })
})
