import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../../config/errors.ts'
import { pixReturned, pixReturnedByBank, pixReturnFailed } from '../../../config/events/pix.ts'
import { returnPixJob } from '../../../jobs/cash.ts'
import { contextOf, nativeError, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { changeRow, findRow, insertRow } from '../../lib/records.ts'
import { accountFacts } from '../facts.ts'
import { PixReceipt, PixReturn } from '../models.ts'
import type { PixReceiptRecord, PixReturnRecord } from '../models.ts'
import { bookMovement, dayOfBooking } from '../movements.ts'
import type { BookedMovement } from '../movements.ts'
import type { PixReturnRequest } from '../pix-returns.ts'
import { can, connectionOf, gateOfPix, pixLine } from './connection.ts'
import type { PixLine } from './connection.ts'
import { pixModules } from './targets.ts'
import type { PixTakenBack } from './targets.ts'
import { tellPix } from './tell.ts'
import type { HeardReturn } from './tell.ts'

const windowDays = 90

const isInWindow = ({ providerTime }: PixReceiptRecord): boolean =>
  providerTime.getTime() >= Date.now() - windowDays * 86_400_000

const lockReceipt = async (trx: Trx, id: string): Promise<PixReceiptRecord | null> => {
  await sql(trx, `select id from pix_receipt where tenant_id = ? and id = ? for no key update`, [
    contextOf(trx).tenantId,
    id,
  ])
  return findRow(trx, PixReceipt, id)
}

const reserve = async (trx: Trx, receiptId: string, amount: number): Promise<void> => {
  try {
    await sql(
      trx,
      `update pix_receipt set return_reserved = return_reserved + ?, version = version + 1 where tenant_id = ? and id = ?`,
      [amount, contextOf(trx).tenantId, receiptId],
    )
  } catch (error) {
    const { constraint } = nativeError(error) as { constraint?: string }
    if (constraint !== 'pix_return_limit') throw error
    throw unprocessable('amount_exceeds_refundable', 'Less than that is left of the Pix')
  }
}

/**
 * Asks that a received Pix go back, in part or whole (R27); the record that asked hears the end. The same record is answered what it has asked for.
 * 422 `return_window_passed`, `pix_not_ready`, `amount_exceeds_refundable`.
 */
export const askPixReturn = async (
  trx: Trx,
  { pixReceiptId, amount, source, reason }: PixReturnRequest,
): Promise<{ pixReturnId: string }> => {
  const asked = await findRow(trx, PixReturn, { requestedByType: source.type, requestedById: source.id })
  if (asked) return { pixReturnId: asked.id }
  const receipt = await lockReceipt(trx, pixReceiptId)
  if (!receipt)
    throw unprocessable('reference_not_found', 'There is no such Pix', [
      { field: 'pixReceiptId', message: 'is no Pix that was received' },
    ])
  if (!isInWindow(receipt)) throw unprocessable('return_window_passed', `A Pix goes back within ${windowDays} days`)
  const connection = await connectionOf(trx, receipt.cashAccountId)
  if (!connection || !can(connection, 'return'))
    throw unprocessable('pix_not_ready', 'The account has no connection that returns a Pix')
  await reserve(trx, receipt.id, amount)
  const id = randomUUID()
  await insertRow(trx, PixReturn, {
    id,
    pixReceiptId: receipt.id,
    returnCode: id.replaceAll('-', ''),
    requestedByType: source.type,
    requestedById: source.id,
    documentId: source.id,
    amount,
    origin: 'request',
    status: 'requested',
    reason: reason.slice(0, 300),
  })
  const tenantId = contextOf(trx).tenantId ?? ''
  await enqueue(trx, returnPixJob, { tenantId, pixReturnId: id }, { uniqueKey: id, gate: gateOfPix(connection) })
  return { pixReturnId: id }
}

/** The Pix that a payment was made from; null where it was made from none. `isReturnable`: the bank can be asked to send it back. */
export const pixOfPayment = async (
  trx: Trx,
  paymentId: string,
): Promise<{ pixReceiptId: string; isReturnable: boolean } | null> => {
  const receipt = await findRow(trx, PixReceipt, { claimedByType: 'payment', claimedById: paymentId })
  if (!receipt) return null
  const connection = await connectionOf(trx, receipt.cashAccountId)
  return {
    pixReceiptId: receipt.id,
    isReturnable: isInWindow(receipt) && connection !== null && can(connection, 'return'),
  }
}

/** The facts that a worker needs to return a Pix; null where the return has ended. */
export type ReturnCall = { line: PixLine; endToEndId: string; code: string; amount: number; mode: 'send' | 'read' }

/** A return that is to be made, or was; marked as being sent before the call. */
export const beginReturn = async (trx: Trx, id: string): Promise<ReturnCall | null> => {
  await sql(trx, `select id from pix_return where tenant_id = ? and id = ? for no key update`, [
    contextOf(trx).tenantId,
    id,
  ])
  const row = await findRow(trx, PixReturn, id)
  if (!row || row.status === 'succeeded' || row.status === 'failed') return null
  const receipt = await findRow(trx, PixReceipt, row.pixReceiptId)
  const line = receipt ? await pixLine(trx, receipt.cashAccountId) : null
  if (!receipt || !line) return null
  if (row.status === 'requested') await changeRow(trx, PixReturn, id, { status: 'sending' })
  return {
    line,
    endToEndId: receipt.endToEndId,
    code: row.returnCode,
    amount: row.amount,
    mode: row.status === 'requested' ? 'send' : 'read',
  }
}

const bookReturn = async (
  trx: Trx,
  receipt: PixReceiptRecord,
  row: Pick<PixReturnRecord, 'id' | 'amount'>,
): Promise<BookedMovement> => {
  const account = await accountFacts(trx, receipt.cashAccountId)
  const day = await dayOfBooking(trx, account, { fromOutside: true })
  return bookMovement(
    trx,
    account,
    {
      cashAccountId: account.id,
      amount: -row.amount,
      kind: 'pix_return',
      source: { type: 'pix_return', id: row.id },
      description: 'Pix returned',
      endToEndId: receipt.endToEndId,
      txid: receipt.txid,
    },
    day,
  )
}

const waits = [60_000, 300_000, 3_600_000, ...Array<number>(5).fill(86_400_000)]

/** The next read of something that the bank has not answered: after 1 min, 5 min, 1 h, then daily for five days; null afterwards (R14). */
export const nextRead = (readCount: number): Date | null => {
  const wait = waits[readCount]
  return wait === undefined ? null : new Date(Date.now() + wait)
}

/** Applies the bank's word on a return: done, refused for good, or nothing usable, which is read again. A repetition changes nothing. */
export const settleReturn = async (
  trx: Trx,
  id: string,
  outcome:
    | { status: 'done' }
    | { status: 'failed'; failure: { code: string; message: string } }
    | { status: 'pending' },
): Promise<void> => {
  const seen = await findRow(trx, PixReturn, id)
  if (!seen) return
  const answer = pixModules().answers[seen.requestedByType ?? '']
  if (!answer) throw new Error(`no module hears of returns for a ${seen.requestedByType ?? ''}`)
  // The record that asked comes before its Pix, as when it asked.
  if (outcome.status !== 'pending') await answer.hold(trx, seen.requestedById ?? '')
  const receipt = await lockReceipt(trx, seen.pixReceiptId)
  const row = await findRow(trx, PixReturn, id)
  if (!receipt || !row || row.status === 'succeeded' || row.status === 'failed') return
  if (outcome.status === 'pending') {
    // Its money is reserved until the bank's word is known, so that the last day of the schedule repeats.
    const nextReadAt = nextRead(Math.min(row.readCount, waits.length - 1))
    await changeRow(trx, PixReturn, id, { nextReadAt, readCount: row.readCount + 1 })
    return
  }
  const { tenantId } = contextOf(trx)
  if (outcome.status === 'failed') {
    await sql(
      trx,
      // The bank may have returned by itself what this return had reserved.
      `update pix_receipt set return_reserved = greatest(return_reserved - ?, returned), version = version + 1 where tenant_id = ? and id = ?`,
      [row.amount, tenantId, receipt.id],
    )
    await changeRow(trx, PixReturn, id, { status: 'failed', failure: outcome.failure, nextReadAt: null })
    await tellPix(trx, pixReturnFailed, receipt, { propertyId: null, amount: row.amount })
    return answer.end(trx, row.requestedById ?? '', { status: 'failed', failure: outcome.failure })
  }
  await sql(
    trx,
    `update pix_receipt set returned = returned + ?, version = version + 1 where tenant_id = ? and id = ?`,
    [row.amount, tenantId, receipt.id],
  )
  const movement = await bookReturn(trx, receipt, row)
  await changeRow(trx, PixReturn, id, { status: 'succeeded', movementId: movement.movementId, nextReadAt: null })
  await tellPix(trx, pixReturned, receipt, { propertyId: movement.propertyId, amount: row.amount })
  await answer.end(trx, row.requestedById ?? '', { status: 'succeeded', movement })
}

/** Books what the bank has returned by itself (R28): once for each of its codes. Ours are known by theirs. */
export const takeBankReturns = async (
  trx: Trx,
  receipt: PixReceiptRecord,
  returns: readonly HeardReturn[],
): Promise<void> => {
  for (const { code, amount } of returns.filter(({ byBank, status }) => byBank && status === 'done')) {
    const held = await lockReceipt(trx, receipt.id)
    const known = await findRow(trx, PixReturn, { pixReceiptId: receipt.id, returnCode: code })
    if (known || !held) continue
    const id = randomUUID()
    let booked: BookedMovement | null = null
    const book = async () => {
      booked = await bookReturn(trx, held, { id, amount })
      return booked
    }
    const takenBack = pixModules().takenBack[held.claimedByType]
    const claimed: PixTakenBack = {
      pixReceiptId: held.id,
      claimedById: held.claimedById,
      amount,
      reason: 'Returned by the bank',
      book,
    }
    const taken = await takenBack(trx, claimed)
    if (!booked) throw new Error('a return of the bank was not booked')
    const { movementId, propertyId } = booked as BookedMovement
    await sql(
      trx,
      `update pix_receipt set returned = returned + :amount, return_reserved = least(amount, return_reserved + :amount), version = version + 1
       where tenant_id = :tenantId and id = :id`,
      { amount, tenantId: contextOf(trx).tenantId, id: held.id },
    )
    await insertRow(trx, PixReturn, {
      id,
      pixReceiptId: held.id,
      returnCode: code,
      amount,
      origin: 'bank',
      status: 'succeeded',
      movementId,
      documentId: taken?.id ?? id,
    })
    await tellPix(trx, pixReturnedByBank, held, { propertyId, amount })
  }
}

/** Returns whose reading is due, taken off their schedule for two minutes. */
export const returnToRead = (trx: Trx, id: string): Promise<{ cashAccountId: string } | null> =>
  sqlOne<{ cashAccountId: string }>(
    trx,
    `update pix_return r set next_read_at = now() + interval '2 minutes' from pix_receipt p
     where r.tenant_id = ? and r.id = ? and r.next_read_at <= now() and p.tenant_id = r.tenant_id and p.id = r.pix_receipt_id returning p.cash_account_id`,
    [contextOf(trx).tenantId, id],
  )
