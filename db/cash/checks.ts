/** Sums of accounts of money that their movements do not make: the balance, the part that the bank has shown, and the number of rows. */
export const cashBalancesText = (): string => `
  select a.id as cash_account_id, a.balance, m.balance as moved, a.cleared, m.cleared as matched, a.movement_count, m.count as movements
  from cash_account a
  cross join lateral (select coalesce(sum(m.amount), 0) as balance, coalesce(sum(sign(m.amount) * m.matched), 0) as cleared, count(*) as count
    from cash_movement m where m.tenant_id = a.tenant_id and m.cash_account_id = a.id) m
  where a.tenant_id = :tenantId and a.book_id = :bookId and (a.balance, a.cleared, a.movement_count) is distinct from (m.balance, m.cleared, m.count)`

/** Sessions whose expected sum is not the count of the opening and all that was booked since. Their drop leaves after the count. */
export const sessionsText = (): string => `
  select s.id as cash_session_id, s.expected, s.opening + m.sum as booked from cash_session s
  join cash_account a on a.tenant_id = s.tenant_id and a.id = s.register_id and a.book_id = :bookId
  cross join lateral (select coalesce(sum(m.amount), 0) as sum from cash_movement m where m.tenant_id = s.tenant_id and m.session_id = s.id
    and m.kind <> 'difference' and not exists (select from cash_transfer t where t.tenant_id = m.tenant_id and t.id = m.transfer_id and t.closing_session_id = s.id)) m
  where s.tenant_id = :tenantId and s.expected <> s.opening + m.sum`

/** Movements whose matched part is not what lines of the bank were matched with. */
export const matchesText = (): string => `
  select m.id as cash_movement_id, m.matched, coalesce(x.sum, 0) as by_lines from cash_movement m
  left join (select x.cash_movement_id, sum(abs(x.amount)) as sum from statement_match x
    where x.tenant_id = :tenantId and x.undone_at is null group by 1) x on x.cash_movement_id = m.id
  where m.tenant_id = :tenantId and m.book_id = :bookId and m.matched <> coalesce(x.sum, 0)`

/** Registers whose counted sessions are not numbered from 1 on without a gap. */
export const zNumbersText = (): string => `
  select s.register_id as cash_account_id, count(s.z_number) as numbered, max(s.z_number) as last from cash_session s
  join cash_account a on a.tenant_id = s.tenant_id and a.id = s.register_id and a.book_id = :bookId
  where s.tenant_id = :tenantId and s.z_number is not null group by s.register_id having count(distinct s.z_number) <> max(s.z_number)`
