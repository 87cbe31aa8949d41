import { createHash } from 'node:crypto'
import { ApiError } from '../../config/errors.ts'
import type { KeptError } from '../../db/jobs/index.ts'

/** Ends the job at once, as dead: another try cannot pass. */
export class GivenUp extends Error {
  readonly reason: string
  constructor(reason: string, message: string) {
    super(message)
    this.name = 'GivenUp'
    this.reason = reason
  }
}

/** Ends the job without effect: there is nothing to do any more. */
export class Skipped extends Error {
  readonly reason: string
  constructor(reason: string) {
    super(reason)
    this.name = 'Skipped'
    this.reason = reason
  }
}

/** A failure that says itself how long to wait at least. */
export class RetryLater extends Error {
  readonly afterMs: number
  constructor(message: string, afterMs: number) {
    super(message)
    this.name = 'RetryLater'
    this.afterMs = afterMs
  }
}

/** The job waits for something of ours, such as a slot. It goes back without counting. */
export class PutBack extends Error {
  readonly afterMs: number
  constructor(afterMs: number) {
    super('goes back')
    this.name = 'PutBack'
    this.afterMs = afterMs
  }
}

export class TimedOut extends Error {
  constructor(ms: number) {
    super(`not done within ${ms} ms`)
    this.name = 'TimedOut'
  }
}

/** The process ends; the job goes back without counting this start. */
export class Returned extends Error {
  constructor() {
    super('returned by a process that ends')
    this.name = 'Returned'
  }
}

/** Another start owns the job, or it is over: this one has no effect. */
export class Ghost extends Error {}

/** The gate of the job's provider is closed. */
export class Closed extends Error {}

/** The account refuses our credentials: the job waits at its gate, and no try is used up. */
export class AtGate extends Error {
  readonly code: string
  constructor(code: string) {
    super('the account that this job calls refuses our credentials')
    this.name = 'AtGate'
    this.code = code
  }
}

/** The payload is of a version that only newer code knows. */
export class Newer extends Error {}

const codeOf = (error: unknown): string => {
  if (error instanceof GivenUp) return error.reason
  if (error instanceof ApiError) return error.code
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** The error as the row keeps it. Line numbers do not enter the hash, so one cause groups across releases. */
export const keptError = (error: unknown): KeptError => {
  const stack = error instanceof Error ? (error.stack ?? null) : null
  return {
    code: codeOf(error),
    message: (error instanceof Error ? error.message : String(error)).slice(0, 500),
    stack: stack?.slice(0, 2_000) ?? null,
    stackHash: stack === null ? null : createHash('sha256').update(framesOf(stack)).digest('hex').slice(0, 16),
    at: new Date().toISOString(),
  }
}

const framesOf = (stack: string) =>
  stack
    .split('\n')
    .slice(1)
    .map((line) =>
      line.replace(/:\d+:\d+\)?$/, '').replace(/^.*[/\\](node_modules|db|workers|jobs|config)[/\\]/, '$1/'),
    )
    .join('\n')
