import { shownActor } from '../../../config/shown-actor.ts'
import { invalid } from '../../../config/errors.ts'
import { ApiError } from '../../../config/errors.ts'
import { isAlways } from '../../lib/conditions.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../../lib/connection.ts'
import { allOf, inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging, Part } from '../../lib/paging.ts'

export type AuditEntry = {
  id: string
  tenantId: string | null
  at: Date
  actorType: 'user' | 'superuser' | 'support' | 'api_key' | 'guest' | 'system'
  actorId: string | null
  supportSessionId: string | null
  action: string
  subjectType: string
  subjectId: string | null
  reason: string | null
  changes: { field: string; before?: unknown; after?: unknown }[]
  requestId: string
  jobId: string | null
  address: string | null
  seq: number | null
  hash: string | null
}

export type AuditFilter = Paging & {
  tenantId?: string | undefined
  actorId?: string | undefined
  action?: string | undefined
  subjectType?: string | undefined
  subjectId?: string | undefined
  requestId?: string | undefined
  supportSessionId?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

const columns = `e.id, e.tenant_id, e.at, e.actor_type, e.actor_id, e.support_session_id, e.action, e.subject_type, e.subject_id, e.reason, e.changes,
  e.request_id, e.job_id, e.address, e.seq, encode(e.hash, 'hex') as hash`
const mostDays = 92

type Bounds = { from: Date; to: Date }

/** Bounds of a search in time: 92 days at most, and the last 92 where none are given; null where one record is asked for. */
const boundsOf = async (trx: AnyTrx, filter: AuditFilter): Promise<Bounds | null> => {
  const { from, to, subjectId, requestId, supportSessionId } = filter
  const isNarrow = [subjectId, requestId, supportSessionId].some((value) => value !== undefined)
  const row = await sqlOne<{ reversed: boolean; long: boolean; from: Date; to: Date }>(
    trx,
    `select f > t as reversed, t - f > make_interval(days => :days) as long, f as "from", t as "to"
     from (select coalesce(:to::timestamptz, now() + interval '1 minute') as t) upper
     cross join lateral (select coalesce(:from::timestamptz, t - make_interval(days => :days)) as f) lower`,
    { from: from ?? null, to: to ?? null, days: mostDays },
  )
  if (row?.reversed) throw invalid([{ field: 'to', message: 'must not be before from' }])
  if (isNarrow) return null
  if (row?.long)
    throw new ApiError(
      'range_too_long',
      `Ask for at most ${mostDays} days, or for one subject, request or support session`,
      {
        errors: [{ field: 'from', message: `must be at most ${mostDays} days before to` }],
      },
    )
  return row
}

/** An action and those below it: `entitlement` finds `entitlement.grant`. */
const actionPart = (action: string | undefined): Part[] =>
  action === undefined ? [] : [{ text: `starts_with(e.action, ?)`, values: [action] }]

const conditionsOf = (filter: AuditFilter, bounds: Bounds | null): Part[] => [
  ...where('e.at >= ?', bounds?.from ?? filter.from),
  ...where('e.at <= ?', bounds?.to ?? filter.to),
  ...where('e.actor_id = ?', filter.actorId),
  ...actionPart(filter.action),
  ...where('e.subject_type = ?', filter.subjectType),
  ...where('e.subject_id = ?', filter.subjectId),
  ...where('e.request_id = ?', filter.requestId),
  ...where('e.support_session_id = ?', filter.supportSessionId),
]

const dayMs = 86_400_000

/**
 * The number of entries between two instants, for searches by nothing else. Linked entries of whole days are counted already; those of the first and the last
 * day, and those that are not linked yet, are counted here.
 */
const totalOf = (chain: string | null | undefined, { from, to }: Bounds): Part | null => {
  const firstDay = new Date(Math.ceil(from.getTime() / dayMs) * dayMs)
  const endDay = new Date(Math.floor(to.getTime() / dayMs) * dayMs)
  if (firstDay >= endDay) return null
  const entries = (...conditions: Part[]): Part => {
    const { text, values } = allOf([...where('e.chain = ?', chain), ...conditions])
    return { text: `(select count(*) from audit_entry e where ${text})`, values }
  }
  const days = allOf([
    ...where('d.chain = ?', chain),
    ...where('d.day >= ?::date', firstDay.toISOString().slice(0, 10)),
    ...where('d.day < ?::date', endDay.toISOString().slice(0, 10)),
  ])
  const parts = [
    {
      text: `(select coalesce(sum(d.n), 0)::bigint from ${chain ? 'audit_day d where' : `platform_count d where d.list = 'audit_entry' and`} ${days.text})`,
      values: days.values,
    },
    entries({ text: 'e.hash is null', values: [] }, ...where('e.at >= ?', firstDay), ...where('e.at < ?', endDay)),
    entries(...where('e.at >= ?', from), ...where('e.at < ?', firstDay)),
    entries(...where('e.at >= ?', endDay), ...where('e.at <= ?', to)),
  ]
  return {
    text: `select ${parts.map(({ text }) => text).join(' + ')} as total`,
    values: parts.flatMap(({ values }) => values),
  }
}

/** Tells whether a search asks for nothing but days, so that its entries are counted by days. */
const isByDays = ({ actorId, action, subjectType }: AuditFilter): boolean =>
  [actorId, action, subjectType].every((value) => value === undefined)

/**
 * Newest first. Those of one chain are in another order among entries of one instant: the index over all chains cannot serve it, whose plan would walk the months of
 * another tenant for one that has few entries.
 */
const orderOf = (chain: string | null | undefined) => (chain ? 'e.at desc, e.id desc' : 'e.at desc, e.id')

/** Entries of all chains, or of one. */
export const searchTrail = async (trx: PlatformTrx, filter: AuditFilter): Promise<Page<AuditEntry>> => {
  const bounds = await boundsOf(trx, filter)
  return readPage<AuditEntry>(
    trx,
    {
      columns,
      from: 'audit_entry e',
      conditions: [...where('e.chain = ?', filter.tenantId), ...conditionsOf(filter, bounds)],
      total: bounds && isByDays(filter) ? totalOf(filter.tenantId, bounds) : null,
      order: orderOf(filter.tenantId),
    },
    filter,
  )
}

/** Subjects whose records belong to houses: entries of others are of the whole tenant. */
const ofHouses = `(e.subject_id is null or not exists (select from property p where p.id::text = e.subject_id and not (p.id = any(?::uuid[]))))`

/**
 * Entries of the transaction's own tenant. Superusers are named as `support`, without an id. `scope` is that of the role; `propertyIds` are those
 * of a caller who works in some houses only, who sees no entry about another one.
 */
export const searchOwnTrail = async (
  trx: Trx,
  { scope, propertyIds, ...filter }: AuditFilter & { scope: Condition; propertyIds: readonly string[] | null },
): Promise<Page<AuditEntry>> => {
  const { tenantId } = contextOf(trx)
  const bounds = await boundsOf(trx, filter)
  const seesAll = isAlways(scope) && propertyIds === null
  const { total, rows } = await readPage<AuditEntry>(
    trx,
    {
      columns,
      from: 'audit_entry e',
      conditions: [
        ...where('e.chain = ?', tenantId),
        ...conditionsOf(filter, bounds),
        // An id that is not shown finds nothing either.
        ...(filter.actorId === undefined ? [] : [{ text: `e.actor_type not in ('superuser', 'support')`, values: [] }]),
        ...inScope(scope, { subjectType: 'e.subject_type', propertyId: null }),
        ...(propertyIds === null ? [] : [{ text: ofHouses, values: [propertyIds] }]),
      ],
      total: bounds && seesAll && isByDays(filter) ? totalOf(tenantId, bounds) : null,
      order: orderOf(tenantId),
    },
    filter,
  )
  return {
    total,
    rows: rows.map((row) => {
      const { type, id } = shownActor({ type: row.actorType, id: row.actorId })
      return { ...row, actorType: type, actorId: id }
    }),
  }
}
