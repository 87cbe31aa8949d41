import { invalid, unprocessable } from '../../config/errors.ts'
import { later, prepared, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { isRecent } from './months.ts'
import { shownEvent } from './rules/body.ts'
import type { StoredEvent } from './rules/body.ts'

export const eventColumns = `id, tenant_id, type, type_version, sequence, property_id, entity, occurred_at, actor, request_id, cause_id, changed, data`

type Head = { lastSequence: number; oldestSequence: number }

/** The newest number, and the lowest one that is kept: one more than the newest where none is. */
export const headOf = async (trx: Trx): Promise<{ last: number; oldest: number }> => {
  const head = await preparedOne<Head>(trx, `select last_sequence, oldest_sequence from event_head`)
  return { last: head?.lastSequence ?? 0, oldest: head?.oldestSequence ?? 1 }
}

/**
 * Keeps events from being numbered until the end of the transaction. An endpoint that begins to listen holds the head, or it would miss events
 * that are being numbered for the endpoints of a moment before. Answers the newest number.
 */
export const holdHead = async (trx: Trx): Promise<number> => {
  later(trx, `insert into event_head (last_sequence) values (0) on conflict do nothing`)
  const head = await preparedOne<{ lastSequence: number }>(trx, `select last_sequence from event_head for update`)
  return head?.lastSequence ?? 0
}

/** The part of the feed that a reader sees: types of events, and properties. `propertyIds` is null where all are seen. */
export type Sight = { types: readonly string[]; propertyIds: readonly string[] | null }

export type FeedQuery = {
  /** A number, or `latest`; from the oldest event on where it is left out. */
  after?: string | undefined
  propertyId?: string | undefined
  entityType?: string | undefined
  entityId?: string | undefined
  limit: number
}

type Meta = { after: number; next: number; latest: number; oldest: number; hasMore: boolean; limit: number }

const seen =
  () => `sequence > :after::bigint and sequence <= :last::bigint and ${isRecent('occurred_at')} and type = any(:types::text[])
  and (:allProperties::boolean or property_id is null or property_id = any(:propertyIds::uuid[]))
  and (:propertyId::uuid is null or property_id = :propertyId::uuid)
  and (:entityType::text is null or entity->>'type' = :entityType::text)
  and (:entityId::text is null or entity->>'id' = :entityId::text)`

const boundOf = (sight: Sight, query: FeedQuery, after: number, last: number) => ({
  after,
  last,
  types: sight.types,
  allProperties: sight.propertyIds === null,
  propertyIds: sight.propertyIds ?? [],
  propertyId: query.propertyId ?? null,
  entityType: query.entityType ?? null,
  entityId: query.entityId ?? null,
})

const placeOf = async (trx: Trx, { after }: FeedQuery): Promise<{ from: number; last: number; oldest: number }> => {
  const { last, oldest } = await headOf(trx)
  if (after === undefined) return { from: oldest - 1, last, oldest }
  if (after === 'latest') return { from: last, last, oldest }
  const from = Number(after)
  if (from > last)
    throw invalid([{ field: 'after', message: `must be at most ${last}, the number of the newest event` }])
  if (from < oldest - 1)
    throw unprocessable(
      'cursor_expired',
      `Events before ${oldest} are not kept any more; read the lists, and follow from the newest`,
      [{ field: 'oldest', message: String(oldest) }],
    )
  return { from, last, oldest }
}

const widest = 20_000

/**
 * The first events after a number. Numbers have no gaps, so a stretch of them bounds what is looked through, whatever the planner knows of the
 * table; where too little is seen of it, the next one is longer.
 */
const firstSeen = async (
  trx: Trx,
  sight: Sight,
  query: FeedQuery,
  { from, last, most }: { from: number; last: number; most: number },
): Promise<StoredEvent[]> => {
  const found: StoredEvent[] = []
  for (let after = from, width = most; after < last && found.length < most; width = Math.min(widest, width * 8)) {
    const to = Math.min(last, after + width)
    const rows = await prepared<StoredEvent>(
      trx,
      `select ${eventColumns} from event where ${seen()} order by sequence limit :most`,
      { ...boundOf(sight, query, after, to), most: most - found.length },
    )
    found.push(...rows)
    after = to
  }
  return found
}

/** Tells whether an answer of `readFeed` would hold an event. 422 `cursor_expired`. */
export const hasNews = async (trx: Trx, sight: Sight, query: FeedQuery): Promise<boolean> => {
  const { from, last } = await placeOf(trx, query)
  return (await firstSeen(trx, sight, query, { from, last, most: 1 })).length > 0
}

/** The place to wait at: `latest` as it is now, so that a wait for what comes then does not move with it. */
export const fixedPlace = async (trx: Trx, query: FeedQuery): Promise<FeedQuery> =>
  query.after === 'latest' ? { ...query, after: String((await placeOf(trx, query)).last) } : query

/** Events after a number, in their order. `next` is the number to ask with again. 422 `cursor_expired`. */
export const readFeed = async (trx: Trx, sight: Sight, query: FeedQuery) => {
  const { from, last, oldest } = await placeOf(trx, query)
  const rows = await firstSeen(trx, sight, query, { from, last, most: query.limit + 1 })
  const hasMore = rows.length > query.limit
  const data = rows.slice(0, query.limit)
  const meta: Meta = {
    after: from,
    // Where nothing more is to be seen, what lies in between need not be looked through again.
    next: hasMore ? (data.at(-1)?.sequence ?? from) : last,
    latest: last,
    oldest,
    hasMore,
    limit: query.limit,
  }
  return { data: data.map(shownEvent), meta }
}
