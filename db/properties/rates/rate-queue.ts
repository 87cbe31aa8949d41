import { ApiError } from '../../../config/errors.ts'
import { rateChangeFailed } from '../../../config/events/rates.ts'
import { applyRateChange as applyRateChangeJob } from '../../../jobs/properties.ts'
import { contextOf, isUnreachable, logOf, sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { fromDatabase } from '../../lib/errors.ts'
import { emit } from '../../lib/events.ts'
import { lockForChange, lockProperty } from '../../lib/locked-property.ts'
import { compute, computeRevert, write } from './rate-application.ts'
import type { RateChange } from './rate-application.ts'
import { lockRates } from './rate-cells.ts'

/** Number of tries before a change has failed, so that those behind it do not wait for ever. */
const mostTries = { unforeseen: 5, passing: 20 }

type Waiting = Pick<RateChange, 'id' | 'propertyId' | 'items' | 'revertsId'>

/**
 * The first change of rates that waits at a property. Changes are applied in the order of the commits that asked for them. An insert takes its number under the
 * lock of the property's row, and the commit releases that lock. A property has one job at a time, for its first change. The end of that job asks for the next,
 * so that no change waits in a worker.
 */
const firstWaiting = (trx: Trx, propertyId: string) =>
  sqlOne<Waiting>(
    trx,
    `select id, property_id, items, reverts_id from rate_change where property_id = ? and status = 'queued' order by seq limit 1`,
    [propertyId],
  )

export const isAnyWaiting = async (trx: Trx, propertyId: string): Promise<boolean> =>
  (await sqlOne(trx, `select 1 as one from rate_change where property_id = ? and status = 'queued' limit 1`, [
    propertyId,
  ])) !== null

export const countWaiting = async (trx: Trx, propertyId: string): Promise<number> =>
  (
    await sqlOne<{ count: number }>(
      trx,
      `select count(*) as count from rate_change where property_id = ? and status = 'queued'`,
      [propertyId],
    )
  )?.count ?? 0

// Read, and not left to the unique key alone: that would wait for the job's own transaction, which waits for the property's row.
const hasJob = async (trx: Trx, tenantId: string, id: string): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select 1 as one from jobs where coalesce(tenant_id, '00000000-0000-0000-0000-000000000000'::uuid) = ? and kind = ? and unique_key = ?
       and status <> 'dead' limit 1`,
    [tenantId, applyRateChangeJob.name, id],
  )) !== null

/**
 * Asks for the job of what is first, unless it stands; one that died, or that an operator took away, is made anew. The caller holds the property's row:
 * a job that has seen nothing waiting cannot overlook what is just being asked for.
 */
export const askForNext = async (trx: Trx, propertyId: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a change of rates belongs to a tenant')
  const next = await firstWaiting(trx, propertyId)
  if (!next || (await hasJob(trx, tenantId, next.id))) return
  await enqueue(trx, applyRateChangeJob, { tenantId, rateChangeId: next.id }, { uniqueKey: next.id })
}

/** Properties, by id, whose first change waits for a job that is not there: ids alone. */
export const stuckRates = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string; propertyId: string }>(trx, `select tenant_id, property_id from rates_stuck(?, ?)`, [
    after,
    most,
  ])

const hasDeadJob = async (trx: Trx, tenantId: string, id: string): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select 1 as one from jobs where tenant_id = ? and kind = ? and unique_key = ? and status = 'dead' limit 1`,
    [tenantId, applyRateChangeJob.name, id],
  )) !== null

/**
 * The work of the clock on changes that wait. Where the job of the first change was taken away, it is asked for again. Where that job died, the change fails,
 * so that the changes behind it go on. A job that ends its process each time dies so.
 */
export const resumeRates = async (trx: Trx, propertyId: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a change of rates belongs to a tenant')
  await lockRates(trx, propertyId)
  await lockProperty(trx, propertyId)
  const first = await firstWaiting(trx, propertyId)
  if (first && !(await hasJob(trx, tenantId, first.id)) && (await hasDeadJob(trx, tenantId, first.id)))
    await fail(trx, first, unforeseen)
  await askForNext(trx, propertyId)
}

const unforeseen = { code: 'unexpected', message: 'It could not be written; what happened is in the log of the worker' }

/** Why a change has failed; null: another try may pass. */
const refusalOf = (error: unknown, attempt: number): { code: string; message: string } | null => {
  if (isUnreachable(error)) return null
  const known = error instanceof ApiError ? error : fromDatabase(error)
  if (known && ([400, 404, 422].includes(known.status) || known.code === 'invalid_transition')) return known
  if (attempt < (known ? mostTries.passing : mostTries.unforeseen)) return null
  return unforeseen
}

const fail = async (trx: Trx, { id, propertyId }: Waiting, refusal: { code: string; message: string }) => {
  await sql(trx, `update rate_change set status = 'failed', error = ?, version = version + 1 where id = ?`, [
    refusal.message,
    id,
  ])
  await emit(trx, rateChangeFailed, {
    propertyId,
    id,
    version: null,
    data: { rateChangeId: id, ranges: [] },
  })
}

const apply = async (trx: Trx, change: Waiting) => {
  const { propertyId, revertsId } = change
  const computed =
    revertsId === null ? await compute(trx, propertyId, change.items) : await computeRevert(trx, propertyId, revertsId)
  await write(trx, change, computed)
  // Its row is held by now: one that was archived meanwhile is read only.
  await lockForChange(trx, propertyId)
}

/**
 * Applies a queued change, if it is the first of its property: all its cells, or none and the reason. One that is done is left alone; one that has others
 * before it is asked for again by the last of them, whatever order the jobs come in. `attempt`: of its job.
 */
export const applyRateChange = async (trx: Trx, id: string, attempt = 1): Promise<void> => {
  const place = await sqlOne<{ propertyId: string }>(trx, `select property_id from rate_change where id = ?`, [id])
  if (!place) return
  const { propertyId } = place
  await lockRates(trx, propertyId)
  const named = await sqlOne(trx, `select 1 as one from rate_change where id = ? and status = 'queued'`, [id])
  const change = named && (await firstWaiting(trx, propertyId))
  if (change?.id === id) {
    await sql(trx, `savepoint change`)
    try {
      await apply(trx, change)
      // Here, since what was written and not waited for is sent with it.
      await sql(trx, `release savepoint change`)
    } catch (error) {
      const refusal = refusalOf(error, attempt)
      if (!refusal) throw error
      await sql(trx, `rollback to savepoint change; release savepoint change`)
      await fail(trx, change, refusal)
      if (refusal.code === 'unexpected')
        logOf(trx).error({ err: error, rateChangeId: id }, 'a change of rates has failed')
    }
  }
  await lockProperty(trx, propertyId)
  await askForNext(trx, propertyId)
}
