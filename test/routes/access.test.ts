import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { routes } from '../../api/routes.ts'
import type { AnyRoute } from '../../api/lib/route.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { createRateChange } from '../../db/properties/rates/rate-changes.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { createGroup } from '../../db/reservations/group/create.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { createCompany, createGuests, registerRequest } from '../../db/guests/index.ts'
import { proposeAmendment } from '../../db/reservations/amendments.ts'
import { createQuote } from '../../db/reservations/quotes.ts'
import { insertTasks } from '../../db/units/housekeeping-tasks/create.ts'
import { forgetLimits, makeUser } from '../auth/support.ts'
import { makeConnection } from '../channels/support.ts'
import { messageRecords } from '../ocp/records.ts'
import { makeDelivery } from '../webhooks/support.ts'
import { makeHouse, post, raiseMany } from '../financial/support.ts'
import { makeHouse as makeRooms } from '../support/factories.ts'
import { makeHold, readBooking } from '../support/stay.ts'
import { ofInventory } from './examples-of-inventory.ts'
import { ofFiscal } from './examples-of-fiscal.ts'
import { ofPayables } from './examples-of-payables.ts'
import { ofReceipts } from './examples-of-receipts.ts'
import { ofReceivables } from './examples-of-receivables.ts'
import { ofCash } from './examples-of-cash.ts'
import { ofIssues } from './examples-of-issues.ts'
import { ofLedger } from './examples-of-ledger.ts'
import { ofReports } from './examples-of-reports.ts'
import { ofPayments } from './examples-of-payments.ts'
import { useWorld } from '../support/world.ts'
import { invoicesOf } from './examples-of-billing.ts'

const fill = (route: AnyRoute, known: Record<string, string>) =>
  route.path.replace(
    /:([A-Za-z]+)/g,
    (_, name: string) =>
      known[name] ??
      (name === 'key'
        ? 'pos'
        : name === 'tokenPrefix'
          ? 'ZZZZZZZZZZZZ'
          : name === 'provider'
            ? 'sandbox'
            : randomUUID()),
  )

const of = (...kinds: string[]) => routes.filter((route) => kinds.includes(route.access.kind))
const sendable = (route: AnyRoute) => (route.method === 'GET' ? {} : { body: {} })

describe('every endpoint, called', () => {
  const world = useWorld()
  let demo: Awaited<ReturnType<typeof seedDemo>>
  const tokens = new Map<string, string>()

  const signIn = async (email: string) => {
    const known = tokens.get(email)
    if (known) return known
    const { status, body } = await world.request('POST', '/api/auth/sign-in/email', {
      body: { email, password: 'pousada-demo-2026' },
    })
    expect(status, email).to.equal(200)
    tokens.set(email, body.token as string)
    return body.token as string
  }

  before(async function () {
    this.timeout(120_000)
    demo = await seedDemo()
  })

  // The limit of a session is real here too: what this suite sends in one minute would pass it.
  beforeEach(() => forgetLimits(world))

  it('asks for a credential where one is needed, and says so alike for good and bad addresses', async () => {
    for (const route of of('tenant', 'session', 'superuser')) {
      await forgetLimits(world)
      const path = fill(route, { tenantId: demo.sol.tenantId })
      const none = await world.request(route.method, path, sendable(route))
      expect(none.status, `${route.id} without credential`).to.equal(401)
      const bad = await world.request(route.method, path, { ...sendable(route), token: 'v4.public.bm8' })
      expect(bad.status, `${route.id} with a bad token`).to.equal(401)
    }
  })

  it('refuses a credential that stands twice, or in two forms', async () => {
    const token = await signIn('owner@sol.example')
    for (const route of of('tenant', 'session', 'superuser')) {
      const both = await world.request(route.method, fill(route, { tenantId: demo.sol.tenantId }), {
        ...sendable(route),
        token,
        key: 'pou_test_x',
      })
      expect([both.status, both.body.code], route.id).to.deep.equal([400, 'ambiguous_credentials'])
    }
  })

  it('keeps tenants apart: another tenant and an unknown one are the same 403', async () => {
    const token = await signIn('owner@sol.example')
    for (const route of of('tenant')) {
      await forgetLimits(world)
      const other = await world.request(route.method, fill(route, { tenantId: demo.lua.tenantId }), {
        ...sendable(route),
        token,
      })
      const unknown = await world.request(route.method, fill(route, { tenantId: randomUUID() }), {
        ...sendable(route),
        token,
      })
      expect([other.status, other.body.code], route.id).to.deep.equal([403, 'tenant_not_active'])
      expect({ ...unknown.body, requestId: '' }, route.id).to.deep.equal({ ...other.body, requestId: '' })
    }
  })

  it('is not for tenants’ users where it is for superusers, and not for N2 where it is for N1', async () => {
    for (const email of ['owner@sol.example', 'n2@pousada.example']) {
      const token = await signIn(email)
      for (const route of of('superuser').filter(
        (candidate) => email.startsWith('owner') || (candidate.access as { level: string }).level === 'N1',
      )) {
        for (const prefix of ['', '/api']) {
          const { status, body } = await world.request(route.method, prefix + fill(route, { id: demo.sol.tenantId }), {
            ...sendable(route),
            token,
          })
          expect(status, `${route.id} as ${email}`).to.equal(403)
          expect(body.error).to.equal('ForbiddenException')
        }
      }
    }
  })

  it('does not exist while its feature is off, for the owner and for good and bad bodies alike', async () => {
    for (const route of of('tenant')) {
      await forgetLimits(world)
      const { features } = await featureOf(route)
      if (!features) continue
      const isOpen = route.access.kind === 'tenant' && route.access.withoutFeature === true
      const { rows: grants } = await world.database.admin.raw<{ rows: { id: string }[] }>(
        `update entitlement_grant set ended_at = now(), ended_by = null, end_cause = 'expired' where tenant_id = ? and key = ? and ended_at is null returning id`,
        [demo.sol.tenantId, features],
      )
      const token = await signIn('owner@sol.example')
      const { status, body } = await world.request(route.method, fill(route, { tenantId: demo.sol.tenantId }), {
        ...(route.method === 'GET' ? {} : { body: { junk: 1 } }),
        token,
      })
      await world.database.admin.raw(
        `update entitlement_grant set ended_at = null, ended_by = null, end_cause = null where id = any(?)`,
        [grants.map(({ id }) => id)],
      )
      // Records that a tenant has can be read and ended after its feature is off.
      if (isOpen) {
        expect(body.code, route.id).not.to.equal('feature_not_enabled')
        continue
      }
      expect([status, body.code, body.errors], route.id).to.deep.equal([
        403,
        'feature_not_enabled',
        [{ field: 'feature', message: features }],
      ])
    }
  })

  it('refuses query parameters and body fields that it does not know, naming them', async () => {
    const token = await signIn('owner@sol.example')
    const admin = await signIn('n1@pousada.example')
    for (const route of routes.filter(
      (candidate) =>
        !['callback', 'guest', 'registration'].includes(candidate.access.kind) && candidate.id !== 'auth.refresh',
    )) {
      await forgetLimits(world)
      const path = fill(route, { tenantId: demo.sol.tenantId, id: demo.sol.tenantId, propertyId: demo.sol.propertyId })
      const credential =
        route.access.kind === 'superuser'
          ? { token: admin }
          : ['tenant', 'session'].includes(route.access.kind)
            ? { token }
            : {}
      const query = await world.request(route.method, `${path}?surprise=1`, { ...sendable(route), ...credential })
      // The subject of a public write stands in its body, so without a body its property is not found first.
      if (route.access.kind === 'property' && route.method === 'POST')
        expect(query.status, `${route.id} query`).to.be.oneOf([400, 404, 422])
      else
        expect(
          [query.status, query.body.errors?.some((e: { field: string }) => e.field === 'surprise')],
          `${route.id} query`,
        ).to.deep.equal([400, true])
      if (!route.body || route.access.kind === 'property') continue
      const body = await world.request(route.method, path, { ...credential, body: { surprise: 1 } })
      expect(
        [body.status, body.body.errors?.some((e: { field: string }) => e.field === 'surprise')],
        `${route.id} body`,
      ).to.deep.equal([400, true])
    }
  })

  it('answers an unknown record, or one of another tenant, as if it did not exist', async () => {
    const token = await signIn('owner@sol.example')
    const foreign = await foreignRecords()
    for (const route of of('tenant').filter((candidate) => candidate.method === 'GET')) {
      const named = [...route.path.matchAll(/:([A-Za-z]+Id)/g)].map(([, name]) => name ?? '')
      const records = named.filter((name) => name !== 'tenantId')
      if (records.length === 0) continue
      await forgetLimits(world)
      expect(foreign, `${route.id}: make one of another tenant in foreignRecords()`).to.include.keys(records)
      const answers = []
      for (const known of [{}, foreign]) {
        const path = fill(route, { ...known, tenantId: demo.sol.tenantId })
        const { status, body } = await world.request('GET', path, { token })
        answers.push({ status, ...body, requestId: '' })
      }
      expect(answers[0]?.status, route.id).to.equal(404)
      expect(answers[1], route.id).to.deep.equal(answers[0])
    }
    for (const route of of('property').filter((candidate) => candidate.path.includes(':propertyId'))) {
      const { status, body } = await world.request('GET', fill(route, {}))
      expect([status, body.code], route.id).to.deep.equal([404, 'property_not_found'])
    }
  })

  it('takes only the guest’s own token on the guest’s endpoints', async () => {
    const session = await signIn('owner@sol.example')
    for (const route of of('guest')) {
      const path = fill(route, {})
      const none = await world.request(route.method, path, sendable(route))
      expect([none.status, none.body.code], route.id).to.deep.equal([401, 'guest_token_missing'])
      const forged = await world.request(route.method, path, { ...sendable(route), guest: session })
      expect([forged.status, forged.body.code], route.id).to.deep.equal([401, 'guest_token_invalid'])
    }
  })

  it('takes only the link of a registration form on its endpoints', async () => {
    const session = await signIn('owner@sol.example')
    for (const route of of('registration')) {
      const path = fill(route, {})
      const none = await world.request(route.method, path, sendable(route))
      expect([none.status, none.body.code], route.id).to.deep.equal([401, 'registration_token_missing'])
      const headers = { 'x-registration-token': session }
      const forged = await world.request(route.method, path, { ...sendable(route), headers })
      expect([forged.status, forged.body.code], route.id).to.deep.equal([401, 'registration_token_invalid'])
    }
  })

  it('is a 405 with another method, a 404 with a trailing slash or other letters, and never a 500', async () => {
    for (const route of routes) {
      const path = fill(route, { tenantId: demo.sol.tenantId, propertyId: demo.sol.propertyId })
      for (const [method, address] of [
        ['TRACE', path],
        [route.method, `${path}/`],
        [route.method, path.toUpperCase()],
      ] as const) {
        const { status } = await world.request(method, address)
        expect(status, `${method} ${address}`).to.equal(method === 'TRACE' ? 405 : 404)
      }
    }
  })

  it('reads with HEAD as with GET, without a body', async () => {
    const { status, body } = await world.request('HEAD', `/api/public/property/${demo.sol.propertyId}/config`)
    expect([status, body]).to.deep.equal([200, ''])
  })
})

/** Records of another tenant that are really there, by the name that paths have for them. */
const foreignRecords = async (): Promise<Record<string, string>> => {
  const stranger = await makeHouse()
  await raiseMany(stranger, 1)
  await post(stranger)
  const [entry] = await inTenant(stranger.tenantId, (trx) => sql<{ id: string }>(trx, `select id from journal_entry`))
  if (!entry) throw new Error('nothing was posted')
  const house = await makeRooms()
  const [policy] = await house.inHouse((trx) => sql<{ id: string }>(trx, `select id from policy`))
  const [audit] = await house.inHouse((trx) =>
    sql<{ id: string }>(trx, `insert into night_audit (property_id, business_date) values (?, ?) returning id`, [
      house.propertyId,
      house.today,
    ]),
  )
  const block = await house.inHouse((trx) =>
    createBlock(trx, {
      propertyId: house.propertyId,
      unitIds: house.unitIds.slice(0, 1),
      kind: 'out_of_service',
      reason: 'other',
      from: house.day(10),
      to: house.day(11),
    }),
  )
  const [task] = await house.inHouse((trx) =>
    insertTasks(trx, [{ unitId: house.unitIds[0] ?? '', date: house.today, kind: 'other' }], false),
  )
  const folioId = await house.inHouse((trx) => openFolio(trx, { propertyId: house.propertyId, kind: 'house' }))
  const groupId = await house.inHouse((trx) =>
    createGroup(trx, {
      propertyId: house.propertyId,
      code: 'THEIRS',
      name: 'Theirs',
      arrival: house.day(40),
      departure: house.day(41),
      ratePlanId: house.ratePlanId,
    }),
  )
  const bookingId = await makeHold(house)
  const { rooms } = await readBooking(house, bookingId)
  const room = {
    unitTypeId: house.unitTypeId,
    ratePlanId: house.ratePlanId,
    arrival: house.day(60),
    departure: house.day(62),
    adults: 2,
    childrenAges: [],
    extras: [],
  }
  const quoteId = await house.inHouse((trx) => createQuote(trx, { propertyId: house.propertyId, rooms: [room] }))
  const guests = await house.inHouse(async (trx) => {
    const [guestId = ''] = await createGuests(trx, [{ firstName: 'Ana', source: 'staff' }])
    return {
      guestId,
      companyId: await createCompany(trx, { kind: 'company', legalName: 'Theirs Ltda' }),
      privacyRequestId: await registerRequest(trx, { guestId, kind: 'access', channel: 'email' }),
    }
  })
  return {
    ...(await ofPayments(house)).records,
    ...(await ofLedger(house)).records,
    ...(await ofReports(house)).records,
    ...(await ofInventory(house)).records,
    ...(await ofCash(house)).records,
    ...(await ofIssues(house)).records,
    ...(await ofPayables(house)).records,
    ...(await ofFiscal(house)).records,
    ...(await ofReceipts(house)).records,
    ...(await ofReceivables(house)).records,
    ...guests,
    guestRegistrationId: guests.guestId,
    amendmentId: await house.inHouse((trx) => proposeAmendment(trx, rooms[0]?.id ?? '', { departure: house.day(63) })),
    quoteId,
    folioId,
    groupId,
    bookingId,
    reservationId: rooms[0]?.id ?? '',
    ...(await makeDelivery(house)),
    ...(await messageRecords(house)),
    invoiceId: (await invoicesOf(house.tenantId, 1))[0] ?? '',
    ledgerEntryId: entry.id,
    propertyId: house.propertyId,
    policyId: policy?.id ?? '',
    housekeepingTaskId: task?.id ?? '',
    nightAuditId: audit?.id ?? '',
    unitTypeId: house.unitTypeId,
    unitId: house.unitIds[0] ?? '',
    unitBlockId: block.id,
    channelConnectionId: await makeConnection(house, { name: 'foreign', secret: 'x'.repeat(20) }),
    ratePlanId: house.ratePlanId,
    rateChangeId: await house.inHouse((trx) =>
      createRateChange(trx, {
        propertyId: house.propertyId,
        items: [{ from: house.day(1), to: house.day(1), ratePlanIds: [house.ratePlanId], amount: 1 }],
      }),
    ),
    apiKeyId: (await house.inHouse((trx) => createApiKey(trx, { name: 'Foreign', scopes: ['read'] }))).apiKeyId,
    userId: (await makeUser({ [house.tenantId]: 'manager' })).userId,
  }
}

const featureOf = async (route: AnyRoute) => {
  const { subjects } = await import('../../config/subjects.ts')
  const { subject } = route.access as { subject: string }
  const { feature } = (subjects as Record<string, { feature: string | null }>)[subject] ?? { feature: null }
  return { features: feature }
}
