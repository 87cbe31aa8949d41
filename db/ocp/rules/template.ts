import type { FieldError } from '../../../config/errors.ts'
import type { MessageVariable, VariableType } from '../../../config/message-variables.ts'
import { formatClock, formatDate, formatMoney, formatTime } from './format.ts'

/** Value of a variable. `null` takes the default. */
export type Value =
  | string
  | number
  | null
  | { type: 'day'; day: string }
  | { type: 'instant'; at: Date }
  | { type: 'clock'; time: string }
  | { type: 'money'; amount: number; currency: string }

export type Values = ReadonlyMap<string, Value>

type Filter = 'date' | 'time' | 'money'
type Variable = { path: string; filter: Filter | null; fallback: string | null }
type Part = string | Variable

export type Template = { parts: readonly Part[] }

const fits: Record<Filter, readonly VariableType[]> = {
  date: ['day', 'instant'],
  time: ['instant', 'clock'],
  money: ['money'],
}
/** Tells whether an error is about a name that the context does not have. */
export const isUnknownName = ({ message }: FieldError): boolean => message.endsWith('is not known here')
const tag = /\{\{([^{}]*)\}\}/g
const inner =
  /^\s*([A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z][A-Za-z0-9]*)*)\s*((?:\|\s*(?:date|time|money|default:\s*"[^"]{0,200}")\s*)*)$/

/**
 * Reads a template without logic: text, and `{{path | filter | default:"…"}}`. Answers what is wrong with it, where a name
 * is unknown, a filter does not fit its type or a brace is left over.
 */
export const parseTemplate = (
  text: string,
  known: readonly MessageVariable[],
  field: string,
): { template: Template; problems: FieldError[] } => {
  const parts: Part[] = []
  const problems: FieldError[] = []
  let at = 0
  const plain = (until: number) => {
    const between = text.slice(at, until)
    if (/\{\{|\}\}/.test(between)) problems.push({ field, message: 'has {{ or }} without its other half' })
    if (between !== '') parts.push(between)
  }
  for (const match of text.matchAll(tag)) {
    plain(match.index)
    at = match.index + match[0].length
    const [, path, tail = ''] = inner.exec(match[1] ?? '') ?? []
    if (path === undefined) {
      problems.push({ field, message: `${match[0].slice(0, 60)} is not of the form {{path | filter | default:"…"}}` })
      continue
    }
    const filter = (/\|\s*(date|time|money)/.exec(tail)?.[1] as Filter | undefined) ?? null
    const variable = known.find((candidate) => candidate.path === path)
    if (!variable) problems.push({ field, message: `{{${path}}} is not known here` })
    else if (filter && !fits[filter].includes(variable.type))
      problems.push({ field, message: `{{${path}}} is no ${filter}` })
    parts.push({ path, filter, fallback: /default:\s*"([^"]*)"/.exec(tail)?.[1] ?? null })
  }
  plain(text.length)
  return { template: { parts }, problems }
}

export const variablesOf = ({ parts }: Template): string[] => [
  ...new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.path]))),
]

type Options = {
  as: 'line' | 'text' | 'html'
  locale: string
  timeZone: string
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)

// A value is one line: what it holds beyond that could end a header or start another.
const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

const formatted = (value: Value, filter: Filter | null, { locale, timeZone }: Options): string => {
  if (value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number') return new Intl.NumberFormat(locale).format(value)
  switch (value.type) {
    case 'day':
      return formatDate(value.day, locale)
    case 'clock':
      return formatClock(value.time, locale)
    case 'money':
      return formatMoney(value.amount, value.currency, locale)
    case 'instant':
      if (filter === 'time') return formatTime(value.at, locale, timeZone)
      if (filter === 'date') return formatDate(value.at, locale, timeZone)
      return `${formatDate(value.at, locale, timeZone)} ${formatTime(value.at, locale, timeZone)}`
  }
}

/** Fills in the values, each once: what a value holds is never read as template. Missing are the variables without value and default. */
export const renderTemplate = (
  { parts }: Template,
  values: Values,
  options: Options,
): { text: string; missing: string[] } => {
  const missing: string[] = []
  const text = parts
    .map((part) => {
      if (typeof part === 'string') return part
      let value = oneLine(formatted(values.get(part.path) ?? null, part.filter, options))
      if (value === '') {
        if (part.fallback === null) missing.push(part.path)
        value = part.fallback ?? ''
      }
      return options.as === 'html' ? escapeHtml(value) : value
    })
    .join('')
  return { text: options.as === 'line' ? oneLine(text) : text, missing }
}
