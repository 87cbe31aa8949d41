import { statusOf } from './error-codes.ts'
import type { CodeOf, ErrorCode } from './error-codes.ts'

export type FieldError = { field: string; message: string }

type Details = {
  errors?: FieldError[] | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
  headers?: Record<string, string>
}

/** An answer to the caller. `code` decides the status; `message` says what a person can do about it. Nothing secret in either. */
export class ApiError extends Error {
  readonly status: number
  readonly code: ErrorCode
  readonly errors: FieldError[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: Record<string, string> | undefined

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'ApiError'
    this.status = statusOf(code)
    this.code = code
    this.errors = details.errors
    this.retryAfterSeconds = details.retryAfterSeconds
    this.headers = details.headers
  }
}

export const invalid = (
  errors: FieldError[],
  code: CodeOf<400> = 'validation_failed',
  message = 'The request is not valid',
) => new ApiError(code, message, { errors: errors.slice(0, 50) })
export const unauthenticated = (code: CodeOf<401> = 'unauthenticated', message = 'Sign in, or send an API key') =>
  new ApiError(code, message)
export const forbidden = (
  code: CodeOf<403> = 'forbidden',
  message = 'Insufficient permissions',
  errors?: FieldError[],
) => new ApiError(code, message, { errors })
export const notFound = (message = 'Not found', code: CodeOf<404> = 'not_found') => new ApiError(code, message)
export const conflict = (code: CodeOf<409>, message: string, errors?: FieldError[]) =>
  new ApiError(code, message, { errors })
export const versionConflict = (version: number) =>
  conflict('version_conflict', `The record has changed meanwhile; its version is now ${version}`)
export const unprocessable = (code: CodeOf<422>, message: string, errors?: FieldError[]) =>
  new ApiError(code, message, { errors })
export const tooMany = (code: CodeOf<429>, message: string, retryAfterSeconds: number) =>
  new ApiError(code, message, { retryAfterSeconds })
export const unavailable = (
  message = 'A part that this request needs is down; try again shortly',
  retryAfterSeconds = 2,
) => new ApiError('service_unavailable', message, { retryAfterSeconds })

/** An error with one of its fields by another name: that of the request, where a command names its own. Any other error is answered as it is. */
export const renamedField = (error: unknown, from: string, to: string): unknown =>
  renamedFields(error, (field) => (field === from ? to : field))

/** The error with other names of its fields; itself where none changes. */
export const renamedFields = (error: unknown, nameOf: (field: string) => string): unknown => {
  if (!(error instanceof ApiError) || !error.errors?.some(({ field }) => nameOf(field) !== field)) return error
  const { code, message, retryAfterSeconds, headers } = error
  const errors = error.errors.map((one) => ({ ...one, field: nameOf(one.field) }))
  return new ApiError(code, message, {
    errors,
    cause: error,
    ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
    ...(headers ? { headers } : {}),
  })
}

const recoveries = new WeakMap<Error, () => Promise<boolean>>()

/**
 * Attaches a way out to an error: the opener of the transaction runs it once for each code, outside the failed transaction,
 * and repeats the work when it resolves to true.
 */
export const withRecovery = <E extends Error>(error: E, recover: () => Promise<boolean>): E => {
  recoveries.set(error, recover)
  return error
}
export const recoveryOf = (error: unknown) => (error instanceof Error ? recoveries.get(error) : undefined)

/** A record changed between a command's read and its lock. The command is retried once on fresh data. */
export const overtaken = () =>
  withRecovery(conflict('inventory_contended', 'Another change came first; repeat the request'), () =>
    Promise.resolve(true),
  )
