import { Actor } from '../../config/schema.ts'
import type { Schema } from '../../config/schema.ts'
import { shownActor } from '../../config/shown-actor.ts'

type Json = Record<string, unknown>
type Present = (value: unknown) => unknown

const actorTitle = (JSON.parse(JSON.stringify(Actor)) as Json).title

const instant = (value: unknown) => (value instanceof Date ? value.toISOString() : value)

const build = (schema: Json, forOperators: boolean): Present => {
  if (Array.isArray(schema.anyOf)) {
    const options = schema.anyOf as Json[]
    const objects = options.filter((option) => option.type === 'object')
    const inner =
      options.length === 2 && options.some((option) => option.type === 'null')
        ? options.find((option) => option.type !== 'null')
        : undefined
    if (inner) {
      const present = build(inner, forOperators)
      return (value) => (value === null || value === undefined ? null : present(value))
    }
    if (objects.length === 0) return instant
    const choices = objects.map((object) => ({ object, present: build(object, forOperators) }))
    return (value) => {
      if (typeof value !== 'object' || value === null || value instanceof Date) return instant(value)
      const fitting = choices.find(({ object }) => fits(object, value as Json)) ?? choices[0]
      return fitting?.present(value)
    }
  }
  if (schema.type === 'array') {
    const present = build((schema.items as Json | undefined) ?? {}, forOperators)
    return (value) => (Array.isArray(value) ? value.map(present) : value)
  }
  if (schema.type === 'object') {
    const record = schema.patternProperties as Record<string, Json> | undefined
    if (record) {
      const present = build(Object.values(record)[0] ?? {}, forOperators)
      return (value) =>
        typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, present(inside)]))
          : value
    }
    const fields = Object.entries((schema.properties as Record<string, Json> | undefined) ?? {}).map(
      ([key, inside]) => [key, build(inside, forOperators)] as const,
    )
    const isActor = schema.title === actorTitle && !forOperators
    return (value) => {
      if (typeof value !== 'object' || value === null) return value
      const kept: Json = {}
      for (const [key, present] of fields) {
        const inside = (value as Json)[key]
        if (inside !== undefined) kept[key] = present(inside)
      }
      return isActor ? shownActor(kept as { type: string; id: string | null }) : kept
    }
  }
  return instant
}

/** Tells whether a value has the constants and required fields of one of several shapes. */
const fits = (object: Json, value: Json): boolean =>
  ((object.required as string[] | undefined) ?? []).every((key) => value[key] !== undefined) &&
  Object.entries((object.properties as Record<string, Json> | undefined) ?? {}).every(
    ([key, inside]) => inside.const === undefined || inside.const === value[key],
  )

/**
 * Writes a reply by its schema: fields that the schema does not name are cut off, dates become instants, and an actor is told as people of a tenant get it,
 * unless the reply is for operators. Built when first used.
 */
export const presenter = (schema: Schema, { forOperators = false } = {}): Present => {
  let present: Present | null = null
  return (value) => (present ??= build(JSON.parse(JSON.stringify(schema)) as Json, forOperators))(value)
}
