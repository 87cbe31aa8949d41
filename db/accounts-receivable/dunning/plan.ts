import type { DunningStep, SkipReason } from '../../../config/dunning.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'

export type DunningRules = { bookId: string; runOn: string; steps: readonly DunningStep[]; minimum: number }
export type PlannedNotice = {
  customerId: string
  receivableId: string
  installmentId: string
  number: string | null
  level: number
  channels: string[]
  stopCredit: boolean
  amount: number
  dueOn: string
  skipReason: SkipReason | null
}

/**
 * Notices that a run would have, in one statement over all that is open (R16): the highest step that each installment has reached, unless that or a higher one
 * was noticed. What was skipped before is looked at again. `:tenantId`, `:bookId`, `:runOn`, `:steps` and `:minimum` are bound.
 */
const planned = `
  with step as (select * from jsonb_to_recordset(cast(:steps as jsonb)) as s (level int, days int, channels jsonb, "stopCredit" boolean)),
  reached as materialized (
    select r.customer_id, r.id as receivable_id, i.id as installment_id, r.number_prefix || r.number as number, s.level,
      array(select jsonb_array_elements_text(s.channels)) as channels, s."stopCredit" as stop_credit, i.open as amount, i.due_on,
      case when c.dunning_exempt then 'exempt' when r.dunning_paused_until >= cast(:runOn as date) then 'paused'
        when (select f.status from fiscal_document f where f.tenant_id = r.tenant_id and f.receivable_id = r.id
          order by f.status in ('rejected', 'cancelled'), f.created_at desc limit 1) = 'rejected' then 'fiscal_rejected' end as reason
    from receivable_installment i
    join receivable r on r.tenant_id = i.tenant_id and r.id = i.receivable_id and r.book_id = :bookId and r.status in ('issued', 'partly_paid')
    join customer c on c.tenant_id = r.tenant_id and c.id = r.customer_id
    cross join lateral (select * from step where i.due_on + step.days <= cast(:runOn as date) order by step.level desc limit 1) s
    where i.tenant_id = :tenantId and i.open > 0
      and not exists (select from dunning_notice n where n.tenant_id = i.tenant_id and n.receivable_id = r.id and n.installment_id = i.id
        and n.level >= s.level and n.status <> 'skipped')
  ),
  planned as (
    select k.*, coalesce(k.reason, case when sum(k.amount) filter (where k.reason is null) over (partition by k.customer_id) < cast(:minimum as bigint)
      then 'below_minimum' end) as skip_reason
    from reached k
  )`

const bound = (trx: Trx, { bookId, runOn, steps, minimum }: DunningRules) => ({
  tenantId: contextOf(trx).tenantId,
  bookId,
  runOn,
  steps: JSON.stringify(steps),
  minimum,
})

/** The notices that a run of a day would send. Stores nothing. */
export const planNotices = (trx: Trx, rules: DunningRules, most: number): Promise<PlannedNotice[]> =>
  sql<PlannedNotice>(
    trx,
    `${planned} select customer_id, receivable_id, installment_id, number, level, channels, stop_credit, amount, due_on, skip_reason
     from planned order by customer_id, due_on, installment_id limit cast(:most as int)`,
    { ...bound(trx, rules), most },
  )

/** Writes the notices of a run, all in one statement. */
export const storeNotices = async (trx: Trx, runId: string, rules: DunningRules): Promise<void> => {
  await sql(
    trx,
    `${planned} insert into dunning_notice (dunning_run_id, customer_id, receivable_id, installment_id, level, channels, stop_credit, amount, due_on, status, skip_reason)
     select cast(:runId as uuid), p.customer_id, p.receivable_id, p.installment_id, p.level, p.channels, p.stop_credit, p.amount, p.due_on,
       case when p.skip_reason is null then 'queued' else 'skipped' end, p.skip_reason
     from planned p order by p.customer_id, p.due_on, p.installment_id
     on conflict on constraint dunning_notice_once do update set dunning_run_id = excluded.dunning_run_id, status = excluded.status,
       skip_reason = excluded.skip_reason, channels = excluded.channels, stop_credit = excluded.stop_credit, amount = excluded.amount,
       due_on = excluded.due_on, message_ids = '{}', version = dunning_notice.version + 1
     where dunning_notice.status = 'skipped'`,
    { ...bound(trx, rules), runId },
  )
}
