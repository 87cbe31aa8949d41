import { createHmac } from 'node:crypto'
import { required, settings } from '../../config/env.ts'
import { createTenant } from '../admin/index.ts'
import {
  createApiKey,
  composeKey,
  keyIdFrom,
  keyIdOf,
  hashPassword,
  addMembership,
  createUser,
  grantSuperuser,
  userByEmail,
} from '../auth/index.ts'
import { inPlatform, inTenant, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { buildBills, buyAddOns } from './bills.ts'
import { lua, password, people, sol } from './ids.ts'
import { buildLua } from './lua.ts'
import { timeZone } from './prices.ts'
import { buildSol } from './sol.ts'

export type Demo = {
  password: string
  users: { email: string; name: string; role: string; tenants: string[] }[]
  sol: typeof sol & { name: string; apiKey: string }
  lua: typeof lua & { name: string; apiKey: string }
}

const houses = [
  {
    key: 'sol' as const,
    ids: sol,
    name: 'Pousada do Sol',
    plan: 'Enterprise' as const,
    document: '11222333000181',
    build: buildSol,
    // No plan has these yet.
    bought: ['webhooks', 'channels'],
    used: { emails: 2_340, texts: 180 },
  },
  {
    key: 'lua' as const,
    ids: lua,
    name: 'Hostel da Lua',
    plan: 'Starter' as const,
    document: '11444777000161',
    build: buildLua,
    bought: ['suppliers'],
    used: { emails: 410, texts: 12 },
  },
]

/** The demo's key of a tenant: the same at every start, and another one on every installation. */
const demoKey = (tenantId: string): string => {
  const part = (what: string) =>
    createHmac('sha256', required(settings.tokenKey, 'TOKEN_KEY')).update(`demo api key|${what}|${tenantId}`).digest()
  return composeKey(keyIdFrom(part('id')), part('secret'))
}

const ensureKey = async (trx: Trx, tenantId: string): Promise<void> => {
  const key = demoKey(tenantId)
  const known = await sqlOne(trx, `select 1 as one from api_key where key_id = ?`, [keyIdOf(key)])
  if (!known) await createApiKey(trx, { name: 'Demo', scopes: ['read', 'write'], key })
}

/** Users first; each step finds what an earlier start left behind. */
const ensurePeople = async (): Promise<void> => {
  for (const { id, email, name, level } of people) {
    if (await inPlatform((trx) => userByEmail(trx, email))) continue
    const hash = await hashPassword(password)
    await inPlatform(async (trx) => {
      await createUser(trx, { id, email, name, locale: 'pt-BR', hash })
      if (level) await grantSuperuser(trx, id, level, 'demo data')
    })
  }
}

/** A tenant with all it has, in one transaction: it is there whole, or not at all. */
const ensureHouse = async ({
  key,
  ids,
  name,
  plan,
  document,
  build,
  bought,
  used,
}: (typeof houses)[number]): Promise<void> => {
  await inPlatform(async (trx) => {
    if (await sqlOne(trx, `select 1 as one from tenant where id = ?`, [ids.tenantId])) return
    const { trx: inside } = await createTenant(trx, {
      id: ids.tenantId,
      name,
      legalName: `${name} Ltda`,
      document,
      billingEmail: `owner@${key}.example`,
      country: 'BR',
      currency: 'BRL',
      timeZone,
      locale: 'pt-BR',
      plan,
    })
    await buyAddOns(inside, bought)
    for (const person of people)
      if (person.tenants.includes(key)) await addMembership(inside, { userId: person.id, role: person.role })
    await build(inside)
    await buildBills(trx, inside, ids.tenantId, used)
  })
  await inTenant(ids.tenantId, (trx) => ensureKey(trx, ids.tenantId))
}

/**
 * The demo data of a development start: two tenants, their houses, users and API keys. Running it again changes nothing. Answers
 * all that a script needs to use it.
 */
export const seedDemo = async (): Promise<Demo> => {
  if (settings.production) throw new Error('demo data is for development alone')
  await ensurePeople()
  for (const house of houses) await ensureHouse(house)
  return {
    password,
    users: people.map(({ email, name, role, tenants }) => ({ email, name, role, tenants })),
    sol: { ...sol, name: 'Pousada do Sol', apiKey: demoKey(sol.tenantId) },
    lua: { ...lua, name: 'Hostel da Lua', apiKey: demoKey(lua.tenantId) },
  }
}
