import { addDays } from '../../config/time.ts'
import { ledgerBillStays } from '../../jobs/accounts-receivable.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { receivableDueDatePassed } from '../../config/events/accounts-receivable.ts'
import { billFromFolios } from './receivables/from-folios.ts'
import { tellAll } from './state.ts'

/** Asks for the invoices of the customers whose day it is in a book: a job for each, so that one who is on hold keeps nobody waiting. */
export const requestMonthly = async (trx: Trx, bookId: string, date: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const due = await sql<{ id: string }>(
    trx,
    `select c.id from customer c where c.tenant_id = ? and c.billing_day = ? and c.status = 'active' and not c.on_hold
       and exists (select from receivable r where r.tenant_id = c.tenant_id and r.customer_id = c.id and r.book_id = ? and r.status = 'unbilled'
         and r.departed_on < cast(? as date)) order by c.id`,
    [tenantId, Number(date.slice(8)), bookId, date],
  )
  for (const { id } of due)
    await enqueue(trx, ledgerBillStays, { tenantId: tenantId ?? '', customerId: id, bookId, date })
}

/**
 * Bills the stays of a customer that departed before a day as one invoice of each book (R4); of more than 200 the first, and another job does the rest. A
 * customer who was switched to bills of each stay has what is left billed on the day, too.
 */
export const billMonth = async (
  trx: Trx,
  { customerId, bookId, date }: { customerId: string; bookId: string; date: string },
): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const customer = await sqlOne<{ onHold: boolean; status: string }>(
    trx,
    `select on_hold, status from customer where tenant_id = ? and id = ?`,
    [tenantId, customerId],
  )
  if (!customer || customer.onHold || customer.status !== 'active') return
  const due = await sql<{ id: string }>(
    trx,
    `select id from receivable where tenant_id = ? and customer_id = ? and book_id = ? and status = 'unbilled' and departed_on < cast(? as date)
     order by departed_on, id limit 201`,
    [tenantId, customerId, bookId, date],
  )
  if (due.length === 0) return
  await billFromFolios(trx, { customerId, receivableIds: due.slice(0, 200).map(({ id }) => id) })
  if (due.length > 200) await enqueue(trx, ledgerBillStays, { tenantId: tenantId ?? '', customerId, bookId, date })
}

/** Tells of documents of a book with an installment that was due yesterday and is open. The job of a day runs once. */
export const tellOverdue = async (trx: Trx, bookId: string, date: string): Promise<void> => {
  const late = await sql<{ id: string }>(
    trx,
    `select distinct r.id from receivable r join receivable_installment i on i.tenant_id = r.tenant_id and i.receivable_id = r.id
     where r.tenant_id = ? and r.book_id = ? and r.status in ('issued', 'partly_paid') and i.open > 0 and i.due_on = ? order by 1`,
    [contextOf(trx).tenantId, bookId, addDays(date, -1)],
  )
  await tellAll(
    trx,
    receivableDueDatePassed,
    late.map(({ id }) => id),
  )
}
