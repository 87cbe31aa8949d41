/**
 * SQL of refunds of payments on the business day to which the ledger dates them, which at night is not the day on the wall. One that succeeded and failed later
 * is taken back on the day of its failure: a closed day stays as it was. `where` is of refunds `r`; `:from` and `:to` are bound.
 */
export const refundsByDay = (where: string): string => `
  select r.tenant_id, r.property_id, o.method, e.posting_date as date,
    case e.event when 'payment.refund_succeeded' then r.amount else -cast(e.payload #>> '{amounts,returned}' as bigint) end as amount
  from refund r
  join payment o on o.tenant_id = r.tenant_id and o.id = r.payment_id
  join posting_event e on e.tenant_id = r.tenant_id and e.source_id = r.id and e.event in ('payment.refund_succeeded', 'payment.refund_failed')
    and e.posting_date between cast(:from as date) and cast(:to as date)
  where ${where}`

/**
 * SQL of payments on the business day, or on the day on the wall of a house that had none. Each part is a range of an index. `where` is of payments `o`; `:from`
 * and `:to` are bound.
 */
export const paymentsByDay = (where: string): string => `
  select o.tenant_id, o.property_id, o.method, o.business_date as date, o.captured_amount as amount from payment o
  where ${where} and o.captured_amount > 0 and o.status <> 'reversed' and o.business_date between cast(:from as date) and cast(:to as date)
  union all
  select o.tenant_id, o.property_id, o.method, w.date, o.captured_amount from payment o
  join property y on y.tenant_id = o.tenant_id and y.id = o.property_id
  cross join lateral (select cast(o.captured_at at time zone y.timezone as date) as date) w
  where ${where} and o.captured_amount > 0 and o.status <> 'reversed' and o.business_date is null
    and o.captured_at >= cast(cast(:from as date) - 2 as timestamptz) and o.captured_at < cast(cast(:to as date) + 3 as timestamptz)
    and w.date between cast(:from as date) and cast(:to as date)`
