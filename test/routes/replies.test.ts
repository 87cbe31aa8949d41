import { expect } from 'chai'
import fc from 'fast-check'
import { AnyOf, Bool, Day, Instant, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import type { Schema } from '../../config/schema.ts'
import { presenter, writer } from '../../api/lib/present.ts'
import { routes } from '../../api/routes.ts'

/** Values for a schema, and others beside it: what it does not name, what it does not expect. */
const valueFor = (schema: Record<string, unknown>): fc.Arbitrary<unknown> => {
  const odd = fc.constantFrom<unknown>(
    null,
    undefined,
    '',
    'a"b\\c\n\u2028\ud800é',
    Number.NaN,
    -0,
    1e21,
    true,
    new Date(0),
  )
  const options = schema.anyOf as Record<string, unknown>[] | undefined
  const usual = options
    ? fc.oneof(...options.map(valueFor))
    : schema.type === 'array'
      ? fc.array(valueFor((schema.items ?? {}) as Record<string, unknown>), { maxLength: 3 })
      : schema.type === 'object'
        ? objectFor(schema)
        : fc.oneof(
            fc.string({ unit: 'binary', maxLength: 150 }),
            fc.double(),
            fc.integer(),
            fc.boolean(),
            fc.date({ noInvalidDate: true }),
          )
  return fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: odd })
}

const objectFor = (schema: Record<string, unknown>): fc.Arbitrary<unknown> => {
  const pattern = Object.values((schema.patternProperties ?? {}) as Record<string, Record<string, unknown>>)[0]
  if (pattern) return fc.dictionary(fc.string({ maxLength: 5 }), valueFor(pattern), { maxKeys: 3 })
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Record<string, unknown>>)
  const known = Object.fromEntries(fields.map(([key, inside]) => [key, valueFor(inside)]))
  return fc.record({ ...known, secret: fc.string() }, { requiredKeys: [] })
}

const agree = (schema: Schema, numRuns: number) => {
  const [present, write] = [presenter(schema), writer(schema)]
  fc.assert(
    fc.property(valueFor(JSON.parse(JSON.stringify(schema)) as Record<string, unknown>), (value) => {
      expect(write(value).json).to.equal(JSON.stringify(present(value)) ?? 'null')
    }),
    { numRuns },
  )
}

describe('A reply that is written at once', () => {
  it('is the JSON of what would be shown, whatever the values', () => {
    const night = Obj({ date: Day, amount: Int(0, 10), at: Opt(Instant) })
    const kinds = AnyOf([
      Obj({ kind: OneOf(['a']), text: Text(0, 10) }),
      Obj({ kind: OneOf(['b']), ids: List(Uuid, { max: 3 }) }),
    ])
    agree(
      Obj({ nights: List(night, { max: 9 }), some: Nullable(night), kinds, told: AnyOf([Bool, Text(0, 9)]) }),
      500,
    )
  })

  it('is so for what every endpoint that only reads answers', function () {
    this.timeout(20_000)
    for (const { returns } of routes.filter(({ method }) => method === 'GET')) agree(returns, 15)
  })
})
