import type { Context } from 'koa'
import { ApiError } from '../../config/errors.ts'
import { log } from '../../config/log.ts'
import { traceIdOf } from '../../config/tracing.ts'
import { fromDatabase } from '../../db/errors.ts'

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
    500,
    'internal_error',
    `Something went wrong on our side; name the request ${requestId} when you report it`,
    { cause: error },
  )
}

/** Writes the error body of the specification, with `code` and `requestId` beside its fields. */
export const writeError = (ctx: Context, failure: ApiError, requestId: string) => {
  ctx.status = failure.status
  ctx.set('Cache-Control', 'no-store')
  if (failure.retryAfterSeconds !== undefined)
    ctx.set('Retry-After', String(Math.max(1, Math.ceil(failure.retryAfterSeconds))))
  for (const [name, value] of Object.entries(failure.headers ?? {})) ctx.set(name, value)
  ctx.body = {
    statusCode: failure.status,
    code: failure.code,
    message: failure.message,
    ...(failure.errors || failure.status === 400 ? { errors: failure.errors ?? [] } : {}),
    ...(failure.status === 403 ? { error: 'ForbiddenException' } : {}),
    requestId,
  }
}
