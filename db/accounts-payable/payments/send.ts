import { bookOf, todayOf } from '../../documents/index.ts'
import { ApiError, unprocessable } from '../../../config/errors.ts'
import { payablePaymentApproved, payablePaymentItemFailed } from '../../../config/events/accounts-payable.ts'
import { localInstant } from '../../../config/time.ts'
import { startPayment } from '../../../jobs/accounts-payable.ts'
import { requestTransfer } from '../../cash/index.ts'
import type { Payee, TransferOutcome } from '../../cash/index.ts'
import { approverOf } from '../../lib/authors.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { changeRow, expression } from '../../lib/records.ts'
import { PayablePayment, PayablePaymentItem } from '../models.ts'
import type { ItemFailure, ItemRecord, PaymentRecord } from '../models.ts'
import { detailsInUse, usableDetails } from '../suppliers/bank-details.ts'
import { pixRefusals } from './refusals.ts'
import { sha256 } from './destination.ts'
import { payItems } from './settle.ts'
import { lockPayment, paymentMoves, refreshPayment, tellPayment } from './state.ts'

type Standing = {
  id: string
  position: number
  destination: string | null
  principal: number
  open: number | null
  pixCode: string | null
  status: string | null
  onHold: boolean | null
  supplierStatus: string | null
  paymentsBlocked: boolean | null
  detailsId: string | null
  detailsUsable: boolean | null
}

/** The present state of queued items: the facts of R14, and the destination of their money. */
const standing = (trx: Trx, paymentId: string, itemId: string | null = null): Promise<Standing[]> =>
  sql<Standing>(
    trx,
    `select x.id, x.position, x.destination, x.principal, i.open, i.pix_code, p.status, p.on_hold, s.status as supplier_status, s.payments_blocked,
       d.id as details_id, d.usable_from <= now() as details_usable
     from payable_payment_item x
     left join payable_installment i on i.tenant_id = x.tenant_id and i.id = x.installment_id
     left join payable p on p.tenant_id = x.tenant_id and p.id = x.payable_id
     left join supplier s on s.tenant_id = x.tenant_id and s.id = x.supplier_id
     left join lateral ${detailsInUse('x')} d on true
     where x.tenant_id = ? and x.payable_payment_id = ? and x.status = 'queued' and (cast(? as uuid) is null or x.id = cast(? as uuid)) order by x.position`,
    [contextOf(trx).tenantId, paymentId, itemId, itemId],
  )

const destinationOf = ({ pixCode, detailsId }: Standing) =>
  pixCode !== null ? `pix:${sha256(pixCode)}` : detailsId === null ? null : `bank:${detailsId}`

const problemsOf = (one: Standing): ItemFailure[] => {
  const problems = pixRefusals({ ...one, status: one.status ?? 'approved', onHold: one.onHold ?? false })
  if (one.open !== null && one.principal > one.open)
    problems.push({ code: 'amount_exceeds_open', message: `${one.open} is open` })
  return problems
}

const requestStart = async (trx: Trx, payment: PaymentRecord): Promise<void> => {
  const book = await bookOf(trx, { bookId: payment.bookId })
  const isLater = payment.payOn > todayOf(book)
  await enqueue(
    trx,
    startPayment,
    { tenantId: contextOf(trx).tenantId ?? '', payablePaymentId: payment.id },
    {
      uniqueKey: payment.id,
      ...(isLater ? { at: localInstant(payment.payOn, '06:00', book.timeZone) } : {}),
    },
  )
}

/** Those who gave bills the Pix codes that a payment goes to, after the bills were approved. */
const codeAuthorsOf = async (trx: Trx, paymentId: string): Promise<string[]> =>
  (
    await sql<{ person: string }>(
      trx,
      `select distinct unnest(p.code_authors) as person from payable_payment_item x
       join payable_installment i on i.tenant_id = x.tenant_id and i.id = x.installment_id and i.pix_code is not null
       join payable p on p.tenant_id = x.tenant_id and p.id = x.payable_id
       where x.tenant_id = ? and x.payable_payment_id = ? and x.status = 'queued'`,
      [contextOf(trx).tenantId, paymentId],
    )
  ).map(({ person }) => person)

/**
 * Approves a Pix payment that another person prepared (R2, R14), to Pix codes of another one. 403 `self_approval`, `key_not_allowed`, `reauthentication_required` above the threshold of the
 * book; 422 `not_payable` with one error per item.
 */
export const approvePayment = async (
  trx: Trx,
  id: string,
  { expectedVersion, requireRecent }: { expectedVersion: number | null; requireRecent: () => void },
): Promise<void> => {
  const { payment, items } = await lockPayment(trx, id, expectedVersion)
  if (payment.method === 'pix' && (payment.status === 'sending' || payment.status === 'paid')) return
  if (!paymentMoves.isDue('approved', payment.status)) return
  const book = await bookOf(trx, { bookId: payment.bookId })
  const authors = [payment.createdBy, ...(await codeAuthorsOf(trx, id))]
  const approval = approverOf(trx, { authors, singleOperator: book.singleOperator })
  if (book.approvalThreshold !== null && payment.total > book.approvalThreshold) requireRecent()
  const found = await standing(trx, id)
  const errors = found.flatMap((one) =>
    problemsOf(one).map(({ code, message }) => ({ field: `items.${one.position}`, message: `${code}: ${message}` })),
  )
  if (errors.length > 0) throw unprocessable('not_payable', 'Some items cannot be paid by Pix now', errors.slice(0, 50))
  await sql(
    trx,
    `update payable_payment_item x set destination = d.destination from jsonb_to_recordset(cast(? as jsonb)) as d (id uuid, destination text)
     where x.tenant_id = ? and x.id = d.id`,
    [JSON.stringify(found.map((one) => ({ id: one.id, destination: destinationOf(one) }))), contextOf(trx).tenantId],
  )
  const version = await changeRow(trx, PayablePayment, id, {
    status: 'approved',
    approvedBy: approval.approvedBy,
    selfApproved: approval.selfApproved,
    approvedAt: expression('now()'),
  })
  const queued = items.filter(({ status }) => status === 'queued')
  await tellPayment(trx, payablePaymentApproved, { ...payment, version }, queued)
  await requestStart(trx, payment)
}

/** Items of a payment that are still to be sent, of one whose day has come. */
export const itemsToSend = async (trx: Trx, paymentId: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(
      trx,
      `select x.id from payable_payment_item x join payable_payment p on p.tenant_id = x.tenant_id and p.id = x.payable_payment_id
       join book b on b.tenant_id = p.tenant_id and b.id = p.book_id
       where x.tenant_id = ? and p.id = ? and x.status = 'queued' and p.status in ('approved', 'sending')
         and p.pay_on <= cast(now() at time zone b.time_zone as date) order by x.position`,
      [contextOf(trx).tenantId, paymentId],
    )
  ).map(({ id }) => id)

const fail = async (trx: Trx, payment: PaymentRecord, item: ItemRecord, failure: ItemFailure): Promise<void> => {
  await changeRow(trx, PayablePaymentItem, item.id, { status: 'failed', failure })
  await tellPayment(trx, payablePaymentItemFailed, await refreshPayment(trx, payment.id), [item])
}

const lockItem = async (trx: Trx, itemId: string) => {
  const known = await sqlOne<{ payablePaymentId: string }>(
    trx,
    `select payable_payment_id from payable_payment_item where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, itemId],
  )
  if (!known) return null
  const { payment, items } = await lockPayment(trx, known.payablePaymentId)
  const item = items.find(({ id }) => id === itemId)
  return item ? { payment, item } : null
}

const payeeOf = async (trx: Trx, item: ItemRecord, pixCode: string | null): Promise<Payee | null> => {
  if (pixCode !== null) return { brCode: pixCode, ...(item.payeeName === null ? {} : { name: item.payeeName }) }
  const details = await usableDetails(trx, item.destination?.replace('bank:', '') ?? '')
  if (!details) return null
  return {
    ...details.details,
    name: details.holderName,
    ...(details.holderDocument === null ? {} : { document: details.holderDocument }),
  }
}

/**
 * Hands one item to the bank as one transfer, once whatever crashes (R15): the transfer is found by the item. An item that R14 refuses now, or whose
 * destination changed since the approval, fails; the others go on.
 */
export const sendItem = async (trx: Trx, itemId: string): Promise<void> => {
  const held = await lockItem(trx, itemId)
  if (held?.item.status !== 'queued' || !['approved', 'sending'].includes(held.payment.status)) return
  const { payment, item } = held
  const [now] = await standing(trx, payment.id, itemId)
  if (!now) return
  const [problem] = problemsOf(now)
  if (problem) return fail(trx, payment, item, problem)
  const changed = { code: 'payee_changed', message: 'the destination is another one than was approved' }
  if (destinationOf(now) !== item.destination) return fail(trx, payment, item, changed)
  const payee = await payeeOf(trx, item, now.pixCode)
  if (!payee) return fail(trx, payment, item, changed)
  await changeRow(trx, PayablePaymentItem, itemId, { status: 'sending' })
  await refreshPayment(trx, payment.id)
  const { transferId } = await requestTransfer(trx, {
    fromAccountId: payment.cashAccountId ?? '',
    payee,
    amount: item.cash,
    currency: payment.currency,
    purpose: payment.reference || 'Payment to a supplier',
    source: { type: 'payable_payment_item', id: itemId },
    approval: {
      requestedBy: payment.createdBy,
      approvedBy: payment.approvedBy ?? '',
      selfApproved: payment.selfApproved,
    },
  })
  await changeRow(trx, PayablePaymentItem, itemId, { cashTransferId: transferId })
}

/** Fails an item that the bank's side refused before anything was sent; other errors are thrown on. */
export const failUnsent = async (trx: Trx, itemId: string, error: unknown): Promise<void> => {
  if (!(error instanceof ApiError) || (error.status !== 422 && error.status !== 404)) throw error
  const held = await lockItem(trx, itemId)
  if (held?.item.status !== 'queued') return
  await fail(trx, held.payment, held.item, { code: error.code, message: error.message })
}

/** The end of the transfer of an item, in its own transaction: paid, or free to be paid again. */
export const transferEnded = async (trx: Trx, outcome: TransferOutcome): Promise<void> => {
  const held = await lockItem(trx, outcome.sourceId)
  if (held?.item.status !== 'sending') return
  const { payment, item } = held
  if (outcome.status === 'completed')
    return payItems(trx, payment, [
      {
        item,
        on: outcome.bookedOn,
        money: { movementId: outcome.movementId, ledgerAccountId: outcome.ledgerAccountId },
      },
    ])
  const failure =
    outcome.status === 'failed' ? outcome.failure : { code: 'cancelled', message: 'the transfer was cancelled' }
  return fail(trx, payment, item, failure)
}

/** Payments whose day has come, and which still have items to send. */
export const paymentsToStart = (trx: PlatformTrx) =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from payable_payments_to_start()`)
