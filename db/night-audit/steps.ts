import { nilId } from '../../config/nil-id.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { requestMatchesIfAny } from '../lib/waiting.ts'
import { businessDay, lockDayForRoll, rollBusinessDay } from '../financial/index.ts'
import { dayTotals, enqueueVerification, snapshotDay } from '../reports/index.ts'
import { chargeExtras, chargeNights, enqueueReleaseGroups, postCharged, markNoShows } from '../reservations/index.ts'
import type { ReservationRow } from '../rows.ts'
import { enqueueCloseBlocks, enqueueTasks, generateTasks } from '../units/index.ts'
import { addDays } from '../../config/time.ts'
import { conflict } from '../../config/errors.ts'
import { readProperty } from '../properties/index.ts'
import type { AuditException, AuditStep } from './audits.ts'
import { exceptionsOfDay, exceptionsOfStays, notKept, tellOverdue } from './exceptions.ts'
import { lockInHouse, nextStays } from './stays.ts'
import type { Concerned } from './stays.ts'

/** `atOnce`: reservations of one transaction. */
export type Audited = { tenantId: string; propertyId: string; businessDate: string; atOnce: number }
/** The place of a step: the last reservation that it is through with, and their number. */
export type Position = { lastId: string | null; done: number }
export type Progress = Position & {
  isFinished: boolean
  exceptions: readonly AuditException[]
  /** Set by the last step: the day that is open now. */
  next?: string
}

type Work = (trx: Trx, audit: Audited, position: Position) => Promise<Progress>

/** Every step but the last holds the day open for its transaction; another open day means that this audit is over. */
const holdDay = async (trx: Trx, { propertyId, businessDate }: Audited) => {
  if ((await businessDay(trx, propertyId)) !== businessDate)
    throw conflict('business_day_changed', `The business day is not ${businessDate} any more`)
}

/** A step that goes through reservations in the order of their ids, some in each transaction. */
const throughStays =
  (which: Concerned, work: (trx: Trx, audit: Audited, ids: string[]) => Promise<readonly AuditException[]>): Work =>
  async (trx, audit, { lastId, done }) => {
    await holdDay(trx, audit)
    const ids = await nextStays(trx, audit, which, lastId ?? nilId, audit.atOnce)
    const exceptions = ids.length > 0 ? await work(trx, audit, ids) : []
    return {
      lastId: ids.at(-1) ?? lastId,
      done: done + ids.length,
      isFinished: ids.length < audit.atOnce,
      exceptions: exceptions.map(({ code, reservationId, message }) => ({ code, reservationId, message })),
    }
  }

const exceptions = throughStays('inHouse', async (trx, { propertyId, businessDate }, ids) => {
  const found = await exceptionsOfStays(trx, businessDate, ids)
  await tellOverdue(trx, propertyId, businessDate, found)
  return found
})

const noShows = throughStays('notCome', async (trx, { propertyId, businessDate }, ids) => {
  const property = await readProperty(trx, propertyId)
  if (!property) return []
  const { credits } = await markNoShows(trx, property, businessDate, ids)
  return credits.map(({ reservationId, amount }) => ({
    code: 'credit_after_no_show',
    reservationId,
    message: `the guest did not come, and ${amount} of the guest's money is left on the folio`,
  }))
})

type Kind = 'rooms' | 'extras'

const charge = async (
  trx: Trx,
  { propertyId, businessDate }: Audited,
  stays: readonly ReservationRow[],
  kinds: Kind[],
) => {
  const of = { businessDate, stays, through: businessDate }
  const nights = kinds.includes('rooms') ? [await chargeNights(trx, of)] : []
  const extras = kinds.includes('extras') ? [await chargeExtras(trx, of)] : []
  await postCharged(trx, propertyId, ...nights, ...extras)
}

const charges = (kind: Kind) =>
  throughStays('inHouse', async (trx, audit, ids) => {
    await charge(trx, audit, await lockInHouse(trx, ids), [kind])
    return []
  })

const snapshot: Work = async (trx, audit, { lastId, done }) => {
  await holdDay(trx, audit)
  await snapshotDay(trx, { ...audit, date: audit.businessDate, closes: false })
  return { lastId, done, isFinished: true, exceptions: [] }
}

/** The units and tasks of the day that comes, some units in each transaction. */
const housekeeping: Work = async (trx, audit, { lastId, done }) => {
  await holdDay(trx, audit)
  const state = await generateTasks(trx, {
    propertyId: audit.propertyId,
    businessDate: addDays(audit.businessDate, 1),
  })
  return { lastId, done, isFinished: state.done, exceptions: [] }
}

/**
 * Closes the day (R36). Guests who came after step 3 had passed are charged here, under the lock of the day; if they are many, they are
 * charged by themselves first, and the day closes with the next transaction. Exceptions of the day are found here, too, since all that is dated by it has committed.
 */
const roll: Work = async (trx, audit, { lastId, done }) => {
  const { propertyId, businessDate } = audit
  if (!(await lockDayForRoll(trx, propertyId, businessDate)))
    throw conflict('business_day_changed', `The business day is not ${businessDate} any more`)
  const late = await nextStays(trx, audit, 'uncharged', nilId, audit.atOnce)
  if (late.length > 0) await charge(trx, audit, await lockInHouse(trx, late), ['rooms', 'extras'])
  if (late.length === audit.atOnce) return { lastId, done: done + late.length, isFinished: false, exceptions: [] }
  const ofDay = await notKept(trx, propertyId, businessDate, await exceptionsOfDay(trx, propertyId, businessDate))
  const day = { ...audit, date: businessDate }
  await snapshotDay(trx, { ...day, closes: true })
  const next = await rollBusinessDay(trx, propertyId, businessDate, await dayTotals(trx, day))
  await sql(trx, `update property set business_date = ?, version = version + 1 where id = ?`, [next, propertyId])
  await enqueueCloseBlocks(trx, propertyId, next)
  await enqueueTasks(trx, propertyId, next)
  await requestMatchesIfAny(trx, propertyId)
  await enqueueReleaseGroups(trx, propertyId)
  await enqueueVerification(trx, propertyId)
  return { lastId, done: done + late.length, isFinished: true, exceptions: ofDay, next }
}

export const works: Record<AuditStep, Work> = {
  exceptions,
  no_shows: noShows,
  room_charges: charges('rooms'),
  extra_charges: charges('extras'),
  snapshot,
  housekeeping,
  roll,
}

/** The reservations that a step goes through, for its total; null where it goes through none. */
export const goesThrough: Record<AuditStep, Concerned | null> = {
  exceptions: 'inHouse',
  no_shows: 'notCome',
  room_charges: 'inHouse',
  extra_charges: 'inHouse',
  snapshot: null,
  housekeeping: null,
  roll: null,
}

export const auditedOf = (
  trx: Trx,
  { propertyId, businessDate }: { propertyId: string; businessDate: string },
  atOnce: number,
): Audited => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a night audit belongs to a tenant')
  return { tenantId, propertyId, businessDate, atOnce }
}
