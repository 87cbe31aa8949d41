import { createHash } from 'node:crypto'
import { ApiError, conflict, invalid, notFound, unprocessable } from '../../config/errors.ts'
import { daysBetween } from '../../config/time.ts'
import { sum } from '../lib/amounts.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { onTop, wrongNight } from '../properties/index.ts'
import type { AmendmentRow, ReservationNightRow, ReservationRow } from '../rows.ts'
import { amendLocked } from './amend.ts'
import type { StayChange } from './amend.ts'
import { refuseLowPrices } from './amend-prices.ts'
import type { LineTax } from './folio/lines.ts'
import { depositsOf, lockStay } from './lock.ts'
import type { LockedStay } from './lock.ts'
import { moneyOf, uncovered } from './rules/deposits.ts'
import { blocker, isWaived, refuseBlocked, usedOverride } from './rules/blockers.ts'
import type { Granted, OverrideRule } from './rules/blockers.ts'
import { isLive } from './rules/states.ts'

const validMinutes = 30

type Night = {
  date: string
  change: 'kept' | 'added' | 'removed' | 'repriced'
  before: number | null
  after: number | null
}

/** The outcome of a proposed change. Amounts are in minor units of the stay's currency. */
export type Proposal = {
  nights: Night[]
  extras: number
  taxes: number
  totalBefore: number
  totalAfter: number
  difference: number
  policyChanged: boolean
  depositDue: number
  feasible: boolean
  shortNights: string[]
  unit: 'kept' | 'released' | 'moves' | 'conflict'
  needsOverride: OverrideRule[]
}

const nightsOf = (trx: Trx, reservationId: string) =>
  sql<ReservationNightRow>(
    trx,
    `select * from reservation_night where reservation_id = ? and status <> 'released' order by date`,
    [reservationId],
  )

const unitsOf = (trx: Trx, reservationId: string) =>
  sql<{ unitId: string }>(
    trx,
    `select distinct unit_id from unit_assignment where reservation_id = ? and status in ('proposed', 'locked', 'occupied') order by 1`,
    [reservationId],
  )

const compare = (before: readonly ReservationNightRow[], after: readonly ReservationNightRow[]): Night[] => {
  const dates = [...new Set([...before, ...after].map((night) => night.date))].sort()
  return dates.map((date) => {
    const [old, now] = [before, after].map((nights) => nights.find((night) => night.date === date))
    const same =
      old && now && old.amount === now.amount && old.unitTypeId === now.unitTypeId && old.ratePlanId === now.ratePlanId
    const change = !old ? 'added' : !now ? 'removed' : same ? 'kept' : 'repriced'
    return { date, change, before: old?.amount ?? null, after: now?.amount ?? null }
  })
}

/** Runs work and takes all that it has written back. What it answers or throws stays. */
const undone = async <T>(trx: Trx, work: () => Promise<T>): Promise<T> => {
  await sql(trx, `savepoint proposal`)
  let result: { value: T } | { error: unknown }
  try {
    const value = await work()
    // Writes that wait for the next statement go with this one, and are taken back with the others.
    await sql(trx, `set constraints all deferred`)
    result = { value }
  } catch (error) {
    result = { error }
  }
  await sql(trx, `rollback to savepoint proposal`)
  if ('error' in result) throw result.error
  return result.value
}

/** Rules that are waived to see the price of a change. */
type Aside = { restrictions: boolean; units: boolean }

const unitAfter = (before: readonly { unitId: string }[], after: readonly { unitId: string }[], allowMove: boolean) => {
  if (before.some((one) => !after.some((other) => other.unitId === one.unitId))) return 'released'
  return allowMove && before.length > 0 && after.length > before.length ? 'moves' : 'kept'
}

type Found = Omit<Proposal, 'needsOverride' | 'feasible' | 'shortNights'> & { shortNights: string[] }

const outcomeOf = async (trx: Trx, locked: LockedStay, change: StayChange, aside: Aside): Promise<Found> => {
  const { stay, businessDate, now } = locked
  const [before, unitsBefore] = [await nightsOf(trx, stay.id), await unitsOf(trx, stay.id)]
  return undone(trx, async () => {
    const short: string[] = []
    const { reservation } = await amendLocked(trx, locked, stay.id, change, {
      force: true,
      waiveRestrictions: aside.restrictions,
      withoutUnits: aside.units,
      businessDate,
      onShort: (nights) => short.push(...nights.map((one) => one.night)),
    })
    const after = await nightsOf(trx, stay.id)
    const units = await unitsOf(trx, stay.id)
    const folios = await sql<{ reservationId: string; credits: number }>(
      trx,
      `select reservation_id, credits from folio where reservation_id = ?`,
      [stay.id],
    )
    const written = await sqlOne<ReservationRow>(trx, `select * from reservation where id = ?`, [stay.id])
    return {
      nights: compare(before, after),
      extras: reservation.extrasTotal,
      taxes: sum(after.map((night) => onTop(night.taxes as LineTax[]))),
      totalBefore: stay.total,
      totalAfter: reservation.total,
      difference: reservation.total - stay.total,
      policyChanged: JSON.stringify(written?.policies) !== JSON.stringify(stay.policies),
      depositDue: uncovered(await depositsOf(trx, [stay.id]), moneyOf(folios, stay.id), now),
      shortNights: [...new Set(short)].sort(),
      unit: aside.units ? 'conflict' : unitAfter(unitsBefore, units, change.allowMove ?? false),
    }
  })
}

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest()

const isCode = (error: unknown, code: string): error is ApiError => error instanceof ApiError && error.code === code

/**
 * Prices a change of dates, type, plan or party of a live stay (A1). Nothing is taken for it, and it is good for 30 minutes. 409 invalid_transition; 422
 * transition_blocked, occupancy_exceeded, reference_not_found.
 */
export const proposeAmendment = async (
  trx: Trx,
  reservationId: string,
  change: StayChange,
  expectedVersion: number | null = null,
): Promise<string> => {
  const locked = await lockStay(trx, reservationId, expectedVersion)
  const { stay } = locked
  if (!isLive(stay.status)) throw conflict('invalid_transition', 'Only a stay that stands can be amended')
  const [arrival, departure] = [change.arrival ?? stay.arrival, change.departure ?? stay.departure]
  if (daysBetween(arrival, departure) < 1)
    throw invalid([{ field: 'changes.departure', message: 'must be after arrival' }])
  const wrong = wrongNight(change.manualNights ?? [], { arrival, departure })
  if (wrong) throw invalid([{ field: `changes.manualNights.${wrong.index}.date`, message: wrong.message }])
  const { from = arrival } = change
  if (from < arrival || from >= departure)
    throw invalid([{ field: 'changes.from', message: 'is not a night of the stay' }])
  const needs: OverrideRule[] = [
    ...((change.manualNights ?? []).length > 0 ? (['price'] as const) : []),
    ...(stay.channelManaged ? (['channel'] as const) : []),
  ]
  const found = await triedOf(trx, locked, change, needs)
  if (found.shortNights.length > 0) needs.push('availability')
  const proposal: Proposal = {
    ...found,
    feasible: needs.length === 0 && found.unit !== 'conflict',
    needsOverride: needs,
  }
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into amendment (reservation_id, base_version, changes, reply, difference, hash, expires_at)
     values (?, ?, ?::jsonb, ?::jsonb, ?, ?, now() + make_interval(mins => ?)) returning id`,
    [
      stay.id,
      stay.version,
      JSON.stringify(change),
      JSON.stringify(proposal),
      proposal.difference,
      hashOf([proposal.nights, proposal.totalAfter]),
      validMinutes,
    ],
  )
  return row?.id ?? ''
}

/** The outcome of a change with all that stands in its way: a restriction is added to the rules that it needs, and a unit that is taken is told of. */
const triedOf = async (trx: Trx, locked: LockedStay, change: StayChange, needs: OverrideRule[]): Promise<Found> => {
  const aside: Aside = { restrictions: false, units: false }
  for (;;)
    try {
      return await outcomeOf(trx, locked, change, aside)
    } catch (error) {
      if (!aside.units && isCode(error, 'unit_conflict')) aside.units = true
      else if (
        !aside.restrictions &&
        isCode(error, 'restriction_violated') &&
        !(error.errors ?? []).some(({ message }) => message.startsWith('price_missing'))
      ) {
        aside.restrictions = true
        needs.push('restriction')
      } else throw error
    }
}

export type AmendmentShown = Proposal & {
  amendmentId: string
  reservationId: string
  baseVersion: number
  status: 'proposed' | 'accepted' | 'expired'
  expiresAt: Date
}

const readRow = async (trx: Trx, reservationId: string, id: string): Promise<AmendmentRow & { isOver: boolean }> => {
  const row = await sqlOne<AmendmentRow & { isOver: boolean }>(
    trx,
    `select *, expires_at <= now() as is_over from amendment where id = ? and reservation_id = ?`,
    [id, reservationId],
  )
  if (!row) throw notFound()
  return row
}

/** A proposal as it was priced. 404. */
export const readAmendment = async (trx: Trx, reservationId: string, id: string): Promise<AmendmentShown> => {
  const row = await readRow(trx, reservationId, id)
  return {
    ...(row.reply as Proposal),
    amendmentId: row.id,
    reservationId,
    baseVersion: row.baseVersion,
    status: row.status === 'proposed' && row.isOver ? 'expired' : row.status,
    expiresAt: row.expiresAt,
  }
}

/**
 * Makes a proposed change (A2, T12, T15) at the price that it was proposed at. Repeating it changes nothing. 409 amendment_stale where the stay or the price is
 * another by now, sold_out, unit_conflict; 422 amendment_expired, restriction_violated, transition_blocked.
 */
export const acceptAmendment = async (
  trx: Trx,
  reservationId: string,
  id: string,
  override: Granted | null,
  expected: number | null = null,
): Promise<void> => {
  const locked = await lockStay(trx, reservationId, expected)
  const row = await readRow(trx, reservationId, id)
  if (row.status === 'accepted') return
  if (row.isOver)
    throw unprocessable('amendment_expired', 'The proposal is older than 30 minutes; price the change anew')
  const { stay, businessDate } = locked
  if (stay.version !== row.baseVersion)
    throw conflict('amendment_stale', 'The reservation has changed meanwhile; price the change anew')
  const change = row.changes as StayChange
  const proposal = row.reply as Proposal
  const needs = proposal.needsOverride
  const used = refuseBlocked(
    [
      ...blocker(needs.includes('price'), 'manual_price', 'A price set by hand needs the rule price', 'price'),
      ...blocker(needs.includes('channel'), 'channel_managed', 'Price and dates belong to a channel', 'channel'),
    ],
    override,
  )
  await refuseLowPrices(trx, locked, change, override)
  const waives = (rule: OverrideRule) => isWaived(override, rule)
  await amendLocked(trx, locked, reservationId, change, {
    force: waives('availability'),
    waiveRestrictions: waives('restriction'),
    override: usedOverride(override, [...needs, ...(used?.rules ?? [])]),
    granted: override,
    businessDate,
  })
  const after = await nightsOf(trx, reservationId)
  const total = (await sqlOne<{ total: number }>(trx, `select total from reservation where id = ?`, [reservationId]))
    ?.total
  const before = proposal.nights.filter((night) => night.after !== null).map((night) => [night.date, night.after])
  const same = JSON.stringify(before) === JSON.stringify(after.map((night) => [night.date, night.amount]))
  if (total !== proposal.totalAfter || !same)
    throw conflict('amendment_stale', 'The price is another by now; price the change anew')
  await sql(trx, `update amendment set status = 'accepted', version = version + 1 where id = ?`, [id])
}
