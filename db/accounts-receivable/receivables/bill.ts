import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../../config/errors.ts'
import { receivableCreated } from '../../../config/events/accounts-receivable.ts'
import { addInstallments, installmentsOf, requestNumber } from '../../documents/index.ts'
import type { Share } from '../../documents/index.ts'
import { assertOpen } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { authorOf } from '../../lib/authors.ts'
import { isOfGuest } from '../../guests/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow, insertRows } from '../../lib/records.ts'
import { billFolios, refuseUnbillable } from '../../reservations/index.ts'
import type { BillTerms, FolioToBill } from '../../reservations/index.ts'
import { refuseCustomer, takeCredit } from '../credit.ts'
import type { Overridden } from '../credit.ts'
import { Receivable, ReceivableLine } from '../models.ts'
import type { CustomerRecord } from '../models.ts'
import { receivableSide } from '../side.ts'
import { lockCustomers, note, tellAll } from '../state.ts'

/** The payer of a folio, and the book of its property. */
type Payer = { folioId: string; customerId: string | null; bookId: string; currency: string; timeZone: string }

/** The customers that pay folios: that of the firm, or of the guest under any of their profiles. */
export const payersOf = (trx: Trx, folioIds: readonly string[]): Promise<Payer[]> =>
  sql<Payer>(
    trx,
    `select f.id as folio_id, coalesce(c.customer_id, g.id) as customer_id, b.id as book_id, b.currency, b.time_zone from folio f
     join property p on p.tenant_id = f.tenant_id and p.id = f.property_id join book b on b.tenant_id = p.tenant_id and b.id = p.book_id
     left join company c on c.tenant_id = f.tenant_id and c.id = f.payer_company_id
     left join lateral (select k.id from customer k where k.tenant_id = f.tenant_id and ${isOfGuest('k.guest_id', 'f.payer_guest_id')}
       order by k.status, k.created_at, k.id limit 1) g on true
     where f.tenant_id = ? and f.id = any(?::uuid[])`,
    [contextOf(trx).tenantId, folioIds],
  )

/** 422 `direct_billing_not_allowed` for folios that no customer, or another one, pays. */
export const refuseOthers = (
  folios: readonly FolioToBill[],
  payers: readonly Payer[],
  customerId: string | null,
): void => {
  const wrong = folios.filter(({ id }) => {
    const payer = payers.find(({ folioId }) => folioId === id)
    return !payer?.customerId || (customerId !== null && payer.customerId !== customerId)
  })
  if (wrong.length > 0)
    throw unprocessable(
      'direct_billing_not_allowed',
      'The payer of the folio is not billed',
      wrong.map(({ number }) => ({
        field: 'folioId',
        message:
          customerId === null
            ? `the payer of folio ${number} has no customer`
            : `folio ${number} is not paid by this customer`,
      })),
    )
}

export type Part = {
  description: string
  amount: number
  folioId?: string
  fromReceivableId?: string
  propertyId: string | null
}
type Bill = Overridden & {
  customer: CustomerRecord
  kind: 'stay' | 'invoice'
  status: 'unbilled' | 'issuing'
  book: { id: string; currency: string }
  issuedOn: string
  departedOn: string | null
  parts: readonly Part[]
  installments: readonly Share[] | undefined
  customerReference?: string | undefined
  notes?: string | undefined
}

/** Writes a document that bills folios. Its exposure is raised by the insert. */
export const writeBill = async (trx: Trx, bill: Bill): Promise<string> => {
  const { customer, kind, status, book, issuedOn, parts } = bill
  const total = sum(parts.map(({ amount }) => amount))
  await assertOpen(trx, book.id, issuedOn)
  const properties = [...new Set(parts.map(({ propertyId }) => propertyId))]
  const id = randomUUID()
  const installments =
    status === 'issuing' ? installmentsOf({ total, issuedOn, termDays: customer.termDays }, bill.installments) : []
  await insertRow(trx, Receivable, {
    id,
    bookId: book.id,
    propertyId: properties.length === 1 ? (properties[0] ?? null) : null,
    customerId: customer.id,
    kind,
    billed: true,
    issuedOn,
    postingOn: issuedOn,
    departedOn: bill.departedOn,
    currency: book.currency,
    total,
    status,
    customerReference: bill.customerReference ?? '',
    notes: bill.notes ?? '',
    creditOverrideBy: bill.creditOverrideBy,
    creditOverrideReason: bill.creditOverrideReason,
    createdBy: contextOf(trx).actor.id === null ? null : await authorOf(trx),
    issuedBy: contextOf(trx).actor.id === null ? null : await authorOf(trx),
  })
  await insertRows(
    trx,
    ReceivableLine,
    parts.map((part, index) => ({
      receivableId: id,
      lineNo: index + 1,
      description: part.description,
      unitAmount: part.amount,
      amount: part.amount,
      folioId: part.folioId ?? null,
      fromReceivableId: part.fromReceivableId ?? null,
      propertyId: part.propertyId,
    })),
  )
  if (status === 'issuing') {
    await addInstallments(trx, receivableSide, id, installments)
    await requestNumber(trx, 'receivable', id)
  }
  note(trx, id, { command: kind === 'stay' ? 'bill' : 'bill_folios', from: null, to: status })
  return id
}

export const partOf = ({ id, number, balance, propertyId }: FolioToBill): Part => ({
  description: `Folio ${number}`,
  amount: balance,
  folioId: id,
  propertyId,
})

const dueOf = (total: number, dueOn: string | undefined): Share[] | undefined =>
  dueOn === undefined ? undefined : [{ dueOn, amount: total }]

/**
 * Bills locked folios to the customers who pay them, each as a document of its own (R3): behind check-out and the invoice of a folio. A customer who is billed
 * by the month gets it on the day. 409 `folio_already_billed`, `payment_in_progress`, `customer_archived`; 422 `folio_closed`, `folio_not_billable`,
 * `direct_billing_not_allowed`, `customer_on_hold`, `currency_mismatch`, `credit_limit_exceeded`, `date_out_of_range`.
 */
export const billStays = async (
  trx: Trx,
  folios: readonly FolioToBill[],
  { dueOn, note: notes, override }: BillTerms,
): Promise<void> => {
  await refuseUnbillable(trx, folios)
  const payers = await payersOf(
    trx,
    folios.map(({ id }) => id),
  )
  refuseOthers(folios, payers, null)
  const customers = await lockCustomers(trx, [...new Set(payers.flatMap(({ customerId }) => customerId ?? []))])
  const made: { folio: FolioToBill; receivableId: string; customer: CustomerRecord }[] = []
  const owed = new Map<string, number>()
  for (const folio of folios) {
    const payer = payers.find(({ folioId }) => folioId === folio.id)
    const customer = customers.find(({ id }) => id === payer?.customerId)
    if (!payer || !customer) throw new Error('the customer of a folio was not found')
    refuseCustomer(customer, payer.currency)
    const before = owed.get(customer.id) ?? 0
    const overridden = await takeCredit(
      trx,
      { ...customer, exposure: customer.exposure + before },
      folio.balance,
      override,
    )
    owed.set(customer.id, before + folio.balance)
    const receivableId = await writeBill(trx, {
      ...overridden,
      customer,
      kind: 'stay',
      status: customer.billing === 'monthly' ? 'unbilled' : 'issuing',
      book: { id: payer.bookId, currency: payer.currency },
      issuedOn: folio.businessDate,
      departedOn: folio.businessDate,
      parts: [partOf(folio)],
      installments: dueOf(folio.balance, dueOn),
      notes,
    })
    made.push({ folio, receivableId, customer })
  }
  await tellAll(
    trx,
    receivableCreated,
    made.map(({ receivableId }) => receivableId),
  )
  await billFolios(trx, made)
}
