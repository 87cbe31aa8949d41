import { reportsDriftFound } from '../../config/events/reports.ts'
import type { ReportKey } from '../../config/reports.ts'
import { addDays } from '../../config/time.ts'
import { verifyFacts as verifyFactsJob } from '../../jobs/reports.ts'
import { contextOf, logOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { differsAcross } from './proofs.ts'
import { fillCommissions } from './snapshot.ts'

/** Closed days that are proved again each night. Later ones were proved when they closed, and nothing writes to them. */
const daysBack = 35

const min = (a: string, b: string) => (a < b ? a : b)
const max = (a: string, b: string) => (a > b ? a : b)

type Drift = { report: ReportKey; from: string; to: string }

/** Asks, in the transaction that rolls a property's day, for the proof of its facts. */
export const enqueueVerification = async (trx: Trx, propertyId: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('the facts of a property belong to a tenant')
  await enqueue(trx, verifyFactsJob, { tenantId, propertyId }, { uniqueKey: propertyId })
}

/** Keeps what differs now: nights that were not proved this time stay as they were found. Answers whether that was known. */
const keep = async (trx: Trx, propertyId: string, { report, from, to }: Drift, since: string): Promise<boolean> => {
  const known = await sqlOne<{ from: string; to: string }>(
    trx,
    `select "from", "to" from report_drift where property_id = ? and report = ? for update`,
    [propertyId, report],
  )
  const first = known && known.from < since ? known.from : from
  if (known?.from === first && known.to === to) return true
  await sql(
    trx,
    `insert into report_drift (property_id, report, "from", "to") values (?, ?, ?, ?)
     on conflict (tenant_id, property_id, report) do update set "from" = excluded."from", "to" = excluded."to", found_at = now()`,
    [propertyId, report, first, to],
  )
  return false
}

/**
 * Proves the facts of a property: the nights on the books by a recount of reservations, the facts of closed days by the lines of their folios, and the
 * counters of nights to come by the nights that were sold (R26). What differs is kept, told once, and named in the `meta` of reports; it is not repaired. Days that a process
 * of an older version has closed without commissions of agencies gain them first.
 */
export const verifyFacts = async (trx: Trx, propertyId: string): Promise<Drift[]> => {
  const open = await sqlOne<{ day: string }>(
    trx,
    `select coalesce(business_date, (now() at time zone timezone)::date) as day from property where id = ?`,
    [propertyId],
  )
  if (!open) return []
  const since = addDays(open.day, -daysBack)
  const filled = await fillCommissions(trx, propertyId, since)
  if (filled.length > 0)
    logOf(trx).warn({ propertyId, days: filled }, 'days had closed without commissions of agencies')
  const found: Drift[] = []
  for (const { report, text } of differsAcross) {
    const row = await sqlOne<{ from: string | null; to: string | null }>(trx, text, {
      tenantId: contextOf(trx).tenantId,
      propertyId,
      since,
      open: open.day,
    })
    if (!row?.from || !row.to) continue
    const known = found.find((one) => one.report === report)
    if (!known) found.push({ report, from: row.from, to: row.to })
    else Object.assign(known, { from: min(known.from, row.from), to: max(known.to, row.to) })
  }
  for (const drift of found)
    if (!(await keep(trx, propertyId, drift, since))) {
      logOf(trx).error({ propertyId, ...drift }, 'facts of reports differ from the records that they stand for')
      await emit(trx, reportsDriftFound, { propertyId, id: propertyId, version: null, data: drift })
    }
  await sql(trx, `delete from report_drift where property_id = ? and "from" >= ?::date and report <> all(?::text[])`, [
    propertyId,
    since,
    found.map(({ report }) => report),
  ])
  return found
}

export type DriftOfHouse = Drift & { propertyId: string }

/** Differences that stand in the facts of houses, within a range of days. */
export const driftsOf = (
  trx: Trx,
  propertyIds: readonly string[],
  { from, to }: { from: string; to: string },
): Promise<DriftOfHouse[]> =>
  sql<DriftOfHouse>(
    trx,
    `select property_id, report, "from", "to" from report_drift
     where tenant_id = ? and property_id = any(?::uuid[]) and "from" <= ?::date and "to" >= ?::date order by property_id, report`,
    [contextOf(trx).tenantId, propertyIds, to, from],
  )
