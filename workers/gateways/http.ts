import type { Outcome } from '../lib/gateway-job.ts'

export type Request = {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: unknown
  timeoutMs: number
  signal: AbortSignal
}

type Answer = { kind: 'answered'; status: number; body: unknown; afterMs: number | undefined }

// Failures that cannot have reached the other side: no connection was made.
const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.cause ? codeOf(error.cause) : error.name
}

const largest = 1_000_000

const read = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (text.length > largest) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Sends once. No redirect is followed, nothing is repeated. */
const send = async ({ url, method, headers, body, timeoutMs, signal }: Request): Promise<Answer | Outcome<never>> => {
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const seconds = Number(response.headers.get('retry-after'))
    return {
      kind: 'answered',
      status: response.status,
      body: await read(response),
      afterMs: Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) * 1000 : undefined,
    }
  } catch (error) {
    const code = codeOf(error)
    return neverConnected.has(code) ? { kind: 'not_sent', code } : { kind: 'unknown', code }
  }
}

type Refusal = { error: { code: string; message: string; notProcessed?: boolean } }

const refusalOf = (body: unknown): Refusal['error'] | null => {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null
  return typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string' &&
    'message' in error
    ? (error as Refusal['error'])
    : null
}

/**
 * One call and what came of it (R6). Only a 200 or 201 whose body `understand` accepts is known; a 4xx that names its reason is a
 * refusal; 429, and a 503 that says that nothing was done, were not sent; everything else is unknown.
 */
export const ask = async <S>(
  request: Request,
  understand: (body: unknown) => { snapshot: S; reference?: string } | null,
): Promise<Outcome<S>> => {
  const answer = await send(request)
  if (answer.kind !== 'answered') return answer
  const { status: httpStatus, body, afterMs } = answer
  if (httpStatus === 200 || httpStatus === 201) {
    const understood = understand(body)
    return understood
      ? { kind: 'known', httpStatus, ...understood }
      : { kind: 'unknown', code: 'unexpected_reply', httpStatus }
  }
  const refusal = refusalOf(body)
  if (httpStatus === 429 || (httpStatus === 503 && refusal?.notProcessed === true))
    return { kind: 'not_sent', code: refusal?.code ?? 'busy', httpStatus, afterMs }
  if (httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408 && httpStatus !== 409 && refusal)
    return { kind: 'refused', code: refusal.code, message: refusal.message, httpStatus }
  return { kind: 'unknown', code: refusal?.code ?? 'unexpected_status', httpStatus }
}
