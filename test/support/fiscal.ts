import { randomUUID } from 'node:crypto'
import { createFiscalDocument, setSettings } from '../../db/accounts-receivable/index.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { seal } from '../../db/lib/sealing/index.ts'
import type { House } from './factories.ts'

/** An authority for the book of a house, invoices of a customer, and fiscal documents in the states that commands start from. */
export const makeFiscal = (house: House) =>
  inTenant(house.tenantId, async (trx) => {
    const { bookId } = house
    await sql(trx, `update book set document = coalesce(document, '11222333000181') where id = ?`, [bookId])
    const book = await sqlOne<{ id: string; timeZone: string; accountId: string }>(
      trx,
      `select b.id, b.time_zone, (select a.id from account a where a.book_id = b.id and a.code = '4.2.04') as account_id from book b where b.id = ?`,
      [bookId],
    )
    if (!book) throw new Error('the house has no book')
    const fiscal = { adapter: 'sandbox' as const, cityCode: '3550308', serviceCode: '0901', issRate: 500 }
    const steps = [{ level: 1, days: 5, channels: ['email' as const], stopCredit: false }]
    await setSettings(trx, book, { fiscal, dunning: { enabled: true, steps } }, null)
    const customerId = randomUUID()
    const contacts = {
      email: 'contas@firma.example',
      phone: null,
      address: { line1: 'Rua A 1', city: 'Paraty', region: 'RJ', postalCode: '23970-000' },
      contacts: [],
      invoiceEmails: [],
    }
    await sql(
      trx,
      `insert into customer (id, kind, legal_name, document, search, sealed, currency) values (?, 'company', 'Firma Fiscal Ltda', ?, 'firma fiscal', ?, 'BRL')`,
      [
        customerId,
        customerId.replaceAll('-', '').slice(0, 14).toUpperCase(),
        await seal(trx, 'tenant', { table: 'customer', rowId: customerId, purpose: 'contacts' }, contacts),
      ],
    )
    const issued = async (number: number): Promise<string> => {
      const id = randomUUID()
      await sql(
        trx,
        `insert into receivable (id, book_id, property_id, customer_id, kind, series, number, issued_on, posting_on, currency, total, status, posted_at)
         values (?, ?, ?, ?, 'invoice', '1999', ?, ?, ?, 'BRL', 1000, 'issued', now())`,
        [id, bookId, house.propertyId, customerId, number, house.day(-20), house.day(-20)],
      )
      await sql(
        trx,
        `insert into receivable_line (receivable_id, line_no, description, unit_amount, amount, account_id) values (?, 1, 'Stay', 1000, 1000, ?)`,
        [id, book.accountId],
      )
      await sql(trx, `insert into receivable_installment (receivable_id, seq, due_on, amount) values (?, 1, ?, 1000)`, [
        id,
        house.day(-10),
      ])
      return id
    }
    const document = async (number: number, change: string | null): Promise<string> => {
      const id = await createFiscalDocument(trx, { receivableId: await issued(number) })
      if (change !== null) await sql(trx, `update fiscal_document set ${change} where id = ?`, [id])
      return id
    }
    return {
      billedReceivableId: await issued(1),
      sentId: await issued(9),
      others: [await issued(5), await issued(6), await issued(7), await issued(8)],
      fiscalDocumentId: await document(2, null),
      rejectedId: await document(3, `status = 'rejected', rejection = '{"code": "E1", "message": "No"}'`),
      authorisedId: await document(
        4,
        `status = 'authorised', rps_number = 900000, authority_number = '9', access_key = gen_random_uuid()::text, authorised_at = now()`,
      ),
      customerId,
    }
  })
export type Fiscal = Awaited<ReturnType<typeof makeFiscal>>
