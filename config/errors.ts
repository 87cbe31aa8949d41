export type FieldError = { field: string; message: string }

type Details = {
  errors?: FieldError[] | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
  headers?: Record<string, string>
}

/** An answer to the caller. `code` is stable; `message` says what a person can do about it. Nothing secret in either. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly errors: FieldError[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: Record<string, string> | undefined

  constructor(status: number, code: string, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.errors = details.errors
    this.retryAfterSeconds = details.retryAfterSeconds
    this.headers = details.headers
  }
}

export const invalid = (errors: FieldError[], code = 'validation_failed', message = 'The request is not valid') =>
  new ApiError(400, code, message, { errors: errors.slice(0, 50) })
export const unauthenticated = (code = 'unauthenticated', message = 'Sign in, or send an API key') =>
  new ApiError(401, code, message)
export const forbidden = (code = 'forbidden', message = 'Insufficient permissions', errors?: FieldError[]) =>
  new ApiError(403, code, message, { errors })
export const notFound = (message = 'Not found', code = 'not_found') => new ApiError(404, code, message)
export const conflict = (code: string, message: string, errors?: FieldError[]) =>
  new ApiError(409, code, message, { errors })
export const versionConflict = (version: number) =>
  conflict('version_conflict', `The record has changed meanwhile; its version is now ${version}`)
export const unprocessable = (code: string, message: string, errors?: FieldError[]) =>
  new ApiError(422, code, message, { errors })
export const tooMany = (code: string, message: string, retryAfterSeconds: number) =>
  new ApiError(429, code, message, { retryAfterSeconds })
export const unavailable = (
  message = 'A part that this request needs is down; try again shortly',
  retryAfterSeconds = 2,
) => new ApiError(503, 'service_unavailable', message, { retryAfterSeconds })

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

/** What a command has read was changed before it had its locks: it is repeated once, on what holds now. */
export const overtaken = () =>
  withRecovery(conflict('inventory_contended', 'Another change came first; repeat the request'), () =>
    Promise.resolve(true),
  )
