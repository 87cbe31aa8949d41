import { randomUUID } from 'node:crypto'
import { payablePaid, payablePaymentPaid, supplierCreditApplied } from '../../../config/events/accounts-payable.ts'
import { settle } from '../../documents/index.ts'
import type { Fact } from '../../documents/index.ts'
import { raisePosting } from '../../financial/index.ts'
import type { Posting } from '../../financial/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow } from '../../lib/records.ts'
import { applyCredit, tellCredit } from '../credits/state.ts'
import { SupplierCredit } from '../models.ts'
import type { CreditRecord, ItemRecord, PaymentRecord } from '../models.ts'
import { partyOf } from '../payee.ts'
import { payableSide } from '../side.ts'
import { tellAll } from '../state.ts'
import { refreshPayment, tellPayment } from './state.ts'

/** An item whose money has left, or that a credit pays. */
export type PaidItem = {
  item: ItemRecord
  on: string
  /** The movement and ledger account of the money; null where a credit pays, or nothing is left to pay. */
  money: { movementId: string; ledgerAccountId: string } | null
}

const payEvents = {
  payment: 'accounts-payable.payment_paid',
  advance: 'accounts-payable.advance_paid',
  applied: 'accounts-payable.advance_applied',
} as const

/** Sets the states of bills by what is settled of them. */
export const refreshPayables = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  await sql(
    trx,
    `update payable set status = case when settled = 0 then 'approved' when settled < total then 'partly_paid' else 'paid' end,
       ended_at = case when settled = total then now() end
     where tenant_id = ? and id = any(?::uuid[]) and status in ('approved', 'partly_paid', 'paid')`,
    [contextOf(trx).tenantId, ids],
  )
}

/** The credit that an advance makes. */
const creditOf = async (trx: Trx, payment: PaymentRecord, item: ItemRecord, on: string): Promise<string> => {
  const id = randomUUID()
  const credit = await insertRow(trx, SupplierCredit, {
    id,
    bookId: payment.bookId,
    supplierId: item.supplierId,
    payeeName: item.payeeName,
    payeeDocument: item.payeeDocument,
    payeeKey: item.payeeKey,
    kind: 'advance',
    issuedOn: on,
    currency: payment.currency,
    amount: item.cash,
    createdBy: payment.createdBy,
  })
  await tellCredit(trx, credit)
  return id
}

const postingOf = (
  payment: PaymentRecord,
  { item, on, money }: PaidItem,
  credit: CreditRecord | null,
): Posting | null => {
  const { id, payableId, propertyId, principal, interest, fine, discount, cash, creditId } = item
  const shared = {
    source: { id },
    bookId: payment.bookId,
    ...(propertyId === null ? {} : { propertyId }),
    postingDate: on,
  }
  const accounts = money === null ? {} : { accounts: { money: money.ledgerAccountId } }
  const party = partyOf(item)
  if (payableId === null)
    return {
      ...shared,
      event: payEvents.advance,
      payload: { amounts: { cash }, documents: { credit: creditId ?? '', item: id }, ...accounts, ...party },
    }
  // A credit note lowered what is owed when it was recorded.
  if (credit?.kind === 'credit_note') return null
  if (credit)
    return {
      ...shared,
      event: payEvents.applied,
      payload: { amounts: { principal }, documents: { payable: payableId, credit: credit.id }, ...party },
    }
  return {
    ...shared,
    event: payEvents.payment,
    payload: {
      amounts: { principal, interest, fine, discount, cash },
      documents: { payable: payableId, item: id },
      ...accounts,
      ...party,
    },
  }
}

const factType = (credit: CreditRecord | null) =>
  credit === null ? 'payment' : credit.kind === 'credit_note' ? 'credit_applied' : 'advance'

/**
 * Settles what items have paid (R13): installments and bills, the items, credits made by advances, and the postings as the last step. The caller holds bills,
 * payment and credit, and has booked the money. 422 `amount_exceeds_open`, `credit_exceeded`.
 */
export const payItems = async (
  trx: Trx,
  payment: PaymentRecord,
  paid: readonly PaidItem[],
  credit: CreditRecord | null = null,
): Promise<void> => {
  const facts = paid.flatMap(({ item, on }): Fact[] =>
    item.installmentId === null
      ? []
      : [
          {
            installmentId: item.installmentId,
            sum: 'settled',
            type: factType(credit),
            sourceId: item.id,
            on,
            amount: item.principal,
          },
        ],
  )
  const payables = await settle(trx, payableSide, facts)
  await refreshPayables(trx, payables)
  if (credit) {
    await applyCredit(
      trx,
      credit,
      paid.map(({ item, on }) => ({ sourceId: item.id, on, amount: item.principal })),
    )
    await tellCredit(trx, credit, supplierCreditApplied)
  }
  const done: PaidItem[] = []
  for (const one of paid) {
    const creditId = one.item.payableId === null ? await creditOf(trx, payment, one.item, one.on) : (credit?.id ?? null)
    done.push({ ...one, item: { ...one.item, creditId } })
  }
  await sql(
    trx,
    `update payable_payment_item x set status = 'paid', paid_on = d.paid_on, cash_movement_id = d.movement_id, credit_id = d.credit_id, failure = null, version = x.version + 1
     from jsonb_to_recordset(cast(? as jsonb)) as d (id uuid, paid_on date, movement_id uuid, credit_id uuid) where x.tenant_id = ? and x.id = d.id`,
    [
      JSON.stringify(
        done.map(({ item, on, money }) => ({
          id: item.id,
          paid_on: on,
          movement_id: money?.movementId ?? null,
          credit_id: item.creditId,
        })),
      ),
      contextOf(trx).tenantId,
    ],
  )
  await tellAll(trx, payablePaid, payables)
  const after = await refreshPayment(trx, payment.id)
  await tellPayment(
    trx,
    payablePaymentPaid,
    after,
    done.map(({ item }) => item),
  )
  for (const one of done) {
    const posting = postingOf(payment, one, credit)
    if (posting) await raisePosting(trx, posting)
  }
}
