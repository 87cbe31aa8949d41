import { randomUUID } from 'node:crypto'
import { recordMovement } from '../../cash/index.ts'
import type { SettlementAsked, StatementTarget } from '../../cash/index.ts'
import { invalid } from '../../../config/errors.ts'
import { sum } from '../../lib/amounts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { cashOf } from '../rules/allocations.ts'
import { insertReceipt, postRecorded } from './insert.ts'
import { lockInstallments } from './installments.ts'
import type { PayableInstallment } from './installments.ts'
import { planOf } from './plan.ts'
import { reverseReceipt } from './reverse.ts'
import { lockReceipt, standingAllocations } from './state.ts'
import { lockAllocated } from './undo.ts'
import { writeAllocations } from './write.ts'

/** The amount of a line: all that is open unless said. */
const amountsOf = (
  { id, principal, interest = 0, fine = 0, discount = 0, fee = 0, withheld = [] }: SettlementAsked,
  installments: readonly PayableInstallment[],
) => ({
  installmentId: id,
  principal: principal ?? Math.max(1, installments.find((one) => one.installmentId === id)?.open ?? 1),
  interest,
  fine,
  discount,
  fee,
  withheld,
})

const receiptsOf = (trx: Trx, movementIds: readonly string[]): Promise<{ id: string; customerId: string | null }[]> =>
  sql(
    trx,
    `select id, customer_id from receipt where tenant_id = ? and cash_movement_id = any(?::uuid[]) and status = 'recorded' order by id`,
    [contextOf(trx).tenantId, movementIds],
  )

/** Installments of documents that a line of a statement has paid: one receipt for all that the line names, also of several customers. */
export const receivableStatementTarget: StatementTarget = {
  books: ['receipt'],
  lock: async (trx, ids) => {
    await lockInstallments(trx, ids)
  },
  settle: async (trx, asked, { account, on, text }) => {
    const { id: cashAccountId, bookId, currency } = account
    const held = await lockInstallments(
      trx,
      asked.map((one) => one.id),
    )
    const allocations = asked.map((one) => amountsOf(one, held.installments))
    const amount = sum(allocations.map(cashOf))
    if (amount < 1) throw invalid([{ field: 'targets', message: 'take off as much as they pay: no money is left' }])
    const money = { bookId, currency, customerId: null, available: amount, since: on, isNew: true }
    const wanted = { allocations, thirdParty: true }
    const plan = await planOf(trx, money, wanted, { targets: new Map(), ...held }, () => {})
    const id = randomUUID()
    const movement = await recordMovement(trx, {
      cashAccountId,
      amount,
      kind: 'receipt',
      source: { type: 'receipt', id },
      description: 'Received from a customer',
      bookedOn: on,
      currency,
    })
    const receipt = await insertReceipt(trx, {
      id,
      bookId,
      propertyId: movement.propertyId,
      customerId: plan.customerId,
      sourceType: 'bank_line',
      sourceId: movement.movementId,
      method: 'bank',
      currency,
      amount,
      receivedOn: movement.bookedOn,
      movement,
      reference: text.slice(0, 60),
    })
    const { post } = await writeAllocations(trx, receipt, held.documents, plan)
    await postRecorded(trx, receipt, movement)
    await post()
    return [{ movementId: movement.movementId, amount }]
  },
  lockMade: async (trx, movementIds) => {
    const receipts = await receiptsOf(trx, movementIds)
    const standing = await Promise.all(receipts.map(({ id }) => standingAllocations(trx, id)))
    await lockAllocated(trx, standing.flat())
    for (const { id } of receipts) await lockReceipt(trx, id)
  },
  undo: async (trx, movementIds, reason) => {
    for (const { id } of await receiptsOf(trx, movementIds))
      await reverseReceipt(trx, id, { reason, by: 'bank_line' }, null)
  },
  open: `select i.id, i.open as amount, i.due_on as date, concat_ws(' ', p.number_prefix || p.number, p.customer_reference, c.trade_name, c.legal_name) as words
    from receivable_installment i join receivable p on p.tenant_id = i.tenant_id and p.id = i.receivable_id
    join customer c on c.tenant_id = p.tenant_id and c.id = p.customer_id
    where p.tenant_id = :tenantId and p.book_id = cast(:bookId as uuid) and p.currency = :currency and p.status in ('issued', 'partly_paid') and i.open > 0
      and i.open = l.amount`,
}
