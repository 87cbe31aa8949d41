import type { Schema } from '../../config/schema.ts'

type Json = Record<string, unknown>
type Present<Out> = (value: unknown) => Out

/** What a reply is made into, part by part: the schema is walked once, at boot. */
type Maker<Out> = {
  /** What is no object of the schema's. */
  leaf: Present<Out>
  list: (each: Present<Out>) => (values: readonly unknown[]) => Out
  record: (each: Present<Out>) => (value: Json) => Out
  object: (fields: readonly (readonly [key: string, present: Present<Out>])[]) => (value: Json) => Out
}

const instant = (value: unknown) => (value instanceof Date ? value.toISOString() : value)
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

const build = <Out>(schema: Json, make: Maker<Out>): Present<Out> => {
  if (Array.isArray(schema.anyOf)) {
    const options = schema.anyOf as Json[]
    const objects = options.filter((option) => option.type === 'object')
    const inner =
      options.length === 2 && options.some((option) => option.type === 'null')
        ? options.find((option) => option.type !== 'null')
        : undefined
    if (inner) {
      const present = build(inner, make)
      return (value) => (value === null || value === undefined ? make.leaf(null) : present(value))
    }
    if (objects.length === 0) return make.leaf
    const choices = objects.map((object) => ({ object, present: build(object, make) }))
    return (value) => {
      if (!isObject(value) || value instanceof Date) return make.leaf(value)
      const fitting = choices.find(({ object }) => fits(object, value)) ?? choices[0]
      return fitting ? fitting.present(value) : make.leaf(null)
    }
  }
  if (schema.type === 'array') {
    const list = make.list(build((schema.items as Json | undefined) ?? {}, make))
    return (value) => (Array.isArray(value) ? list(value) : make.leaf(value))
  }
  if (schema.type === 'object') {
    const record = schema.patternProperties as Record<string, Json> | undefined
    const object = record
      ? make.record(build(Object.values(record)[0] ?? {}, make))
      : make.object(
          Object.entries((schema.properties as Record<string, Json> | undefined) ?? {}).map(
            ([key, inside]) => [key, build(inside, make)] as const,
          ),
        )
    return (value) => (isObject(value) ? object(value) : make.leaf(value))
  }
  return make.leaf
}

/** Of several shapes, the one whose constants agree and whose required fields are there. */
const fits = (object: Json, value: Json): boolean =>
  ((object.required as string[] | undefined) ?? []).every((key) => value[key] !== undefined) &&
  Object.entries((object.properties as Record<string, Json> | undefined) ?? {}).every(
    ([key, inside]) => inside.const === undefined || inside.const === value[key],
  )

const values: Maker<unknown> = {
  leaf: instant,
  list: (each) => (items) => items.map(each),
  record: (each) => (value) => Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, each(inside)])),
  object: (fields) => (value) => {
    const kept: Json = {}
    for (const [key, present] of fields) {
      const inside = value[key]
      if (inside !== undefined) kept[key] = present(inside)
    }
    return kept
  },
}

// What JSON writes as it stands: no quote, no backslash, no control character, no half of a character.
const plain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

const quoted = (text: string) => (text.length <= 100 && plain.test(text) ? `"${text}"` : JSON.stringify(text))

const texts: Maker<string> = {
  leaf: (value) => {
    if (typeof value === 'string') return quoted(value)
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
    return JSON.stringify(value) ?? 'null'
  },
  list: (each) => (items) => {
    let text = ''
    for (const item of items) text += text === '' ? each(item) : `,${each(item)}`
    return `[${text}]`
  },
  record: (each) => (value) => {
    let text = ''
    for (const [key, inside] of Object.entries(value))
      if (inside !== undefined) text += `${text === '' ? '' : ','}${quoted(key)}:${each(inside)}`
    return `{${text}}`
  },
  object: (named) => {
    const fields = named.map(([key, write]) => ({ key, name: `${JSON.stringify(key)}:`, write }))
    return (value) => {
      let text = ''
      for (const { key, name, write } of fields) {
        const inside = value[key]
        if (inside !== undefined) text += text === '' ? name + write(inside) : `,${name}${write(inside)}`
      }
      return `{${text}}`
    }
  },
}

const jsonOf = (schema: Schema) => JSON.parse(JSON.stringify(schema)) as Json

/** Makes a reply by its schema: what the schema does not name is cut off, dates become instants. */
export const presenter = (schema: Schema): Present<unknown> => build(jsonOf(schema), values)

/** JSON that goes out as it stands. */
export class Written {
  readonly json: string
  constructor(json: string) {
    this.json = json
  }
}

/** The same as JSON at once, for what nobody looks at any more: a long reply costs half of what it does in two steps. */
export const writer = (schema: Schema): Present<Written> => {
  const write = build(jsonOf(schema), texts)
  return (value) => new Written(write(value))
}
