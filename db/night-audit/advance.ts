import { nightAuditFailed, nightAuditSucceeded } from '../../config/events/night-audit.ts'
import { prepared, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { NightAuditCheckpointRow, NightAuditRow } from '../rows.ts'
import { auditSteps } from './audits.ts'
import type { AuditStep } from './audits.ts'
import { askFor, startDue } from './request.ts'
import { auditedOf, goesThrough, works } from './steps.ts'
import type { Progress } from './steps.ts'
import { countStays, staysAtOnce } from './stays.ts'

/** For so long an audit is its runner's own after each of its transactions. */
const leaseSeconds = 60

/** `over`: succeeded, or not to be run now. `busy`: another runner has it. */
export type Advance = 'more' | 'over' | 'busy'

/** Without what it has found so far, which may be long. */
type Claimed = Pick<
  NightAuditRow,
  'id' | 'propertyId' | 'businessDate' | 'status' | 'step' | 'total' | 'turn' | 'error' | 'version' | 'exceptionCount'
> & { isLeased: boolean }

const claim = (trx: Trx, id: string, runner: string) =>
  sqlOne<Claimed>(
    trx,
    `select a.id, a.property_id, a.business_date, a.status, a.step, a.total, a.turn, a.error, a.version, a.exception_count,
       coalesce(a.lease_until > now() and a.lease_owner <> ?::uuid, false) as is_leased
     from night_audit a where a.id = ? for no key update`,
    [runner, id],
  )

const checkpointOf = (trx: Trx, id: string) =>
  sql<NightAuditCheckpointRow>(trx, `select * from night_audit_checkpoint where night_audit_id = ?`, [id])

type Audit = Pick<NightAuditRow, 'id' | 'propertyId' | 'businessDate' | 'version' | 'exceptionCount'>

const tell = (trx: Trx, event: typeof nightAuditFailed, audit: Audit, step: AuditStep | null) =>
  emit(trx, event, {
    propertyId: audit.propertyId,
    id: audit.id,
    version: audit.version + 1,
    data: {
      nightAuditId: audit.id,
      businessDate: audit.businessDate,
      step,
      exceptionCount: audit.exceptionCount,
    },
  })

/**
 * One transaction of an audit: the next part of its present step, written together with its checkpoint. Killed before the commit it has done nothing, killed
 * after it, the next call goes on behind it. `runner` is the job that holds the lease.
 */
export const advanceNightAudit = async (
  trx: Trx,
  id: string,
  runner: string,
  atOnce = staysAtOnce,
): Promise<Advance> => {
  const audit = await claim(trx, id, runner)
  if (!audit || audit.status === 'succeeded' || audit.status === 'failed') return 'over'
  if (audit.isLeased) return 'busy'
  const checkpoints = await checkpointOf(trx, id)
  const step = auditSteps.find((one) => !checkpoints.some((each) => each.step === one && each.finishedAt !== null))
  if (!step) throw new Error(`night audit ${id} has no step left and did not end`)
  const before = checkpoints.find((one) => one.step === step)
  const of = auditedOf(trx, audit, atOnce)
  const which = goesThrough[step]
  // Before the work: reservations that become no-shows are no longer among those that have not arrived.
  const total = before || which === null ? audit.total : await countStays(trx, of, which)
  const progress = await works[step](trx, of, { lastId: before?.lastId ?? null, done: before?.done ?? 0 })
  await keepCheckpoint(trx, id, step, progress)
  await keepAudit(trx, audit, { step, progress, total: which === null ? 0 : total, runner })
  if (progress.next === undefined) return 'more'
  const exceptionCount = audit.exceptionCount + progress.exceptions.length
  await tell(trx, nightAuditSucceeded, { ...audit, exceptionCount }, step)
  // Missed days are closed one after another (R38).
  await startDue(trx, audit.propertyId)
  return 'over'
}

const keepCheckpoint = (trx: Trx, id: string, step: AuditStep, { lastId, done, isFinished }: Progress) =>
  sql(
    trx,
    `insert into night_audit_checkpoint (night_audit_id, step, last_id, done, finished_at) values (?, ?, ?, ?, case when ?::boolean then now() end)
     on conflict (tenant_id, night_audit_id, step) do update set last_id = excluded.last_id, done = excluded.done, finished_at = excluded.finished_at`,
    [id, step, lastId, done, isFinished],
  )

type Kept = { step: AuditStep; progress: Progress; total: number; runner: string }

const keepAudit = (trx: Trx, audit: Pick<NightAuditRow, 'id'>, { step, progress, total, runner }: Kept) => {
  const isOver = progress.next !== undefined
  return prepared(
    trx,
    `update night_audit set status = :status, step = :step, done = :done, total = greatest(cast(:total as bigint), cast(:done as bigint)),
       exceptions = case when :count = 0 then exceptions else exceptions || cast(:exceptions as jsonb) end, exception_count = exception_count + :count, started_at = coalesce(started_at, now()),
       lease_owner = case when not cast(:isOver as boolean) then cast(:runner as uuid) end,
       lease_until = case when not cast(:isOver as boolean) then now() + make_interval(secs => ${leaseSeconds}) end,
       finished_at = case when cast(:isOver as boolean) then now() end, error = case when not cast(:isOver as boolean) then error end, version = version + 1
     where id = :id`,
    {
      id: audit.id,
      status: isOver ? 'succeeded' : 'running',
      step,
      done: progress.done,
      total,
      exceptions: JSON.stringify(progress.exceptions),
      count: progress.exceptions.length,
      isOver,
      runner,
    },
  )
}

/** The audit cannot go on as things stand; it is resumed where it stopped. What it fails of is told once, not with each try. */
export const failNightAudit = async (trx: Trx, id: string, runner: string, error: string): Promise<void> => {
  const audit = await claim(trx, id, runner)
  if (!audit || audit.isLeased || audit.status === 'succeeded' || audit.status === 'failed') return
  await sql(
    trx,
    `update night_audit set status = 'failed', error = ?, finished_at = now(), lease_owner = null, lease_until = null, version = version + 1 where id = ?`,
    [error.slice(0, 500), id],
  )
  if (audit.error === error.slice(0, 500)) return
  await tell(trx, nightAuditFailed, audit, audit.step)
}

/** Hands a long audit over to a job of its own, in the transaction that ends this one. */
export const handOver = async (trx: Trx, id: string, runner: string): Promise<void> => {
  const audit = await claim(trx, id, runner)
  if (!audit || audit.isLeased || audit.status === 'succeeded' || audit.status === 'failed') return
  await sql(trx, `update night_audit set turn = turn + 1, lease_owner = null, lease_until = null where id = ?`, [id])
  await askFor(trx, { id, turn: audit.turn + 1 })
}
