import { randomUUID } from 'node:crypto'
import { payoutFailed, payoutPaid, payoutSent } from '../../../config/events/payment.ts'
import { todayIn } from '../../../config/time.ts'
import { postingEventOf, raisePosting, zoneOfBook } from '../../financial/index.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { changeRow, insertIfNew } from '../../lib/records.ts'
import type { GatewayAccountRow, PayoutRow } from '../../rows.ts'
import { closeExceptions, openException } from '../exceptions.ts'
import { Payout } from '../models.ts'
import { sumOf, tellFinance } from '../notices.ts'
import type { Failure } from '../payments/snapshot.ts'

export type PayoutEntry = {
  externalId: string
  amount: number
  currency: string
  status: PayoutRow['status']
  arrivesOn: string | null
  /** The gateway says that the list of its transactions is whole. */
  complete: boolean
  failure: Failure | null
  createdAt: Date
}

const events = {
  in_transit: payoutSent,
  pending: payoutSent,
  paid: payoutPaid,
  failed: payoutFailed,
  cancelled: payoutFailed,
}
const ranks = { pending: 0, in_transit: 1, paid: 2, failed: 3, cancelled: 3 } as const

const emitPayout = async (trx: Trx, payout: PayoutRow, event: typeof payoutSent) => {
  const { id, version, gatewayAccountId, amount, currency, arrivesOn } = payout
  const data = { payoutId: id, gatewayAccountId, amount, currency, arrivesOn }
  await emit(trx, event, { propertyId: null, id, version, data })
  if (payout.status === 'failed')
    await tellFinance(trx, { kind: 'finance_payout', subjectId: id, label: sumOf(amount, currency), day: arrivesOn })
}

const postPayout = async (trx: Trx, account: GatewayAccountRow, payout: PayoutRow) => {
  const source = { id: payout.id }
  if (payout.status !== 'failed' && payout.status !== 'cancelled') {
    await raisePosting(trx, {
      event: 'payment.payout_sent',
      source,
      bookId: account.bookId,
      postingDate: payout.createdOn,
      fromOutside: true,
      payload: { amounts: { amount: payout.amount }, documents: { payout: payout.id, account: account.id } },
    })
    return
  }
  const reversesEventId = await postingEventOf(trx, 'payment.payout_sent', source)
  if (reversesEventId)
    await raisePosting(trx, {
      event: 'payment.payout_failed',
      source,
      bookId: account.bookId,
      postingDate: todayIn(await zoneOfBook(trx, account.bookId)),
      fromOutside: true,
      reversesEventId,
    })
}

/** The only writer of what a gateway says of a payout. Answers the payout where its transactions are still to be asked for. */
export const applyPayout = async (
  trx: Trx,
  account: GatewayAccountRow,
  entry: PayoutEntry,
): Promise<PayoutRow | null> => {
  const before = await sqlOne<PayoutRow>(
    trx,
    `select * from payout where gateway_account_id = ? and external_id = ? for no key update`,
    [account.id, entry.externalId],
  )
  const { externalId, amount, currency, arrivesOn, complete, failure, status, createdAt } = entry
  const paidAt = status === 'paid' ? new Date() : null
  if (!before) {
    const made = await insertIfNew(
      trx,
      Payout,
      {
        id: randomUUID(),
        gatewayAccountId: account.id,
        externalId,
        amount,
        currency,
        status,
        arrivesOn,
        createdOn: todayIn(await zoneOfBook(trx, account.bookId), createdAt),
        failure,
        paidAt,
      },
      ['tenantId', 'gatewayAccountId', 'externalId'],
    )
    // Another import has made it meanwhile.
    if (!made) return applyPayout(trx, account, entry)
    // One that the list first shows as paid was sent between two imports; what is older than the connection had left before anybody listened.
    if (status === 'paid' && createdAt >= account.createdAt) await emitPayout(trx, made, payoutSent)
    await emitPayout(trx, made, events[status])
    if (status !== 'failed' && status !== 'cancelled') await postPayout(trx, account, made)
    return complete ? made : null
  }
  if (ranks[status] > ranks[before.status]) {
    const version = await changeRow(trx, Payout, before.id, {
      status,
      arrivesOn,
      failure,
      paidAt: before.paidAt ?? paidAt,
    })
    const changed = { ...before, status, arrivesOn, version }
    // Both mean that it was sent, of which it is told once.
    if (events[status] !== events[before.status]) await emitPayout(trx, changed, events[status])
    if (status === 'failed' || status === 'cancelled') await postPayout(trx, account, changed)
  }
  // One that did not add up is asked about again: a transaction may come to its list late.
  return complete && (!before.complete || before.difference !== 0) ? before : null
}

/** Ties a payout to the transactions that it pays out, and proves its amount by them (R27). */
export const provePayout = async (trx: Trx, payout: PayoutRow, references: readonly string[]): Promise<void> => {
  await sql(
    trx,
    `update balance_transaction set payout_id = ? where gateway_account_id = ? and external_id = any(?) and payout_id is null`,
    [payout.id, payout.gatewayAccountId, references],
  )
  const [sum] = await sql<{ net: number; found: number }>(
    trx,
    `select coalesce(sum(net), 0)::bigint as net, count(*)::int as found from balance_transaction where payout_id = ? and kind <> 'payout'`,
    [payout.id],
  )
  if (!sum || sum.found < references.length) return
  const difference = payout.amount - sum.net
  const [stands] = await sql<PayoutRow>(trx, `select * from payout where id = ? for no key update`, [payout.id])
  if (!stands || (stands.complete && stands.difference === difference)) return
  await sql(trx, `update payout set complete = true, difference = ?, version = version + 1 where id = ?`, [
    difference,
    payout.id,
  ])
  if (difference === 0) await closeExceptions(trx, { type: 'payout', id: payout.id }, ['payout_differs'])
}

/** A payout that does not add up 48 hours after it was paid needs a person. */
export const doubtPayouts = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  for (const payout of await sql<PayoutRow>(trx, `select * from payout where id = any(?)`, [ids])) {
    const { id, currency, gatewayAccountId, amount, difference } = payout
    const subject = { type: 'payout', id, propertyId: null, currency, gatewayAccountId } as const
    await openException(trx, 'payout_differs', subject, difference ?? amount, 0)
  }
}
