import { invalid, notFound } from '../../config/errors.ts'
import { messageVariables } from '../../config/message-variables.ts'
import type { MessageVariable } from '../../config/message-variables.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { linkLike } from './links.ts'
import { blot } from './rules/blotted.ts'
import { contentFor, pathsIn, textsOf } from './rules/contents.ts'
import type { ChannelKind, Content } from './rules/contents.ts'
import { segmentsOf } from './rules/segments.ts'
import { parseTemplate, renderTemplate } from './rules/template.ts'
import type { Value, Values } from './rules/template.ts'
import { write } from './compose.ts'
import type { Written } from './compose.ts'
import { readReader } from './reader.ts'
import { propertyOf } from './sending.ts'
import { readTemplate } from './templates.ts'
import { readValues } from './variables.ts'

export type PreviewRequest = {
  number?: number | undefined
  channel: ChannelKind
  locale: string
  reservationId?: string | undefined
  paymentId?: string | undefined
  issueId?: string | undefined
}
export type Preview = Written & {
  locale: string
  /** SMS that the text is sent as; null for other channels. */
  segments: number | null
  /** Variables without a value and without a default. */
  missing: string[]
}

const sampleOf = ({ type, example }: MessageVariable, currency: string): Value => {
  switch (type) {
    case 'day':
      return { type, day: String(example) }
    case 'instant':
      return { type, at: new Date(String(example)) }
    case 'clock':
      return { type, time: String(example) }
    case 'money':
      return { type, amount: Number(example), currency }
    default:
      return example
  }
}

/** The property of a real record, whose reader is judged by it; null for a sample. 404 */
export const propertyOfPreview = async (
  trx: Trx,
  { reservationId, paymentId, issueId }: PreviewRequest,
): Promise<string | null> => {
  const table = reservationId ? 'reservation' : paymentId ? 'payment' : 'issue'
  const id = reservationId ?? paymentId ?? issueId
  if (id === undefined) return null
  const found = await sqlOne<{ propertyId: string }>(trx, `select property_id from ?? where id = ?`, [table, id])
  if (!found) throw notFound()
  return found.propertyId
}

const realValues = async (trx: Trx, request: PreviewRequest, propertyId: string, content: Content): Promise<Values> => {
  const { reservationId = null, paymentId = null, issueId = null } = request
  const about = { reservationId, paymentId }
  const issue = issueId
    ? await sqlOne<{ guestId: string | null }>(trx, `select guest_id from issue where id = ?`, [issueId])
    : null
  const id = '00000000-0000-4000-8000-000000000000'
  const property = await propertyOf(trx, propertyId)
  const reader = await readReader(trx, { id, recipient: null, guestId: issue?.guestId ?? null, ...about })
  if (!property) throw notFound()
  const nobody = { guestId: null, firstName: '', lastName: '', email: null, phone: null, language: null }
  return readValues(trx, {
    message: { id, data: {}, issueId, ...about },
    property,
    reader: reader ?? nobody,
    locale: content.locale,
    kind: request.channel,
    named: pathsIn(content),
    masked: true,
  })
}

/** Values with links and codes of the usual length and alphabet in place of those that are blotted out, which would count as other characters. */
const unblotted = async (trx: Trx, values: Values, known: readonly MessageVariable[]): Promise<Values> => {
  const like = new Map(values)
  for (const { path, secret, example } of known)
    if (secret && values.get(path) === blot) like.set(path, (await linkLike(trx, path)) ?? String(example))
  return like
}

const missingIn = (content: Content, values: Values, known: readonly MessageVariable[]): string[] => [
  ...new Set(
    textsOf(content).flatMap(([, text]) =>
      text === null
        ? []
        : renderTemplate(parseTemplate(text, known, '').template, values, {
            as: 'text',
            locale: content.locale,
            timeZone: 'UTC',
          }).missing,
    ),
  ),
]

/** A version as it would be sent, with a real record or with samples; secrets are blotted out. Without a number: the draft, else the version in use. 404, 400 */
export const previewTemplate = async (trx: Trx, id: string, request: PreviewRequest): Promise<Preview> => {
  const { versions, context, publishedNumber } = await readTemplate(trx, id)
  const number =
    request.number ?? versions.find(({ status }) => status === 'draft')?.number ?? publishedNumber ?? undefined
  const version = versions.find((one) => one.number === number)
  if (!version) throw notFound('The template has no such version')
  const content = contentFor(version.contents, request.channel, request.locale, [])
  if (!content) throw invalid([{ field: 'channel', message: `the version has no content for ${request.channel}` }])
  const propertyId = await propertyOfPreview(trx, request)
  const house = await sqlOne<{ currency: string; timezone: string }>(
    trx,
    `select currency, timezone from property where ?::uuid is null or id = ?::uuid order by created_at, id limit 1`,
    [propertyId, propertyId],
  )
  const known = messageVariables[context]
  const values =
    propertyId === null
      ? new Map(known.map((variable) => [variable.path, sampleOf(variable, house?.currency ?? 'BRL')]))
      : await realValues(trx, request, propertyId, content)
  const zone = house?.timezone ?? 'UTC'
  const written = write(content, context, values, zone)
  const segments = async () => segmentsOf(write(content, context, await unblotted(trx, values, known), zone).text)
  return {
    ...written,
    locale: content.locale,
    segments: request.channel === 'sms' ? await segments() : null,
    missing: missingIn(content, values, known),
  }
}
