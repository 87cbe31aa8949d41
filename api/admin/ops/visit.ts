import { invalid, notFound } from '../../../config/errors.ts'
import { queueNames } from '../../../config/queues.ts'
import type { QueueName } from '../../../config/queues.ts'
import { isUuid } from '../../../config/validator.ts'
import type { PlatformTrx } from '../../../db/lib/connection.ts'
import type { Html, Part } from '../html.ts'
import type { Place } from './layout.ts'

export type Visit = {
  trx: PlatformTrx
  params: Record<string, string>
  query: URLSearchParams
  /** For the forms of the page. */
  formToken: string
}

export type View = {
  title: string
  place: Place
  note?: Html | null
  body: Part
  /** It shows what changes, and has nothing to fill in: it refreshes by itself unless it is held. Any other page is held until it is let. */
  isLive?: true
}

/** `/queues/:queue`: what a browser is shown there. */
export type Page = { path: string; show: (visit: Visit) => Promise<View> }

/** A submitted form with its reason. An action answers the page to go to, with its result in the query. */
export type Asked = { trx: PlatformTrx; params: Record<string, string>; form: URLSearchParams; reason: string }
export type Action = { path: string; act: (asked: Asked) => Promise<string> }

export const queueOf = (name: string | null | undefined): QueueName => {
  const queue = queueNames.find((each) => each === name)
  if (queue === undefined) throw notFound('There is no such queue')
  return queue
}

/** A field of a form or query without the blanks around it, or undefined where it is empty. */
export const field = (form: URLSearchParams, name: string, most = 200): string | undefined => {
  const text = form.get(name)?.trim() ?? ''
  if (text.length > most) throw invalid([{ field: name, message: `must be at most ${most} characters` }])
  return text === '' ? undefined : text
}

export const uuidField = (form: URLSearchParams, name: string): string | undefined => {
  const text = field(form, name)?.toLowerCase()
  if (text !== undefined && !isUuid(text)) throw invalid([{ field: name, message: 'must be a UUID' }])
  return text
}

export const countField = (form: URLSearchParams, name: string, most: number): number | undefined => {
  const text = field(form, name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw invalid([{ field: name, message: `must be a whole number from 1 to ${most}` }])
  return value
}
