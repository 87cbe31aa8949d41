import { invalid } from '../../../config/errors.ts'
import { settings } from '../../../config/env.ts'
import { closeBillingPeriod } from '../../../jobs/admin.ts'
import { audit } from '../../lib/audit.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { readPage } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import { runAt, settleHours } from './close.ts'

type Parked = { tenantId: string; code: string; message: string }
export type BillingRun = {
  id: string
  date: string
  status: 'running' | 'done' | 'parked'
  tenants: number
  issued: number
  parked: Parked[]
  createdAt: Date
}

const columns = `r.id, r.date::text as date, r.tenants, r.issued, r.parked, r.created_at,
  case when jsonb_array_length(r.parked) > 0 then 'parked' when r.issued >= r.tenants then 'done' else 'running' end as status`

export const listRuns = (trx: PlatformTrx, paging: Paging) =>
  readPage<BillingRun>(trx, { columns, from: 'billing_run r', conditions: [], order: 'r.date desc' }, paging)

const readRun = async (trx: PlatformTrx, id: string): Promise<BillingRun> => {
  const row = await sqlOne<BillingRun>(trx, `select ${columns} from billing_run r where r.id = ?`, [id])
  if (!row) throw new Error(`the run ${id} is not there`)
  return row
}

const runFor = async (trx: PlatformTrx, date: string): Promise<string> => {
  await sql(trx, `insert into billing_run (date) values (?) on conflict (date) do nothing`, [date])
  const row = await sqlOne<{ id: string }>(trx, `select id from billing_run where date = ? for update`, [date])
  return row?.id ?? ''
}

type Due = { tenantId: string; periodStart: string }
type Asked = { tenantIds?: readonly string[] | undefined; force?: readonly string[] | undefined }

/** Asks for the close of each period that is over by the time of the run; one that waits or runs is not asked for again. */
const askForDue = async (trx: PlatformTrx, runId: string, { tenantIds, force = [] }: Asked): Promise<void> => {
  const due = await sql<Due>(
    trx,
    `select s.tenant_id, s.period_start::text as period_start from subscription s join tenant t on t.id = s.tenant_id, billing_run r
     where r.id = :runId and t.status <> 'deleted' and not exists (select from tenant_move m where m.tenant_id = t.id and m.direction = 'out')
       and (:all::boolean or s.tenant_id = any(:tenantIds::uuid[]))
       and s.period_end::timestamp at time zone t.time_zone + make_interval(hours => :hours::int)
         <= ${runAt}
     order by s.tenant_id`,
    { runId, all: tenantIds === undefined, tenantIds: tenantIds ?? [], hours: settleHours },
  )
  const asked: string[] = []
  for (const { tenantId, periodStart } of due) {
    const made = await enqueue(
      trx,
      closeBillingPeriod,
      { tenantId, periodStart, billingRunId: runId, force: force.includes(tenantId) },
      { uniqueKey: `${tenantId} ${periodStart}` },
    )
    if (made !== null) asked.push(tenantId)
  }
  // A tenant that is asked for again was counted before, and is set aside no more.
  if (asked.length > 0)
    await sql(
      trx,
      `with others as (
         select coalesce(jsonb_agg(p), '[]') as parked from billing_run r, jsonb_array_elements(r.parked) p
         where r.id = :runId and not (p->>'tenantId' = any(:asked::text[])))
       update billing_run set parked = others.parked, tenants = greatest(tenants, issued + jsonb_array_length(others.parked) + :count::int)
       from others where id = :runId`,
      { runId, asked, count: asked.length },
    )
}

/** The hourly look: what is over by now, in the run of this day. */
export const runToday = async (trx: PlatformTrx): Promise<void> => {
  const [row] = await sql<{ today: string }>(trx, `select (now() at time zone 'UTC')::date::text as today`)
  await askForDue(trx, await runFor(trx, row?.today ?? ''), {})
}

const mostAhead = 400

/** Runs billing for a date, today unless said, and asks again for what was parked. A date ahead closes now what would be due then; never in production. */
export const startRun = async (
  trx: PlatformTrx,
  { date, ...asked }: Asked & { date?: string | undefined },
): Promise<BillingRun> => {
  const [row] = await sql<{ today: string; ahead: number }>(
    trx,
    `select (now() at time zone 'UTC')::date::text as today, coalesce(?::date - (now() at time zone 'UTC')::date, 0) as ahead`,
    [date ?? null],
  )
  const ahead = row?.ahead ?? 0
  if (ahead < 0) throw invalid([{ field: 'date', message: 'must not be past' }])
  if (ahead > mostAhead) throw invalid([{ field: 'date', message: `must be at most ${mostAhead} days ahead` }])
  if (ahead > 0 && settings.production) throw invalid([{ field: 'date', message: 'must not lie ahead in production' }])
  if (ahead > 0 && asked.tenantIds === undefined)
    throw invalid([{ field: 'tenantIds', message: 'is required for a date ahead' }])
  const id = await runFor(trx, date ?? row?.today ?? '')
  await askForDue(trx, id, asked)
  await audit(trx, {
    tenantId: null,
    action: 'billing_run.create',
    subjectType: 'BillingRun',
    subjectId: id,
    changes: [
      { field: 'date', after: date ?? row?.today },
      ...(asked.tenantIds === undefined ? [] : [{ field: 'tenantIds', after: asked.tenantIds }]),
      ...(asked.force === undefined || asked.force.length === 0 ? [] : [{ field: 'force', after: asked.force }]),
    ],
  })
  return readRun(trx, id)
}
