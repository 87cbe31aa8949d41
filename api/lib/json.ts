import { TextDecoder } from 'node:util'
import { invalid } from '../../config/errors.ts'

const deepest = 20
const mostValues = 50_000
const refused = new Set(['__proto__', 'constructor', 'prototype'])

const bad = (message: string) => invalid([], 'body_invalid', message)

/** Skips over a string that begins at `at` and answers the index behind its closing quote. */
const pastString = (text: string, at: number): number => {
  for (let i = at + 1; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === 92) i += 1
    else if (code === 34) return i + 1
  }
  throw bad('The body is not JSON')
}

/**
 * One pass before the parser: depth, number of values, no key twice in an object. It need not judge the grammar,
 * which the parser does after it.
 */
const scan = (text: string) => {
  const keys: (Set<string> | null)[] = []
  let values = 0
  let expectsKey = false
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    if (code === 123 || code === 91) {
      if (keys.length >= deepest) throw bad(`The body is nested more than ${deepest} deep`)
      keys.push(code === 123 ? new Set() : null)
      expectsKey = code === 123
      values += 1
      at += 1
    } else if (code === 125 || code === 93) {
      keys.pop()
      expectsKey = false
      at += 1
    } else if (code === 44) {
      expectsKey = Boolean(keys.at(-1))
      values += 1
      at += 1
    } else if (code === 34) {
      const end = pastString(text, at)
      if (expectsKey) {
        const key = JSON.parse(text.slice(at, end)) as string
        const known = keys.at(-1)
        if (refused.has(key)) throw bad(`The key ${key} is refused`)
        if (known?.has(key)) throw bad(`The key ${key.slice(0, 60)} stands twice in an object`)
        known?.add(key)
        expectsKey = false
      }
      at = end
    } else at += 1
    if (values > mostValues) throw bad(`The body holds more than ${mostValues} values`)
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

// A lone surrogate or U+0000 cannot be stored, and comes from no keyboard.
const unstorable = (value: unknown): boolean => {
  if (typeof value === 'string') return value.includes('\u0000') || !isWellFormed(value)
  if (typeof value === 'number') return !Number.isFinite(value)
  if (Array.isArray(value)) return value.some(unstorable)
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).some(([key, inside]) => unstorable(key) || unstorable(inside))
  return false
}

const isWellFormed = (value: string) =>
  !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(value)

/** Parses a body by rule R33 of the edge. Throws 400 `body_invalid`. */
export const parseBody = (raw: Buffer): unknown => {
  let text: string
  try {
    text = decoder.decode(raw)
  } catch {
    throw bad('The body is not UTF-8')
  }
  try {
    scan(text)
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) throw bad('The body must be a JSON object or array')
    if (unstorable(value)) throw bad('The body holds text or numbers that cannot be stored')
    return value
  } catch (error) {
    if (error instanceof SyntaxError) throw bad('The body is not JSON')
    throw error
  }
}
