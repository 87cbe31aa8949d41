import { expect } from 'chai'
import { bodyLimitOf } from '../../api/lib/body.ts'
import { inputReader } from '../../api/lib/input.ts'
import type { AnyRoute } from '../../api/lib/route.ts'
import { routes } from '../../api/routes.ts'
import { ApiError } from '../../config/errors.ts'
import { compile } from '../../config/validator.ts'

type Json = { [key: string]: unknown }

/** Most values that the edge lets a body hold. */
const mostValues = 50_000

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const optionsOf = (schema: unknown): Json[] =>
  isObject(schema)
    ? [schema, ...['anyOf', 'oneOf', 'allOf'].flatMap((key) => ((schema[key] ?? []) as Json[]).flatMap(optionsOf))]
    : []

/** Counts the values that the schema lets a body hold. */
const valuesIn = (schema: unknown): number =>
  Math.max(
    1,
    ...optionsOf(schema).map((option) => {
      if (option.type === 'array') return 1 + Number(option.maxItems) * valuesIn(option.items)
      if (!isObject(option.properties))
        return (
          1 +
          Number(option.maxProperties ?? 0) *
            valuesIn(Object.values((option.patternProperties as Json | undefined) ?? {})[0])
        )
      return Object.values(option.properties).reduce<number>((sum, field) => sum + valuesIn(field), 1)
    }),
  )

/** Smallest values that meet a schema in their kind, so that what is inside is looked at, and in nothing else. */
const skeleton = (schema: unknown, depth = 0): unknown => {
  const [option] = optionsOf(schema).filter(({ type }) => type !== undefined)
  if (option?.type === 'array') return []
  if (option?.type === 'object' && depth < 20)
    return Object.fromEntries(
      Object.entries((option.properties as Json | undefined) ?? {}).map(([name, inside]) => [
        name,
        skeleton(inside, depth + 1),
      ]),
    )
  return option?.type === 'string' ? '' : 0
}

/** The fields of an object, hollow, so that what is unknown stands beside known ones. */
const filled = (schema: Json): Json => skeleton(schema) as Json

type Hostile = { what: string; body: unknown; isTooLong: boolean }

const sizeOf = (value: unknown): number => JSON.stringify(value).length

/** Rounds a count down, so that bodies of about one size share what fills them. */
const rounded = (count: number): number => (count < 2_000 ? count : count - (count % 1_000))

const fieldsOf = new Map<number, Json>()

/** So many unknown fields; made once for each number. */
const fields = (count: number): Json => {
  const known = fieldsOf.get(count)
  if (known) return known
  const made = Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, 0]))
  fieldsOf.set(count, made)
  return made
}

/** Bodies of a route that are as large as its limit lets them be, each with one list, map or text that takes all the room. */
const hostiles = (route: AnyRoute): Hostile[] => {
  const limit = bodyLimitOf(route)
  const found: Hostile[] = []
  const visit = (schema: unknown, at: string, place: (inner: unknown) => unknown, depth: number) => {
    if (depth > 6) return
    const room = limit - sizeOf(place(0)) - sizeOf(skeleton(schema) ?? 0) - 20
    const fill = (items: (count: number) => unknown, bytesEach: number, most = Infinity) =>
      place(items(rounded(Math.max(0, Math.min(most, Math.floor(room / bytesEach), mostValues - 1_000)))))
    const add = (what: string, body: unknown, isTooLong = false) => {
      if (room > 0) found.push({ what: `${at || 'body'}: ${what}`, body, isTooLong })
    }
    // Words of a list and what has a format are short.
    const longest = Math.max(
      0,
      ...optionsOf(schema).map((one) => (one.type === 'string' ? Number(one.maxLength ?? 200) : 0)),
    )
    for (const option of optionsOf(schema)) {
      if (option.type === 'array') {
        for (const [what, item] of [
          ['empty objects', {}],
          ['numbers', 0],
        ] as const) {
          const list = (count: number) => Array.from({ length: count }, () => item)
          add(`${what} without end`, fill(list, sizeOf(item) + 1))
          add(`as many ${what} as it takes`, fill(list, sizeOf(item) + 1, Number(option.maxItems)))
        }
        const inside = skeleton(option.items)
        const list = (count: number) => Array.from({ length: count }, () => inside)
        add('as many hollow items as it takes', fill(list, sizeOf(inside) + 1, Number(option.maxItems)))
        visit(option.items, `${at}[]`, (inner) => place([inner]), depth + 1)
      } else if (option.type === 'object') {
        // Lists and maps inside are as many as fields: these hold fewer, for the sake of time.
        const most = at === '' ? Infinity : 5_000
        add('unknown fields without end', fill(fields, 11, most))
        add(
          'an unknown list without end',
          fill((count) => ({ ...filled(option), unknown: Array.from({ length: count }, () => 0) }), 2, most),
        )
        if (option.maxProperties) add('as many fields as it takes', fill(fields, 11, Number(option.maxProperties)))
        for (const [name, inside] of Object.entries((option.properties as Json | undefined) ?? {}))
          visit(inside, at === '' ? name : `${at}.${name}`, (inner) => place({ [name]: inner }), depth + 1)
      } else if (option.type === 'string')
        for (const part of ['a', '4 ', '\u{1F600}']) {
          const text = part.repeat(Math.max(0, Math.floor(room / Buffer.byteLength(part))))
          add(`a text of ${JSON.stringify(part)} without end`, place(text), text.length > 2 * longest)
        }
    }
  }
  visit(route.body, '', (inner) => inner, 0)
  return found
}

/** Counts every look into a value: its fields, their names, its items. All work on a body follows from such looks. */
const counted = (value: unknown): { value: unknown; steps: () => number } => {
  let steps = 0
  const known = new WeakMap<object, object>()
  const watch = (inner: unknown): unknown => {
    if (typeof inner !== 'object' || inner === null) return inner
    const proxy =
      known.get(inner) ??
      new Proxy(inner, {
        get: (target, name, self) => ((steps += 1), watch(Reflect.get(target, name, self))),
        has: (target, name) => ((steps += 1), Reflect.has(target, name)),
        // The engine lists the names at once; a loop then asks for each that it comes to.
        ownKeys: (target) => ((steps += 1), Reflect.ownKeys(target)),
        getOwnPropertyDescriptor: (target, name) => ((steps += 1), Reflect.getOwnPropertyDescriptor(target, name)),
      })
    known.set(inner, proxy)
    return proxy
  }
  return { value: watch(value), steps: () => steps }
}

/** Endpoints of strangers and guests: all but those of people and keys of a tenant, of operators, and of providers. */
const isStrangers = ({ access }: AnyRoute): boolean =>
  !['tenant', 'session', 'superuser', 'callback'].includes(access.kind)

const nothing = new URLSearchParams()

const refuse = (route: AnyRoute, body: unknown): { steps: number; errors: number } => {
  const watched = counted(body)
  try {
    inputReader(route)({}, nothing, Buffer.alloc(0), watched.value)
    return { steps: watched.steps(), errors: 0 }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { steps: watched.steps(), errors: error.errors?.length ?? 0 }
  }
}

describe('the work that a body makes before it is refused', () => {
  const taking = routes.filter((route) => route.body !== undefined && route.bodyFormat !== 'raw')

  it('follows from what the schema lets in, not from what was sent, for every endpoint', function () {
    // Files make bodies of many megabytes.
    this.timeout(600_000)
    const found: string[] = []
    let tried = 0
    for (const route of taking) {
      // Fifty problems of each list on the way, and each value of a body of proper size read a few times.
      const most = isStrangers(route) ? 2_000 : 6 * Math.min(valuesIn(route.body), mostValues) + 25_000
      for (const { what, body, isTooLong } of hostiles(route)) {
        tried += 1
        // Nothing looks into a text that is longer than any that is taken.
        if (isTooLong && compile(route.body as never).sizes(body).length === 0)
          found.push(`${route.id} ${what} is looked at in all its length`)
        const { steps, errors } = refuse(route, body)
        if (steps > most) found.push(`${route.id} ${what}: ${steps} steps, ${most} at most`)
        if (errors > 150) found.push(`${route.id} ${what}: ${errors} errors`)
      }
    }
    expect(tried).to.be.greaterThan(taking.length * 5)
    expect(found).to.deep.equal([])
  })

  it('is a few steps for a hundred kilobytes of rooms without a credential', () => {
    const quotes = taking.find(({ id }) => id === 'public.quotes.create')
    if (!quotes) throw new Error('there are quotes')
    const rooms = Array.from({ length: 24_000 }, () => ({}))
    const { steps } = refuse(quotes, {
      propertyId: 'x',
      arrival: '2027-01-01',
      departure: '2027-01-02',
      rooms,
    })
    expect(steps).to.be.at.most(100)
  })

  it('lets nobody without a sign-in or key send more than 32 kibibytes, but a quote back and a form with its signature', () => {
    const large = taking
      .filter(isStrangers)
      .filter((route) => bodyLimitOf(route) > 32 * 1024)
      .map(({ id }) => id)
    expect(large).to.have.members(['public.reservations.hold', 'public.fillGuestRegistration'])
  })

  it('names fields of the query that nobody knows fifty at most', () => {
    const [reading] = routes.filter((route) => route.query !== undefined)
    if (!reading) throw new Error('there is a list')
    const query = new URLSearchParams(Array.from({ length: 2_500 }, (_, n): [string, string] => [`f${n}`, '']))
    let lookedUp = 0
    query.getAll = () => ((lookedUp += 1), [])
    expect(() => inputReader(reading)({}, query, Buffer.alloc(0))).to.throw()
    expect(lookedUp).to.equal(0)
  })
})
