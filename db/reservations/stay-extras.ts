import { conflict, invalid, notFound, unprocessable } from '../../config/errors.ts'
import { reservationExtrasChanged } from '../../config/events/reservations.ts'
import { textIn } from '../../config/local-text.ts'
import type { ExtraBasis, QuotedTax } from '../../config/quote.ts'
import { addDays, daysIn } from '../../config/time.ts'
import { sum } from '../lib/amounts.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import {
  addTaxes,
  catalogueOf,
  countParty,
  dailyAmount,
  extraMoves,
  extraTaxes,
  extrasOf,
  localTaxRules,
  onTop,
  serviceDates,
} from '../properties/index.ts'
import type { Catalogue } from '../properties/index.ts'
import type { ReservationExtraRow, ReservationRow } from '../rows.ts'
import { moveInventory } from '../units/index.ts'
import { capDeposits, costsTheSame, renewDeposits, upToDay } from './amend-rows.ts'
import { lockStay } from './lock.ts'
import type { LockedStay } from './lock.ts'
import { isDaily } from './rules/due-charges.ts'
import { isLive } from './rules/states.ts'

/** Days of service, both included. */
type Days = { from: string; until: string }
type Priced = Days & { quantity: number; amount: number; taxes: QuotedTax[] }
type Stored = Omit<ReservationExtraRow, 'taxes'> & { poolId: string | null; taxes: QuotedTax[] }
type Extra = { basis: ExtraBasis; unitAmount: number; poolId: string | null }

const lockLive = async (trx: Trx, reservationId: string, expectedVersion: number | null): Promise<LockedStay> => {
  const locked = await lockStay(trx, reservationId, expectedVersion)
  if (!isLive(locked.stay.status))
    throw conflict('invalid_transition', 'The extras of a stay that has ended stay as they are')
  return locked
}

/** A service of a stay on these days at its price, with the taxes of each day. */
const priced = (
  { property, stay }: LockedStay,
  catalogue: Catalogue,
  { basis, unitAmount }: Pick<Extra, 'basis' | 'unitAmount'>,
  { from, until, quantity }: Days & { quantity: number },
): Priced => {
  const { counted } = countParty(catalogue, stay)
  const rules = localTaxRules(catalogue, property, property.locales[0] ?? 'en')
  const daily = dailyAmount(unitAmount, basis, quantity, counted)
  const days = isDaily({ basis }) ? daysIn(from, addDays(until, 1)) : [from]
  const taxes = addTaxes(days.flatMap((date) => extraTaxes(rules, { date, amount: daily })))
  return { from, until, quantity, amount: daily * days.length, taxes }
}

/** The day from which a service may be sold: the business date for guests who are in the house. */
const firstDay = ({ stay, businessDate }: LockedStay): string =>
  stay.status === 'checked_in' && businessDate > stay.arrival ? businessDate : stay.arrival

/** 400 for days that are out of order, outside of the stay, or over. What is served once may be on the day of departure. */
const refuseDays = (
  { stay }: LockedStay,
  { basis }: Pick<Extra, 'basis'>,
  { from, until }: Days,
  earliest: string,
): void => {
  const last = isDaily({ basis }) ? addDays(stay.departure, -1) : stay.departure
  if (from < earliest) throw invalid([{ field: 'from', message: `must not be before ${earliest}` }])
  if (from > last) throw invalid([{ field: 'from', message: `must not be after ${last}` }])
  if (until < from) throw invalid([{ field: 'until', message: 'must not be before from' }])
  if (until > last) throw invalid([{ field: 'until', message: `must not be after ${last}` }])
  if (!isDaily({ basis }) && until !== from)
    throw invalid([{ field: 'until', message: 'is the same day as from: the extra is served once' }])
}

const money = (rows: readonly Pick<Priced, 'amount' | 'taxes'>[]) => ({
  amount: sum(rows.map((row) => row.amount)),
  tax: sum(rows.map((row) => onTop(row.taxes))),
})

/** Moves what a service takes of its daily limit, then the totals and installments of the stay, and tells of it. */
const settle = async (
  trx: Trx,
  { booking, stay, property, now }: LockedStay,
  poolId: string | null,
  before: readonly Priced[],
  after: readonly Priced[],
): Promise<void> => {
  const counter = stay.status === 'held' ? 'held' : 'sold'
  await moveInventory(trx, [
    ...before.flatMap((row) => extraMoves(row, poolId, { [counter]: -1 })),
    ...after.flatMap((row) => extraMoves(row, poolId, { [counter]: 1 })),
  ])
  const [old, fresh] = [money(before), money(after)]
  const [extras, tax] = [fresh.amount - old.amount, fresh.tax - old.tax]
  const written = await sqlOne<ReservationRow>(
    trx,
    `update reservation set extras_total = extras_total + ?, tax_total = tax_total + ?, total = total + ?, version = version + 1
     where id = ? returning *`,
    [extras, tax, extras + tax, stay.id],
  )
  if (!written) throw notFound()
  if (extras + tax !== 0)
    await (stay.channelManaged ? capDeposits(trx, written) : renewDeposits(trx, booking, written, property, now))
  await emit(trx, reservationExtrasChanged, {
    propertyId: stay.propertyId,
    id: stay.id,
    version: written.version,
    data: {
      reservationId: stay.id,
      number: `${booking.number}-${stay.position}`,
      bookingId: booking.id,
      status: stay.status,
    },
  })
}

const insert = (
  trx: Trx,
  reservationId: string,
  { extraId, name, basis, unitAmount }: { extraId: string; name: string; basis: ExtraBasis; unitAmount: number },
  { quantity, from, until, amount, taxes }: Priced,
) =>
  sqlOne<{ id: string }>(
    trx,
    `insert into reservation_extra (reservation_id, extra_id, name, basis, quantity, "from", "until", unit_amount, amount, taxes)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb) returning id`,
    [reservationId, extraId, name, basis, quantity, from, until, unitAmount, amount, JSON.stringify(taxes)],
  )

/** The types that nights of a stay from a day on are sold as: another one than the booked, after a move. */
const typesFrom = async (trx: Trx, { id, unitTypeId }: Pick<ReservationRow, 'id' | 'unitTypeId'>, from: string) => {
  const rows = await sql<{ unitTypeId: string }>(
    trx,
    `select distinct unit_type_id from reservation_night where reservation_id = ? and date >= ?::date and status <> 'released'`,
    [id, from],
  )
  return new Set(rows.length > 0 ? rows.map((row) => row.unitTypeId) : [unitTypeId])
}

export type NewStayExtra = {
  extraId: string
  quantity: number
  from?: string | undefined
  until?: string | undefined
}

/**
 * Sells a live stay an extra at its price of today: on the days that are named, else from the first day that is left. 409 sold_out, invalid_transition; 422
 * extra_unavailable. Answers the id of the extra within the stay.
 */
export const addStayExtra = async (
  trx: Trx,
  reservationId: string,
  given: NewStayExtra,
  expectedVersion: number | null = null,
): Promise<string> => {
  const locked = await lockLive(trx, reservationId, expectedVersion)
  const { booking, stay, property } = locked
  const catalogue = await catalogueOf(trx, property)
  const earliest = firstDay(locked)
  const types = await typesFrom(trx, stay, earliest)
  const extra = catalogue.unitTypes
    .filter((one) => types.has(one.id))
    .flatMap((type) => extrasOf(catalogue, type))
    .find((one) => one.id === given.extraId)
  if (!extra)
    throw unprocessable('extra_unavailable', 'The extra is not sold with this room', [
      { field: 'extraId', message: 'is not offered for the type of the room' },
    ])
  const usual = serviceDates(extra.basis, { arrival: earliest, departure: stay.departure })
  const from = given.from ?? usual.from
  const until = given.until ?? (isDaily(extra) ? usual.until : from)
  refuseDays(locked, extra, { from, until }, earliest)
  const sold = { basis: extra.basis, unitAmount: extra.amount }
  const row = priced(locked, catalogue, sold, { from, until, quantity: given.quantity })
  const name = textIn(extra.name, booking.language, ...property.locales)
  const made = await insert(trx, stay.id, { extraId: extra.id, name, ...sold }, row)
  await settle(trx, locked, extra.poolId, [], [row])
  return made?.id ?? ''
}

const readExtra = async (trx: Trx, reservationId: string, id: string): Promise<Stored> => {
  const row = await sqlOne<Stored>(
    trx,
    `select e.*, x.pool_id from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id
     where e.id = ? and e.reservation_id = ? for no key update of e`,
    [id, reservationId],
  )
  if (!row) throw notFound()
  if (row.status !== 'active') throw conflict('invalid_transition', 'The extra was cancelled')
  if (row.chargedUntil !== null && (!isDaily(row) || row.chargedUntil >= row.until))
    throw conflict('invalid_transition', 'The extra was charged; adjust it on the folio')
  return row
}

const write = (trx: Trx, id: string, { quantity, from, until, amount, taxes }: Priced, status = 'active') =>
  sql(
    trx,
    `update reservation_extra set quantity = ?, "from" = ?, "until" = ?, amount = ?, taxes = ?::jsonb, status = ?, version = version + 1 where id = ?`,
    [quantity, from, until, amount, JSON.stringify(taxes), status, id],
  )

export type StayExtraChange = {
  quantity?: number | undefined
  from?: string | undefined
  until?: string | undefined
}

/**
 * Changes quantity or days of an extra at the price that it was sold for. Days that were charged stay as they are (R35): where later ones cost something
 * else, they stand apart. 409 sold_out, invalid_transition.
 */
export const changeStayExtra = async (
  trx: Trx,
  reservationId: string,
  id: string,
  change: StayExtraChange,
  expectedVersion: number | null = null,
): Promise<void> => {
  const locked = await lockLive(trx, reservationId, expectedVersion)
  const row = await readExtra(trx, reservationId, id)
  const quantity = change.quantity ?? row.quantity
  const from = change.from ?? row.from
  const until = change.until ?? (isDaily(row) ? row.until : from)
  if (quantity === row.quantity && from === row.from && until === row.until) return
  if (row.chargedUntil === null) refuseDays(locked, row, { from, until }, from === row.from ? from : firstDay(locked))
  else {
    if (from !== row.from) throw invalid([{ field: 'from', message: 'is charged already' }])
    if (until < row.chargedUntil) throw invalid([{ field: 'until', message: `is charged to ${row.chargedUntil}` }])
    refuseDays(locked, row, { from, until }, from)
  }
  const catalogue = await catalogueOf(trx, locked.property)
  const whole = priced(locked, catalogue, row, { from, until, quantity })
  if (row.chargedUntil === null) {
    await write(trx, id, whole)
    return settle(trx, locked, row.poolId, [row], [whole])
  }
  const charged = upToDay(row, row.chargedUntil)
  const next = addDays(row.chargedUntil, 1)
  const isSame = quantity === row.quantity && costsTheSame(charged, upToDay({ ...row, ...whole }, row.chargedUntil))
  if (isSame || next > until) {
    const kept = isSame ? whole : charged
    await write(trx, id, { ...kept, quantity: row.quantity })
    return settle(trx, locked, row.poolId, [row], [{ ...kept, quantity: row.quantity }])
  }
  const rest = priced(locked, catalogue, row, { from: next, until, quantity })
  await write(trx, id, charged)
  await insert(trx, reservationId, row, rest)
  return settle(trx, locked, row.poolId, [row], [charged, rest])
}

/** Takes what is not charged yet of an extra off a live stay. 409 invalid_transition where all of it is. */
export const cancelStayExtra = async (
  trx: Trx,
  reservationId: string,
  id: string,
  expectedVersion: number | null = null,
): Promise<void> => {
  const locked = await lockLive(trx, reservationId, expectedVersion)
  const row = await readExtra(trx, reservationId, id)
  if (row.chargedUntil === null) {
    await write(trx, id, row, 'cancelled')
    return settle(trx, locked, row.poolId, [row], [])
  }
  const charged = upToDay(row, row.chargedUntil)
  await write(trx, id, charged)
  return settle(trx, locked, row.poolId, [row], [charged])
}
