import fc from 'fast-check'
import type { House } from '../support/factories.ts'
import { makeReceivables } from '../support/receivables.ts'
import type { Receivables } from '../support/receivables.ts'
import type { Known } from './inputs.ts'

/** Customers, invoices and folios to bill in the states that commands start from. */
export const ofReceivables = async (
  house: House,
  given?: Receivables,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const r = given ?? (await makeReceivables(house))
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const lines = [{ description: 'Hall', unitAmount: 1_200, accountId: r.incomeAccountId }]
  return {
    records: {
      customerId: r.customerId,
      billedCustomerId: r.customerId,
      receivableId: r.draft,
      incomeAccountId: r.incomeAccountId,
      billedFolioId: r.billedFolioId,
    },
    known: {
      customerId: one(r.customerId),
      receivableId: one(r.draft),
      bookId: one(house.bookId),
      propertyId: one(house.propertyId),
      lines: one(lines),
      currency: one('BRL'),
      folioIds: one([r.billedFolioId]),
      'customers.archive customerId': one(r.spare),
      'customers.restore customerId': one(r.spare),
      'receivables.issue receivableId': one(r.toIssue),
      'receivables.void receivableId': one(r.toVoid),
      'receivables.writeOff receivableId': one(r.toWriteOff),
      'receivables.reinstate receivableId': one(r.writtenOff),
      'folios.invoice folioId': one(r.folioToBill),
    },
    examples: {
      'customers.list': [{}, { status: 'active', overdue: false }],
      'customers.statement': [{ from: house.day(-30), to: house.day(0) }],
      'receivables.list': [{}, { overdue: true }, { status: 'draft', sort: '-total' }],
      'receivableInstallments.list': [{}, { overdue: false }, { open: true, customerId: r.customerId }],
      'receivables.ageing': [{ bookId: house.bookId }, { bookId: house.bookId, by: 'kind' }],
      'receivables.create': [{ customerId: r.customerId, bookId: house.bookId, issuedOn: house.today, lines }],
      'receivables.update': [{ notes: 'Call first' }, { promisedOn: house.day(5) }],
    },
  }
}
