import fc from 'fast-check'
import type { House } from '../support/factories.ts'
import { makeFiscal } from '../support/fiscal.ts'
import type { Fiscal } from '../support/fiscal.ts'
import type { Known } from './inputs.ts'

/** Settings, reminders and fiscal documents in the states that commands start from. */
export const ofFiscal = async (
  house: House,
  given?: Fiscal,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const f = given ?? (await makeFiscal(house))
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    records: { fiscalDocumentId: f.fiscalDocumentId },
    known: {
      bookId: one(house.bookId),
      receivableId: one(...f.others),
      fiscalDocumentId: one(f.fiscalDocumentId),
      'receivables.send receivableId': one(f.sentId),
      'fiscalDocuments.retry fiscalDocumentId': one(f.rejectedId),
      'fiscalDocuments.cancel fiscalDocumentId': one(f.authorisedId),
    },
    examples: {
      'fiscalDocuments.create': f.others.map((receivableId) => ({ receivableId })),
      'fiscalDocuments.list': [{}, { status: 'rejected', sort: '-total' }],
      'dunningRuns.list': [{}, { bookId: house.bookId }],
      'dunningNotices.list': [{}, { status: 'queued' }],
      'dunningRuns.create': [{ bookId: house.bookId }, { bookId: house.bookId, dryRun: true }],
      'receivableSettings.read': [{ bookId: house.bookId }, {}],
      'receivableSettings.set': [{ dunning: { hour: 10 } }, { lateCharges: { fineRate: 100 } }],
    },
  }
}
