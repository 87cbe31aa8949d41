import Type from 'typebox'
import type { Static, TObject, TOptional, TProperties, TSchema } from 'typebox'

/**
 * The one place that imports TypeBox. Every string and list that comes out of here has a bound, every object
 * refuses fields it does not know.
 */
export type { Static }
export type Schema = TSchema
export type Properties = TProperties

type Extra = Record<string, unknown>

export const Obj = <P extends TProperties>(properties: P, extra: Extra = {}): TObject<P> =>
  Type.Object<P>(properties, { additionalProperties: false, ...extra })

/** The same object with every field optional, for changes; TypeBox's own Partial forgets that unknown fields are refused. */
export const Sparse = <P extends TProperties>(object: TObject<P>) =>
  Obj(
    Object.fromEntries(Object.entries(object.properties).map(([name, schema]) => [name, Type.Optional(schema)])) as {
      [Name in keyof P]: TOptional<P[Name]>
    },
  )

export const Opt = <S extends TSchema>(schema: S) => Type.Optional(schema)
export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
export const AnyOf = <S extends TSchema[]>(schemas: [...S], extra: Extra = {}) => Type.Union(schemas, extra)
export const List = <S extends TSchema>(
  schema: S,
  { max, min = 0 }: { max: number; min?: number },
  extra: Extra = {},
) => Type.Array(schema, { minItems: min, maxItems: max, ...extra })
export const OneOf = <const V extends string[]>(values: [...V], extra: Extra = {}) =>
  Type.Enum(values, { type: 'string', ...extra })
export const Literal = <V extends string | number | boolean>(value: V) => Type.Literal(value)
export const MapOf = <S extends TSchema>(
  value: S,
  { max, pattern = '^.{1,100}$' }: { max: number; pattern?: string },
) => Type.Record(Type.String({ pattern }), value, { maxProperties: max, additionalProperties: false })

export const Bool = Type.Boolean()
export const Int = (min: number, max: number, extra: Extra = {}) =>
  Type.Integer({ minimum: min, maximum: max, ...extra })
export const Text = (min: number, max: number, extra: Extra = {}) =>
  Type.String({ minLength: min, maxLength: max, ...extra })
// Begins a pattern: a letter, digit or sign that is seen, not spaces, marks of no width and fillers alone.
const visible = '^(?=[\\s\\S]*(?![\\u115f\\u1160\\u2800\\u3164\\uffa0])[\\p{L}\\p{N}\\p{P}\\p{S}])'
/** What people say or call something: something is seen of it, and lines and tabs are all that steers it. */
export const words = `${visible}[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$`
/** The name of a person: one line, and no mark-up. */
export const personName = `${visible}[^\\p{Cc}<>]*$`
export const Words = (min: number, max: number, extra: Extra = {}) => Text(min, max, { pattern: words, ...extra })
export const Matching = (pattern: string, max: number, extra: Extra = {}) =>
  Type.String({ pattern, maxLength: max, ...extra })

/** A number with a fraction, for measures alone; never money. */
export const Decimal = Type.Number({ minimum: -1_000_000, maximum: 1_000_000 })

/** The same within bounds, for places on the globe. */
export const Between = (minimum: number, maximum: number) => Type.Number({ minimum, maximum })

/** Lower-case UUID, version 4. */
export const Uuid = Type.String({ format: 'uuid4', minLength: 36, maxLength: 36 })
/** `2026-11-20T12:00:00.000Z`; Date values are accepted in replies and written so. */
export const Instant = Type.String({ format: 'instant', maxLength: 30 })
/** `2026-11-20`, a calendar day of the property, 1900 to 2200. */
export const Day = Type.String({ format: 'day', minLength: 10, maxLength: 10 })
export const TimeOfDay = Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', minLength: 5, maxLength: 5 })

const largest = 9_007_199_254_740_991
/** Minor units, not negative, beside a currency. */
export const Amount = Type.Integer({ minimum: 0, maximum: largest })
export const SignedAmount = Type.Integer({ minimum: -largest, maximum: largest })
export const Count = Type.Integer({ minimum: 0, maximum: largest })
export const Currency = Type.String({ pattern: '^[A-Z]{3}$', minLength: 3, maxLength: 3 })
export const Country = Type.String({
  format: 'country',
  description: 'ISO 3166-1 alpha-2, or XK',
  minLength: 2,
  maxLength: 2,
})
const addressLine = Type.Optional(Text(0, 200))
/** Of a house or a business. */
export const PostalAddress = Obj({
  line1: addressLine,
  line2: addressLine,
  district: addressLine,
  city: addressLine,
  region: addressLine,
  postalCode: Type.Optional(Text(0, 20)),
  countryCode: Type.Optional(Country),
})
export const Email = Type.String({ format: 'mailbox', minLength: 3, maxLength: 254 })
/** E.164. */
export const Phone = Type.String({ pattern: '^\\+[1-9][0-9]{6,14}$', maxLength: 16, cardNumber: 'exempt' })
export const LocaleTag = Type.String({ pattern: '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$', maxLength: 12 })
/** As LocaleTag, of a language that there is: for what somebody sets up. Others' wishes fall back where nobody speaks it. */
export const Language = Type.String({
  format: 'language',
  description: 'BCP 47: a language, with script and country where they are told',
  minLength: 2,
  maxLength: 12,
})
const localised = (max: number, minProperties = 0) =>
  Type.Record(Type.String({ pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$' }), Words(1, max), {
    minProperties,
    maxProperties: 10,
    additionalProperties: false,
  })
export const LocalText = localised(5000)
/** The name of something in several languages. */
export const LocalName = localised(200, 1)
/** An address that may be shown to guests and called. */
export const Https = Type.String({ format: 'https', maxLength: 2000 })
export const TimeZone = Type.String({ format: 'time-zone', maxLength: 64 })
/** Any JSON value, for replies whose inside another schema describes. */
export const Anything = Type.Unknown()

export const PageQuery = {
  page: Opt(Type.Integer({ minimum: 1, maximum: 100_000, default: 1 })),
  limit: Opt(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
}
export const PageOf = <S extends TSchema>(record: S) =>
  Obj({
    data: List(record, { max: 5000 }),
    meta: Obj({ page: Int(1, 100_000), limit: Int(1, 5000), total: Count, totalPages: Count }),
  })
/** Envelope values of a page. */
export const pageMeta = (page: number, limit: number, total: number) => ({
  page,
  limit,
  total,
  totalPages: Math.ceil(total / limit),
})
