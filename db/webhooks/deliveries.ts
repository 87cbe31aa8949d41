import { notFound, unprocessable } from '../../config/errors.ts'
import { preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Condition } from '../lib/conditions.ts'
import { allOf, inScope, readPage, where } from '../lib/paging.ts'
import type { Paging, Part } from '../lib/paging.ts'
import type { WebhookAttemptRow, WebhookDeliveryRow } from '../rows.ts'
import { eventColumns } from './feed.ts'
import type { Sight } from './feed.ts'
import { isRecent, isRecentMonth } from './months.ts'
import { bodyOf } from './rules/body.ts'
import type { StoredEvent } from './rules/body.ts'
import { askForSender } from './sequence.ts'

export type DeliveryRecord = Pick<
  WebhookDeliveryRow,
  | 'id'
  | 'webhookEndpointId'
  | 'eventId'
  | 'sequence'
  | 'type'
  | 'propertyId'
  | 'replayId'
  | 'status'
  | 'attempts'
  | 'lastAttemptAt'
  | 'deliveredAt'
  | 'createdAt'
> & { nextAttemptAt: Date | null }

const columns = `d.id, d.webhook_endpoint_id, d.event_id, d.sequence, d.type, d.property_id, d.replay_id, d.status, d.attempts, d.last_attempt_at,
  d.delivered_at, d.created_at, case when d.status = 'pending' then greatest(d.due_at, d.sending_until) end as next_attempt_at`
const kept = () => isRecent('d.event_at')

const inSight = ({ types, propertyIds }: Sight, type = 'd.type') => [
  { text: `${type} = any(?::text[])`, values: [types] },
  ...where('(d.property_id is null or d.property_id = any(?::uuid[]))', propertyIds),
]

type Filter = Paging & {
  webhookEndpointId?: string | undefined
  status?: WebhookDeliveryRow['status'] | undefined
  type?: string | undefined
  eventId?: string | undefined
  /** Instants of their making, both included. */
  from?: string | undefined
  to?: string | undefined
  scope: Condition
  sight: Sight
}

/** Conditions by the columns by which deliveries are counted; the type is `kind` there. */
const countedConditions = ({ webhookEndpointId, type, scope, sight }: Omit<Filter, keyof Paging>, kind = 'd.type') => [
  ...inScope(scope, 'd.property_id'),
  ...inSight(sight, kind),
  ...where('d.webhook_endpoint_id = ?', webhookEndpointId),
  ...where(`${kind} = ?`, type),
]

/** A state stands in the text of its list, so that an index of few states serves each of them. */
const ofState: Readonly<Record<WebhookDeliveryRow['status'], string>> = {
  pending: `d.status = 'pending'`,
  delivered: `d.status = 'delivered'`,
  dead: `d.status = 'dead'`,
  dropped: `d.status = 'dropped'`,
}

/** Deliveries of an event are unique by their endpoint, whose index finds them: those that have any are named by the counts. */
const ofEvent = `d.event_id = ? and d.webhook_endpoint_id = any(array(select c.webhook_endpoint_id from list_count c where c.list = 'webhook_delivery'))`

const dayMs = 86_400_000

/** The days of UTC that an instant falls into and that come after it, as PostgreSQL reads them. */
const dayOf = (at: string, ahead = 0): string =>
  new Date((Math.floor(Date.parse(at) / dayMs) + ahead) * dayMs).toISOString()

/** The times of a day that is cut, which are counted row by row, and the whole days, which are counted already. */
const cutDays = ({ from, to }: Pick<Filter, 'from' | 'to'>): { whole: Part[]; cut: Part[][] } => ({
  whole: [
    ...(from === undefined ? [] : where('d.day >= ?::date', dayOf(from, 1).slice(0, 10))),
    ...(to === undefined ? [] : where('d.day < ?::date', dayOf(to).slice(0, 10))),
  ],
  cut: [
    ...(from === undefined ? [] : [where('d.created_at < ?::timestamptz', dayOf(from, 1))]),
    ...(to === undefined ? [] : [where('d.created_at >= ?::timestamptz', dayOf(to))]),
  ],
})

/** The number of deliveries by the counts of their months, or of their days with those of the days that are cut; null where more is asked than these tell. */
const totalOf = (filter: Omit<Filter, keyof Paging>, state: Part[], conditions: Part[]): Part | null => {
  const { eventId, from, to } = filter
  if (eventId !== undefined) return null
  const counted = [...countedConditions(filter, 'd.kind'), ...state]
  const sum = (list: string, more: Part[]) => {
    const { text, values } = allOf([...counted, ...more])
    return {
      text: `select coalesce(sum(d.n), 0)::bigint as total from list_count d where d.list = '${list}' and ${text}`,
      values,
    }
  }
  if (from === undefined && to === undefined)
    return sum('webhook_delivery', [{ text: isRecentMonth('d.day'), values: [] }])
  if (from !== undefined && to !== undefined && dayOf(from) === dayOf(to)) return null
  const { whole, cut } = cutDays(filter)
  const parts = [
    sum('webhook_delivery_by_day', [{ text: isRecentMonth('d.month'), values: [] }, ...whole]),
    ...cut.map((day) => {
      const { text, values } = allOf([...conditions, ...day])
      return { text: `select count(*) from webhook_delivery d where ${text}`, values }
    }),
  ]
  return {
    text: `select ${parts.map(({ text }) => `(${text})`).join(' + ')} as total`,
    values: parts.flatMap(({ values }) => values),
  }
}

/** Deliveries of types that the caller reads, newest first. */
export const listDeliveries = (trx: Trx, { page, limit, ...filter }: Filter) => {
  const state = filter.status === undefined ? [] : [{ text: ofState[filter.status], values: [] }]
  const conditions = [
    { text: kept(), values: [] },
    ...countedConditions(filter),
    ...state,
    ...where(ofEvent, filter.eventId),
    ...where('d.created_at >= ?::timestamptz', filter.from),
    ...where('d.created_at <= ?::timestamptz', filter.to),
  ]
  return readPage<DeliveryRecord>(
    trx,
    {
      columns,
      from: 'webhook_delivery d',
      conditions,
      total: totalOf(filter, state, conditions),
      order: 'd.created_at desc, d.sequence desc, d.id',
    },
    { page, limit },
  )
}

/** The event of a delivery; null once its month is dropped. */
export const eventOfDelivery = (trx: Trx, eventId: string, eventAt: Date): Promise<StoredEvent | null> =>
  preparedOne<StoredEvent>(
    trx,
    `select ${eventColumns} from event where id = ? and occurred_at >= ?::timestamptz and occurred_at < ?::timestamptz + interval '1 millisecond'`,
    [eventId, eventAt, eventAt],
  )

type Attempt = Pick<WebhookAttemptRow, 'number' | 'at' | 'durationMs' | 'httpStatus' | 'error' | 'excerpt'>

/** A delivery with what is sent, and each attempt. 404, also where the caller may not read its type. */
export const readDelivery = async (trx: Trx, id: string, { types, propertyIds }: Sight) => {
  const row = await sqlOne<DeliveryRecord & { eventAt: Date }>(
    trx,
    `select ${columns}, d.event_at from webhook_delivery d where d.id = ? and ${kept()}`,
    [id],
  )
  if (!row || !types.includes(row.type)) throw notFound()
  if (row.propertyId !== null && propertyIds !== null && !propertyIds.includes(row.propertyId)) throw notFound()
  const { eventAt, ...delivery } = row
  const event = await eventOfDelivery(trx, row.eventId, eventAt)
  const attempts = await sql<Attempt>(
    trx,
    `select number, at, duration_ms, http_status, error, excerpt from webhook_attempt where webhook_delivery_id = ? and event_at = ?
     order by number desc limit 100`,
    [id, eventAt],
  )
  return { ...delivery, body: event ? bodyOf(event) : null, log: attempts }
}

/** Sends a delivery again now, with ten attempts of its own; one that waits stays as it is. 422 `endpoint_not_active` and `event_expired`. */
export const redeliver = async (trx: Trx, id: string, sight: Sight) => {
  const seen = await readDelivery(trx, id, sight)
  const endpoint = await sqlOne<{ status: string }>(
    trx,
    `select status from webhook_endpoint where id = ? for no key update`,
    [seen.webhookEndpointId],
  )
  if (endpoint?.status !== 'active')
    throw unprocessable('endpoint_not_active', 'The endpoint is paused or deleted; resume it first')
  if (seen.body === null) throw unprocessable('event_expired', 'The event is not kept any more')
  const changed = await sql(
    trx,
    `update webhook_delivery set status = 'pending', attempts = 0, due_at = clock_timestamp(), delivered_at = null, sending_until = null
     where id = ? and status <> 'pending' returning id`,
    [id],
  )
  if (changed.length > 0) askForSender(trx, seen.webhookEndpointId)
  return readDelivery(trx, id, sight)
}
