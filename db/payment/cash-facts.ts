/** Recorded money that passes a session without lying in its drawer: terminals, transfers and the like. */
export const sessionMoney = `select y.method, 'guest_payment' as kind, y.amount from payment y
  where y.tenant_id = :tenantId and y.cash_session_id = :sessionId and y.method <> 'cash' and y.status = 'captured'`

/** Payouts of gateways that are on their way. */
export const payoutForecast = `select o.currency, o.arrives_on as date, o.amount, cast(null as uuid) as property_id from payout o
  join gateway_account g on g.tenant_id = o.tenant_id and g.id = o.gateway_account_id
  where o.tenant_id = :tenantId and (cast(:bookId as uuid) is null or g.book_id = :bookId) and cast(:propertyId as uuid) is null
    and o.status not in ('paid', 'failed', 'cancelled') and o.arrives_on is not null and o.amount > 0`
