import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { guestAccessCode } from '../../config/derived-secrets.ts'
import { settings } from '../../config/env.ts'
import { addDays } from '../../config/time.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { addSandboxAccount } from '../../db/payment/index.ts'
import { forgetLimits, makeKey, makeTenant } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed, Reply } from '../support/client.ts'
import { stranger } from '../support/stay.ts'
import { until } from '../support/until.ts'
import type { World } from '../support/world.ts'

type Body = Parsed

const fee = (type: string, value = 0, of = 'total') => ({ type, value, of })
const oneNight = fee('nights', 1, 'room')
const cancellation = (tiers: [number, object][], after: object, earlyDeparture: object) => ({
  tiers: tiers.map(([hoursBeforeArrival, one]) => ({ hoursBeforeArrival, fee: one })),
  after,
  graceHoursAfterBooking: 0,
  earlyDeparture,
})
const both = (text: string) => ({ 'pt-BR': text, en: text })

/** Rules that a receptionist may set aside at the door. */
export const atTheDoor = { rules: ['early_check_in', 'unit_condition'], reason: 'The guest waits' }

/** The body of a reply that has the status it should have. */
export const done = ({ status, body }: Reply, expected = 200): Body => {
  expect(status, JSON.stringify(body)).to.equal(expected)
  return body
}

/** Status and code of a refusal, and the fields that it names. */
export const refused = ({ status, body }: Reply) => ({
  status,
  code: body.code,
  fields: ((body.errors ?? []) as { field: string }[]).map(({ field }) => field.replace('blockers.', '')).sort(),
})

/** Members and a key of one tenant, for houses that are made over HTTP. */
export const openTenant = async (world: World) => {
  const tenantId = await makeTenant()
  const inHouse = <T>(work: Parameters<typeof inTenant<T>>[1]) => inTenant(tenantId, work)
  const { key } = await makeKey(tenantId, ['read', 'write'])
  const [book] = await inHouse((trx) => sql<{ id: string }>(trx, `select id from book where is_default`))
  const gatewayAccountId = await inHouse((trx) =>
    addSandboxAccount(trx, { bookId: book?.id ?? '', country: 'BR', currency: 'BRL' }),
  )
  const desk = (role: string) => openDesk(world, { tenantId, inHouse }, role)
  const [owner, manager, reception] = [await desk('owner'), await desk('manager'), await desk('receptionist')]
  const byKey = (method: string, path: string, body?: object) =>
    world.request(method, `/api/tenants/${tenantId}/${path}`, { key, ...(body ? { body } : {}) })
  return { world, tenantId, key, gatewayAccountId, inHouse, owner, manager, reception, byKey }
}
export type Tenant = Awaited<ReturnType<typeof openTenant>>

const types = (propertyId: string) =>
  [
    ['STD', 2, 3, 2, 4, ['101', '102', '103', '104']],
    ['SUP', 2, 2, 1, 3, ['201', '202']],
  ].map(([code, baseOccupancy, maxAdults, maxChildren, maxOccupancy, names]) => ({
    type: {
      propertyId,
      code,
      name: both(String(code)),
      kind: 'private',
      baseOccupancy,
      maxAdults,
      maxChildren,
      maxOccupancy,
    },
    names,
  }))

/** The inn of the stories, made with a key as an integrator makes it, and on sale. `D` is its business date. */
export const openInn = async (tenant: Tenant) => {
  const { world, byKey, gatewayAccountId } = tenant
  await forgetLimits(world)
  const make = async (path: string, body: object): Promise<string> => done(await byKey('POST', path, body), 201).id
  const code = randomUUID().slice(0, 8)
  const propertyId = await make('properties', {
    code: code.toUpperCase(),
    slug: `inn-${code}`,
    name: `Inn ${code}`,
    description: both('An inn'),
    kind: 'inn',
    timezone: 'America/Sao_Paulo',
    currency: 'BRL',
    locales: ['pt-BR', 'en'],
    checkInFrom: '14:00',
    checkOutUntil: '12:00',
    legalName: 'Inn Ltda',
    legalDocument: '11222333000181',
    address: {
      line1: 'Rua do Sol, 1',
      city: 'Paraty',
      region: 'RJ',
      postalCode: '23970-000',
      countryCode: 'BR',
    },
  })
  const terms = both('The terms of the house')
  done(
    await byKey('PATCH', `properties/${propertyId}/settings`, {
      portal: { enabled: true, terms, holdShare: 10_000 },
      nightAudit: { automatic: false },
      frontDesk: { noShowFrom: '00:00' },
    }),
  )
  const ids: Record<string, string> = {}
  const units: Record<string, string> = {}
  for (const { type, names } of types(propertyId)) {
    const unitTypeId = await make('unit-types', type)
    ids[String(type.code)] = unitTypeId
    const made = done(
      await byKey('POST', 'units/bulk', { propertyId, unitTypeId, names, condition: 'inspected' }),
      201,
    ) as { data?: { id: string; name: string }[] }
    for (const { id, name } of made.data ?? []) units[name] = id
  }
  const tax = { propertyId, appliesTo: 'both', validFrom: '2020-01-01' }
  await make('tax-rules', {
    ...tax,
    code: 'ISS',
    name: both('ISS'),
    kind: 'tax',
    basis: 'percent',
    rate: 500,
    included: true,
  })
  await make('tax-rules', {
    ...tax,
    code: 'TUR',
    name: both('TUR'),
    kind: 'fee',
    basis: 'per_person_per_night',
    amount: 300,
    appliesTo: 'room',
  })
  const policy = async (name: string, kind: string, rules: object) => {
    ids[name] = await make('policies', { propertyId, code: name, name, kind, rules })
  }
  await policy('FREE48', 'cancellation', cancellation([[48, fee('none')]], fee('nights', 1), oneNight))
  await policy(
    'HALF',
    'cancellation',
    cancellation(
      [
        [168, fee('none')],
        [48, fee('percent', 5000)],
      ],
      fee('full'),
      oneNight,
    ),
  )
  await policy('NONE', 'cancellation', cancellation([], fee('none'), fee('none')))
  await policy('NS1', 'no_show', { fee: fee('nights', 1), releaseRemaining: true })
  await policy('DEP30', 'deposit', {
    installments: [{ due: 'booking', type: 'percent', value: 3000 }],
    graceHours: 24,
    ifUnpaid: 'warn',
  })
  const extra = async (name: string, more: object) => {
    ids[name] = await make('extras', { propertyId, code: name, name: both(name), ...more })
  }
  await extra('BRK', { amount: 2500, basis: 'per_person_per_night', category: 'meal', revenueGroup: 'food' })
  await extra('PARK', { amount: 2000, basis: 'per_night', category: 'parking', revenueGroup: 'parking' })
  const plan = async (name: string, terms: string, [std, sup]: [number, number], more: object) => {
    ids[name] = await make('rate-plans', {
      propertyId,
      code: name,
      name: both(name),
      cancellationPolicyId: ids[terms],
      noShowPolicyId: ids['NS1'],
      unitTypes: [
        { unitTypeId: ids['STD'], standardAmount: std },
        { unitTypeId: ids['SUP'], standardAmount: sup },
      ],
      ...more,
    })
  }
  await plan('FLEX', 'FREE48', [20_000, 30_000], {})
  await plan('DEP', 'HALF', [20_000, 30_000], { depositPolicyId: ids['DEP30'] })
  await plan('CORP', 'NONE', [18_000, 27_000], { visibility: 'private', marketSegment: 'group' })
  done(
    await byKey('PUT', `properties/${propertyId}/payment-methods`, {
      paymentMethods: [{ method: 'card', offeredTo: 'both', gatewayAccountId }],
    }),
  )
  const { businessDate } = done(await byKey('POST', `properties/${propertyId}/go-live`))
  return innOf(tenant, { propertyId, ids, units, D: businessDate as string })
}

type Made = { propertyId: string; ids: Record<string, string>; units: Record<string, string>; D: string }
export type Inn = ReturnType<typeof innOf>

/** Commands and reads of an inn over HTTP. */
const innOf = (tenant: Tenant, made: Made) => {
  const { world, byKey, key, reception } = tenant
  const { propertyId, ids, units, D } = made
  const id = (name: string) => ids[name] ?? units[name] ?? expect.fail(`no ${name}`)
  const day = (ahead: number) => addDays(D, ahead)
  const room = (type: string, plan: string, [from, to]: [number, number], more: object = {}) => ({
    unitTypeId: id(type),
    ratePlanId: id(plan),
    arrival: day(from),
    departure: day(to),
    adults: 2,
    childrenAges: [],
    ...more,
  })
  const book = async (rooms: object[], more: object = {}, desk: Desk = reception, expected = 201): Promise<Body> =>
    done(
      await desk.send('POST', 'bookings', {
        propertyId,
        source: 'phone',
        booker: { firstName: 'Rui', lastName: 'Alves', email: stranger().email },
        rooms,
        ...more,
      }),
      expected,
    )
  /** Runs the workers until nothing is due. */
  const work = async () => {
    await world.drain({ starts: 2_000 })
    await forgetLimits(world)
  }
  const stay = async (reservationId: string) => done(await byKey('GET', `reservations/${reservationId}`))
  const act = (desk: Desk, reservationId: string, command: string, body: object = {}) =>
    desk.send('POST', `reservations/${reservationId}/${command}`, body)
  const unit = async (name: string) =>
    (
      done(await byKey('GET', `housekeeping/board?propertyId=${propertyId}&date=${D}`)).data as {
        unit: { name: string }
        occupancy: string
        condition: string
        task: { kind: string; status: string } | null
      }[]
    ).find((one) => one.unit.name === name)
  /** Counters of a type on a night. */
  const night = async (type: string, ahead: number) => {
    const address = `availability?propertyId=${propertyId}&from=${day(ahead)}&to=${day(ahead)}&unitTypeId=${id(type)}`
    const { sold, held, allotted, blocked, free } = done(await byKey('GET', address)).nights[0].unitTypes[0]
    return { sold, held, allotted, blocked, free } as Record<string, number>
  }
  const audit = async (date: string) => {
    const { id: auditId } = done(await byKey('POST', 'night-audits', { propertyId, businessDate: date }), 201)
    return until(
      async () => {
        await work()
        const found = done(await byKey('GET', `night-audits/${auditId}`))
        return (found.status === 'succeeded' || found.status === 'failed') && found
      },
      { withinMs: 30_000, what: 'the end of the night audit' },
    )
  }
  /** Closes the open day; answers the codes of its exceptions. */
  const roll = async (): Promise<string[]> => {
    const { businessDate } = done(await byKey('GET', `front-desk/summary?propertyId=${propertyId}`))
    const { status, exceptions } = await audit(businessDate)
    expect(status).to.equal('succeeded')
    // Whether an override was needed hangs on the hour of the day.
    return (exceptions as { code: string }[]).map(({ code }) => code).filter((code) => code !== 'override')
  }

  const publicly = (method: string, path: string, body?: object, guest?: string) =>
    world.request(method, `/api/public/${path}`, {
      ...(guest ? { guest } : { key }),
      ...(body ? { body } : {}),
      headers: { 'x-client-ip': stranger().address.split('/')[0] ?? '' },
    })
  /** A guest holds a room at the portal. */
  const holdRoom = async (
    email: string,
    type: string,
    plan: string,
    [from, to]: [number, number],
    booker: object = {},
  ) => {
    const { arrival, departure, ...one } = room(type, plan, [from, to], { extras: [] })
    const quote = done(await publicly('POST', 'quotes', { propertyId, arrival, departure, rooms: [one] }))
    const { portal } = done(await publicly('GET', `property/${propertyId}/config`))
    const reply = await publicly('POST', 'reservations/hold', {
      quote: quote.quote,
      acceptedTerms: portal.termsVersion,
      booker: { firstName: 'Ana', lastName: 'Souza', email, phone: '+5524999990000', ...booker },
    })
    return { quote, reply }
  }
  /** A token of a booking that was made at the desk, by a code that is mailed to its booker. */
  const tokenOf = async (number: string, email: string): Promise<string> => {
    done(await publicly('POST', 'reservations/access', { propertyId, number, email }))
    const [sent] = await tenant.inHouse((trx) =>
      sql<{ id: string }>(
        trx,
        `select c.id from guest_access_code c join booking b on b.tenant_id = c.tenant_id and b.id = c.booking_id where b.number = ? and c.ended_at is null`,
        [number],
      ),
    )
    const code = guestAccessCode(sent?.id ?? '')
    return done(await publicly('POST', 'reservations/access/verify', { propertyId, number, code })).guestToken
  }
  /** Pays as a guest; answers what was paid. */
  const pay = async (token: string, amount: 'due' | 'all'): Promise<number> => {
    const asked = { method: 'card', amount, cardToken: 'success' }
    const payment = done(await publicly('POST', 'payments/create', asked, token), 201)
    await until(
      async () => {
        await work()
        return done(await publicly('GET', `payments/${payment.paymentId}/status`, undefined, token)).status === 'paid'
      },
      { withinMs: 30_000, what: 'the payment' },
    )
    await work()
    return payment.amount
  }
  /** Refunds of the tenant, once none is on its way any more. */
  const refunds = () =>
    until(
      async () => {
        await world.drain({ aheadMs: 120_000, kinds: ['payments.read-refund', 'payments.sweep', 'payments.refund'] })
        await work()
        const { data } = done(await tenant.owner.get('payments/refunds')) as {
          data: { amount: number; status: string; propertyId: string }[]
        }
        const own = data.filter((one) => one.propertyId === propertyId)
        return own.every(({ status }) => status === 'succeeded') && own.map(({ amount }) => amount)
      },
      { withinMs: 30_000, what: 'the refunds' },
    )
  const folio = async (folioId: string) => done(await byKey('GET', `folios/${folioId}`))
  const folioOf = async (reservationId: string) => {
    const { folioSummary } = await stay(reservationId)
    return folio(folioSummary.folios[0].id)
  }
  /** The books agree with the house: no posting waits, each check passes, and the counters are what the stays say. */
  const healthy = async () => {
    await work()
    for (const status of ['pending', 'failed', 'parked'])
      expect(
        done(await tenant.owner.get(`financial/posting-events?status=${status}&propertyId=${propertyId}`)).data,
      ).to.deep.equal([])
    const [entries] = await tenant.inHouse((trx) =>
      sql<{ wrong: number; entries: number }>(
        trx,
        `select count(*) filter (where debit <> credit)::int as wrong, count(*)::int as entries
         from (select sum(debit) as debit, sum(credit) as credit from journal_line group by entry_id) e`,
      ),
    )
    expect(entries).to.include({ wrong: 0 })
    expect(entries?.entries).to.be.above(0)
    const wrong = await tenant.inHouse((trx) =>
      sql(
        trx,
        `select f.number from folio f cross join lateral (select coalesce(sum(l.amount), 0) as sum from folio_line l
           where l.tenant_id = f.tenant_id and l.folio_id = f.id) x where x.sum <> f.charges - f.credits`,
      ),
    )
    expect(wrong).to.deep.equal([])
  }
  return {
    propertyId,
    D,
    id,
    day,
    room,
    book,
    work,
    stay,
    act,
    unit,
    night,
    roll,
    audit,
    publicly,
    holdRoom,
    tokenOf,
    pay,
    refunds,
    folio,
    folioOf,
    healthy,
  }
}

/** Business days of these stories are closed before their calendar day is over. */
export const useDaysAhead = () => {
  const before = { ahead: settings.businessDayAhead, second: settings.sandboxSecondMs }
  globalThis.before(() => {
    settings.businessDayAhead = true
    settings.sandboxSecondMs = 40
  })
  after(() => {
    settings.businessDayAhead = before.ahead
    settings.sandboxSecondMs = before.second
  })
}
