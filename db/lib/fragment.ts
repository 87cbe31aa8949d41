import type { Bindings } from './prepared.ts'

/** A piece of SQL with the values that it binds by `?`; bound itself where a statement has a place for it. */
export type Fragment = { readonly sql: string; readonly bindings: readonly unknown[] }

const fragments = new WeakSet<object>()

export const fragment = (sql: string, bindings: readonly unknown[] = []): Fragment => {
  const made = { sql, bindings }
  fragments.add(made)
  return made
}

const isFragment = (value: unknown): value is Fragment =>
  typeof value === 'object' && value !== null && fragments.has(value)

const byPosition = (text: string, bindings: readonly unknown[]) => {
  const values: unknown[] = []
  let index = 0
  const spliced = text.replace(/\\\?|\?/g, (found) => {
    if (found !== '?') return found
    const value = bindings[index++]
    values.push(...(isFragment(value) ? value.bindings : [value]))
    return isFragment(value) ? value.sql : found
  })
  return { text: spliced, bindings: values }
}

const byName = (text: string, bindings: Readonly<Record<string, unknown>>) => {
  const values: Record<string, unknown> = {}
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries(bindings)) {
    if (!isFragment(value)) {
      values[name] = value
      continue
    }
    let count = 0
    texts.set(
      name,
      value.sql.replace(/\\\?|\?/g, (found) => {
        if (found !== '?') return found
        const own = `${name}_${count}`
        values[own] = value.bindings[count++]
        return `:${own}`
      }),
    )
  }
  const spliced = text.replace(/::|:([a-z]\w*)/gi, (found, name: string | undefined) => texts.get(name ?? '') ?? found)
  return { text: spliced, bindings: values }
}

/** The statement with its fragments in their places. */
export const spliced = (text: string, bindings: Bindings): { text: string; bindings: Bindings } => {
  if (!Object.values(bindings).some(isFragment)) return { text, bindings }
  return Array.isArray(bindings)
    ? byPosition(text, bindings)
    : byName(text, bindings as Readonly<Record<string, unknown>>)
}

/** The text alone with its fragments in their places, for what looks at the columns that it names. */
export const textOf = (text: string, values: readonly unknown[]): string => byPosition(text, values).text
