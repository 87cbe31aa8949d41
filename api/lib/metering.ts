import { randomUUID } from 'node:crypto'
import { ApiError } from '../../config/errors.ts'
import { log } from '../../config/log.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { recordUsage } from '../../db/lib/usage.ts'
import type { Used } from '../../db/lib/usage.ts'
import type { Caller } from './caller.ts'

const everyMs = 10_000
const self = randomUUID()

let counts = new Map<string, Used>()
/** Use to be written. It is sent again under its key until PostgreSQL has taken it. */
let parcel: { key: string; used: Used[] } | null = null
let parcels = 0
let writing: Promise<void> = Promise.resolve()
let timer: NodeJS.Timeout | null = null

const write = async () => {
  if (!parcel) {
    if (counts.size === 0) return
    parcel = { key: `${self}:${(parcels += 1)}`, used: [...counts.values()] }
    counts = new Map()
  }
  const { key, used } = parcel
  await inPlatform((trx) => recordUsage(trx, 'api.requests', key, used))
  parcel = null
}

/** Writes what was counted since the last time; what could not be written goes first the next time. */
export const writeMetered = (): Promise<void> => {
  writing = writing
    .then(write)
    .catch((error: unknown) => log.warn({ err: error }, 'requests by key are not written yet'))
  return writing
}

const count = (tenantId: string) => {
  const known = counts.get(tenantId)
  counts.set(tenantId, { tenantId, quantity: (known?.quantity ?? 0) + 1, at: new Date() })
}

// Requests that the tenant's rules or limits refuse are not use, and failures of the service are not charged.
const isUse = (error: unknown) =>
  error instanceof ApiError && error.status < 500 && ![401, 403, 429].includes(error.status)

/** Counts a request that came with an API key, once it was let in: one unit of `api.requests`. */
export const metered = async <T>(caller: Caller, work: () => Promise<T>): Promise<T> => {
  if (caller.kind !== 'api_key') return work()
  try {
    const result = await work()
    count(caller.tenantId)
    return result
  } catch (error) {
    if (isUse(error)) count(caller.tenantId)
    throw error
  }
}

/** Writes every ten seconds what was counted. */
export const startMetering = (): void => {
  timer = setInterval(() => void writeMetered(), everyMs).unref()
}

/** Writes the rest before the process ends. */
export const stopMetering = async (): Promise<void> => {
  if (timer) clearInterval(timer)
  await writeMetered()
  if (parcel === null && counts.size > 0) await writeMetered()
}
