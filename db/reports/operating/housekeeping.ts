import { wordOf } from '../../../config/report-texts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { daysAsked, housesOf, metaOfHouses } from '../houses.ts'
import type { House } from '../houses.ts'
import type { Asked, ColumnKind, FileRow, Reading, Sight, Window } from '../reading.ts'
import type { Range } from '../rules/dates.ts'
import { summedUp } from '../rules/operating.ts'
import { ratioOf } from '../rules/vectors.ts'
import { columnsOf } from './table.ts'

type Counts = {
  planned: number
  done: number
  failed: number
  skipped: number
  timed: number
  minutes: number
  passed: number
  due: number
  onTime: number
}
type Found = Counts & { propertyId: string; date: string; attendantId: string | null; kind: string }
type Figures = {
  planned: number
  done: number
  failed: number
  skipped: number
  minutes: number
  passRate: string | null
  onTimeRate: string | null
  kinds: {
    kind: string
    planned: number
    done: number
    failed: number
    skipped: number
    minutes: number
    meanMinutes: string | null
  }[]
}
export type HousekeepingRow = { date: string; propertyId: string; attendantId: string | null } & Figures
export type Conditions = { date: string; propertyId: string; conditions: { condition: string; units: number }[] }

const none: Counts = { planned: 0, done: 0, failed: 0, skipped: 0, timed: 0, minutes: 0, passed: 0, due: 0, onTime: 0 }
const columns: Record<string, ColumnKind> = {
  date: 'day', property: 'text', attendant: 'text', taskKind: 'text', planned: 'count', done: 'count', failed: 'count', skipped: 'count', minutes: 'count',
  meanMinutes: 'ratio', passRate: 'ratio', onTimeRate: 'ratio', condition: 'text', units: 'count',
} // prettier-ignore

const countsOf = (trx: Trx, houses: readonly House[], { from, to }: Range, attendantId: string | null) =>
  sql<Found>(
    trx,
    `select t.property_id, t.date, t.assignee_id as attendant_id, t.kind, count(*)::int as planned,
       count(*) filter (where t.status in ('done', 'passed'))::int as done, count(*) filter (where t.status = 'failed')::int as failed,
       count(*) filter (where t.status = 'skipped')::int as skipped, count(t.minutes)::int as timed, coalesce(sum(t.minutes), 0)::int as minutes,
       count(*) filter (where t.status = 'passed')::int as passed, count(*) filter (where t.completed_at is not null and t.due_at is not null)::int as due,
       count(*) filter (where t.completed_at <= t.due_at)::int as on_time
     from housekeeping_task t
     where t.tenant_id = :tenantId and t.property_id = any(cast(:houses as uuid[])) and t.date between cast(:from as date) and cast(:to as date)
       and (cast(:attendantId as uuid) is null or t.assignee_id = cast(:attendantId as uuid))
     group by 1, 2, 3, 4 order by t.date, t.property_id, t.assignee_id nulls last, t.kind`,
    { tenantId: contextOf(trx).tenantId, houses: houses.map(({ id }) => id), from, to, attendantId },
  )

/** Units by condition at the close of each day; of the open day as they are now. */
const conditionsOf = async (trx: Trx, houses: readonly House[], { from, to }: Range): Promise<Conditions[]> => {
  const { tenantId } = contextOf(trx)
  const ids = houses.map(({ id }) => id)
  const rows = await sql<{ propertyId: string; date: string; conditions: Record<string, number> }>(
    trx,
    `select d.property_id, d.date, d.conditions from property_day_count d
     where d.tenant_id = :tenantId and d.property_id = any(cast(:ids as uuid[])) and d.date between cast(:from as date) and cast(:to as date)
     union all
     select h.id, h.open_on, (select coalesce(jsonb_object_agg(c.condition, c.units), '{}') from (select u.condition, count(*) as units from unit u
       where u.tenant_id = :tenantId and u.property_id = h.id and u.status = 'active' group by 1) c)
     from unnest(cast(:ids as uuid[]), cast(:opens as date[])) h (id, open_on) where h.open_on between cast(:from as date) and cast(:to as date)
     order by 2, 1`,
    { tenantId, ids, opens: houses.map(({ openOn }) => openOn), from, to },
  )
  return rows.map(({ conditions, ...row }) => ({
    ...row,
    conditions: Object.entries(conditions).map(([condition, units]) => ({ condition, units })),
  }))
}

const figuresOf = (found: readonly Found[]): Figures => {
  const all = summedUp(none, found)
  const kinds = [...new Set(found.map(({ kind }) => kind))].toSorted()
  return {
    planned: all.planned,
    done: all.done,
    failed: all.failed,
    skipped: all.skipped,
    minutes: all.minutes,
    passRate: ratioOf(all.passed, all.passed + all.failed),
    onTimeRate: ratioOf(all.onTime, all.due),
    kinds: kinds.map((kind) => {
      const { planned, done, failed, skipped, minutes, timed } = summedUp(
        none,
        found.filter((one) => one.kind === kind),
      )
      return { kind, planned, done, failed, skipped, minutes, meanMinutes: ratioOf(minutes, timed) }
    }),
  }
}

/** Tasks, minutes and rates per day and attendant, with the conditions of units at the close of each day. An attendant who sees their own lines reads these alone. */
export const openHousekeeping = async (
  trx: Trx,
  asked: Asked,
  sight: Sight,
  window: Window,
): Promise<Reading<HousekeepingRow>> => {
  const { attendantId: given = null } = asked as { attendantId?: string }
  const houses = await housesOf(trx, 'housekeeping', asked, sight, window)
  const range = daysAsked('housekeeping', asked, houses, window)
  const meta = await metaOfHouses(trx, 'housekeeping', houses, range, sight)
  const attendantId = sight.own ?? given
  const found = await countsOf(trx, houses, range, attendantId)
  const groups = grouped(found)
  const rows = [...groups.values()].map((of): HousekeepingRow => {
    const { date, propertyId, attendantId: attendant } = of[0] as Found
    return { date, propertyId, attendantId: attendant, ...figuresOf(of) }
  })
  const totals = { ...figuresOf(found), days: await conditionsOf(trx, houses, range) }
  const houseNames = new Map(houses.map(({ id, name }) => [id, name]))
  const people = await sql<{ id: string; name: string }>(
    trx,
    `select id, name from app_user where id = any(?::uuid[])`,
    [[...new Set(rows.flatMap((row) => (row.attendantId === null ? [] : [row.attendantId])))]],
  )
  const names = new Map(people.map(({ id, name }) => [id, name]))
  const word = (key: string) => wordOf(key, meta.locale)
  /** A task or condition in words; the pickup of a forecast is another one. */
  const named = (key: string) => word(key === 'pickup' ? 'pickup_task' : key)
  /** Cells of figures, and below them those of each kind of task. */
  const cellsOf = ({ kinds, ...figures }: Figures, of: FileRow): FileRow[] => [
    { ...figures, ...of },
    ...kinds.map(({ kind, ...tasks }) => ({ ...of, taskKind: named(kind), ...tasks })),
  ]
  const [all = {}, ...allKinds] = cellsOf(figuresOf(found), { property: word('totals') })
  return {
    meta,
    rows,
    totals: () => totals,
    columns: columnsOf(meta.locale, columns),
    flat: (row) =>
      cellsOf(row, {
        date: row.date,
        property: houseNames.get(row.propertyId) ?? '',
        attendant: row.attendantId === null ? word('none') : (names.get(row.attendantId) ?? ''),
      }),
    // Conditions are those of whole days, with tasks or without.
    tail: () => [
      ...totals.days.flatMap(({ date, propertyId, conditions }) =>
        conditions.map(({ condition, units }) => ({
          date,
          property: houseNames.get(propertyId) ?? '',
          condition: named(condition),
          units,
        })),
      ),
      ...allKinds,
    ],
    foot: () => all,
  }
}

const keyOf = ({ date, propertyId, attendantId }: Found) => `${date} ${propertyId} ${attendantId ?? ''}`
const grouped = (found: readonly Found[]): Map<string, Found[]> => {
  const groups = new Map<string, Found[]>()
  for (const one of found) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return groups
}
