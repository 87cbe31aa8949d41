import { markDays, pushDelayMs } from '../../config/channels.ts'
import { addDays, todayIn } from '../../config/time.ts'
import { pushChannel } from '../../jobs/channels.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { freeOn, readLeft } from '../units/index.ts'
import { catalogueOf, readProperty } from '../properties/index.ts'
import type { Catalogue, SaleProperty } from '../properties/index.ts'

export type Kind = 'availability' | 'rates'
type Listening = { id: string; buffer: number; horizonDays: number; unitTypeIds: string[] }

const inTenantOf = (trx: Trx) => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a channel belongs to a tenant')
  return tenantId
}

/** PostgreSQL's: a worker whose clock is ahead would have the channel wait for it. */
const timeOf = async (trx: Trx): Promise<number> => {
  const row = await sqlOne<{ now: Date }>(trx, `select clock_timestamp() as now`)
  return row?.now.getTime() ?? Date.now()
}

/**
 * Asks for a push: `soon` lets other changes come along. However many ask within two seconds, one is made for all of them, which starts
 * after the last of them has asked.
 */
export const requestPush = async (
  trx: Trx,
  channelConnectionId: string,
  { soon, key, notBefore }: { soon: boolean; key?: string; notBefore?: Date | undefined },
): Promise<void> => {
  const at = notBefore?.getTime() ?? (await timeOf(trx)) + (soon ? pushDelayMs : 0)
  await enqueue(
    trx,
    pushChannel,
    { tenantId: inTenantOf(trx), channelConnectionId },
    {
      at: new Date(at),
      ...(soon ? { uniqueKey: `${channelConnectionId} ${Math.floor(at / 2_000)}` } : {}),
      ...(key === undefined ? {} : { uniqueKey: `${channelConnectionId} ${key}` }),
    },
  )
}

export type Mark = { unitTypeId: string; kind: Kind; from: string; to: string }

/** A stretch of days in parts, each short enough for one push. */
const partsOf = (from: string, to: string): { from: string; to: string }[] => {
  const parts: { from: string; to: string }[] = []
  for (let start = from; start <= to; start = addDays(start, markDays)) {
    const end = addDays(start, markDays - 1)
    parts.push({ from: start, to: end < to ? end : to })
  }
  return parts
}

/** @param changedAt when what is to be told came about; now unless said. */
export const addMarks = (trx: Trx, channelConnectionId: string, marks: readonly Mark[], changedAt?: Date) =>
  sql(
    trx,
    `insert into channel_dirty (channel_connection_id, unit_type_id, kind, during, changed_at)
     select ?::uuid, t, k, daterange(f, u, '[]'), coalesce(?::timestamptz, now()) from unnest(?::uuid[], ?::text[], ?::date[], ?::date[]) as m (t, k, f, u)`,
    [
      channelConnectionId,
      changedAt ?? null,
      marks.map((mark) => mark.unitTypeId),
      marks.map((mark) => mark.kind),
      marks.map((mark) => mark.from),
      marks.map((mark) => mark.to),
    ],
  )

/** Everything that a connection sells, from today to its horizon, is to be told. Answers whether there is anything. */
export const markAll = async (
  trx: Trx,
  connection: { id: string; propertyId: string; horizonDays: number },
  kinds: readonly Kind[],
): Promise<boolean> => {
  const property = await readProperty(trx, connection.propertyId)
  const rows = await sql<{ unitTypeId: string }>(
    trx,
    `select distinct unit_type_id from channel_mapping where channel_connection_id = ? order by 1`,
    [connection.id],
  )
  if (!property || rows.length === 0) return false
  const today = todayIn(property.timezone, property.now)
  const parts = partsOf(today, addDays(today, connection.horizonDays - 1))
  const marks = rows.flatMap(({ unitTypeId }) =>
    kinds.flatMap((kind) => parts.map((part) => ({ unitTypeId, kind, ...part }))),
  )
  await addMarks(trx, connection.id, marks)
  return true
}

type Change = {
  propertyId: string
  kind: Kind | 'all'
  from: string
  to: string
  unitTypeIds: readonly string[]
  unitPoolIds: readonly string[]
  closes?: boolean | undefined
}

/** Tells whether the change closes units at the channel on any of the nights; if not, the push may wait. */
const closesUnits = async (
  trx: Trx,
  catalogue: Catalogue,
  marks: readonly { unitTypeId: string; from: string; to: string }[],
  buffer: number,
): Promise<boolean> => {
  const typeIds = new Set(marks.map((mark) => mark.unitTypeId))
  const types = catalogue.unitTypes.filter((type) => typeIds.has(type.id))
  if (types.length < typeIds.size) return true
  const from = marks.reduce((first, mark) => (mark.from < first ? mark.from : first), marks[0]?.from ?? '')
  const until = marks.reduce((last, mark) => (mark.to > last ? mark.to : last), '')
  const pools = [...new Set(types.flatMap((type) => type.pools.map((share) => share.poolId)))]
  const left = await readLeft(trx, pools, from, addDays(until, 1))
  return types.some((type) =>
    marks.some((mark) => {
      if (mark.unitTypeId !== type.id) return false
      for (let day = mark.from; day <= mark.to; day = addDays(day, 1))
        if ((freeOn(left, type.pools, day) ?? 0) <= buffer) return true
      return false
    }),
  )
}

const isStopped = async (trx: Trx, propertyId: string, from: string, to: string): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select 1 as one from restriction_cell where property_id = ? and date between ?::date and ?::date and stop_sell limit 1`,
    [propertyId, from, to],
  )) !== null

/** The unit types that a change is about: those named, those of the pools named, or all. */
const typesOf = (catalogue: Catalogue, change: Change): ((unitTypeId: string) => boolean) => {
  if (change.unitTypeIds.length > 0) return (id) => change.unitTypeIds.includes(id)
  if (change.unitPoolIds.length === 0) return () => true
  const served = new Set(
    catalogue.unitTypes.flatMap((type) =>
      type.pools.some((share) => change.unitPoolIds.includes(share.poolId)) ? [type.id] : [],
    ),
  )
  return (id) => served.has(id)
}

/**
 * Writes down for each connection at work what it is to be told, and asks for its push: at once where sales close, else with what else
 * comes within some seconds. One that is not at work is told everything when it begins. The marks are as old as the change.
 */
export const writeMarks = async (trx: Trx, change: Change, changedAt: Date): Promise<void> => {
  const property = await readProperty(trx, change.propertyId)
  if (!property) return
  const listening = await sql<Listening>(
    trx,
    `select c.id, c.buffer, c.horizon_days, array_agg(distinct m.unit_type_id) as unit_type_ids from channel_connection c
     join channel_mapping m on m.tenant_id = c.tenant_id and m.channel_connection_id = c.id
     where c.property_id = ? and c.status = 'active' group by c.id, c.buffer, c.horizon_days order by c.id`,
    [change.propertyId],
  )
  if (listening.length === 0) return
  const catalogue = await catalogueOf(trx, property)
  const concerns = typesOf(catalogue, change)
  for (const connection of listening)
    await markOne(trx, { property, catalogue, change, changedAt, concerns }, connection)
}

type Marking = {
  property: SaleProperty
  catalogue: Catalogue
  change: Change
  changedAt: Date
  concerns: (unitTypeId: string) => boolean
}

const markOne = async (
  trx: Trx,
  { property, catalogue, change, changedAt, concerns }: Marking,
  { id, buffer, horizonDays, unitTypeIds }: Listening,
) => {
  const today = todayIn(property.timezone, property.now)
  const last = addDays(today, horizonDays - 1)
  const from = change.from > today ? change.from : today
  const to = change.to < last ? change.to : last
  if (from > to) return
  const kinds: Kind[] = change.kind === 'all' ? ['availability', 'rates'] : [change.kind]
  const stretches = unitTypeIds
    .filter(concerns)
    .flatMap((unitTypeId) => partsOf(from, to).map((part) => ({ unitTypeId, ...part })))
  if (stretches.length === 0) return
  await addMarks(
    trx,
    id,
    stretches.flatMap((stretch) => kinds.map((kind) => ({ ...stretch, kind }))),
    changedAt,
  )
  const closes =
    change.closes === true ||
    property.status !== 'live' ||
    (kinds.includes('availability') && (await closesUnits(trx, catalogue, stretches, buffer))) ||
    (kinds.includes('rates') && (await isStopped(trx, property.id, from, to)))
  await requestPush(trx, id, { soon: !closes })
}
