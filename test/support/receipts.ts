import { createCreditNote, createReceipt } from '../../db/accounts-receivable/index.ts'
import { createCashAccount } from '../../db/cash/index.ts'
import { beginVersions, replaceInstallments } from '../../db/documents/index.ts'
import { raisePosting } from '../../db/financial/index.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from './factories.ts'

export type IssuedInvoice = {
  bookId: string
  propertyId?: string | null
  customerId: string
  customerKind?: string
  issuedOn: string
  lines: { description: string; unitAmount: number; accountId: string; taxCodeId?: string; tax?: number }[]
  installments: { dueOn: string; amount: number }[]
}

/** A customer who is billed. */
export const makeCustomer = async (trx: Trx, kind = 'company', name = 'Ondas Turismo'): Promise<string> => {
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into customer (kind, legal_name, search, currency) values (?, ?, lower(?), 'BRL') returning id`,
    [kind, name, name],
  )
  return row?.id ?? ''
}

/** An invoice as it stands once it is issued and posted. */
export const makeInvoice = async (
  trx: Trx,
  { bookId, propertyId = null, customerId, customerKind = 'company', issuedOn, lines, installments }: IssuedInvoice,
): Promise<{ id: string; installments: { id: string; seq: number }[] }> => {
  const total = lines.reduce((sum, line) => sum + line.unitAmount, 0)
  const side = { document: 'receivable' } as const
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into receivable (book_id, property_id, customer_id, kind, issued_on, posting_on, currency, total, status)
     values (?, ?, ?, 'invoice', ?, ?, 'BRL', ?, 'draft') returning id`,
    [bookId, propertyId, customerId, issuedOn, issuedOn, total],
  )
  const id = row?.id ?? ''
  for (const [index, { description, unitAmount, accountId, taxCodeId = null, tax = 0 }] of lines.entries())
    await sql(
      trx,
      `insert into receivable_line (receivable_id, line_no, description, unit_amount, amount, account_id, tax_code_id, tax_amount)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, index + 1, description, unitAmount, unitAmount, accountId, taxCodeId, tax],
    )
  await replaceInstallments(trx, side, id, installments)
  await beginVersions(trx, side, [id], issuedOn)
  await sql(
    trx,
    `update receivable set status = 'issued', series = '1990', posted_at = now(),
       number = (select coalesce(max(number), 0) + 1 from receivable where series = '1990' and book_id = ?) where id = ?`,
    [bookId, id],
  )
  await raisePosting(trx, {
    event: 'accounts-receivable.receivable_issued',
    source: { id },
    bookId,
    ...(propertyId === null ? {} : { propertyId }),
    postingDate: issuedOn,
    payload: {
      amounts: {
        total,
        lines: lines.map(({ accountId, unitAmount }) => ({ accountId, amount: unitAmount })),
        taxes: lines.flatMap(({ taxCodeId, tax = 0, unitAmount }) =>
          taxCodeId === undefined ? [] : [{ amount: tax, taxBase: unitAmount, context: { taxCodeId } }],
        ),
      },
      documents: { receivable: id },
      context: { customerKind },
      parties: { all: { type: 'customer', id: customerId } },
    },
  })
  const made = await sql<{ id: string; seq: number }>(
    trx,
    `select id, seq from receivable_installment where receivable_id = ? order by seq`,
    [id],
  )
  return { id, installments: made }
}

export type Receipts = Awaited<ReturnType<typeof makeReceipts>>

/** Debts and payments of customers: an invoice, receipts in each state that a command starts from, and a credit note. */
export const makeReceipts = async (house: House) => {
  const { userId } = await makeUser({ [house.tenantId]: 'finance' })
  const { bookId, propertyId, today } = house
  return inTenant(
    house.tenantId,
    async (trx) => {
      const customerId = await makeCustomer(trx)
      const account = await sqlOne<{ id: string }>(
        trx,
        `select id from account where book_id = ? and code = '4.3.08'`,
        [bookId],
      )
      const invoice = (amount: number) =>
        makeInvoice(trx, {
          bookId,
          propertyId,
          customerId,
          issuedOn: today,
          lines: [{ description: 'Events', unitAmount: amount, accountId: account?.id ?? '' }],
          installments: [{ dueOn: today, amount }],
        })
      const [first, second] = [await invoice(9_000_000), await invoice(1_000)]
      const bankAccountId = await createCashAccount(trx, {
        kind: 'bank',
        code: `RC-${userId.slice(0, 6).toUpperCase()}`,
        name: 'Bank',
        propertyId,
      })
      const receipt = (amount: number, auto = false) =>
        createReceipt(
          trx,
          { customerId, cashAccountId: bankAccountId, method: 'bank', amount, receivedOn: today, auto },
          { ownOf: null, judge: () => {} },
        )
      const [receiptId, allocatedId] = [await receipt(500_000), await receipt(1_000, true)]
      const [toRefund, toReverse] = [await receipt(500_000), await receipt(100)]
      const allocation = await sqlOne<{ id: string }>(trx, `select id from receipt_allocation where receipt_id = ?`, [
        allocatedId,
      ])
      return {
        customerId,
        receivableId: first.id,
        paidId: second.id,
        receivableInstallmentId: first.installments[0]?.id ?? '',
        bankAccountId,
        receiptId,
        allocatedId,
        receiptAllocationId: allocation?.id ?? '',
        toRefund,
        toReverse,
        creditNoteId: await createCreditNote(
          trx,
          { receivableId: first.id, amount: 100, reason: 'Too dear' },
          () => {},
        ),
      }
    },
    { actor: { type: 'user', id: userId } },
  )
}
