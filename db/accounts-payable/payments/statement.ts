import type { StatementTarget } from '../../cash/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { createPayment } from './create.ts'
import { voidPayment } from './reverse.ts'
import { lockPayment } from './state.ts'

/** Payments that booked movements, with the items that these pay, and those that their discount pays whole, which have none. */
const paymentsOf = (trx: Trx, movementIds: readonly string[]): Promise<{ paymentId: string; itemIds: string[] }[]> =>
  sql(
    trx,
    `select payable_payment_id as payment_id, array_agg(id order by id) as item_ids from payable_payment_item
     where tenant_id = :tenantId and status = 'paid' and (cash_movement_id is null or cash_movement_id = any(cast(:movementIds as uuid[])))
       and payable_payment_id in (select payable_payment_id from payable_payment_item where tenant_id = :tenantId and cash_movement_id = any(cast(:movementIds as uuid[])))
     group by 1 order by 1`,
    { tenantId: contextOf(trx).tenantId, movementIds },
  )

/** Installments of bills that a line of a statement has paid: one manual payment for all that the line names. */
export const payableTarget: StatementTarget = {
  books: ['payable_payment_item'],
  lock: async (trx, ids) => {
    await sql(
      trx,
      `select p.id from payable p where p.tenant_id = :tenantId
         and p.id in (select payable_id from payable_installment where tenant_id = :tenantId and id = any(cast(:ids as uuid[]))) order by p.id for no key update`,
      { tenantId: contextOf(trx).tenantId, ids },
    )
  },
  settle: async (trx, asked, { account, on, text, features }) => {
    const paymentId = await createPayment(
      trx,
      {
        method: 'manual',
        cashAccountId: account.id,
        payOn: on,
        items: asked.map(({ id, principal, interest, fine, discount }) => ({
          installmentId: id,
          principal,
          interest,
          fine,
          discount,
        })),
        note: text.slice(0, 200),
      },
      { features },
    )
    const rows = await sql<{ movementId: string; amount: number }>(
      trx,
      `select cash_movement_id as movement_id, -cash as amount from payable_payment_item
       where tenant_id = ? and payable_payment_id = ? and cash_movement_id is not null order by position`,
      [contextOf(trx).tenantId, paymentId],
    )
    return rows
  },
  lockMade: async (trx, movementIds) => {
    for (const { paymentId } of await paymentsOf(trx, movementIds)) await lockPayment(trx, paymentId)
  },
  undo: async (trx, movementIds, reason) => {
    for (const { paymentId, itemIds } of await paymentsOf(trx, movementIds))
      await voidPayment(trx, paymentId, { reason, itemIds }, null)
  },
  open: `select i.id, -i.open as amount, i.due_on as date, concat_ws(' ', p.number, p.payee_name, s.trade_name, s.legal_name) as words
    from payable_installment i join payable p on p.tenant_id = i.tenant_id and p.id = i.payable_id
    left join supplier s on s.tenant_id = p.tenant_id and s.id = p.supplier_id
    where p.tenant_id = :tenantId and p.book_id = cast(:bookId as uuid) and p.currency = :currency and p.status in ('approved', 'partly_paid') and i.open > 0
      and i.open = l.owed`,
}
