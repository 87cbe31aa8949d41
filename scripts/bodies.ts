import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { events } from '../config/events/all.ts'
import type { Event } from '../config/events/event.ts'
import { bodyOf } from '../db/webhooks/rules/body.ts'

/** One line for each type: the type, and the bytes of a delivery of a sample of it. */
export const target = new URL('../test/webhooks/bodies.tsv', import.meta.url)

type Json = Readonly<Record<string, unknown>>

const id = '7b0c2f6e-5d1a-4c3e-9f28-0a1b2c3d4e5f'
const texts: Readonly<Record<string, string>> = {
  uuid4: id,
  instant: '2026-11-23T12:00:00.000Z',
  day: '2026-11-23',
  '^[A-Z]{3}$': 'BRL',
  '^[A-Z]{2}$': 'BR',
  '^-?[0-9]{1,12}(\\.[0-9]{1,4})?$': '1.5',
  '^(\\*|[a-z_]+\\.(\\*|[a-z_]+))$': '*',
}

/** A value that a schema of an event's data takes. */
const sampleOf = (schema: Json): unknown => {
  if (Array.isArray(schema.anyOf)) return sampleOf((schema.anyOf as Json[]).find((one) => one.type !== 'null') ?? {})
  if (Array.isArray(schema.enum)) return (schema.enum as unknown[])[0]
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([name, inside]) => [
          name,
          sampleOf(inside),
        ]),
      )
    case 'array':
      return [sampleOf(schema.items as Json)]
    case 'integer':
      return Math.max(1, Number(schema.minimum ?? 1))
    case 'boolean':
      return true
    case 'string':
      return texts[(schema.format ?? schema.pattern ?? '') as string] ?? 'sample'
    default:
      return null
  }
}

/** Values in the order of keys that PostgreSQL's jsonb keeps: the shorter ones first, then by their bytes. */
const asStored = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asStored)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
      .map(([key, inside]) => [key, asStored(inside)]),
  )
}

export const sampleData = (event: Event): Record<string, unknown> =>
  asStored(sampleOf(JSON.parse(JSON.stringify(event.data)) as Json)) as Record<string, unknown>

/** The bytes of a delivery of a sample of this type. */
export const sampleBody = (event: Event): string =>
  bodyOf({
    id,
    tenantId: 'd0000000-0000-4000-8000-000000000001',
    type: event.type,
    typeVersion: 1,
    sequence: 42,
    propertyId: null,
    entity: { type: event.entity, id, version: 3 },
    occurredAt: new Date('2026-11-23T12:00:00.000Z'),
    actor: { type: 'user', id },
    requestId: 'req-1',
    causeId: null,
    changed: [{ field: 'status', before: null, after: 'active' }],
    data: sampleData(event),
  })

export const readBodies = (): Map<string, string> =>
  new Map(
    (existsSync(target) ? readFileSync(target, 'utf8') : '')
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const at = line.indexOf('\t')
        return [line.slice(0, at), line.slice(at + 1)] as const
      }),
  )

/** Tells whether a body says all that another one said, and no less: a new field is no new version. */
const grows = (before: string, after: string): boolean => {
  const [old, made] = [before, after].map((text) => JSON.parse(text) as Json & { data: Json })
  if (!old || !made) return false
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  return (
    same({ ...old, data: null }, { ...made, data: null }) &&
    Object.entries(old.data).every(([field, value]) => same(made.data[field], value))
  )
}

/** Adds types that have no line yet, and fields that were added. Anything else that stands is never changed: receivers rely on it. */
export const addBodies = (): void => {
  const kept = readBodies()
  for (const event of events) {
    const before = kept.get(event.type)
    const body = sampleBody(event)
    if (before === undefined || grows(before, body)) kept.set(event.type, body)
  }
  writeFileSync(target, [...kept].map(([type, body]) => `${type}\t${body}\n`).join(''))
}
