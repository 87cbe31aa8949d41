import type {
  Static,
  TArray,
  TBoolean,
  TEnum,
  TInteger,
  TLiteral,
  TNull,
  TNumber,
  TObject,
  TOptional,
  TProperties,
  TRecord,
  TSchema,
  TString,
  TUnion,
  TUnknown,
  TUnsafe,
} from 'typebox'

/**
 * The one place that imports TypeBox, and for its types alone: the values are JSON Schema, written here. Every string and list that
 * comes out of here has a bound, every object refuses fields it does not know.
 */
export type { Static }
export type Schema = TSchema
export type Properties = TProperties

type Extra = Record<string, unknown>

const typed = <S extends TSchema>(schema: Extra): S => schema as S
const text = (options: Extra) => typed<TString>({ type: 'string', ...options })
const whole = (options: Extra) => typed<TInteger>({ type: 'integer', ...options })
const number = (options: Extra) => typed<TNumber>({ type: 'number', ...options })

// A schema does not say itself that its field may be left out; that stands in `required` of the object around it.
const optional = new WeakSet<TSchema>()

export const Opt = <S extends TSchema>(schema: S): TOptional<S> => {
  const marked = { ...schema } as TOptional<S>
  optional.add(marked)
  return marked
}

export const Obj = <P extends TProperties>(properties: P, extra: Extra = {}): TObject<P> => {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name] as TSchema))
  return typed<TObject<P>>({
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties,
    additionalProperties: false,
    ...extra,
  })
}

/** An object with every field of another one, all optional, for changes. */
export const Sparse = <P extends TProperties>(object: TObject<P>) =>
  Obj(
    Object.fromEntries(Object.entries(object.properties).map(([name, schema]) => [name, Opt(schema)])) as {
      [Name in keyof P]: TOptional<P[Name]>
    },
  )

export const AnyOf = <S extends TSchema[]>(schemas: [...S], extra: Extra = {}) =>
  typed<TUnion<S>>({ anyOf: schemas, ...extra })
export const Nullable = <S extends TSchema>(schema: S) => AnyOf([schema, typed<TNull>({ type: 'null' })])
export const List = <S extends TSchema>(
  schema: S,
  { max, min = 0 }: { max: number; min?: number },
  extra: Extra = {},
) => typed<TArray<S>>({ type: 'array', items: schema, minItems: min, maxItems: max, ...extra })
export const OneOf = <const V extends string[]>(values: [...V], extra: Extra = {}) =>
  typed<TEnum<V>>({ enum: values, type: 'string', ...extra })
export const Literal = <V extends string | number | boolean>(value: V) =>
  typed<TLiteral<V>>({ type: typeof value, const: value })
const mapOf = <S extends TSchema>(pattern: string, value: S, options: Extra) =>
  typed<TRecord<string, S>>({ type: 'object', patternProperties: { [pattern]: value }, ...options })
export const MapOf = <S extends TSchema>(
  value: S,
  { max, pattern = '^.{1,100}$' }: { max: number; pattern?: string },
) => mapOf(pattern, value, { maxProperties: max, additionalProperties: false })

export const Bool = typed<TBoolean>({ type: 'boolean' })
export const Int = (min: number, max: number, extra: Extra = {}) => whole({ minimum: min, maximum: max, ...extra })
export const Text = (min: number, max: number, extra: Extra = {}) => text({ minLength: min, maxLength: max, ...extra })
// Begins a pattern: a letter, digit or sign that is seen, not spaces, marks of no width and fillers alone.
const visible = '^(?=[\\s\\S]*(?![\\u115f\\u1160\\u2800\\u3164\\uffa0])[\\p{L}\\p{N}\\p{P}\\p{S}])'
/** Free text: it has a visible character, and no control characters but line breaks and tabs. */
export const words = `${visible}[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$`
/** The name of a person: one line, and no mark-up. */
export const personName = `${visible}[^\\p{Cc}<>]*$`
export const Words = (min: number, max: number, extra: Extra = {}) => Text(min, max, { pattern: words, ...extra })
export const Matching = (pattern: string, max: number, extra: Extra = {}) => text({ pattern, maxLength: max, ...extra })

/** A number with a fraction, for measures alone; never money. */
export const Decimal = number({ minimum: -1_000_000, maximum: 1_000_000 })

/** A number within bounds, for places on the globe. */
export const Between = (minimum: number, maximum: number) => number({ minimum, maximum })

/** Lower-case UUID, version 4. */
export const Uuid = text({ format: 'uuid4', minLength: 36, maxLength: 36 })
/** `2026-11-20T12:00:00.000Z`; Date values are accepted in replies and written so. */
export const Instant = text({ format: 'instant', maxLength: 30 })
/** `2026-11-20`, a calendar day of the property, 1900 to 2200. */
export const Day = text({ format: 'day', minLength: 10, maxLength: 10 })
export const TimeOfDay = text({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', minLength: 5, maxLength: 5 })

const largest = 9_007_199_254_740_991
/** Minor units, not negative, beside a currency. */
export const Amount = whole({ minimum: 0, maximum: largest })
export const SignedAmount = whole({ minimum: -largest, maximum: largest })
export const Count = whole({ minimum: 0, maximum: largest })
export const Currency = text({ pattern: '^[A-Z]{3}$', minLength: 3, maxLength: 3 })
export const Country = text({
  format: 'country',
  description: 'ISO 3166-1 alpha-2, or XK',
  minLength: 2,
  maxLength: 2,
})
const addressLine = Opt(Text(0, 200))
/** Postal address of a property or business. */
export const PostalAddress = Obj(
  {
    line1: addressLine,
    line2: addressLine,
    district: addressLine,
    city: addressLine,
    region: addressLine,
    postalCode: Opt(Text(0, 20)),
    countryCode: Opt(Country),
  },
  { title: 'PostalAddress' },
)
export const Email = text({ format: 'mailbox', minLength: 3, maxLength: 254 })
/** E.164. */
export const Phone = text({ pattern: '^\\+[1-9][0-9]{6,14}$', maxLength: 16, cardNumber: 'exempt' })
export const LocaleTag = text({ pattern: '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$', maxLength: 12 })
/** A LocaleTag of an existing language, for settings. Languages that guests ask for may be unknown and fall back. */
export const Language = text({
  format: 'language',
  description: 'BCP 47: a language, with script and country where they are told',
  minLength: 2,
  maxLength: 12,
})
const localised = (title: string, max: number, minProperties = 0) =>
  mapOf('^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$', Words(1, max), {
    title,
    minProperties,
    maxProperties: 10,
    additionalProperties: false,
  })
export const LocalText = localised('LocalText', 5000)
/** The name of something in several languages. */
export const LocalName = localised('LocalName', 200, 1)
/** An address that may be shown to guests and called. */
export const Https = text({ format: 'https', maxLength: 2000 })
export const TimeZone = text({ format: 'time-zone', maxLength: 64 })
/** A value that no schema describes, known by its type alone. */
export const unsafe = <T>() => typed<TUnsafe<T>>({})
/** The caller that did something; `id` is of the user, key or booking. */
export const Actor = Obj(
  { type: OneOf(['user', 'superuser', 'support', 'api_key', 'guest', 'system']), id: Nullable(Uuid) },
  { title: 'Actor' },
)
/** Any JSON value, for replies whose inside another schema describes. */
export const Anything = typed<TUnknown>({})

export const PageQuery = {
  page: Opt(whole({ minimum: 1, maximum: 100_000, default: 1 })),
  limit: Opt(whole({ minimum: 1, maximum: 100, default: 20 })),
}
const PageMeta = Obj(
  { page: Int(1, 100_000), limit: Int(1, 5000), total: Count, totalPages: Count },
  { title: 'PageMeta' },
)
export const PageOf = <S extends TSchema>(record: S) =>
  Obj(
    {
      data: List(record, { max: 5000 }),
      meta: PageMeta,
    },
    'title' in record ? { title: `${String(record.title)}Page` } : {},
  )
/** Envelope values of a page. */
export const pageMeta = (page: number, limit: number, total: number) => ({
  page,
  limit,
  total,
  totalPages: Math.ceil(total / limit),
})
