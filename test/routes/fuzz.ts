import { expect } from 'chai'
import fc from 'fast-check'
import { request as send } from 'node:http'
import { pathSchema } from '../../api/lib/input.ts'
import type { AnyRoute } from '../../api/lib/route.ts'
import { mintGuestToken } from '../../api/public/guest-booking.ts'
import { routes } from '../../api/routes.ts'
import { subjectFacts } from '../../config/subjects.ts'
import { signToken } from '../../config/tokens.ts'
import { sql } from '../../db/lib/connection.ts'
import { signSandbox } from '../../db/payment/signatures.ts'
import { forgetLimits, makeKey, makeSuperuser, makeUser, signIn } from '../auth/support.ts'
import { checkContract } from '../support/contract.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { findUntold, tellsTenant } from '../support/untold.ts'
import type { Untold } from '../support/untold.ts'
import { watchWrites } from '../support/writes.ts'
import type { Writes } from '../support/writes.ts'
import { prepare } from './examples.ts'
import { brokenBodies, headersOf, spoiltCredentials } from './garbage.ts'
import { nearlyOf, queryOf, seldom, segmentOf } from './inputs.ts'
import type { Json, Known } from './inputs.ts'

/** Inputs are equal in every run, unless another seed is given. */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121)
const runs = Number(process.env.FUZZ_RUNS ?? 30)
/** Each of these, done, needs another session or another booking, or takes its time: fewer of them. */
const costly: Record<string, number> = {
  'auth.signOut': 10,
  'auth.revokeAll': 10,
  'auth.signIn': 25,
  'auth.reauthenticate': 25,
  'auth.changePassword': 15,
  'auth.removeTotp': 10,
  // One that is right waits five seconds for a gateway, which says nothing here.
  'payments.sync': 8,
}

/** Of the session that asked, or of its token. */
const endsSession = new Set(['auth.signOut', 'auth.revokeAll', 'auth.changePassword', 'auth.removeTotp'])
/** Fields that hang on one another: few inputs are right. */
const seldomRight: Record<string, number> = {
  'cashAccounts.create': 120,
  'cashTransfers.create': 120,
  'bankStatements.create': 120,
  'pixCharges.create': 120,
  'cashAccounts.setPix': 120,
  'bankStatementLines.match': 240,
  'payables.create': 120,
  'customers.create': 120,
  'receivables.create': 120,
  'receivables.fromFolios': 120,
  'receivables.issue': 60,
  'receivables.void': 60,
  'receivables.writeOff': 60,
  'receivables.reinstate': 60,
  'folios.invoice': 60,
  'payableAttachments.create': 120,
  'payablePayments.create': 120,
  'fiscalDocuments.create': 120,
  'purchaseOrders.create': 120,
  'supplierCredits.create': 120,
  'supplierCredits.refund': 120,
  'payments.record': 120,
  'receipts.create': 120,
  'receipts.refund': 120,
  'reports.trialBalance': 200,
  'reports.incomeStatement': 300,
  'reports.generalLedger': 80,
  'reports.hotelLedgers': 200,
  'reports.dailyRevenue': 80,
  'reports.housekeeping': 120,
  'reports.inventoryCost': 120,
  'reports.financialOverview': 120,
  'reports.occupancy': 200,
  'reports.pace': 300,
  'reports.forecast': 80,
  'reports.production': 200,
  'reportRuns.create': 80,
  'reportSchedules.create': 120,
  'reportSchedules.update': 100,
  'reportRuns.read': 80,
  'taxAssessments.create': 120,
  'entryTemplates.create': 120,
  'accrualSchedules.create': 120,
  'budgets.create': 100,
  'messageTemplates.create': 100,
  'automations.create': 100,
  'messages.create': 100,
  'messages.retry': 60,
  'conversations.reply': 100,
  'campaigns.create': 100,
  'campaigns.launch': 60,
  'superuser.plans.createVersion': 200,
  'reservations.proposeAmendment': 300,
  'books.create': 100,
  'chartOfAccounts.create': 100,
  'taxCodes.create': 100,
  'postingEvents.dismiss': 60,
  'exchangeRates.set': 100,
  'postingRules.create': 100,
  'ledgerEntries.post': 60,
  'ledgerEntries.list': 150,
  'ledgerLines.list': 150,
  'billing.paymentMethod': 60,
  'taxRules.create': 60,
  'gatewayAccounts.create': 100,
  'paymentMethods.create': 100,
  'groups.create': 150,
  'inventoryMovements.create': 100,
  'inventoryMovements.reverse': 60,
  'inventoryCounts.create': 80,
  'inventoryConsumptions.create': 100,
  'recipes.create': 100,
  'recipes.update': 60,
  'outlets.replace': 100,
  'prices.replace': 100,
  'posOrders.create': 120,
  'posOrders.update': 80,
  'posOrders.close': 60,
  'posOrders.cancel': 60,
  'inventoryCounts.approve': 60,
  'inventoryCounts.cancel': 60,
  'inventoryItems.update': 60,
  'issues.close': 60,
  'issues.compensate': 60,
  'payments.create': 100,
  'payments.createLink': 100,
  'payments.allocate': 100,
  'payments.refund': 100,
  'waitlist.create': 100,
  'quotes.create': 100,
  'reservations.setDeposits': 80,
  'reservations.waiveDeposit': 80,
  'nightAudits.run': 100,
  'queues.pause': 60,
  'availability.explain': 60,
  'availability.search': 60,
  'ageCategories.replace': 60,
  'channelConnections.create': 100,
  'unitTypes.create': 100,
  'unitBlocks.create': 100,
  'unitAssignments.swap': 100,
  'unitAssignments.repack': 60,
  'folios.create': 60,
  'folios.charge': 60,
  'folios.adjust': 100,
  'folios.transfer': 100,
  'bookings.create': 100,
  'bookings.addReservation': 150,
  'bookings.extendHold': 60,
  'bookings.cancel': 60,
  'reservations.addExtra': 120,
  'reservations.move': 60,
  'reservations.revertCheckIn': 60,
  'reservations.revertCheckOut': 60,
  'reservations.reinstate': 60,
  'reservations.checkIn': 60,
  'reservations.checkOut': 60,
  'reservations.cancel': 60,
}

const allowed = new Set([200, 201, 400, 401, 403, 404, 409, 422, 429])
/** Tables to which a refused request, or a read, may write: attempts, their authors, and counts taken when they are asked for. */
const countsTries = new Set([
  'audit_entry',
  'session',
  'one_time_token',
  'app_user',
  'guest_access_code',
  'sign_in_failure',
  'known_network',
  'user_mail',
  'recovery_code',
  'queue_total',
  'queue_minute',
])

/** Endpoints whose input is never at hand here: a mailed code, a session of one's own by its prefix, the file of a run that no worker carries out. */
const neverDone = [
  // No account of the tests can send a Pix.
  'cashTransfers.approve',
  'payablePayments.approve',
  // Each caller of the tests changes the order before, and is one of its editors then.
  'purchaseOrders.approve',
  'auth.verifyMfa',
  'auth.revokeSession',
  'auth.confirmTotp',
  'auth.renewRecoveryCodes',
  'reportRuns.file',
  'messages.callback',
  'pixCharges.callback',
  'public.reservations.confirm',
  'public.reservations.verify',
  'public.issues.satisfaction',
  'public.unsubscribe.show',
  'public.unsubscribe.end',
]

type Headers = Record<string, string>
type Sent = { path: string; headers: Headers; body: string | Buffer | null; credential: number | null }
type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: unknown }

const json = (schema: unknown) => (schema === undefined ? undefined : (JSON.parse(JSON.stringify(schema)) as Json))
const methodsWithBody = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** The module of an endpoint: that of its subject; without one, of the kind of caller. */
export const moduleOf = ({ id, access }: AnyRoute): string => {
  if ('subject' in access) return subjectFacts(access.subject).module
  if (access.kind === 'callback') return 'payment'
  return id.startsWith('public.') ? 'public' : 'auth'
}

/** Sends inputs that are nearly right to every endpoint of these modules. A file of its own for each lets the two runs of the suite share them. */
export const fuzzOf = (...modules: string[]) =>
  describe(`every endpoint of ${modules.join(', ')}, with inputs that are nearly right`, () => {
    const fuzzed = routes.filter((route) => modules.includes(moduleOf(route)))
    const world = useWorld()
    let house: House
    /** Records that are there, as the module of an endpoint names them. */
    let knownOf: (route: AnyRoute) => Known
    /** Examples that work, where a schema alone seldom produces one. */
    let examples: Record<string, unknown[]>
    let writes: Writes
    let untold: Untold
    let sent = 0
    const answered = new Map<string, Set<number>>()

    const tokens: Record<string, string> = {}
    const sessions = {
      tenant: async () => (await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))).token,
      session: async () => (await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))).token,
      superuser: async () => (await signIn(world, await makeSuperuser('N1'))).token,
      open: async () => (await signIn(world, await makeUser())).token,
      guest: async () => {
        const bookingId = await makeHold(house, { from: 30 + (sent % 300) })
        return (await mintGuestToken(house.tenantId, bookingId, 3_600)).guestToken
      },
      payer: async () => (await mintGuestToken(house.tenantId, await makeHold(house, { from: 26 }), 3_600)).guestToken,
      registration: async () => {
        const [form] = await sql<{ id: string; tenantId: string; from: Date }>(
          world.database.admin,
          `select id, tenant_id, link_valid_from as "from" from guest_registration
           where tenant_id = ? and link_valid_from is not null and link_sent_at is null`,
          [house.tenantId],
        )
        return signToken('registration', { tenant: form?.tenantId, registration: form?.id }, 86_400, form?.from)
      },
      key: async () => (await makeKey(house.tenantId, ['read', 'write', 'guests:reveal'])).key,
    }
    const held = async (kind: keyof typeof sessions): Promise<string> => {
      const token = tokens[kind] ?? (await sessions[kind]())
      tokens[kind] = token
      return token
    }

    /** Headers that pass the checks made before the input is looked at. */
    const credentials = async (route: AnyRoute, body: string | Buffer | null): Promise<Headers> => {
      switch (route.access.kind) {
        case 'tenant':
          return sent % 3 === 0
            ? { 'x-api-key': await held('key') }
            : { authorization: `Bearer ${await held('tenant')}` }
        case 'session':
          return { authorization: `Bearer ${await held('session')}` }
        case 'superuser':
          return { authorization: `Bearer ${await held('superuser')}` }
        case 'guest':
          return { 'x-guest-token': await held(route.id === 'public.paymentStatus' ? 'payer' : 'guest') }
        case 'registration':
          return { 'x-registration-token': await held('registration') }
        case 'property':
          return sent % 3 === 0 ? { 'x-api-key': await held('key'), 'x-client-ip': `203.0.${sent % 250}.7` } : {}
        case 'callback':
          return { 'sandbox-signature': signSandbox(Buffer.from(body ?? ''), new Date()) }
        default:
          return route.security === 'bearer' ? { authorization: `Bearer ${await held('open')}` } : {}
      }
    }

    /** Tables that were written since the last call, of all that a refused request leaves alone. */
    const changed = async () => (await writes.written()).filter((name) => !countsTries.has(name))

    const call = ({ path, headers, body }: Sent, method: string): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const request = send(`${world.baseUrl}`, {
          path,
          method,
          agent: false,
          // Each from another client, so that limits per client are not what answers.
          localAddress: `127.${1 + (sent % 200)}.${Math.floor(sent / 200) % 200}.9`,
          headers: {
            ...(body === null
              ? {}
              : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
            ...headers,
          },
        })
        request.on('error', reject)
        request.on('response', (response) => {
          const parts: Buffer[] = []
          response.on('data', (part: Buffer) => parts.push(part))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(parts).toString('utf8')
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) as unknown })
          })
        })
        request.end(body ?? undefined)
      })

    before(async function () {
      this.timeout(120_000)
      house = await makeHouse({
        units: 60,
        suite: true,
        taxes: true,
        settings: { portal: { returnHosts: ['portal.example'] } },
      })
      const given = await prepare(world, house, { key: await held('key'), payer: await held('payer') })
      knownOf = (route) => ({ ...given.known, ...given.ofModule[moduleOf(route)] })
      examples = given.examples
      writes = await watchWrites(world.database.admin)
      untold = findUntold(world.database.admin)
    })

    /** A session that was ended by what was asked of it is replaced. */
    const afterwards = (route: AnyRoute, { body }: Answer) => {
      if (route.id === 'auth.refresh') tokens.open = (body as { token: string }).token
      if (endsSession.has(route.id)) delete tokens.session
      if (route.id === 'public.reservations.cancel') delete tokens.guest
    }

    const inputsOf = (route: AnyRoute): fc.Arbitrary<Sent> => {
      const known = knownOf(route)
      const segments = json(pathSchema(route))?.properties ?? {}
      const params = Object.fromEntries(
        Object.entries(segments).map(([name, schema]) => [
          name,
          segmentOf(schema, { ...known, [name]: known[`${route.id} ${name}`] ?? known[name] } as Known, name),
        ]),
      )
      const callback = {
        type: 'object',
        properties: Object.fromEntries(
          ['id', 'type', 'account', 'object', 'ref', 'ourId'].map((name) => [name, { type: 'string' }]),
        ),
      }
      const schema =
        route.access.kind === 'callback' ? callback : (json(route.body) ?? { type: 'object', properties: {} })
      const body = methodsWithBody.has(route.method)
        ? fc.oneof(
            {
              weight: 12,
              arbitrary: nearlyOf(schema, known, methodsWithBody.has(route.method) ? examples[route.id] : []).map(
                (value) => JSON.stringify(value) ?? '',
              ),
            },
            { weight: 2, arbitrary: fc.constantFrom(...brokenBodies) },
            { weight: 1, arbitrary: fc.constant(null) },
          )
        : fc.constant(null)
      return fc
        .record({
          params: fc.record(params),
          query: queryOf(json(route.query), known, route.method === 'GET' ? examples[route.id] : []),
          headers: headersOf,
          body,
          credential: seldom(10, fc.nat()),
        })
        .map(({ params: filled, query, headers, body: content, credential }) => ({
          path: route.path.replace(/:([A-Za-z]+)/g, (_, name: string) => filled[name] ?? '') + query,
          headers,
          body: content,
          credential,
        }))
    }

    const check = async (route: AnyRoute, given: Sent) => {
      sent += 1
      // A link takes ten requests a minute.
      if (sent % (route.access.kind === 'registration' ? 8 : 40) === 0) await forgetLimits(world)
      const own = await credentials(route, given.body)
      const spoilt = spoiltCredentials((route.access.kind === 'tenant' && tokens.tenant) || 'v4.public.none')
      const credential = given.credential === null ? own : (spoilt[given.credential % spoilt.length] ?? own)
      await writes.written()
      // Where a key is needed, most requests have one.
      const key = route.idempotency === 'required' && sent % 8 > 0 ? { 'idempotency-key': `fuzz-${sent}` } : {}
      const answer = await call({ ...given, headers: { ...key, ...given.headers, ...credential } }, route.method)
      const what = `${route.method} ${given.path.slice(0, 400)} ${JSON.stringify({ ...given.headers, ...credential }).slice(0, 600)} ${String(given.body).slice(0, 600)} -> ${answer.status} ${JSON.stringify(answer.body).slice(0, 400)}`
      expect(allowed.has(answer.status), what).to.equal(true)
      // A message that the parser refused is no request yet, so it has no contract.
      if ((answer.body as { code?: string }).code !== 'request_invalid') checkContract(route.method, given.path, answer)
      answered.set(route.id, (answered.get(route.id) ?? new Set()).add(answer.status))
      if (answer.status < 300) afterwards(route, answer)
      const wrote = await changed()
      if (answer.status >= 300 || route.method === 'GET') expect(wrote, what).to.deep.equal([])
      else if (tellsTenant.has(route.access.kind)) await untold.look(route.id, answer, wrote)
    }

    for (const route of fuzzed)
      it(`${route.id}: answers with a status of the specification, and what is refused changes nothing`, async function () {
        this.timeout(240_000)
        for (const kind of Object.keys(sessions) as (keyof typeof sessions)[]) await held(kind)
        await fc.assert(
          fc.asyncProperty(inputsOf(route), (given) => check(route, given)),
          // The first failure is shown as it came: what follows it would meet another state.
          { seed, numRuns: costly[route.id] ?? seldomRight[route.id] ?? runs, endOnFailure: true, verbose: 1 },
        )
      })

    it('has met what is right and what is wrong, at every endpoint', () => {
      const done = (id: string) => [200, 201].some((status) => answered.get(id)?.has(status))
      const blind = fuzzed.filter(({ id }) => !answered.get(id)?.has(400) || !done(id)).map(({ id }) => id)
      expect(blind).to.have.members(neverDone.filter((id) => fuzzed.some((route) => route.id === id)))
    })

    it('has told in an event of each record that a request changed, but for those that are listed', () => {
      expect(untold.wrong()).to.deep.equal([])
    })

    it('leaves every object as it was', () => {
      expect(({} as { polluted?: number }).polluted).to.equal(undefined)
      expect(Object.keys(Object.prototype)).to.deep.equal([])
    })
  })
