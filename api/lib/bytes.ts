import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { unsafe } from '../../config/schema.ts'
import type { Schema } from '../../config/schema.ts'
import type { Answer } from './route.ts'

/** A reply that is not JSON: whole, or as it is read, with its length in bytes and a tag of its content. */
export type BytesReply = {
  mediaType: string
  /** The name under which the reply is saved; without it the reply is shown. */
  fileName?: string
} & ({ bytes: Buffer | string } | { bytes: Readable; length: number; tag: string })

const declared = new WeakMap<Schema, ReadonlySet<string>>()

/** For `returns`: replies of bytes in one of these media types. They are never kept for an Idempotency-Key. */
export const Bytes = (mediaTypes: readonly [string, ...string[]]) => {
  const schema = unsafe<BytesReply>()
  declared.set(schema, new Set(mediaTypes))
  return schema
}

/** The media types of a reply of bytes; null where replies are JSON. */
export const mediaTypesOf = (returns: Schema): ReadonlySet<string> | null => declared.get(returns) ?? null

/** Browsers run scripts of these, and follow their forms: they are shown as of no origin, without scripts. */
const isActive = (mediaType: string) => /^(text\/html|image\/svg\+xml)$|xml$/.test(mediaType)
const sandboxed =
  "sandbox allow-forms; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The body and headers of a reply of bytes. Throws for a media type that the route does not declare. */
export const bytesAnswer = (
  mediaTypes: ReadonlySet<string>,
  reply: BytesReply,
): Pick<Answer, 'body' | 'headers' | 'fileName'> => {
  const { mediaType, fileName } = reply
  if (!mediaTypes.has(mediaType)) throw new Error(`${mediaType} is no media type of this endpoint`)
  const isStream = 'length' in reply
  const body = isStream ? reply.bytes : Buffer.from(reply.bytes)
  const tag = isStream
    ? reply.tag
    : createHash('sha256')
        .update(body as Buffer)
        .digest('base64url')
  return {
    body,
    headers: {
      'Content-Type': mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType,
      ETag: `"${tag}"`,
      ...(isStream ? { 'Content-Length': String(reply.length) } : {}),
      ...(isActive(mediaType) ? { 'Content-Security-Policy': sandboxed } : {}),
    },
    ...(fileName === undefined ? {} : { fileName }),
  }
}
