import { fragment } from './fragment.ts'
import type { Fragment } from './fragment.ts'

/** A condition on records: `eq`, `in`, `and`, `or`. Any other operator is refused where it is used, so that nothing shows too much. */
export type Condition = { readonly operator: string; readonly field?: string; readonly value: unknown }

/** Every record, and none. */
export const always: Condition = { operator: 'and', value: [] }
export const never: Condition = { operator: 'or', value: [] }

/** Tells whether a condition holds for every record, so that nothing need be looked at. */
export const isAlways = ({ operator, value }: Condition): boolean => operator === 'and' && (value as []).length === 0

/** The columns that stand for the fields of conditions, with their alias; null where the list's records have no such field. */
export type Columns = Readonly<Record<string, string | null>>

const parts = ({ value }: Condition) => value as readonly Condition[]
const fieldOf = ({ field }: Condition): string => {
  if (field === undefined) throw new Error('a condition names no field')
  return field
}
const refuse = ({ operator }: Condition): never => {
  throw new Error(`${operator} is no operator of conditions`)
}

const write = (condition: Condition, columns: Columns): Fragment => {
  const { operator, value } = condition
  if (operator === 'and' || operator === 'or') {
    const written = parts(condition).map((part) => write(part, columns))
    if (written.length === 0) return { sql: operator === 'and' ? 'true' : 'false', bindings: [] }
    return {
      sql: `(${written.map((part) => part.sql).join(` ${operator} `)})`,
      bindings: written.flatMap((part) => part.bindings),
    }
  }
  const field = fieldOf(condition)
  const column = columns[field]
  if (column === undefined) throw new Error(`no column stands for the condition on ${field}`)
  if (operator !== 'eq' && operator !== 'in') return refuse(condition)
  // A field that the records do not have is null in all of them.
  if (column === null) return { sql: operator === 'eq' && value === null ? 'true' : 'false', bindings: [] }
  if (operator === 'in') return { sql: `${column} = any(?)`, bindings: [value] }
  return value === null ? { sql: `${column} is null`, bindings: [] } : { sql: `${column} = ?`, bindings: [value] }
}

/**
 * A condition as SQL, bound in the place that a statement has for it: lists and sums filter by it, never after loading. The text follows from operators and
 * fields, never from values.
 */
export const whereOf = (condition: Condition, columns: Columns): Fragment => {
  const { sql, bindings } = write(condition, columns)
  return fragment(sql, bindings)
}

/** Tells whether a loaded record fulfils a condition. Every field that it asks for must have been loaded: one that is missing throws. */
export const holds = (condition: Condition, record: Readonly<Record<string, unknown>>): boolean => {
  const { operator, value } = condition
  if (operator === 'and') return parts(condition).every((part) => holds(part, record))
  if (operator === 'or') return parts(condition).some((part) => holds(part, record))
  const given = record[fieldOf(condition)]
  if (given === undefined) throw new Error(`${fieldOf(condition)} was not loaded, and a condition asks for it`)
  if (operator === 'eq') return given === value
  if (operator === 'in') return (value as unknown[]).includes(given)
  return refuse(condition)
}

/** The condition with one value put in for another, wherever it stands. */
export const substituted = (condition: Condition, from: unknown, to: unknown): Condition => {
  const { operator, value } = condition
  if (operator === 'and' || operator === 'or')
    return { operator, value: parts(condition).map((part) => substituted(part, from, to)) }
  const put = (given: unknown) => (given === from ? to : given)
  return { ...condition, value: Array.isArray(value) ? value.map(put) : put(value) }
}
