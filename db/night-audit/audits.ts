import { notFound } from '../../config/errors.ts'
import { always, whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { onDays } from '../lib/days.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import type { NightAuditCheckpointRow, NightAuditRow } from '../rows.ts'

/** The steps of a night audit, in their order (R36). */
export const auditSteps = [
  'exceptions',
  'no_shows',
  'room_charges',
  'extra_charges',
  'snapshot',
  'housekeeping',
  'roll',
] as const
export type AuditStep = (typeof auditSteps)[number]

/** Something that a person should look at; it stops nothing. */
export type AuditException = { code: string; reservationId: string | null; message: string }

export type NightAudit = Omit<NightAuditRow, 'tenantId' | 'exceptions' | 'turn' | 'leaseOwner' | 'leaseUntil'>
export type NightAuditWithSteps = NightAudit & {
  exceptions: AuditException[]
  steps: Pick<NightAuditCheckpointRow, 'step' | 'done' | 'finishedAt'>[]
}

const columns = `id, property_id, business_date, status, step, done, total, exception_count, started_by, started_at, finished_at, error, version, created_at, updated_at`

type Filter = Paging & {
  propertyId?: string | undefined
  status?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Night audits by business date, the newest first. */
export const listNightAudits = (trx: Trx, { scope, ...filter }: Filter) =>
  readPage<NightAudit>(
    trx,
    {
      columns,
      from: 'night_audit',
      conditions: [
        ...inScope(scope, 'property_id'),
        ...where('property_id = ?', filter.propertyId),
        ...where('status = ?', filter.status),
      ],
      days: onDays('business_date', filter),
      order: 'business_date desc, id desc',
    },
    filter,
  )

export const readNightAudit = async (trx: Trx, id: string, scope: Condition = always): Promise<NightAudit> => {
  const row = await sqlOne<NightAudit>(trx, `select ${columns} from night_audit where id = ? and ?`, [
    id,
    whereOf(scope, { propertyId: 'property_id' }),
  ])
  if (!row) throw notFound()
  return row
}

/** A night audit with the progress of each step and a page of its exceptions; `exceptionCount` is their total number. */
export const readNightAuditSteps = async (
  trx: Trx,
  id: string,
  scope: Condition,
  { page, limit }: Paging,
): Promise<NightAuditWithSteps> => {
  const audit = await readNightAudit(trx, id, scope)
  const exceptions = await sql<AuditException>(
    trx,
    `select e.found ->> 'code' as code, e.found ->> 'reservationId' as reservation_id, e.found ->> 'message' as message
     from night_audit a cross join lateral jsonb_array_elements(a.exceptions) with ordinality as e (found, place)
     where a.id = ? order by e.place offset ? limit ?`,
    [id, (page - 1) * limit, limit],
  )
  const steps = await sql<Pick<NightAuditCheckpointRow, 'step' | 'done' | 'finishedAt'>>(
    trx,
    `select step, done, finished_at from night_audit_checkpoint where night_audit_id = ?`,
    [id],
  )
  return {
    ...audit,
    exceptions,
    steps: steps.sort((a, b) => auditSteps.indexOf(a.step) - auditSteps.indexOf(b.step)),
  }
}
