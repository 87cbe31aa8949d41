import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import type { AnyRoute } from '../../api/lib/route.ts'
import { routes } from '../../api/routes.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { forgetLimits, makeUser } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { numbered, placed, recordsOf } from '../support/samples.ts'
import type { Records } from '../support/samples.ts'
import { useWorld } from '../support/world.ts'

type Entry = Record<string, unknown> & { id: string; version: number }
type Schema = { format?: string; anyOf?: Schema[]; enum?: unknown[]; type?: string }

/** Filters that are not fields of the record: the value that finds it. */
const found: Record<string, (entry: Entry) => unknown> = {
  q: ({ code, name, legalName }) => code ?? name ?? legalName,
  'bookings q': ({ number }) => number,
  'bookings held': ({ hold }) => hold !== null,
  'bookings createdTo': ({ createdAt }) => String(createdAt).slice(0, 10),
  validOn: ({ validFrom }) => validFrom,
  'entryDrafts from': ({ postingDate }) => postingDate,
  'entryDrafts to': ({ postingDate }) => postingDate,
  'reportRuns from': ({ createdAt }) => String(createdAt).slice(0, 10),
  'reportRuns to': ({ createdAt }) => String(createdAt).slice(0, 10),
  arrivalFrom: ({ arrival }) => arrival,
  arrivalTo: ({ arrival }) => arrival,
  'waitlist matched': ({ matchedAt }) => matchedAt !== null,
  'ratePlans unitTypeId': ({ unitTypes }) => (unitTypes as { unitTypeId: string }[])[0]?.unitTypeId,
  'groups from': ({ arrival }) => arrival,
  'groups to': ({ departure }) => departure,
  'folios bookingId': () => null,
  'folios balance': () => 'zero',
  'inventoryItems q': ({ sku }) => sku,
  'inventoryItems low': () => null,
  'inventoryItems locationId': () => null,
  'inventoryMovements itemId': ({ lines }) => (lines as { itemId: string }[])[0]?.itemId,
  'inventoryMovements locationId': ({ lines }) => (lines as { locationId: string }[])[0]?.locationId,
  'inventoryMovements from': ({ occurredOn }) => occurredOn,
  'inventoryMovements to': ({ occurredOn }) => occurredOn,
  'inventoryConsumptions itemId': ({ lines }) => (lines as { itemId: string }[])[0]?.itemId,
  'inventoryConsumptions from': ({ businessDate }) => businessDate,
  'inventoryConsumptions to': ({ businessDate }) => businessDate,
  'recipes itemId': () => null,
  'posOrders q': ({ number }) => number,
  'issues q': ({ number }) => number,
  'issues from': ({ createdAt }) => String(createdAt).slice(0, 10),
  'issues to': ({ createdAt }) => String(createdAt).slice(0, 10),
  'issues escalated': ({ escalation }) => Number(escalation) > 0,
  'suppliers blocked': ({ paymentsBlocked }) => paymentsBlocked,
  'payables supplierId': () => null,
  'payables payeeDocument': () => null,
  'payables dueFrom': () => null,
  'payables dueTo': () => null,
  'payables issuedFrom': ({ issuedOn }) => issuedOn,
  'payables issuedTo': ({ issuedOn }) => issuedOn,
  'payables awaitingMe': () => false,
  'payables q': () => null,
  'customers overdue': () => false,
  'customers guestId': () => null,
  'receivables issuedFrom': ({ issuedOn }) => issuedOn,
  'receivables issuedTo': ({ issuedOn }) => issuedOn,
  'receivables dueFrom': () => null,
  'receivables dueTo': () => null,
  'receivables overdue': () => false,
  'receivables folioId': () => null,
  'receivables number': () => null,
  'receivables q': () => null,
  'payablePayments supplierId': () => null,
  'payablePayments installmentId': () => null,
  'payablePayments payOnFrom': ({ payOn }) => payOn,
  'payablePayments payOnTo': ({ payOn }) => payOn,
  'supplierCredits available': ({ available }) => Number(available) > 0,
  'receipts unidentified': ({ customerId }) => customerId === null,
  'receipts available': ({ available }) => Number(available) > 0,
  'receipts from': ({ receivedOn }) => receivedOn,
  'receipts to': ({ receivedOn }) => receivedOn,
  'receipts q': ({ reference }) => reference,
  'creditNotes from': ({ issuedOn }) => issuedOn,
  'creditNotes to': ({ issuedOn }) => issuedOn,
  'recurringPayables ended': ({ nextOn }) => nextOn === null,
  'purchaseOrders inventoryItemId': () => null,
  'purchaseOrders expectedFrom': () => null,
  'purchaseOrders expectedTo': () => null,
  'purchaseOrders q': () => null,
  'lostItems disposalDue': () => false,
  'lostItems from': ({ at }) => String(at).slice(0, 10),
  'lostItems to': ({ at }) => String(at).slice(0, 10),
  'messages from': ({ createdAt }) => createdAt,
  'messages to': () => '2190-01-01T00:00:00Z',
  'suppressions lifted': ({ liftedAt }) => liftedAt !== null,
  'users propertyId': ({ propertyIds }) => (propertyIds as string[])[0],
}
/** Filters that find every record from a day on: there is no day too early. */
const open = ['groups from']
/** A choice of two forms: a value that is neither is refused. */
const formed = ['suppressions address']
/** Changes and moves that a record just made, and put through the moves before, is not fit for. */
const unfit: Record<string, [status: number, code: string]> = {
  // It was approved by the move before.
  'inventoryCounts.cancel': [409, 'invalid_transition'],
  // No worker has read its file.
  'bankStatements.reconcile': [409, 'invalid_transition'],
  'bankStatements.reopen': [409, 'invalid_transition'],
  'entryDrafts.approve': [403, 'self_approval'],
  'budgets.approve': [403, 'self_approval'],
  'payables.approve': [403, 'self_approval'],
  'payablePayments.approve': [409, 'invalid_transition'],
  'purchaseOrders.approve': [403, 'self_approval'],
  'folios.invoice': [422, 'folio_not_billable'],
  // It waits for its number.
  'receivables.void': [409, 'invalid_transition'],
  'receivables.writeOff': [409, 'invalid_transition'],
  'receivables.reinstate': [409, 'invalid_transition'],
  'fiscalYears.close': [422, 'period_order'],
  'fiscalYears.reopen': [409, 'invalid_transition'],
  'properties.goLive': [422, 'not_ready'],
  'properties.suspend': [409, 'invalid_transition'],
  // An option ends within two weeks, and a deposit is due before its confirmation.
  'bookings.extendHold': [422, 'hold_too_long'],
  'bookings.confirm': [422, 'transition_blocked'],
  'channelConnections.activate': [422, 'mapping_missing'],
  'channelConnections.pause': [409, 'invalid_transition'],
  'channelConnections.sync': [409, 'invalid_transition'],
  'housekeepingTasks.inspect': [403, 'self_approval'],
  'housekeepingTasks.skip': [409, 'invalid_transition'],
  // It was cancelled by the move before.
  'messages.retry': [409, 'invalid_transition'],
  'users.change': [409, 'invalid_transition'],
  'users.resetMfa': [409, 'invalid_transition'],
}
/** Resources of the whole tenant: members of each of its houses see their records. */
const tenantWide = [
  'books',
  'costCenters',
  'entryDrafts',
  'entryTemplates',
  'fiscalYears',
  'inventoryItems',
  'recipes',
  'issueCategories',
  'journals',
  'reportRuns',
  'reportSchedules',
  'messageTemplates',
  'suppressions',
  'customers',
  'payablePayments',
  'payables',
  'receivables',
  'supplierCredits',
  'suppliers',
  'taxCodes',
  'companies',
  'roles',
  'users',
]
/** Moves that send something, and leave the record as it is. */
const sending = ['users.resendInvitation']

const endpoints = (name: string) => {
  const own = routes.filter(({ part }) => part?.resource === name)
  const as = (verb: string) => own.find(({ part }) => part?.verb === verb)
  const verbs = ['list', 'create', 'read', 'update', 'delete']
  return {
    list: as('list'),
    create: as('create'),
    read: as('read'),
    change: as('update'),
    remove: as('delete'),
    moves: own.filter(({ part }) => !verbs.includes(part?.verb ?? '')),
    ofOne: own.filter(({ part }) => part?.verb !== 'list' && part?.verb !== 'create'),
  }
}

const names = [...new Set(routes.flatMap(({ part }) => (part ? [part.resource] : [])))]
/** A guest has one open request of a kind, a source one fiscal document: tests of their own make them. */
const single = ['privacyRequests', 'fiscalDocuments']
const made = names.filter((name) => endpoints(name).create && !single.includes(name))

const query = (value: Record<string, unknown>) =>
  new URLSearchParams(Object.entries(value).map(([key, inside]): [string, string] => [key, String(inside)])).toString()

/** Values that do not find a record with this one. */
const others = ({ format, anyOf, enum: known, type }: Schema, value: unknown, filter: string): unknown[] => {
  if (format === 'uuid4' || anyOf?.some((one: Schema) => one.format === 'uuid4')) return [randomUUID()]
  if (known) return known.filter((one) => one !== value)
  if (format === 'instant') return [/from$/i.test(filter) ? '2199-12-31T00:00:00Z' : '1990-01-01T00:00:00Z']
  if (format === 'day') return [/from$/i.test(filter) ? '2199-12-31' : '1990-01-01']
  // No sign stands for other letters.
  const signs = filter === 'q' ? ['%%%', '___'] : []
  return type === 'boolean' ? [!value] : type === 'integer' ? [Number(value) + 1] : ['zzqqzz', ...signs]
}

describe('every resource', () => {
  const world = useWorld()
  let house: House
  let records: Records
  /** Members: of all houses, of another house of the tenant, and of another tenant. */
  let owner: Desk
  let neighbour: Desk
  let stranger: Desk
  let count = 0

  before(async function () {
    this.timeout(120_000)
    house = await makeHouse({ units: 12, taxes: true })
    const elsewhere = await makeHouse({ units: 1 })
    // No plan has channels: they are granted.
    for (const { tenantId } of [house, elsewhere])
      await inPlatform((trx) => grantEntitlement(trx, { tenantId, key: 'channels', reason: 'no plan has it' }))
    const { userId } = await makeUser({ [house.tenantId]: 'manager' })
    records = { ...(await recordsOf(house)), userId }
    const other = await makeHouse({ tenantId: house.tenantId, units: 1 })
    owner = await openDesk(world, house, 'owner')
    neighbour = await openDesk(world, other, 'owner', [other.propertyId])
    stranger = await openDesk(world, elsewhere, 'owner')
  })
  beforeEach(() => forgetLimits(world))

  /** With `id` for the last that the path names, which is the record. */
  const addressOf = ({ path }: AnyRoute, id?: string) => {
    const last = path.lastIndexOf(':')
    return path
      .replace(/:([A-Za-z]+)/g, (_, name: string, at: number) => (id && at === last ? id : (records[name] ?? '')))
      .replace(/^\/api\/tenants\/[^/]*\//, '')
  }
  const keyed = ({ idempotency }: AnyRoute) => (idempotency === 'required' ? { idempotencyKey: randomUUID() } : {})
  const send = (desk: Desk, route: AnyRoute, id?: string, version?: number): Promise<Reply> =>
    desk.send(route.method, addressOf(route, id), route.body ? placed(route.example ?? {}, records, house) : {}, {
      ...(version === undefined ? {} : { headers: { 'if-match': `"${version}"` } }),
      ...keyed(route),
    })
  /** With the id under `id`, also where the record has it by the name in the path. */
  const entryOf = ({ part }: AnyRoute, body: object): Entry => {
    const [one] = endpoints(part?.resource ?? '').ofOne
    const param = one?.path.split('/:')[2]?.split('/')[0] ?? 'id'
    return { id: (body as Record<string, unknown>)[param], ...body } as Entry
  }
  const create = async (route: AnyRoute | undefined): Promise<Entry> => {
    if (!route) throw new Error('nothing makes it')
    count += 1
    const { status, body } = await owner.send(
      'POST',
      addressOf(route),
      placed(numbered(route.example, count), records, house),
      keyed(route),
    )
    expect(status, `${route.id} ${JSON.stringify(body)}`).to.equal(201)
    return entryOf(route, body)
  }
  const listed = async (route: AnyRoute, filter: Record<string, unknown>, desk = owner): Promise<Entry[]> => {
    const { status, body } = await desk.get(`${addressOf(route)}?${query({ limit: 100, ...filter })}`)
    expect(status, `${route.id} ${query(filter)} ${JSON.stringify(body)}`).to.equal(200)
    return (body.data as object[]).map((entry) => entryOf(route, entry))
  }
  const idsOf = (entries: Entry[]) => entries.map(({ id }) => id)
  /** The record as it stands: read, or found in its list with the filters that are the record's own. */
  const standing = async (name: string, { id, status, propertyId }: Entry, filter: object = {}) => {
    const { list, read } = endpoints(name)
    if (read) return entryOf(read, (await owner.get(addressOf(read, id))).body as object)
    const own = { ...(status === undefined ? {} : { status }), ...filter }
    const filters = Object.keys(propertiesOf(list))
    const known = Object.fromEntries(
      Object.entries({ propertyId, ...own }).filter(([field]) => filters.includes(field)),
    )
    return (await listed(list as AnyRoute, known)).find((entry) => entry.id === id)
  }
  const propertiesOf = (route: AnyRoute | undefined) => {
    const schema: { properties?: Record<string, Schema> } = route?.query ?? {}
    return schema.properties ?? {}
  }

  for (const name of made) {
    const { list, create: making, read, change, remove, moves, ofOne } = endpoints(name)

    describe(name, () => {
      it('is read as it was made, and listed', async () => {
        // A token is sealed anew for each reply, and the desk is told of notes and warnings once.
        const { token: _, alerts: _a, warnings: _w, ...entry } = await create(making)
        expect(await standing(name, entry)).to.deep.include(read ? entry : { id: entry.id, version: entry.version })
      })

      if (list)
        it('is found by each filter, and not by another value of it', async () => {
          const entry = await create(making)
          for (const [filter, schema] of Object.entries(propertiesOf(list))) {
            // The first day of a range finds what is later, too.
            if (['page', 'limit', 'sort', 'createdFrom'].includes(filter)) continue
            const special = found[`${name} ${filter}`] ?? found[filter]
            const value = special ? special(entry) : entry[filter]
            expect(value, `${list.id}: say in \`found\` which ${filter} finds a record`).not.to.equal(undefined)
            if (value !== null) expect(idsOf(await listed(list, { [filter]: value })), filter).to.include(entry.id)
            for (const other of [...open, ...formed].includes(`${name} ${filter}`) ? [] : others(schema, value, filter))
              expect(idsOf(await listed(list, { [filter]: other })), `${filter}=${String(other)}`).not.to.include(
                entry.id,
              )
          }
        })

      if (list?.part?.sorts)
        it('is sorted by each field, up and down', async () => {
          await create(making)
          await create(making)
          let told = 0
          for (const field of list.part?.sorts ?? []) {
            const values = async (sort: string) => (await listed(list, { sort })).map((entry) => entry[field])
            const up = await values(field)
            expect(await values(`-${field}`), field).to.deep.equal(up.toReversed())
            told += up.at(0) === up.at(-1) ? 0 : 1
          }
          expect(told, 'fields by which two records differ').to.be.greaterThan(0)
          expect((await owner.get(`${addressOf(list)}?sort=nothing`)).status).to.equal(400)
        })

      if (change)
        it('changes by who has read it as it stands', async () => {
          const entry = await create(making)
          const stale = await send(owner, change, entry.id, entry.version + 1)
          expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
          expect((await standing(name, entry))?.version).to.equal(entry.version)
          const { status, body } = await send(owner, change, entry.id, entry.version)
          const refused = unfit[change.id]
          if (refused) expect([status, body.code], JSON.stringify(body)).to.deep.equal(refused)
          else {
            expect(status, JSON.stringify(body)).to.equal(200)
            expect(body).to.deep.include(placed(change.example, records, house))
            expect(body.version).to.be.greaterThan(entry.version)
          }
          expect((await standing(name, entry))?.version).to.equal(refused ? entry.version : body.version)
        })

      for (const [at, move] of moves.entries())
        it(`${move.part?.verb}: moves once, from the version that was read`, async () => {
          let entry = await create(making)
          for (const earlier of moves.slice(0, at)) {
            const { status, body } = await send(owner, earlier, entry.id)
            if (status === 200) entry = entryOf(earlier, body as object)
          }
          const stale = await send(owner, move, entry.id, entry.version + 1)
          expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
          const { status, body } = await send(owner, move, entry.id, entry.version)
          const refused = unfit[move.id]
          if (refused) expect([status, body.code], JSON.stringify(body)).to.deep.equal(refused)
          else {
            expect(status, JSON.stringify(body)).to.equal(200)
            if (sending.includes(move.id)) expect(body.version).to.equal(entry.version)
            else expect(body.version).to.be.greaterThan(entry.version)
            entry = entryOf(move, body as object)
          }
          expect((await standing(name, entry))?.version).to.equal(entry.version)
          const again = await send(owner, move, entry.id)
          expect(again.status, JSON.stringify(again.body)).to.be.oneOf(refused ? [refused[0]] : [200, 409])
          expect((await standing(name, entry))?.version).to.equal(entry.version)
        })

      if (remove)
        it('is gone when it is deleted, by who has read it as it stands', async () => {
          const entry = await create(making)
          const stale = await send(owner, remove, entry.id, entry.version + 1)
          expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
          const { status, body } = await send(owner, remove, entry.id, entry.version)
          expect([status, entryOf(remove, body as object).id]).to.deep.equal([200, entry.id])
          expect((await send(owner, remove, entry.id)).status).to.equal(404)
          if (list) expect(idsOf(await listed(list, {}))).not.to.include(entry.id)
        })

      it('is not there for members of another house, or of another tenant', async () => {
        const entry = await create(making)
        const outsiders = tenantWide.includes(name) ? { stranger } : { neighbour, stranger }
        for (const [who, desk] of Object.entries(outsiders)) {
          for (const route of ofOne)
            expect((await send(desk, route, entry.id)).status, `${route.id} by a ${who}`).to.equal(404)
          const { status } = await desk.get(`${addressOf(list as AnyRoute)}?limit=100`)
          if (status === 200) expect(idsOf(await listed(list as AnyRoute, {}, desk)), who).not.to.include(entry.id)
          else expect(status, who).to.equal(404)
        }
        expect((await standing(name, entry))?.version).to.equal(entry.version)
      })
    })
  }
})
