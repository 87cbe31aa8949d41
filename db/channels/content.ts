import { mostRanges } from '../../config/channels.ts'
import type { ChannelRange } from '../../config/channels.ts'
import { daysBetween } from '../../config/time.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Kind } from './marks.ts'
import { compact } from './rules/ranges.ts'
import type { ChannelDay } from './rules/ranges.ts'
import { channelDays } from './values.ts'
import type { Stretch } from './values.ts'

/** Values of so many days are looked up for one push: what says the same day after day is short, and no worker computes for long. */
const mostDays = 6 * mostRanges

type Connection = Parameters<typeof channelDays>[1]
type Ours = { unitTypeId: string; places: number }

/** Our type behind each of theirs, and how many of their places speak of it. */
const readTypes = async (trx: Trx, connectionId: string, kind: Kind): Promise<Map<string, Ours>> => {
  const rows = await sql<Ours & { theirs: string }>(
    trx,
    `select external_unit_type_id as theirs, unit_type_id,
       sum(case when ? = 'rates' then count(external_rate_plan_id) else 1 end) over (partition by unit_type_id)::int as places
     from channel_mapping where channel_connection_id = ? group by external_unit_type_id, unit_type_id order by bool_or(enabled)`,
    [kind, connectionId],
  )
  return new Map(rows.map(({ theirs, ...ours }) => [theirs, ours]))
}

/** So many of the marks as have no more days than that to be told of, and one at least. */
const upTo = <M extends Stretch>(marks: readonly M[], days: number, placesOf: (mark: M) => number): M[] => {
  let sum = 0
  const end = marks.findIndex((mark) => (sum += (daysBetween(mark.from, mark.to) + 1) * placesOf(mark)) > days)
  return marks.slice(0, end < 0 ? marks.length : Math.max(1, end))
}

/** The most of the marks whose days fit one push. */
const fitting = <M extends Stretch>(
  marks: readonly M[],
  days: readonly ChannelDay[],
  typeOf: (day: ChannelDay) => string,
) => {
  for (let count = marks.length; ; count = Math.ceil(count / 2)) {
    const taken = marks.slice(0, count)
    const ranges = compact(
      days.filter((day) =>
        taken.some((mark) => mark.unitTypeId === typeOf(day) && mark.from <= day.date && day.date <= mark.to),
      ),
    )
    if (ranges.length <= mostRanges || count === 1) return { taken, ranges }
  }
}

/**
 * Content of one push, and the marks that it covers: the first of them, as many as fit. Few days are looked up first: if each says
 * something else, no more would fit; if most say the same, more are looked up.
 */
export const contentOf = async <M extends Stretch>(
  trx: Trx,
  connection: Connection,
  kind: Kind,
  marks: readonly M[],
): Promise<{ taken: M[]; ranges: ChannelRange[] }> => {
  const types = await readTypes(trx, connection.id, kind)
  const places = new Map([...types.values()].map((ours) => [ours.unitTypeId, ours.places]))
  const typeOf = (day: ChannelDay) => types.get(day.unitType)?.unitTypeId ?? ''
  for (let most = mostRanges; ; most = mostDays) {
    const tried = upTo(marks, most, (mark) => places.get(mark.unitTypeId) ?? 0)
    const days = await channelDays(trx, connection, kind, tried)
    const ranges = compact(days)
    if (ranges.length > mostRanges) return fitting(tried, days, typeOf)
    if (most === mostDays || tried.length === marks.length || ranges.length > mostRanges / 2)
      return { taken: tried, ranges }
  }
}
