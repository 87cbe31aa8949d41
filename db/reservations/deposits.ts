import { conflict, invalid, notFound, unprocessable, versionConflict } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { depositChanged, depositCovered, depositDueDateReached, depositWaived } from '../../config/events/deposits.ts'
import { sum } from '../lib/amounts.ts'
import { audit } from '../lib/audit.ts'
import { prepared, sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import type { DepositRow, FolioLineRow, FolioRow, ReservationRow } from '../rows.ts'
import { depositsOf, lockStay } from './lock.ts'
import type { LockedStay } from './lock.ts'
import { installmentsOf, moneyOf } from './rules/deposits.ts'

const folioCredits = (trx: Trx, reservationIds: readonly string[]) =>
  sql<Pick<FolioRow, 'reservationId' | 'credits'>>(
    trx,
    `select reservation_id, credits from folio where reservation_id = any(?::uuid[])`,
    [reservationIds],
  )

/**
 * Installments of a locked stay with what covers each: money on its folios, and for a held one its part of the credit of the booking, which fills the
 * installments of all held rooms in order.
 */
export const coveredDeposits = async (trx: Trx, { booking, reservations, stay, now }: LockedStay) => {
  if (stay.status !== 'held') {
    const deposits = await depositsOf(trx, [stay.id])
    return installmentsOf(deposits, moneyOf(await folioCredits(trx, [stay.id]), stay.id), now)
  }
  const held = reservations.filter((one) => one.status === 'held').map((one) => one.id)
  const deposits = (await depositsOf(trx, held)).sort(
    (a, b) =>
      a.dueAt.getTime() - b.dueAt.getTime() ||
      held.indexOf(a.reservationId) - held.indexOf(b.reservationId) ||
      a.position - b.position,
  )
  return installmentsOf(deposits, booking.credit, now).filter((one) => one.reservationId === stay.id)
}

const factOf = ({ propertyId, currency }: Pick<ReservationRow, 'propertyId' | 'currency'>, deposit: DepositRow) => ({
  propertyId,
  id: deposit.id,
  version: deposit.version,
  data: {
    depositId: deposit.id,
    reservationId: deposit.reservationId,
    amount: deposit.amount - deposit.waivedAmount,
    currency,
    dueAt: new Date(deposit.dueAt).toISOString(),
  },
})

const raiseVersion = (trx: Trx, stayId: string) =>
  sql(trx, `update reservation set version = version + 1 where id = ?`, [stayId])

const lockForDeposits = async (trx: Trx, reservationId: string, expected: number | null): Promise<LockedStay> => {
  const locked = await lockStay(trx, reservationId)
  const { stay } = locked
  if (expected !== null && stay.version !== expected) throw versionConflict(stay.version)
  if (stay.status !== 'held' && stay.status !== 'confirmed' && stay.status !== 'checked_in')
    throw conflict('invalid_transition', 'Only a stay that stands has installments to come', [
      { field: 'status', message: 'must be held, confirmed or checked in' },
    ])
  return locked
}

export type NewInstallment = { dueAt: string; amount: number }

/**
 * Replaces the installments that are neither due nor covered (R25). What is covered of one stays, and so does one that is due: it is paid or waived. All of
 * them together are at most the total of the stay: 422 `installments_exceed_total`. 409 `version_conflict`.
 */
export const replaceDeposits = async (
  trx: Trx,
  reservationId: string,
  installments: readonly NewInstallment[],
  expected: number | null,
): Promise<void> => {
  const locked = await lockForDeposits(trx, reservationId, expected)
  const { stay, now } = locked
  const past = installments.flatMap(({ dueAt }, index): FieldError[] =>
    new Date(dueAt) <= now ? [{ field: `installments.${index}.dueAt`, message: 'must be in the future' }] : [],
  )
  if (past.length > 0) throw invalid(past)
  const before = await coveredDeposits(trx, locked)
  const open = before.filter((one) => one.status === 'open')
  const kept = before.filter((one) => one.status !== 'open')
  const partly = open.filter((one) => one.covered > 0)
  const gone = open.filter((one) => one.covered === 0)
  const standing = sum(kept.map((one) => one.amount - one.waivedAmount)) + sum(partly.map((one) => one.covered))
  const asked = sum(installments.map((one) => one.amount))
  if (standing + asked > stay.total)
    throw unprocessable('installments_exceed_total', 'The installments are more than the stay costs', [
      { field: 'installments', message: `${stay.total - standing} of ${stay.total} are left to be asked for` },
    ])
  const shrunk = await sql<DepositRow>(
    trx,
    `update deposit d set amount = d.waived_amount + v.covered, origin = 'manual', version = d.version + 1
     from unnest(?::uuid[], ?::bigint[]) as v(id, covered) where d.id = v.id returning d.*`,
    [partly.map((one) => one.id), partly.map((one) => one.covered)],
  )
  await sql(trx, `delete from deposit where id = any(?::uuid[])`, [gone.map((one) => one.id)])
  const made = await sql<DepositRow>(
    trx,
    `insert into deposit (reservation_id, position, due_at, amount, origin)
     select ?, (select coalesce(max(position), 0) from deposit where reservation_id = ?) + v.rank::int, v.due_at, v.amount, 'manual'
     from unnest(?::timestamptz[], ?::bigint[]) with ordinality as v(due_at, amount, rank) returning *`,
    [stay.id, stay.id, installments.map((one) => one.dueAt), installments.map((one) => one.amount)],
  )
  if (gone.length + shrunk.length + made.length === 0) return
  await raiseVersion(trx, stay.id)
  await emitAll(
    trx,
    depositChanged,
    [...gone.map((one) => ({ ...one, amount: one.waivedAmount, version: one.version + 1 })), ...shrunk, ...made].map(
      (one) => factOf(stay, one),
    ),
  )
}

/** Waives what is not covered of an installment. Repeated, it changes nothing. 404 where the stay has none of this id. */
export const waiveDeposit = async (
  trx: Trx,
  reservationId: string,
  depositId: string,
  { reason, expected }: { reason: string; expected: number | null },
): Promise<void> => {
  const locked = await lockForDeposits(trx, reservationId, expected)
  const found = (await coveredDeposits(trx, locked)).find((one) => one.id === depositId)
  if (!found) throw notFound()
  const left = found.amount - found.waivedAmount - found.covered
  if (left === 0) return
  const [waived] = await sql<DepositRow>(
    trx,
    `update deposit set waived_amount = waived_amount + ?, version = version + 1 where id = ? returning *`,
    [left, depositId],
  )
  if (!waived) throw notFound()
  await raiseVersion(trx, reservationId)
  await audit(trx, {
    action: 'deposit.waive',
    subjectType: 'Deposit',
    subjectId: depositId,
    reason,
    changes: [{ field: 'waivedAmount', before: found.waivedAmount, after: waived.waivedAmount }],
  })
  const fact = factOf(locked.stay, waived)
  await emitAll(trx, depositWaived, [{ ...fact, data: { ...fact.data, amount: left } }])
}

type Owned = DepositRow & { propertyId: string; currency: string; credits: number }

/** Tells of installments that payments just written have covered. */
export const tellCovered = async (
  trx: Trx,
  lines: readonly Pick<FolioLineRow, 'folioId' | 'amount'>[],
): Promise<void> => {
  const paid = await prepared<Owned & { folioIds: string[] }>(
    trx,
    `select d.*, r.property_id, r.currency, f.credits, f.folio_ids from (
       select o.tenant_id, o.reservation_id, sum(o.credits)::bigint as credits, array_agg(o.id::text) as folio_ids from folio o
       where o.reservation_id in (select reservation_id from folio where id = any(?::uuid[])) group by 1, 2) f
     join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
     join deposit d on d.tenant_id = f.tenant_id and d.reservation_id = f.reservation_id
     order by d.reservation_id, d.due_at, d.position`,
    [lines.map((line) => line.folioId)],
  )
  const now = new Date()
  const covered = [...new Set(paid.map((one) => one.reservationId))].flatMap((id) => {
    const own = paid.filter((one) => one.reservationId === id)
    const { credits = 0, folioIds = [] } = own[0] ?? {}
    const added = -sum(lines.filter((line) => folioIds.includes(line.folioId)).map((line) => line.amount))
    const before = installmentsOf(own, credits - added, now)
    return installmentsOf(own, credits, now).filter(
      (one, index) => one.status === 'covered' && before[index]?.status !== 'covered',
    )
  })
  await emitAll(
    trx,
    depositCovered,
    covered.map((one) => factOf(one, one)),
  )
}

/** Stays of which an installment has fallen due, or whose grace is over; across tenants, ids alone, beyond `after`. */
export const depositsToWatch = (
  trx: PlatformTrx,
  after: string,
  most = 200,
): Promise<{ tenantId: string; id: string }[]> =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from deposits_to_watch(?, ?)`, [after, most])

/** Tells once of installments that have reached their day uncovered (R27). Answers those. The stay is locked. */
export const announceDue = async (trx: Trx, locked: LockedStay): Promise<DepositRow[]> => {
  const { stay, now } = locked
  const reached = (await coveredDeposits(trx, locked)).filter((one) => one.announcedAt === null && one.dueAt <= now)
  if (reached.length === 0) return []
  await sql(trx, `update deposit set announced_at = now(), version = version + 1 where id = any(?::uuid[])`, [
    reached.map((one) => one.id),
  ])
  const due = reached.filter((one) => one.status === 'due').map((one) => ({ ...one, version: one.version + 1 }))
  await emitAll(
    trx,
    depositDueDateReached,
    due.map((one) => factOf(stay, one)),
  )
  return due
}

/**
 * Lets installments that are due and uncovered fall due anew, now: a stay that comes back is asked for them once more, and has the hours of grace of its terms
 * (R25). The stay is locked.
 */
export const renewDue = async (trx: Trx, locked: LockedStay): Promise<void> => {
  const due = (await coveredDeposits(trx, locked)).filter((one) => one.status === 'due')
  await sql(
    trx,
    `update deposit set due_at = now(), announced_at = null, requested_at = null, version = version + 1 where id = any(?::uuid[])`,
    [due.map((one) => one.id)],
  )
}
