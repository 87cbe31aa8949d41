import { randomUUID } from 'node:crypto'
import { pixChargePaid, pixReceived } from '../../../config/events/pix.ts'
import { todayIn } from '../../../config/time.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { findRow, insertRow } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import { accountFacts } from '../facts.ts'
import { PixReceipt } from '../models.ts'
import type { ChargeRecord } from '../models.ts'
import { bookMovement, dayOfBooking } from '../movements.ts'
import type { BookedMovement } from '../movements.ts'
import { chargeById, lockCharge } from './charge-moves.ts'
import { tellCharge } from './charges.ts'
import { takeBankReturns } from './returns.ts'
import { pixModules } from './targets.ts'
import { tellPix } from './tell.ts'
import type { HeardPix } from './tell.ts'
import type { DueCharge, PixTargetRef } from './targets.ts'

export const receiptPayer = (rowId: string) => ({ table: 'pix_receipt', rowId, purpose: 'payer' })

/** The charge of a Pix: by its txid, of this account. */
const chargeOf = (trx: Trx, cashAccountId: string, txid: string | null): Promise<{ id: string } | null> =>
  txid === null
    ? Promise.resolve(null)
    : sqlOne<{ id: string }>(
        trx,
        `select id from pix_charge where tenant_id = ? and cash_account_id = ? and txid = ?`,
        [contextOf(trx).tenantId, cashAccountId, txid],
      )

const dueOf = ({ amount, dueOn, fineRate, monthlyInterestRate }: ChargeRecord, paidOn: string): DueCharge | null =>
  amount === null || dueOn === null ? null : { amount, dueOn, fineRate, monthlyInterestRate, paidOn }

const targetOf = ({ targetType, targetId, installmentId }: ChargeRecord): PixTargetRef | null =>
  targetType !== null && targetId !== null ? { targetType, targetId, installmentId } : null

/** A charge that is still open is paid; money for one that ended is counted all the same (R26). */
const payCharge = async (trx: Trx, charge: ChargeRecord, amount: number): Promise<void> => {
  const pays = charge.kind !== 'static' && ['creating', 'active', 'cancelling'].includes(charge.status)
  await sql(
    trx,
    `update pix_charge set paid = paid + ?, received_count = received_count + 1, status = ?, version = version + 1 where tenant_id = ? and id = ?`,
    [amount, pays ? 'paid' : charge.status, contextOf(trx).tenantId, charge.id],
  )
  if (pays || charge.kind === 'static') await tellCharge(trx, pixChargePaid, await chargeById(trx, charge.id))
}

/** The part of a Pix in a transfer between accounts of the house: it `arrived` with one that is done, or is perhaps of one whose outcome is not known yet. */
const ofTransfer = async (
  trx: Trx,
  cashAccountId: string,
  { endToEndId, amount }: HeardPix,
): Promise<'arrived' | 'perhaps' | null> => {
  const found = await sqlOne<{ arrived: boolean; perhaps: boolean }>(
    trx,
    `select exists (select from cash_transfer t where t.tenant_id = :tenantId and t.end_to_end_id = :endToEndId and t.to_account_id = :cashAccountId) as arrived,
       exists (select from cash_transfer t where t.tenant_id = :tenantId and t.status in ('sending', 'unknown') and t.to_account_id = :cashAccountId
         and t.amount = :amount and t.end_to_end_id is null and t.next_read_at is not null) as perhaps`,
    { tenantId: contextOf(trx).tenantId, endToEndId, cashAccountId, amount },
  )
  return found?.arrived ? 'arrived' : found?.perhaps ? 'perhaps' : null
}

/**
 * Books a Pix that the bank tells of, once whatever tells of it and how often (R25): a movement, and with it a payment of what it was asked for, or a receipt. Its
 * day is that of the bank, or the first open one after it. Returns that the bank has made by itself follow. Money of a transfer of the house is booked by that:
 * `later` while it may be of one whose outcome is awaited.
 */
export const takePix = async (trx: Trx, cashAccountId: string, heard: HeardPix): Promise<'taken' | 'later'> => {
  const { tenantId } = contextOf(trx)
  await sqlOne(trx, `select pg_advisory_xact_lock(hashtextextended(?, 38))`, [`${tenantId ?? ''} ${heard.endToEndId}`])
  const known = await findRow(trx, PixReceipt, { endToEndId: heard.endToEndId })
  if (known) {
    await takeBankReturns(trx, known, heard.returns)
    return 'taken'
  }
  const own = await ofTransfer(trx, cashAccountId, heard)
  if (own !== null) return own === 'arrived' ? 'taken' : 'later'
  const found = await chargeOf(trx, cashAccountId, heard.txid)
  const charge = found ? await lockCharge(trx, found.id) : null
  const account = await accountFacts(trx, cashAccountId)
  const id = randomUUID()
  let booked: BookedMovement | null = null
  const book = async (): Promise<BookedMovement> => {
    const day = await dayOfBooking(trx, account, {
      bookedOn: todayIn(account.timeZone, heard.at),
      fromOutside: true,
    })
    booked = await bookMovement(
      trx,
      account,
      {
        cashAccountId,
        amount: heard.amount,
        kind: 'pix_in',
        source: { type: 'pix_receipt', id },
        description: 'Pix received',
        occurredAt: heard.at,
        propertyId: charge?.propertyId ?? account.propertyId,
        counterparty: { name: heard.payerName, document: heard.payerDocument },
        endToEndId: heard.endToEndId,
        txid: heard.txid,
      },
      day,
    )
    return booked
  }
  const money = {
    pixReceiptId: id,
    cashAccountId,
    bookId: account.bookId,
    amount: heard.amount,
    currency: account.currency,
    at: heard.at,
    reference: heard.endToEndId,
    payer: { name: heard.payerName, document: heard.payerDocument },
    target: charge ? targetOf(charge) : null,
    due: charge && dueOf(charge, todayIn(account.timeZone, heard.at)),
    book,
  }
  const isOfGuest = money.target !== null && money.target.targetType !== 'receivable'
  const paymentId = isOfGuest ? await pixModules().payment(trx, money) : null
  const claimedById = paymentId ?? (await pixModules().receipt(trx, isOfGuest ? { ...money, target: null } : money))
  if (!booked) throw new Error('the money of a Pix was not booked')
  const { movementId } = booked as BookedMovement
  const receipt = await insertRow(trx, PixReceipt, {
    id,
    cashAccountId,
    cashMovementId: movementId,
    pixChargeId: charge?.id ?? null,
    endToEndId: heard.endToEndId,
    txid: heard.txid,
    amount: heard.amount,
    currency: account.currency,
    payer: await seal(trx, 'tenant', receiptPayer(id), {
      name: heard.payerName,
      document: heard.payerDocument,
      text: heard.text,
    }),
    providerTime: heard.at,
    claimedByType: paymentId === null ? 'receipt' : 'payment',
    claimedById,
  })
  if (charge) await payCharge(trx, charge, heard.amount)
  if (paymentId !== null) await pixModules().unwanted(trx, paymentId)
  await tellPix(trx, pixReceived, receipt, {
    propertyId: charge?.propertyId ?? account.propertyId,
    amount: heard.amount,
  })
  await takeBankReturns(trx, receipt, heard.returns)
  return 'taken'
}
