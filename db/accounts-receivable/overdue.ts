/**
 * SQL: a column of the documents `r` with an open installment whose day has passed in the zone of their book. It reads what is open alone, whatever the list that
 * asks for it.
 */
export const inDefault = (column: string): string => `(select ${column} from receivable_installment i
  join receivable r on r.tenant_id = i.tenant_id and r.id = i.receivable_id join book k on k.tenant_id = r.tenant_id and k.id = r.book_id
  where i.open > 0 and i.due_on < cast(now() at time zone k.time_zone as date) and r.status in ('issued', 'partly_paid'))`
