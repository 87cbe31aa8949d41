import { bookToday } from '../documents/index.ts'

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

/** The day on which a bill that recurs will be issued: that of its lead time, or today where that is over, and no later than it is due. */
const issueDay = `least(o.due_on, greatest(o.due_on - o.lead_days, o.today))`

/** Taxes that a bill which recurs will withhold: with the rates that its template gives, else those of its day; a tax that cannot be withheld is left out. */
const withheldThen = `(select coalesce(sum(coalesce(w.amount, t.share)), 0) from jsonb_array_elements(o.withholdings) as g
    cross join lateral (select cast(g ->> 'base' as bigint) as base, cast(g ->> 'rate' as int) as rate, cast(g ->> 'amount' as bigint) as amount,
      cast(g ->> 'taxCodeId' as uuid) as tax_code_id) w
    join tax_code c on c.tenant_id = :tenantId and c.id = w.tax_code_id and c.active
    left join tax_rate d on d.tenant_id = c.tenant_id and d.tax_code_id = c.id and daterange(d.valid_from, d.valid_to, '[]') @> ${issueDay}
    cross join lateral (select round(coalesce(w.base, o.gross) * cast(coalesce(w.rate, d.rate) as numeric) / 1000000) as share) t
    where abs(coalesce(w.amount, t.share) - t.share) <= 1)`

/** Bills that recur and are not made yet, at what will be paid, as many as fall due until the last day asked for; a pause passes over its own. */
export const recurringForecast = `select n.currency, n.due_on as date, n.amount, n.property_id from (
  select o.currency, o.due_on, o.property_id, o.gross - ${withheldThen}::bigint as amount from (
    select b.currency, r.property_id, r.ends_on, r.paused_until, r.lead_days, ${bookToday} as today,
      coalesce(r.template -> 'withholdings', '[]') as withholdings,
      (select coalesce(sum(cast(l ->> 'amount' as bigint)), 0)::bigint from jsonb_array_elements(r.template -> 'lines') as l) as gross,
      case r.unit when 'week' then r.first_on + (r.made + k) * r.every * 7
        else least(m.first + coalesce(r.day, extract(day from r.first_on)::int) - 1, cast(m.first + interval '1 month' as date) - 1) end as due_on
    from recurring_payable r join book b on b.tenant_id = r.tenant_id and b.id = r.book_id
    cross join generate_series(0, 60) k
    cross join lateral (select cast(date_trunc('month', r.first_on) + make_interval(months => cast((r.made + k) * r.every * case r.unit when 'year' then 12 else 1 end as int)) as date) as first) m
    where r.tenant_id = :tenantId and r.next_on is not null and r.next_on <= cast(:until as date) and ${inPlace('r')}) o
  where o.due_on <= cast(:until as date) and o.due_on <= coalesce(o.ends_on, o.due_on) and o.due_on > coalesce(o.paused_until, cast('-infinity' as date))) n
  where n.amount > 0`
