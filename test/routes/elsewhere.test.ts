import { expect } from 'chai'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { mintGuestToken } from '../../api/public/guest-booking.ts'
import type { AnyRoute } from '../../api/lib/route.ts'
import { routes } from '../../api/routes.ts'
import { forgetLimits, makeKey, makeUser, signIn } from '../auth/support.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { watchWrites } from '../support/writes.ts'
import type { Writes } from '../support/writes.ts'
import { prepare } from './examples.ts'
import { moduleOf } from './fuzz.ts'
import type { Json } from './inputs.ts'
import { fill, recordsOf } from './neighbour.ts'
import type { Kept } from './neighbour.ts'

type Place = { at: string[]; id: string }

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const json = (schema: unknown): Json => JSON.parse(JSON.stringify(schema ?? {})) as Json

/** The ids that a body holds, each with its path. */
const idsIn = (value: unknown, at: string[] = []): Place[] => {
  if (typeof value === 'string') return uuid.test(value) ? [{ at, id: value }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inside]) => idsIn(inside, [...at, key]))
}

/** A body with another id at one place. */
const exchanged = (body: unknown, at: readonly string[], id: string): object => {
  const copy = structuredClone(body) as Parsed
  const holder = at.slice(0, -1).reduce<Parsed>((inside, key) => inside[key], copy)
  holder[at.at(-1) ?? ''] = id
  return copy
}

/** Requests that say yes and name in their reply what is wrong, line by line: a list that is looked at before it is taken. */
const saysWhich: Record<string, (reply: Parsed) => boolean> = {
  'groups.roomingList': ({ counts }) => counts.error > 0,
}

/** Places of a tenant's records that hold ones of any of its houses: the plans agreed with a firm are seen by all who see the firm. */
const ofAnyHouse = new Set(['companies.create ratePlanIds.0'])

/** Tables that a request which says yes writes anyway. */
const notes = new Set(['audit_entry', 'kept_reply'])

/** Requests with an example that hangs on more than one record can hold at this place of the suite. */
const unproven = new Set([
  'bookings.addReservation',
  'reservations.move',
  'outlets.replace',
  'bankStatementLines.match',
  'unitAssignments.swap',
  'guests.merge',
])

describe('a request that names a record of elsewhere', function () {
  this.timeout(240_000)
  const world = useWorld()
  let given: Awaited<ReturnType<typeof prepare>>
  let writes: Writes
  const tokens = { owner: '', clerk: '', key: '' }
  const kept = new Map<string, Kept>()
  /** Records of the other house of the tenant, and of another tenant, by table. */
  const others = { house: new Map<string, string[]>(), tenant: new Map<string, string[]>() }
  let houses: { own: House; next: House; far: House }

  before(async function () {
    this.timeout(240_000)
    const options = { units: 60, suite: true, taxes: true }
    const own = await makeHouse(options)
    const { tenantId } = own
    houses = { own, next: await makeHouse({ ...options, tenantId }), far: await makeHouse(options) }
    tokens.key = (await makeKey(tenantId, ['read', 'write', 'guests:reveal'])).key
    tokens.owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
    const payer = (await mintGuestToken(tenantId, await makeHold(own, { from: 26 }), 3_600)).guestToken
    given = await prepare(world, own, { key: tokens.key, payer })
    await fill(world.database.admin, houses.next)
    await fill(world.database.admin, houses.far)
    await forgetLimits(world)
    tokens.clerk = (await makeKey(tenantId, ['read', 'write'], { propertyIds: [own.propertyId] })).key
    for (const [id, record] of await recordsOf(world.database.admin, [tenantId, houses.far.tenantId])) {
      kept.set(id, record)
      const isNext = record.propertyId === houses.next.propertyId
      const of = record.tenantId === houses.far.tenantId ? others.tenant : isNext ? others.house : null
      of?.set(record.table, [...(of.get(record.table) ?? []), id])
    }
    writes = await watchWrites(world.database.admin)
  })

  const pathOf = (route: AnyRoute) => {
    const known = { ...given.known, ...given.ofModule[moduleOf(route)] }
    return route.path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
      const values = known[`${route.id} ${name}`] ?? known[name]
      return values ? String(fc.sample(values, { numRuns: 1, seed: 1 })[0]) : randomUUID()
    })
  }

  /** Examples of an endpoint that name records which are there: one for each set of places. */
  const examplesOf = ({ id }: AnyRoute): { body: object; places: Place[] }[] => {
    const found = new Map<string, { body: object; places: Place[] }>()
    for (const body of given.examples[id] ?? []) {
      const places = idsIn(body).filter((place) => kept.has(place.id))
      const shape = places.map(({ at }) => at.join('.')).join()
      if (places.length > 0 && !found.has(shape)) found.set(shape, { body: body as object, places })
    }
    return [...found.values()]
  }

  /** The query that an endpoint of the whole cannot do without. */
  const queryOf = ({ query }: AnyRoute): string => {
    const fields = Object.keys(json(query).properties ?? {})
    const sent = new URLSearchParams({
      ...(fields.includes('bookId') ? { bookId: houses.own.bookId } : {}),
      ...(fields.includes('from') && fields.includes('to') ? { from: houses.own.day(0), to: houses.own.day(20) } : {}),
      ...(fields.includes('limit') ? { limit: '100' } : {}),
    })
    return sent.size > 0 ? `?${sent.toString()}` : ''
  }
  const read = new Set<string>()

  const proven = new Set<string>()
  const met = new Set<string>()

  for (const route of routes.filter(({ access, method }) => access.kind === 'tenant' && method !== 'GET'))
    it(`is refused, and stores nothing: ${route.id}`, async () => {
      const path = pathOf(route)
      const send = (body: object, caller: object) =>
        world.request(route.method, path, { ...caller, body, idempotencyKey: randomUUID() })
      for (const { body, places } of examplesOf(route)) {
        met.add(route.id)
        await forgetLimits(world)
        for (const { at, id } of places) {
          const { table } = kept.get(id)!
          const some = (of: Map<string, string[]>) => (of.get(table) ?? []).slice(0, 4)
          // An owner sees both houses and may name the other one; a key of this house may not.
          const ofNext = ofAnyHouse.has(`${route.id} ${at.join('.')}`) ? [] : some(others.house)
          const foreign = [
            ...some(others.tenant).map((other) => ({ other, caller: { token: tokens.owner } })),
            ...ofNext.map((other) => ({ other, caller: { key: tokens.clerk } })),
          ]
          for (const { other, caller } of foreign) {
            await writes.written()
            const reply = await send(exchanged(body, at, other), caller)
            const what = `${at.join('.')} of ${table}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 400)}`
            const isNamed = reply.status < 300 && saysWhich[route.id]?.(reply.body) === true
            if (!isNamed) expect([400, 403, 404, 409, 422], what).to.include(reply.status)
            const written = (await writes.written()).filter((name) => !notes.has(name))
            expect(written, what).to.deep.equal([])
          }
        }
        if ((await send(body, { token: tokens.owner })).status < 300) proven.add(route.id)
      }
    })

  for (const route of routes.filter(({ access, method }) => access.kind === 'tenant' && method === 'GET'))
    it(`is shown nothing of another house: ${route.id}`, async () => {
      await forgetLimits(world)
      const { status, body } = await world.request('GET', `${pathOf(route)}${queryOf(route)}`, { key: tokens.clerk })
      if (status >= 300) return
      read.add(route.id)
      const strange = idsIn(body).filter(({ id }) => {
        const record = kept.get(id)
        return record && record.propertyId !== null && record.propertyId !== houses.own.propertyId
      })
      expect(strange.map(({ at, id }) => `${at.join('.')} of ${kept.get(id)?.table}`)).to.deep.equal([])
    })

  it('is refused where money that came back lies in another house', async () => {
    await forgetLimits(world)
    const [accounts = [], movements = []] = ['cash_account', 'cash_movement'].map((table) => others.house.get(table))
    const route = routes.find(({ id }) => id === 'payablePayments.void')!
    const refunds = [
      { cashAccountId: accounts[0], receivedOn: houses.own.today },
      ...movements.map((cashMovementId) => ({ cashMovementId })),
    ]
    expect(refunds).to.have.length.above(1)
    for (const refund of refunds) {
      const { status, body } = await world.request(route.method, pathOf(route), {
        key: tokens.clerk,
        body: { reason: 'Paid to the wrong account', refund },
        idempotencyKey: randomUUID(),
      })
      const fields = (body.errors as Parsed[]).map(({ field }) => field as string)
      expect([status, body.code, ...fields]).to.deep.equal([422, 'reference_not_found', Object.keys(refund)[0]])
    }
  })

  it('would have been taken, but for that record', () => {
    expect(met.size).to.be.above(80)
    expect(read.size).to.be.above(150)
    expect([...met].filter((id) => !proven.has(id) && !unproven.has(id))).to.deep.equal([])
  })
})
