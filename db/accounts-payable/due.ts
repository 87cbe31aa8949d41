import { payableDueDateNeared, payableDueDatePassed } from '../../config/events/accounts-payable.ts'
import { addDays } from '../../config/time.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { tellAll } from './state.ts'

const dueOn = async (trx: Trx, bookId: string, date: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(
      trx,
      `select distinct p.id from payable p join payable_installment i on i.tenant_id = p.tenant_id and i.payable_id = p.id
       where p.tenant_id = ? and p.book_id = ? and p.status in ('approved', 'partly_paid') and i.open > 0 and i.due_on = ? order by 1`,
      [contextOf(trx).tenantId, bookId, date],
    )
  ).map(({ id }) => id)

/** Tells of bills of a book with an installment that is due in three days, or was due yesterday and is open. The job of a day runs once. */
export const tellDue = async (trx: Trx, bookId: string, date: string): Promise<void> => {
  await tellAll(trx, payableDueDateNeared, await dueOn(trx, bookId, addDays(date, 3)))
  await tellAll(trx, payableDueDatePassed, await dueOn(trx, bookId, addDays(date, -1)))
}
