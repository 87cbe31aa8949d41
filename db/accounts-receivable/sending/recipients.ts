import type { ReminderChannel } from '../../../config/dunning.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { openReach } from '../customers/reach.ts'

/** A customer as messages reach it. */
export type Debtor = {
  id: string
  name: string
  language: string
  /** Those for invoices, else the usual one. */
  emails: string[]
  phone: string | null
}

/** Customers by id, with their addresses opened. */
export const debtorsOf = async (trx: Trx, ids: readonly string[]): Promise<Debtor[]> => {
  const rows = await sql<{ id: string; legalName: string; language: string; sealed: Buffer | null }>(
    trx,
    `select id, legal_name, language, sealed from customer where tenant_id = ? and id = any(?::uuid[]) order by id`,
    [contextOf(trx).tenantId, ids],
  )
  return Promise.all(
    rows.map(async (row) => {
      const { email, phone, invoiceEmails } = await openReach(trx, row)
      const emails = invoiceEmails.length > 0 ? invoiceEmails : email === null ? [] : [email]
      return { id: row.id, name: row.legalName, language: row.language, emails, phone }
    }),
  )
}

/** The addresses of a customer on a channel. */
export const addressesOn = ({ emails, phone }: Pick<Debtor, 'emails' | 'phone'>, channel: ReminderChannel): string[] =>
  channel === 'email' ? emails : phone === null ? [] : [phone]

/** A recipient as messages want it. */
export const recipientOf = (
  { name, language }: Pick<Debtor, 'name' | 'language'>,
  channel: ReminderChannel,
  address: string,
) => ({
  name,
  language,
  ...(channel === 'email' ? { email: address } : { phone: address }),
})

/** The house that writes for a book where a document names none: the oldest one that is not archived (G28). */
export const writerOf = async (trx: Trx, bookId: string): Promise<string | null> =>
  (
    await sqlOne<{ id: string }>(
      trx,
      `select id from property where tenant_id = ? and book_id = ? order by status = 'archived', created_at, id limit 1`,
      [contextOf(trx).tenantId, bookId],
    )
  )?.id ?? null

/** One message waits so long before another channel would be taken; there is no other. */
export const planOn = (channel: ReminderChannel) => [{ channel, waitMinutes: 30 }]
