import { ApiError, unprocessable } from '../../../config/errors.ts'
import { todayIn } from '../../../config/time.ts'
import { createCharge } from '../../cash/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lateChargeRates } from '../settings/settings.ts'
import type { PixCharges, PixCode } from './pix.ts'

type Facts = {
  bookId: string
  timeZone: string
  number: string | null
  name: string
  document: string | null
  cashAccountId: string | null
}
type Open = { id: string; dueOn: string; open: number }

/** The facts for a charge. Its account is the first bank of the book with a connection and a key, that of the property before others. */
const factsOf = (trx: Trx, receivableId: string): Promise<Facts | null> =>
  sqlOne<Facts>(
    trx,
    `select r.book_id, b.time_zone, r.number_prefix || r.number as number, c.legal_name as name, c.document,
       (select a.id from cash_account a join pix_connection x on x.tenant_id = a.tenant_id and x.cash_account_id = a.id and x.status = 'active'
        where a.tenant_id = r.tenant_id and a.book_id = r.book_id and a.kind = 'bank' and a.status = 'active' and a.currency = r.currency
          and exists (select from pix_key k where k.tenant_id = a.tenant_id and k.cash_account_id = a.id)
        order by a.property_id is not distinct from r.property_id desc, a.created_at, a.id limit 1) as cash_account_id
     from receivable r join book b on b.tenant_id = r.tenant_id and b.id = r.book_id
     join customer c on c.tenant_id = r.tenant_id and c.id = r.customer_id where r.tenant_id = ? and r.id = ?`,
    [contextOf(trx).tenantId, receivableId],
  )

const notReady = (field: string, message: string) =>
  unprocessable('pix_not_ready', 'No Pix charge can be made for it', [{ field, message }])

/** Charges of receivables through the bank of the house: by the due date, with the late charges of the book. What is overdue is due today. 422 `pix_not_ready`. */
export const chargesOfReceivables: PixCharges = {
  request: async (trx, receivableId, most) => {
    const facts = await factsOf(trx, receivableId)
    if (!facts) return
    const { bookId, timeZone, number, name, document, cashAccountId } = facts
    if (cashAccountId === null) throw notReady('withPix', 'no bank of the book has a Pix connection and a key')
    if (document === null) throw notReady('document', 'the customer has no number')
    const rates = (await lateChargeRates(trx, [bookId])).get(bookId)
    const today = todayIn(timeZone)
    const open = await sql<Open>(
      trx,
      `select i.id, i.due_on, i.open from receivable_installment i where i.tenant_id = :tenantId and i.receivable_id = :receivableId and i.open > 0
         and not exists (select from pix_charge x where x.tenant_id = i.tenant_id and x.target_type = 'receivable' and x.target_id = i.receivable_id
           and (x.installment_id = i.id or x.installment_id is null) and x.status in ('creating', 'active'))
       order by i.due_on, i.seq limit cast(:most as int)`,
      { tenantId: contextOf(trx).tenantId, receivableId, most },
    )
    for (const { id: installmentId, dueOn, open: amount } of open)
      await createCharge(trx, {
        kind: 'due_date',
        cashAccountId,
        amount,
        targetType: 'receivable',
        targetId: receivableId,
        installmentId,
        payer: { name, document },
        dueOn: dueOn < today ? today : dueOn,
        ...(rates ? { fineRate: rates.fineRate, monthlyInterestRate: rates.monthlyInterestRate } : {}),
        ...(number === null ? {} : { text: number }),
      }).catch((error: unknown) => {
        // Whatever keeps a charge from being made, the sender is told so.
        throw error instanceof ApiError ? notReady('withPix', error.message) : error
      })
  },
  codes: (trx, receivableId) =>
    sql<PixCode>(
      trx,
      `select x.installment_id, x.br_code as code, x.status <> 'creating' as is_over from pix_charge x
       join receivable_installment i on i.tenant_id = x.tenant_id and i.receivable_id = x.target_id and i.id = x.installment_id and i.open > 0
         -- One that asks for what was open before would have the customer pay it again.
         and x.amount = i.open
       where x.tenant_id = ? and x.target_type = 'receivable' and x.target_id = ? and x.status in ('creating', 'active') order by i.due_on, i.seq`,
      [contextOf(trx).tenantId, receivableId],
    ),
}
