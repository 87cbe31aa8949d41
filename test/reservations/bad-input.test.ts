import { expect } from 'chai'
import type { Knex } from 'knex'
import { randomUUID } from 'node:crypto'
import type { AnyRoute } from '../../api/lib/route.ts'
import { routes } from '../../api/routes.ts'
import { subjectFacts } from '../../config/subjects.ts'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed, Reply } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { bodiesOf, makeRecords } from './bad-input-records.ts'
import type { Ids } from './bad-input-records.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { watchWrites } from '../support/writes.ts'
import type { Writes } from '../support/writes.ts'

type Json = {
  format?: string
  type?: string
  items?: Json
  anyOf?: Json[]
  properties?: Record<string, Json>
}

const moduleOf = ({ access }: AnyRoute) => ('subject' in access ? subjectFacts(access.subject).module : '')
const mutating = routes.filter(
  (route) => route.method !== 'GET' && ['guests', 'reservations'].includes(moduleOf(route)),
)
const schemaOf = ({ body }: AnyRoute) => JSON.parse(JSON.stringify(body ?? {})) as Json

/** The places of ids in a body. */
const placesOf = (schema: Json, at: string[] = []): string[] => {
  if (schema.format?.startsWith('uuid')) return [at.join('.')]
  if (schema.anyOf) return schema.anyOf.flatMap((one) => placesOf(one, at))
  if (schema.type === 'array' && schema.items) return placesOf(schema.items, [...at, '0'])
  return Object.entries(schema.properties ?? {}).flatMap(([key, inside]) => placesOf(inside, [...at, key]))
}

const put = (body: unknown, place: string, value: string): object => {
  const copy = structuredClone(body) as object
  const keys = place.split('.')
  const last = keys.pop() ?? ''
  const holder = keys.reduce<Parsed>((inside, key) => inside[key], copy)
  holder[last] = value
  return copy
}

/** Codes that an id which is not there is refused by. */
const refusals = new Set([
  'not_found',
  'reference_not_found',
  'extra_unavailable',
  'unit_not_in_property',
  'quote_invalid',
  'rooming_list_invalid',
  'validation_failed',
])

/** True while a session of this database waits for a lock. */
const waits = async (admin: Knex): Promise<boolean> =>
  (
    await sql(
      admin,
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`,
    )
  ).length > 0

/** The places of ids that a body fills. */
const heldIn = (route: AnyRoute, body: object): string[] =>
  placesOf(schemaOf(route)).filter(
    (place) => place.split('.').reduce<Parsed>((inside, key) => inside?.[key], body) !== undefined,
  )

/** Kinds of records that belong to the tenant: another house of it has the same. */
const ofTenant = /guestId|customerId|companyId|agencyId|documentId|ratePlanIds/i
/** The name of the record that a place holds. */
const recordAt = (place: string): string => {
  const name = place.split('.').findLast((part) => !/^\d+$/.test(part)) ?? ''
  const plain: Record<string, string> = {
    bookerGuestId: 'guestId',
    payerGuestId: 'guestId',
    mergedGuestId: 'guestId',
    payerCompanyId: 'companyId',
    responsibleId: 'mainGuestId',
    authorisationDocumentId: 'documentId',
    toFolioId: 'folioId',
    invoice: 'folioId',
  }
  return plain[name] ?? name.replace(/Ids$/, 'Id')
}

describe('Requests to guests and the front desk that name what is not theirs', function () {
  this.timeout(60_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let writes: Writes
  let own: Ids
  let elsewhere: Ids
  let strange: Ids
  let bodies: Record<string, object>
  before(async () => {
    house = await makeHouse({ units: 8, deposit: null })
    const other = await makeHouse({ tenantId: house.tenantId, units: 4, deposit: null })
    const stranger = await makeHouse({ units: 4, deposit: null })
    owner = await openDesk(world, house, 'owner')
    own = await makeRecords(house)
    elsewhere = await makeRecords(other)
    strange = await makeRecords(stranger)
    bodies = bodiesOf(house, own)
    writes = await watchWrites(world.database.admin)
  })
  beforeEach(() => forgetLimits(world))

  let sent = 0
  /** Sends a request to a record of the house, or of another one. */
  const send = async (
    route: AnyRoute,
    body: object,
    { of = own, version }: { of?: Ids; version?: number } = {},
  ): Promise<Reply> => {
    sent += 1
    if (sent % 60 === 0) await forgetLimits(world)
    const path = route.path
      .replace('/api/tenants/:tenantId/', '')
      .replace(/:([A-Za-z]+)/g, (_, name: string) => segment(route, name, of))
    return owner.send(route.method, path, body, {
      idempotencyKey: randomUUID(),
      ...(version === undefined ? {} : { headers: { 'if-match': `"${version}"` } }),
    })
  }
  /** Of a record that the command may reach. */
  const segment = ({ id }: AnyRoute, name: string, of: Ids): string => {
    if (name === 'side') return 'front'
    if (id === 'guests.unmerge') return of.mergedGuestId ?? ''
    const isInHouse = name === 'reservationId' && ['reservations.move', 'reservations.checkOut'].includes(id)
    return (isInHouse ? of.inHouseId : of[name]) ?? randomUUID()
  }
  const routeOf = (name: string) => mutating.find(({ id }) => id === name.split(' ')[0]) ?? expect.fail(`no ${name}`)
  const changed = async () => (await writes.written()).filter((table) => table !== 'session')

  it('are known with all ids that they may hold', () => {
    for (const route of mutating) {
      const named = Object.entries(bodies).filter(([name]) => name.split(' ')[0] === route.id)
      const held = new Set(named.flatMap(([, body]) => heldIn(route, body)))
      expect(
        placesOf(schemaOf(route)).filter((place) => !held.has(place)),
        route.id,
      ).to.deep.equal([])
    }
  })

  it('are refused as for an id that nobody has, naming it, and change nothing', async () => {
    await changed()
    const wrong: string[] = []
    for (const [name, body] of Object.entries(bodies)) {
      const route = routeOf(name)
      for (const place of heldIn(route, body)) {
        const record = recordAt(place)
        const answers = new Set<string>()
        const others = [
          randomUUID(),
          strange[record] ?? randomUUID(),
          ...(ofTenant.test(place) || name === 'guestBlocks.create' ? [] : [elsewhere[record] ?? randomUUID()]),
        ]
        for (const { status, body: reply } of await Promise.all(
          others.map((id) => send(route, put(body, place, id))),
        )) {
          const fields = ((reply.errors ?? []) as { field: string }[]).map(({ field }) => field)
          const key = place.split('.').findLast((part) => !/^\d+$/.test(part)) ?? ''
          const isNamed =
            status === 404 ||
            key === 'propertyId' ||
            reply.code === 'extra_unavailable' ||
            fields.some((field) => field.includes(key))
          const answer = `${status} ${reply.code} ${fields.join()}`
          if (!refusals.has(reply.code as string) || !isNamed) wrong.push(`${name} ${place}: ${answer}`)
          answers.add(answer)
        }
        const written = await changed()
        if (written.length > 0) wrong.push(`${name} ${place} wrote ${written.join()}`)
        // A house that is named in place of another has not the other records of the request.
        if (answers.size > 1 && place !== 'propertyId') wrong.push(`${name} ${place}: ${[...answers].join(' or ')}`)
      }
    }
    expect(wrong).to.deep.equal([])
  })

  it('are refused where they name an erased guest, and mean the survivor where they name a merged one', async () => {
    const make = async (lastName: string) => {
      const { status, body } = await owner.send('POST', 'guests', { firstName: 'Eva', lastName })
      expect(status, JSON.stringify(body)).to.equal(201)
      return body.id as string
    }
    const [erased, merged] = [await make('Gone'), await make('Twice')]
    await house.inHouse((trx) =>
      sql(
        trx,
        `update guest set status = 'erased', erased_at = now(), sealed = null, email_index = null, phone_index = null, phone_tail_index = null,
           birth_index = null, name_index = null where id = ?`,
        [erased],
      ),
    )
    const merging = await owner.send('POST', `guests/${own.otherGuestId}/merge`, {
      mergedGuestId: merged,
      reason: 'One person',
    })
    expect(merging.status, JSON.stringify(merging.body)).to.equal(200)
    await changed()
    const wrong: string[] = []
    for (const [name, body] of Object.entries(bodies)) {
      const route = routeOf(name)
      for (const place of heldIn(route, body).filter((one) => recordAt(one) === 'guestId')) {
        const { status, body: refusal } = await send(route, put(body, place, erased))
        const told = [refusal.code, ...((refusal.errors ?? []) as { message: string }[]).map((one) => one.message)]
        if (status < 400 || !JSON.stringify(told).includes('erased'))
          wrong.push(`${name} ${place} erased: ${status} ${refusal.code}`)
        if ((await changed()).length > 0) wrong.push(`${name} ${place} erased wrote`)
        if (name === 'guests.merge') continue
        const reply = await send(route, put(body, place, merged))
        if (['reference_not_found', 'not_found', 'guest_merged'].includes(reply.body.code as string))
          wrong.push(`${name} ${place} merged: ${reply.status} ${reply.body.code}`)
        if (reply.status < 400 && JSON.stringify(reply.body).includes(merged)) wrong.push(`${name} ${place} keeps it`)
        await changed()
      }
    }
    for (const route of mutating.filter(({ path, id }) => path.includes('/guests/:guestId') && id !== 'guests.unmerge'))
      for (const [guestId, code] of [
        [erased, 'guest_erased'],
        [merged, 'guest_merged'],
      ]) {
        const body = bodies[route.id] ?? (route.example as object | undefined) ?? {}
        const { status, body: reply } = await send(route, body, { of: { ...own, guestId: guestId ?? '' } })
        const written = await changed()
        if (![code, 'not_found', 'guest_in_use'].includes(reply.code as string) || written.length > 0)
          wrong.push(`${route.id} of one with ${code}: ${status} ${reply.code} wrote ${written.join()}`)
      }
    expect(wrong).to.deep.equal([])
  })

  const versioned = mutating.filter((route) => route.record)
  const rowOf = ({ record, id }: AnyRoute) => ({
    table: record?.table ?? '',
    id: segment({ id } as AnyRoute, record?.param ?? '', own),
  })
  const versionOf = async (route: AnyRoute): Promise<number | undefined> => {
    const { table, id } = rowOf(route)
    const [row] = await sql<{ version: number }>(world.database.admin, `select version from ?? where id = ?`, [
      table,
      id,
    ])
    return row?.version
  }
  const bodyOf = (route: AnyRoute) => bodies[route.id] ?? (route.example as object | undefined) ?? {}

  it('change nothing at a version that is not the present one', async () => {
    const wrong: string[] = []
    for (const route of versioned) {
      if ((await versionOf(route)) === undefined) continue
      await changed()
      const { status, body } = await send(route, bodyOf(route), { version: 4_000 })
      const written = await changed()
      if (status !== 409 || body.code !== 'version_conflict' || written.length > 0)
        wrong.push(`${route.id}: ${status} ${body.code} wrote ${written.join()}`)
    }
    expect(wrong).to.deep.equal([])
  })

  it('are overtaken by another desk that changes the record at the same time', async () => {
    const wrong: string[] = []
    const tried = new Set<string>()
    for (const route of versioned) {
      const version = await versionOf(route)
      if (version === undefined) continue
      tried.add(rowOf(route).table)
      const { table, id } = rowOf(route)
      let answer: Promise<Reply> | undefined
      let answered = false
      await house.inHouse(async (trx) => {
        await sql(trx, `update ?? set version = version + 1 where id = ?`, [table, id])
        answer = send(route, bodyOf(route), { version }).finally(() => (answered = true))
        await until(async () => answered || (await waits(world.database.admin)), {
          what: `the lock of ${route.id}`,
        })
      })
      const reply = await answer
      // A proposal says for itself that its stay is another by now.
      if (reply?.status !== 409 || !['version_conflict', 'amendment_stale'].includes(reply.body.code as string))
        wrong.push(`${route.id}: ${reply?.status} ${reply?.body.code} ${JSON.stringify(reply?.body.errors ?? [])}`)
    }
    expect(wrong).to.deep.equal([])
    expect(tried).to.include.all.keys(...new Set(versioned.map(({ record }) => record?.table ?? '')))
  })
})
