import { createHash } from 'node:crypto'
import type pg from 'pg'
import { settings } from '../../config/env.ts'

export type Bindings = readonly unknown[] | Record<string, unknown>

/** A statement of constant text, `:name` or `?` in it, and what they stand for. */
export type Statement = { text: string; bindings: Bindings }

/** What is used here of a connection of pg; its own types leave it out. */
export type Connection = {
  query: ((text: string, done: (error: Error | null) => void) => void) & ((batch: object) => void)
  getTypeParser: typeof pg.types.getTypeParser
  __knexUid: string
  /** Why the pool must not give it to anybody again. */
  __knex__disposed?: unknown
}

/** A text as PostgreSQL numbers its parameters, and under which name a connection keeps it planned. */
type Plan = { name: string; native: string; names: readonly string[] | null }

const plans = new Map<string, Plan>()

const numbered = (text: string, bindings: Bindings): Omit<Plan, 'name'> => {
  let count = 0
  const next = () => `$${(count += 1)}`
  if (Array.isArray(bindings))
    return { native: text.replace(/\\\?|\?/g, (found) => (found === '?' ? next() : '?')), names: null }
  const names: string[] = []
  const native = text.replace(/\\\?|::|:([a-z]\w*)/gi, (found, name: string | undefined) => {
    if (name === undefined || !(name in bindings)) return found === '\\?' ? '?' : found
    names.push(name)
    return next()
  })
  return { native, names }
}

const planOf = (text: string, bindings: Bindings): Plan => {
  const known = plans.get(text)
  if (known !== undefined) return known
  const made = numbered(text, bindings)
  // Made of the text: behind a pooler that hands connections around, another's statement of the same name would be run in its place.
  const plan = { ...made, name: createHash('sha256').update(made.native).digest('base64url') }
  plans.set(text, plan)
  return plan
}

const valuesOf = ({ names }: Pick<Plan, 'names'>, bindings: Bindings): readonly unknown[] => {
  if (names === null) return bindings as readonly unknown[]
  return names.map((name) => (bindings as Record<string, unknown>)[name])
}

/** A statement as PostgreSQL takes it. */
export type Planned = { name: string; native: string; values: readonly unknown[] }

/** Under a name where connections keep what they have planned; the name is empty where a pooler would not know it. */
export const planned = ({ text, bindings }: Statement): Planned => {
  const plan = planOf(text, bindings)
  return { name: settings.databasePrepare ? plan.name : '', native: plan.native, values: valuesOf(plan, bindings) }
}

/** A statement whose text may never come again. Throws where a value is missing: in a text put together that is a mistake, and no null. */
export const unplanned = ({ text, bindings }: Statement): Planned => {
  const made = numbered(text, bindings)
  const values = valuesOf(made, bindings)
  if (values.includes(undefined)) throw new Error(`a value is undefined - ${made.native}`)
  return { name: '', native: made.native, values }
}

const plansLastMs = 10_000
const plannedAt = new WeakMap<Connection, number>()

/**
 * What was planned while a table was empty would be run so until something analyses it, however full it is by then. Nobody waits for it: what follows on the
 * connection goes after it, and a connection that is broken says so to that.
 */
export const planAnew = (connection: Connection): void => {
  if (!settings.databasePrepare) return
  const now = Date.now()
  const before = plannedAt.get(connection)
  if (before !== undefined && now - before < plansLastMs) return
  plannedAt.set(connection, now)
  if (before !== undefined) connection.query('discard plans', () => {})
}
