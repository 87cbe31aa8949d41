import { majorText } from '../../config/minor-units.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { mailUser } from '../ocp/index.ts'

type Notice = {
  kind: 'finance_dispute' | 'finance_payout' | 'finance_account'
  subjectId: string
  /** Amount with its currency, or the name of the account; no personal data. */
  label: string
  /** The day until which something must be done. */
  day?: string | null
}

/** A sum of money in a notice, such as `BRL 1234.50`. */
export const sumOf = (amount: number, currency: string): string => `${currency} ${majorText(amount, currency)}`

/** Mails owner and finance that money needs them. */
export const tellFinance = async (trx: Trx, { kind, subjectId, label, day = null }: Notice): Promise<void> => {
  const notice = await sqlOne<{ id: string }>(
    trx,
    `insert into finance_notice (tenant_id, kind, subject_id, label, day) values (?, ?, ?, ?, ?) returning id`,
    [contextOf(trx).tenantId, kind, subjectId, label.slice(0, 200), day],
  )
  if (!notice) return
  const people = await sql<{ userId: string }>(
    trx,
    `select user_id from membership where status = 'active' and role in ('owner', 'finance') order by user_id`,
  )
  for (const { userId } of people) await mailUser(trx, userId, kind, notice.id)
}
