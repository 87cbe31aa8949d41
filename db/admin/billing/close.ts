import { subscriptionInvoiceIssued, subscriptionInvoicePaid } from '../../../config/events/admin.ts'
import { moneyText } from '../../../config/minor-units.ts'
import { addDays } from '../../../config/time.ts'
import { later, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { periodEnd } from '../rules/periods.ts'
import { totalOf } from '../rules/lines.ts'
import { billOf, customerOf, readFacts } from './bill.ts'
import { startCollection } from './collect/start.ts'
import { tellOwners } from '../notices.ts'

/** An invoice is made once its period is over for so long: what was used in it is counted by then. */
export const settleHours = 6
const dueDays = 10
const surprising = { times: 10, by: 100_000 }

type Run = { id: string; at: Date }
type Closing = { tenantId: string; periodStart: string; runId: string; force: boolean }

/** The instant by which a period must be over for a run `r`. A run of a day ahead closes what is due by the end of that day. */
export const runAt = `greatest(now(), case when r.date > (r.created_at at time zone 'UTC')::date
  then (r.date + 1)::timestamp at time zone 'UTC' else now() end)`

const runOf = (trx: Trx, runId: string): Promise<Run | null> =>
  sqlOne<Run>(trx, `select r.id, ${runAt} as at from billing_run r where r.id = ?`, [runId])

const othersParked = `coalesce((select jsonb_agg(p) from jsonb_array_elements(parked) p where p->>'tenantId' <> :tenantId), '[]')`

/** Sets a tenant aside: the run goes on without it, and an operator looks. */
const park = (trx: Trx, runId: string, tenantId: string, code: string, message: string) =>
  sql(
    trx,
    `update billing_run set parked = ${othersParked}
       || jsonb_build_array(jsonb_build_object('tenantId', :tenantId::text, 'code', :code::text, 'message', :message::text)) where id = :runId`,
    { runId, tenantId, code, message },
  )

/** Sets a tenant aside whose close failed again and again. */
export const parkFailed = async (
  trx: Trx,
  { tenantId, periodStart, runId }: Pick<Closing, 'tenantId' | 'periodStart' | 'runId'>,
  message: string,
): Promise<void> => {
  const row = await sqlOne(trx, `select 1 from subscription where tenant_id = ? and period_start = ?::date`, [
    tenantId,
    periodStart,
  ])
  if (row) await park(trx, runId, tenantId, 'close_failed', message.slice(0, 300))
}

/** Counts with the commit: every close of a run counts in its one row. */
const countIssued = (trx: Trx, runId: string, tenantId: string): void =>
  later(trx, `update billing_run set issued = issued + 1, parked = ${othersParked} where id = :runId`, {
    runId,
    tenantId,
  })

/** The next number of the year. It is held until the commit, so it is taken last. */
const takeNumber = async (trx: Trx, invoiceId: string): Promise<{ number: string; dueOn: string }> => {
  const row = await sqlOne<{ number: string; dueOn: string }>(
    trx,
    `with taken as (
       insert into billing_series (year, last_number) values (extract(year from now() at time zone 'UTC')::int, 1)
       on conflict (year) do update set last_number = billing_series.last_number + 1 returning year, last_number)
     update subscription_invoice i set number = taken.year || '-' || lpad(taken.last_number::text, 6, '0') from taken where i.id = ?
     returning i.number, i.due_on::text as due_on`,
    [invoiceId],
  )
  if (!row) throw new Error(`the invoice ${invoiceId} took no number`)
  return row
}

const lastTotal = (trx: Trx, tenantId: string): Promise<{ total: number } | null> =>
  sqlOne<{ total: number }>(
    trx,
    `select total from subscription_invoice where tenant_id = ? and status <> 'void' order by period_start desc limit 1`,
    [tenantId],
  )

/**
 * Closes a period whose time is over: writes its invoice with all lines, carries over what is below 0, and opens the next period. Once for each
 * period, however often it is asked for. A total that surprises is set aside for an operator.
 */
export const closePeriod = async (trx: Trx, { tenantId, periodStart, runId, force }: Closing): Promise<void> => {
  const subscription = await readFacts(trx, tenantId, { lock: true })
  const run = await runOf(trx, runId)
  if (!run || subscription.periodStart !== periodStart) return
  if (subscription.endsAt.getTime() + settleHours * 3_600_000 > run.at.getTime()) return
  const [{ lines, adjustments }, last] = await Promise.all([billOf(trx, subscription), lastTotal(trx, tenantId)])
  const { total, carried } = totalOf(lines)
  if (last && !force && total > last.total * surprising.times && total - last.total > surprising.by) {
    await park(
      trx,
      runId,
      tenantId,
      'total_surprising',
      `${total} after ${last.total}; force it once the amount was checked`,
    )
    return
  }
  const { periodEnd: end, currency, anchorDay } = subscription
  const [made] = await sql<{ id: string }>(
    trx,
    `insert into subscription_invoice (tenant_id, status, currency, period_start, period_end, customer, total, due_on, paid_at)
     values (:tenantId, :status, :currency, :start, :end, :customer, :total, (now() at time zone 'UTC')::date + :days::int,
       case when :total::bigint = 0 then now() end) returning id`,
    {
      tenantId,
      status: total === 0 ? 'paid' : 'issued',
      currency,
      start: periodStart,
      end,
      customer: JSON.stringify(customerOf(subscription)),
      total,
      days: dueDays,
    },
  )
  const invoiceId = made?.id ?? ''
  await sql(
    trx,
    `insert into subscription_invoice_line (tenant_id, invoice_id, place, kind, subject_id, description, from_on, to_on, quantity, unit_price, amount, price_id)
     select :tenantId, :invoiceId, l.place, l.kind, l."subjectId", l.description, :start, :end, l.quantity, l."unitPrice", l.amount, l."priceId"
     from jsonb_to_recordset(:lines::jsonb) as l (place int, kind text, "subjectId" text, description text, quantity bigint, "unitPrice" text,
       amount bigint, "priceId" uuid)`,
    {
      tenantId,
      invoiceId,
      start: periodStart,
      end,
      lines: JSON.stringify(lines.map((line, index) => ({ ...line, place: index + 1 }))),
    },
  )
  if (adjustments.length > 0)
    await sql(trx, `update billing_adjustment set invoice_id = ? where id = any(?::uuid[])`, [
      invoiceId,
      adjustments.map(({ id }) => id),
    ])
  if (carried < 0)
    await sql(
      trx,
      `insert into billing_adjustment (tenant_id, kind, amount, description, reason) values (?, 'carried', ?, ?, 'total below 0')`,
      [tenantId, carried, `Carried from ${periodStart} to ${addDays(end, -1)}`],
    )
  await sql(
    trx,
    `update subscription set period_start = period_end, period_end = ?, version = version + 1 where tenant_id = ?`,
    [periodEnd(end, anchorDay), tenantId],
  )
  if (total > 0) await startCollection(trx, invoiceId)
  const { number, dueOn } = await takeNumber(trx, invoiceId)
  const data = { invoiceId, number, total, currency, dueOn }
  if (total > 0) {
    await tellOwners(trx, 'subscription_invoice', invoiceId, {
      key: number,
      day: dueOn,
      amount: moneyText(total, currency, subscription.locale),
    })
  }
  await emit(trx, subscriptionInvoiceIssued, { propertyId: null, id: invoiceId, version: null, data })
  if (total === 0) await emit(trx, subscriptionInvoicePaid, { propertyId: null, id: invoiceId, version: null, data })
  countIssued(trx, runId, tenantId)
}
