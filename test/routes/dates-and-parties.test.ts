import { expect } from 'chai'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import type { AnyRoute } from '../../api/lib/route.ts'
import { mintGuestToken } from '../../api/public/guest-booking.ts'
import { routes } from '../../api/routes.ts'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits, makeKey, makeSuperuser, makeUser, signIn } from '../auth/support.ts'
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

/** Endings of the name of the first field of a range, each with the name of its last. */
const ends: readonly (readonly [first: RegExp, last: string])[] = [
  [/^arrival$/, 'departure'],
  [/^from$/, 'to'],
  [/^from$/, 'until'],
  [/From$/, 'To'],
  [/From$/, 'Until'],
  [/^startDate$/, 'endDate'],
  [/^startsOn$/, 'endsOn'],
  [/^startsAt$/, 'endsAt'],
  [/^firstOn$/, 'endsOn'],
  [/^postingDate$/, 'reverseOn'],
]

/** A draft may hold what cannot be posted: its `warnings` say so, and its submission is refused. */
const mayHold = new Set(['entryDrafts.create', 'entryDrafts.update'])

type Range = { at: string[]; first: string; last: string; format: string }

const optionsOf = (schema: Json): Json[] => schema.anyOf?.flatMap(optionsOf) ?? [schema]
const formatOf = (schema: Json): string =>
  optionsOf(schema).find(({ format }) => format === 'day' || format === 'instant')?.format ?? ''

/** The ranges of days or instants of a schema, each with the path of what holds it. */
const rangesOf = (schema: Json, at: string[] = []): Range[] =>
  optionsOf(schema).flatMap((option) => {
    if (option.items) return rangesOf(option.items, [...at, '0'])
    const fields = option.properties ?? {}
    const own = Object.entries(fields).flatMap(([first, field]) =>
      ends.flatMap(([pattern, end]) => {
        const [last, format] = [first.replace(pattern, end), formatOf(field)]
        const isRange = pattern.test(first) && format !== '' && fields[last] && formatOf(fields[last]) === format
        return isRange ? [{ at, first, last, format }] : []
      }),
    )
    return [...own, ...Object.entries(fields).flatMap(([key, inside]) => rangesOf(inside, [...at, key]))]
  })

const json = (schema: unknown): Json => JSON.parse(JSON.stringify(schema ?? {})) as Json

/** An input whose range ends days before it begins: those that stand there, exchanged, else days of the year to come. */
const reverse = (input: object, { at, first, last, format }: Range): Parsed => {
  const copy = structuredClone(input) as Parsed
  const holder = at.reduce<Parsed>((inside, key) => (inside[key] ??= {}), copy)
  const [from, to] = [holder[first] as unknown, holder[last] as unknown]
  const hour = format === 'instant' ? 'T12:00:00.000Z' : ''
  const [later, earlier] =
    typeof from === 'string' && typeof to === 'string' && from < to
      ? [to, from]
      : [`2027-03-15${hour}`, `2027-03-12${hour}`]
  Object.assign(holder, { [first]: later, [last]: earlier })
  return copy
}

describe('an endpoint with dates or a party', () => {
  const world = useWorld()
  let house: House
  let given: Awaited<ReturnType<typeof prepare>>
  let writes: Writes
  let folioId = ''
  const tokens = { tenant: '', superuser: '', key: '' }

  before(async function () {
    this.timeout(120_000)
    house = await makeHouse({ units: 60, suite: true, taxes: true })
    tokens.key = (await makeKey(house.tenantId, ['read', 'write', 'guests:reveal'])).key
    tokens.tenant = (await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))).token
    tokens.superuser = (await signIn(world, await makeSuperuser('N1'))).token
    const payer = (await mintGuestToken(house.tenantId, await makeHold(house, { from: 26 }), 3_600)).guestToken
    given = await prepare(world, house, { key: tokens.key, payer })
    const stay = pathOf(routes.find(({ id }) => id === 'reservations.routing')!)
      .split('/')
      .at(-2)
    const [folio] = await sql<{ id: string }>(
      world.database.admin,
      `select id from folio where reservation_id = ? limit 1`,
      [stay],
    )
    folioId = folio?.id ?? ''
    writes = await watchWrites(world.database.admin)
  })

  const callerOf = ({ access }: AnyRoute) => {
    if (access.kind === 'superuser') return { token: tokens.superuser }
    return access.kind === 'property' ? { key: tokens.key } : { token: tokens.tenant }
  }

  const pathOf = (route: AnyRoute) => {
    const known = { ...given.known, ...given.ofModule[moduleOf(route)] }
    return route.path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
      const values = known[`${route.id} ${name}`] ?? known[name]
      return values ? String(fc.sample(values, { numRuns: 1, seed: 1 })[0]) : randomUUID()
    })
  }

  /** Input of an endpoint beside the range: an example that works, without what excludes the range. */
  const exampleOf = (route: AnyRoute, range: Range, place: 'query' | 'body'): object => {
    const schema = json(route[place])
    const own: Record<string, object> = {
      'entryTemplates.update': { schedule: (given.examples['entryTemplates.create']?.[0] as Parsed)?.schedule },
      'reservations.routing': { routes: [{ folioId }] },
      'webhookEndpoints.replay': {},
      'public.property.availability': {},
    }
    const examples = (given.examples[route.id] ?? []).filter((example) => typeof example === 'object') as object[]
    const known = own[route.id] ?? examples.find((example) => range.first in example) ?? examples[0] ?? {}
    return place === 'query' && 'bookId' in (schema.properties ?? {}) ? { bookId: house.bookId, ...known } : known
  }

  const queryOf = (input: Parsed) =>
    new URLSearchParams(
      Object.entries(input).flatMap(([name, value]) =>
        [value].flat().map((one) => [name, String(one)] as [string, string]),
      ),
    ).toString()

  for (const route of routes) {
    const ranges = [
      ...rangesOf(json(route.query)).map((range) => ({ range, place: 'query' as const })),
      ...rangesOf(json(route.body)).map((range) => ({ range, place: 'body' as const })),
    ].filter(() => !mayHold.has(route.id))
    if (ranges.length === 0) continue
    it(`refuses dates that end before they begin by their name, and stores nothing: ${route.id}`, async () => {
      await forgetLimits(world)
      for (const { range, place } of ranges) {
        const input = reverse(exampleOf(route, range, place), range)
        await writes.written()
        const { status, body } = await world.request(
          route.method,
          place === 'query' ? `${pathOf(route)}?${queryOf(input)}` : pathOf(route),
          { ...callerOf(route), ...(place === 'body' ? { body: input, idempotencyKey: randomUUID() } : {}) },
        )
        const what = JSON.stringify([place, input, status, body])
        expect([400, 422], what).to.include(status)
        const fields = (body.errors as { field: string }[]).map(({ field }) => field.split('.').at(-1))
        expect(
          [range.first, range.last].some((name) => fields.includes(name)),
          what,
        ).to.equal(true)
        expect(await writes.written(), what).to.deep.equal([])
      }
    })
  }

  const crowds = [
    { adults: 40, childrenAges: [] },
    { adults: 1, childrenAges: [3, 3, 3, 3, 3, 3, 3, 3] },
  ]
  /** Commands that take a party, each with what is wrong for no other reason. */
  const commands: Record<string, (example: Parsed, crowd: object) => object> = {
    'quotes.create': (example, crowd) => ({ ...example, rooms: [{ ...example.rooms[0], ...crowd }] }),
    'bookings.create': (example, crowd) => ({ ...example, rooms: [{ ...example.rooms[0], ...crowd }] }),
    'bookings.addReservation': (example, crowd) => ({ ...example, ...crowd }),
    'reservations.proposeAmendment': (_, crowd) => ({ changes: crowd }),
    'groups.roomingList': (example, crowd) => ({ rows: [{ ...example.rows[0], ...crowd }] }),
    'waitlist.create': (example, crowd) => ({ ...example, ...crowd }),
    'waitlist.update': (_, crowd) => crowd,
    'public.quotes.create': (example, crowd) => ({ ...example, rooms: [{ ...example.rooms[0], ...crowd }] }),
  }

  for (const [id, made] of Object.entries(commands))
    it(`refuses a party that fits no room, and stores nothing: ${id}`, async () => {
      await forgetLimits(world)
      const route = routes.find((one) => one.id === id)!
      for (const crowd of crowds) {
        await writes.written()
        const body = made((given.examples[id]?.at(-1) ?? {}) as Parsed, crowd)
        const reply = await world.request(route.method, pathOf(route), {
          ...callerOf(route),
          body,
          idempotencyKey: randomUUID(),
        })
        const code = id === 'groups.roomingList' ? 'rooming_list_invalid' : 'occupancy_exceeded'
        expect([reply.status, reply.body.code], JSON.stringify([body, reply.body])).to.deep.equal([422, code])
        expect(await writes.written()).to.deep.equal([])
      }
    })
})
