import type { Context } from 'koa'
import { ApiError } from '../../config/errors.ts'
import { log } from '../../config/log.ts'
import { traceIdOf } from '../../config/tracing.ts'
import { fromDatabase } from '../../db/lib/errors.ts'

/** By which the lines of one request are found. */
export type Ids = { requestId: string; traceparent: string }

/** The error as the caller gets it. An unexpected one says nothing but the request's id; the log has the rest. */
export const toApiError = (error: unknown, { requestId, traceparent }: Ids): ApiError => {
  const ids = { requestId, traceId: traceIdOf(traceparent) }
  if (error instanceof ApiError) return error
  const mapped = fromDatabase(error)
  if (mapped) {
    const level = mapped.status >= 500 ? 'warn' : 'info'
    log[level]({ ...ids, err: error }, 'the database refused')
    return mapped
  }
  log.error({ ...ids, err: error }, 'unexpected error')
  return new ApiError(
    'internal_error',
    `Something went wrong on our side; name the request ${requestId} when you report it`,
    { cause: error },
  )
}

/** The error as it is sent: the body of the specification, with `code` and `requestId` beside its fields. */
export const errorReply = (
  failure: ApiError,
  requestId: string,
): { headers: Record<string, string>; body: object } => ({
  headers: {
    'Cache-Control': 'no-store',
    ...(failure.retryAfterSeconds === undefined
      ? {}
      : { 'Retry-After': String(Math.max(1, Math.ceil(failure.retryAfterSeconds))) }),
    ...failure.headers,
  },
  body: {
    statusCode: failure.status,
    code: failure.code,
    message: failure.message,
    ...(failure.errors || failure.status === 400 ? { errors: failure.errors ?? [] } : {}),
    ...(failure.status === 403 ? { error: 'ForbiddenException' } : {}),
    requestId,
  },
})

export const writeError = (ctx: Context, failure: ApiError, requestId: string) => {
  const { headers, body } = errorReply(failure, requestId)
  ctx.status = failure.status
  ctx.set(headers)
  ctx.body = body
}
