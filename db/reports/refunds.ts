/**
 * SQL of refunds of payments on the business day to which the ledger dates them, which at night is not the day on the wall. One that succeeded and failed later
 * is taken back on the day of its failure: a closed day stays as it was. `where` is of refunds `r`.
 */
export const refundsByDay = (where: string): string => `
  select r.tenant_id, r.property_id, o.method, e.posting_date as date,
    case e.event when 'payment.refund_succeeded' then r.amount else -cast(e.payload #>> '{amounts,returned}' as bigint) end as amount
  from refund r
  join payment o on o.tenant_id = r.tenant_id and o.id = r.payment_id
  join posting_event e on e.tenant_id = r.tenant_id and e.source_id = r.id and e.event in ('payment.refund_succeeded', 'payment.refund_failed')
  where ${where}`
