const inPlace = (record: string) => `(cast(:bookId as uuid) is null or ${record}.book_id = cast(:bookId as uuid))
  and (cast(:propertyId as uuid) is null or ${record}.property_id = cast(:propertyId as uuid))`

/** Money that is to leave the house: installments of approved bills on their days, and advances that a payment is about to send. */
export const payableForecast = `select p.currency, i.due_on as date, i.open as amount, p.property_id
  from payable_installment i join payable p on p.tenant_id = i.tenant_id and p.id = i.payable_id
  where i.tenant_id = :tenantId and i.open > 0 and p.status in ('approved', 'partly_paid') and ${inPlace('p')}
  union all
  select y.currency, y.pay_on, x.cash, x.property_id from payable_payment_item x
  join payable_payment y on y.tenant_id = x.tenant_id and y.id = x.payable_payment_id
  where x.tenant_id = :tenantId and x.installment_id is null and x.status in ('queued', 'sending') and y.status in ('approved', 'sending')
    and (cast(:bookId as uuid) is null or y.book_id = cast(:bookId as uuid)) and (cast(:propertyId as uuid) is null or x.property_id = cast(:propertyId as uuid))`

/** Bills that recur and are not made yet, as many as fall due until the last day asked for; a pause passes over its own. */
export const recurringForecast = `select o.currency, o.due_on as date, o.amount, o.property_id from (
    select b.currency, r.property_id, r.ends_on, r.paused_until,
      (select coalesce(sum(cast(l ->> 'amount' as bigint)), 0)::bigint from jsonb_array_elements(r.template -> 'lines') as l) as amount,
      case r.unit when 'week' then r.first_on + (r.made + k) * r.every * 7
        else least(m.first + coalesce(r.day, extract(day from r.first_on)::int) - 1, cast(m.first + interval '1 month' as date) - 1) end as due_on
    from recurring_payable r join book b on b.tenant_id = r.tenant_id and b.id = r.book_id
    cross join generate_series(0, 60) k
    cross join lateral (select cast(date_trunc('month', r.first_on) + make_interval(months => cast((r.made + k) * r.every * case r.unit when 'year' then 12 else 1 end as int)) as date) as first) m
    where r.tenant_id = :tenantId and r.next_on is not null and r.next_on <= cast(:until as date) and ${inPlace('r')}) o
  where o.amount > 0 and o.due_on <= coalesce(o.ends_on, o.due_on) and o.due_on > coalesce(o.paused_until, cast('-infinity' as date))`
