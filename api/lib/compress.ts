import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'koa'

const least = 4096
const squeezed = /^(application\/(json|javascript|xml)|text\/|image\/svg)/

const byName = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 5 }),
}
type Encoding = keyof typeof byName

/** Bodies that are sent again and again, such as files of the reference, are compressed once. */
const known = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>()

const compressed = (bytes: Buffer, encoding: Encoding): Promise<Buffer> => {
  const made = known.get(bytes) ?? new Map<Encoding, Promise<Buffer>>()
  known.set(bytes, made)
  const one = made.get(encoding) ?? byName[encoding](bytes)
  made.set(encoding, one)
  return one
}

/** JSON ends with a newline, so that a prompt stands below what a terminal shows. */
const bytesOf = (body: unknown): Buffer | null => {
  if (Buffer.isBuffer(body)) return body
  if (typeof body === 'string') return Buffer.from(body)
  const isJson = typeof body === 'object' && body !== null && !('pipe' in body)
  return isJson ? Buffer.from(`${JSON.stringify(body)}\n`) : null
}

/** Sends a reply as bytes: JSON with a newline at its end, and large texts compressed where the caller takes that. */
export const encode = async (ctx: Context): Promise<void> => {
  const bytes = bytesOf(ctx.body)
  if (bytes === null) return
  const type = ctx.response.get('Content-Type') || 'application/json; charset=utf-8'
  const { status } = ctx
  ctx.body = bytes
  ctx.status = status
  ctx.set('Content-Type', type)
  if (bytes.length < least || !squeezed.test(type) || ctx.response.get('Content-Encoding') || status === 304) return
  ctx.vary('Accept-Encoding')
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity')
  if (encoding !== 'br' && encoding !== 'gzip') return
  ctx.body = await compressed(bytes, encoding)
  ctx.set('Content-Type', type)
  ctx.set('Content-Encoding', encoding)
}
