import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { settings } from '../../config/env.ts'

export type Bindings = readonly unknown[] | Record<string, unknown>

/** A statement of constant text, `:name` or `?` in it, and what they stand for. */
export type Statement = { text: string; bindings: Bindings }

/** The part of a pg connection that is used here; its own types leave it out. */
export type Connection = {
  query: ((text: string, done: (error: Error | null) => void) => void) & ((batch: object) => void)
  getTypeParser: typeof pg.types.getTypeParser
  __knexUid: string
  /** Why the pool must not give it to anybody again. */
  __knex__disposed?: unknown
}

/** A text as PostgreSQL numbers its parameters, and under which name a connection keeps it planned. */
type Plan = { name: string; native: string; names: readonly string[] | null }

/** More texts than these are not in use at once; a name follows from its text, so one that was forgotten is made again as it was. */
const plans = new LRUCache<string, Plan>({ max: 5_000 })

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

const oneKeyList = /\bany\((\$\d+::uuid\[\]|cast\(\$\d+ as uuid\[\]\))\)/gi
const keyLists = /\bunnest\((\$\d+::uuid\[\](?:, \$\d+::\w+\[\])*)\)/gi

/**
 * Keeps the planner from looking into lists of keys. One key looks cheaper to it than the ten that it assumes of a list that it cannot see, so that it would never
 * keep a plan and would plan joins of a dozen tables anew for each call, which takes longer than to run them.
 */
const withListsUnseen = (native: string): string =>
  native.replace(oneKeyList, 'any((select $1)::uuid[])').replace(
    keyLists,
    (_, lists: string) =>
      `unnest(${lists
        .split(', ')
        .map((list) => `(select ${list})`)
        .join(', ')})`,
  )

const planOf = (text: string, bindings: Bindings): Plan => {
  const known = plans.get(text)
  if (known !== undefined) return known
  const { native: written, names } = numbered(text, bindings)
  const made = { native: withListsUnseen(written), names }
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

/**
 * So many statements one connection keeps. In the server's memory they take 25 kB each on average (those of many joins 0.5 MB), so about 10 MB; the one that ran
 * longest ago gives way. Constant texts are a few hundred, and no process runs all of them; lists vary by filters, order and size of the page.
 */
export const mostKept = 400
const kept = new WeakMap<object, Map<string, true>>()

/** Notes the names that are about to run on a connection, and answers those that it must give up for them. */
export const givenUp = (connection: object, names: Iterable<string>): string[] => {
  let known = kept.get(connection)
  if (known === undefined) kept.set(connection, (known = new Map()))
  for (const name of names) {
    if (name === '') continue
    known.delete(name)
    known.set(name, true)
  }
  if (known.size <= mostKept) return []
  const gone = [...known.keys()].slice(0, known.size - mostKept)
  for (const name of gone) known.delete(name)
  return gone
}

/**
 * Plans of a new connection last ten seconds, then twice as long each time: by then the tables of its first plans were analysed, which makes PostgreSQL plan anew by
 * itself. A house asks little in a minute: of plans that lasted no longer it would use few twice.
 */
const plansLastMs = { first: 10_000, longest: 600_000 }
const plannedAt = new WeakMap<Connection, { at: number; lastMs: number }>()

/**
 * A plan made while a table was empty would stay in use until the table is analysed, however full it is by then. Dropping it is not awaited: later statements on the
 * connection follow it, and learn of a broken connection themselves.
 */
export const planAnew = (connection: Connection): void => {
  if (!settings.databasePrepare) return
  const now = Date.now()
  const before = plannedAt.get(connection)
  if (before !== undefined && now - before.at < before.lastMs) return
  const lastMs = before === undefined ? plansLastMs.first : Math.min(plansLastMs.longest, 2 * before.lastMs)
  plannedAt.set(connection, { at: now, lastMs })
  if (before !== undefined) connection.query('discard plans', () => {})
}
