/** The balance that a bank stated last, and its day. */
export type BankBalance = { balance: number; on: string }

/** Selects `balance` and `on` of the latest statement of an account that states a balance; the arguments are SQL. */
export const bankBalance = (accountId: string, tenantId: string): string =>
  `select coalesce(b.closing_balance, b.given_balance) as balance, b.last_on as "on" from bank_statement b
   where b.tenant_id = ${tenantId} and b.cash_account_id = ${accountId} and b.status in ('imported', 'reconciled')
     and coalesce(b.closing_balance, b.given_balance) is not null
   order by b.last_on desc, b.seq desc limit 1`
