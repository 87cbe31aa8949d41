import { conflict, notFound, unprocessable } from '../../../config/errors.ts'
import { assignmentSwapped } from '../../../config/events/units.ts'
import { businessDay } from '../../financial/index.ts'
import { whereOf } from '../../lib/conditions.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { tellAssigned } from '../stay-events.ts'
import { announceOccupancy, live, lockPools, soil } from './occupy.ts'

type Stay = {
  id: string
  propertyId: string
  status: string
  arrival: string
  departure: string
}
/** Pools that serve all of some nights of a stay as these are sold, and how many units it takes. */
type Served = { id: string; poolIds: string[]; quantity: number }
type Row = {
  id: string
  reservationId: string
  unitId: string
  poolId: string
  status: 'proposed' | 'locked' | 'occupied'
  from: string
  to: string
}
type Piece = Pick<Row, 'reservationId' | 'unitId' | 'status' | 'from' | 'to'>

const readStays = (trx: Trx, ids: readonly string[], scope: Condition, lock = '') =>
  sql<Stay>(
    trx,
    `select r.id, r.property_id, r.status, r.arrival, r.departure from reservation r where r.id = any(?::uuid[]) and ? order by r.id ${lock}`,
    [ids, whereOf(scope, { propertyId: 'r.property_id' })],
  )

/** The type of a night counts, which is another than the booked one after a move. */
const servedOn = (trx: Trx, ids: readonly string[], from: string, to: string) =>
  sql<Served>(
    trx,
    `with night as (
       select n.tenant_id, n.reservation_id, n.date, n.unit_type_id from reservation_night n
       where n.reservation_id = any(?::uuid[]) and n.date >= ?::date and n.date < ?::date and n.status <> 'released'),
     share as (
       select n.reservation_id, n.date, s.unit_pool_id, s.quantity from night n
       join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id)
     select r.id,
       coalesce((select max(d.quantity) from (select sum(s.quantity)::int as quantity from share s where s.reservation_id = r.id group by s.date) d), 0) as quantity,
       array(select s.unit_pool_id from share s where s.reservation_id = r.id group by 1
         having count(*) = (select count(*) from night n where n.reservation_id = r.id)) as pool_ids
     from unnest(?::uuid[]) as r (id)`,
    [ids, from, to, ids],
  )

const mismatch = (message: string) =>
  unprocessable('unit_type_mismatch', message, [{ field: 'reservationIds', message: 'cannot be exchanged' }])
const outOfRange = (message: string) =>
  unprocessable('date_out_of_range', 'The stays cannot be exchanged on these nights', [{ field: 'from', message }])
const latest = (...days: string[]) => days.reduce((a, b) => (a > b ? a : b))
const earliest = (...days: string[]) => days.reduce((a, b) => (a < b ? a : b))

/** The nights of an exchange: from the business date, the later arrival or the day asked for, to the earlier departure. */
const nightsOf = (stays: readonly Stay[], today: string, asked: string | undefined) => {
  for (const { status } of stays)
    if (status !== 'confirmed' && status !== 'checked_in')
      throw conflict('invalid_transition', `A stay that is ${status} has no unit to exchange`)
  const first = latest(today, ...stays.map((stay) => stay.arrival))
  const to = earliest(...stays.map((stay) => stay.departure))
  const from = asked ?? first
  if (from < first) throw outOfRange(`must not be before ${first}`)
  if (from >= to) throw outOfRange('the stays have no night in common from then on')
  if (from > today && stays.some((stay) => stay.status === 'checked_in'))
    throw outOfRange('a guest in house changes units on the business date')
  return { from, to }
}

const readRows = async (trx: Trx, ids: readonly string[], from: string, to: string): Promise<[Row, Row]> => {
  const rows = await sql<Row>(
    trx,
    `select a.id, a.reservation_id, a.unit_id, u.unit_pool_id as pool_id, a.status, a.starts_on as "from", a.ends_on as "to"
     from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     where a.reservation_id = any(?::uuid[]) and a.status in ('proposed', 'locked', 'occupied') and a.starts_on < ?::date and a.ends_on > ?::date
     order by a.reservation_id, a.starts_on`,
    [ids, to, from],
  )
  const [one, other] = ids.map((id) => rows.filter((row) => row.reservationId === id))
  const [a, b] = [one?.[0], other?.[0]]
  if (!a || !b) throw unprocessable('unit_not_assigned', 'Both stays need a unit to exchange')
  if (rows.length > 2 || a.from > from || b.from > from || a.to < to || b.to < to)
    throw outOfRange('a stay changes units within these nights')
  return [a, b]
}

/** Units of each part of a stay after the exchange. The longer stay keeps the new unit while it is free, and goes back otherwise. */
const piecesOf = (row: Row, unitId: string, from: string, to: string, isFree: boolean): Piece[] => {
  const { reservationId } = row
  const until = isFree ? row.to : to
  const later = row.status === 'occupied' ? 'locked' : row.status
  return [
    ...(row.from < from && row.status !== 'occupied' ? [{ ...row, to: from }] : []),
    // The system does not move a person's choice again, so it is locked.
    { reservationId, unitId, status: row.status === 'occupied' ? row.status : 'locked', from, to: until },
    ...(until < row.to ? [{ reservationId, unitId: row.unitId, status: later, from: until, to: row.to } as const] : []),
  ]
}

const freeAfter = async (trx: Trx, unitId: string, rows: readonly Row[], from: string, to: string) => {
  if (from >= to) return true
  const free = await sql(
    trx,
    `select 1 from unit u where u.id = ? and (u.active_until is null or u.active_until >= ?::date) and not exists (
       select from unit_assignment a where a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status in ${live}
         and a.starts_on < ?::date and a.ends_on > ?::date and not (a.id = any(?::uuid[])))`,
    [unitId, to, to, from, rows.map((row) => row.id)],
  )
  return free.length > 0
}

const refuseThird = async (trx: Trx, rows: readonly Row[], from: string, today: string) => {
  if (from > today || !rows.some((row) => row.status === 'occupied')) return
  const others = await sql<{ name: string }>(
    trx,
    `select u.name from unit_assignment a join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id
     where a.unit_id = any(?::uuid[]) and a.status = 'occupied' and not (a.id = any(?::uuid[]))`,
    [rows.map((row) => row.unitId), rows.map((row) => row.id)],
  )
  if (others.length > 0)
    throw unprocessable(
      'unit_occupied',
      'The guest before has not left',
      others.map(({ name }) => ({ field: 'reservationIds', message: `${name} is occupied` })),
    )
}

const write = async (trx: Trx, rows: readonly Row[], pieces: readonly Piece[], from: string) => {
  const ids = rows.map((row) => row.id)
  await sql(trx, `select id from unit_assignment where id = any(?::uuid[]) order by id for update`, [ids])
  await sql(
    trx,
    `update unit_assignment set status = case status when 'occupied' then 'ended' else 'released' end,
       during = case status when 'occupied' then daterange(starts_on, greatest(starts_on + 1, ?::date)) else during end where id = any(?::uuid[])`,
    [from, ids],
  )
  await sql(
    trx,
    `insert into unit_assignment (reservation_id, unit_id, status, during)
     select p.reservation_id, p.unit_id, p.status, daterange(p."from", p."to")
     from unnest(?::uuid[], ?::uuid[], ?::text[], ?::date[], ?::date[]) as p (reservation_id, unit_id, status, "from", "to")`,
    [
      pieces.map((piece) => piece.reservationId),
      pieces.map((piece) => piece.unitId),
      pieces.map((piece) => piece.status),
      pieces.map((piece) => piece.from),
      pieces.map((piece) => piece.to),
    ],
  )
}

/**
 * Exchanges the units of two stays (R17), from the business date or the later arrival, or a later day, to the earlier departure. Each takes one unit, and its type is
 * served by the other's pool: 422 `unit_type_mismatch`. What was proposed is locked by it; where a guest is in house both units become dirty.
 */
export const swapUnits = async (
  trx: Trx,
  [one, other]: readonly [string, string],
  asked: string | undefined,
  scope: Condition,
): Promise<void> => {
  const ids = [one, other]
  const known = await readStays(trx, ids, scope)
  const propertyId = known[0]?.propertyId
  if (known.length !== 2 || propertyId === undefined) throw notFound()
  if (known.some((stay) => stay.propertyId !== propertyId)) throw mismatch('The stays are in different properties')
  const today = await businessDay(trx, propertyId)
  const stays = await readStays(trx, ids, scope, 'for no key update of r')
  const { from, to } = nightsOf(stays, today, asked)
  const served = await servedOn(trx, ids, from, to)
  if (served.some((stay) => stay.quantity !== 1)) throw mismatch('Each stay must take one unit')
  const planned = await readRows(trx, ids, from, to)
  await lockPools(
    trx,
    planned.map((row) => row.poolId),
  )
  await sql(trx, `select id from unit where id = any(?::uuid[]) order by id for no key update`, [
    planned.map((row) => row.unitId),
  ])
  const [a, b] = await readRows(trx, ids, from, to)
  for (const [row, target] of [
    [a, b],
    [b, a],
  ] as const)
    if (!served.find((stay) => stay.id === row.reservationId)?.poolIds.includes(target.poolId))
      throw mismatch('The unit of the other stay is of another type')
  const rows = [a, b]
  await refuseThird(trx, rows, from, today)
  const pieces = [
    ...piecesOf(a, b.unitId, from, to, await freeAfter(trx, b.unitId, rows, to, a.to)),
    ...piecesOf(b, a.unitId, from, to, await freeAfter(trx, a.unitId, rows, to, b.to)),
  ]
  await write(trx, rows, pieces, from)
  await announce(trx, stays, rows, pieces, from, to)
}

const announce = async (
  trx: Trx,
  stays: readonly Stay[],
  rows: readonly Row[],
  pieces: readonly Piece[],
  from: string,
  to: string,
) => {
  const unitIds = rows.map((row) => row.unitId)
  const propertyId = stays[0]?.propertyId ?? null
  if (propertyId !== null && rows.some((row) => row.status === 'occupied')) {
    await soil(trx, unitIds)
    const inside = pieces.filter((piece) => piece.status === 'occupied')
    const left = rows.filter((row) => row.status === 'occupied' && !inside.some((piece) => piece.unitId === row.unitId))
    await announceOccupancy(
      trx,
      'vacant',
      left.map((row) => ({ ...row, propertyId })),
    )
    await announceOccupancy(
      trx,
      'occupied',
      inside.map((piece) => ({ ...piece, propertyId })),
    )
  }
  await emit(trx, assignmentSwapped, {
    propertyId,
    id: rows[0]?.reservationId ?? '',
    version: null,
    data: {
      unitPoolId: rows[0]?.poolId ?? null,
      reservationIds: rows.map((row) => row.reservationId),
      from,
      to,
    },
  })
  await tellAssigned(trx, pieces, true)
}
