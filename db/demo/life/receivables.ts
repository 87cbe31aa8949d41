import { addDays } from '../../../config/time.ts'
import { createCustomer, createReceivable, issueReceivable } from '../../accounts-receivable/index.ts'
import { defaultBook } from '../../financial/index.ts'
import { changeCompany } from '../../guests/index.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { chargeFolio, invoiceFolio, openFolio } from '../../reservations/index.ts'
import { sol } from '../ids.ts'

/** A shipyard that is billed: a hall for a meeting in two installments, and the dinner of its crew, billed from its folio. */
export const buildReceivables = async (trx: Trx, companyId: string, today: string): Promise<void> => {
  const book = await defaultBook(trx)
  const income = await sqlOne<{ id: string }>(trx, `select id from account where book_id = ? and code = '4.3.08'`, [
    book?.id ?? null,
  ])
  if (!book || !income) throw new Error('the tenant has no book')
  const customerId = await createCustomer(trx, {
    kind: 'company',
    legalName: 'Estaleiro da Baía S.A.',
    tradeName: 'Estaleiro da Baía',
    email: 'contas@estaleiro.example',
    invoiceEmails: ['contas@estaleiro.example'],
    currency: 'BRL',
    termDays: 15,
    creditLimit: 2_000_000,
  })
  await changeCompany(trx, companyId, { customerId })
  const invoice = await createReceivable(trx, {
    propertyId: sol.propertyId,
    customerId,
    issuedOn: today,
    lines: [{ description: 'Sala de reuniões', quantity: '2', unitAmount: 145_000, accountId: income.id }],
    installments: [
      { dueOn: addDays(today, 15), amount: 145_000 },
      { dueOn: addDays(today, 45), amount: 145_000 },
    ],
    customerReference: 'Pedido 4711',
  })
  await issueReceivable(trx, invoice, null, null)
  const folioId = await openFolio(trx, {
    propertyId: sol.propertyId,
    kind: 'house',
    payerCompanyId: companyId,
    label: 'Jantar da tripulação',
  })
  await chargeFolio(trx, folioId, {
    category: 'food',
    description: 'Jantar da tripulação',
    quantity: '12',
    unitAmount: 8_900,
  })
  await invoiceFolio(trx, folioId, { note: 'Jantar da tripulação do veleiro' })
}
