import {
  createCustomer,
  createReceivable,
  issueReceivable,
  writeOffReceivable,
} from '../../db/accounts-receivable/index.ts'
import { assignNumber } from '../../db/documents/index.ts'
import { createCompany } from '../../db/guests/index.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import { chargeFolio, openFolio } from '../../db/reservations/index.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from './factories.ts'

/** Claims of a house: a customer, invoices in each state, and folios that the customer pays. */
export const makeReceivables = async (house: House) => {
  const { userId } = await makeUser({ [house.tenantId]: 'finance' })
  const { bookId, propertyId } = house
  const as = { actor: { type: 'user' as const, id: userId } }
  return inTenant(
    house.tenantId,
    async (trx) => {
      const account = await sqlOne<{ id: string }>(
        trx,
        `select id from account where book_id = ? and code = '4.3.08'`,
        [bookId],
      )
      const incomeAccountId = account?.id ?? ''
      const customer = (legalName: string) =>
        createCustomer(trx, { kind: 'company', legalName, currency: 'BRL', termDays: 15 })
      const [customerId, spare] = [await customer('Engenharia do Mar S.A.'), await customer('Eventos da Serra Ltda')]
      const draftOf = () =>
        createReceivable(trx, {
          bookId,
          customerId,
          issuedOn: house.today,
          lines: [{ description: 'Hall for a day', unitAmount: 250_000, accountId: incomeAccountId }],
        })
      const issuedOne = async () => {
        const id = await draftOf()
        await issueReceivable(trx, id, null, null)
        await assignNumber(trx, 'receivable', id)
        return id
      }
      const payerCompanyId = await createCompany(trx, { kind: 'company', legalName: 'Engenharia do Mar', customerId })
      const folio = async () => {
        const id = await openFolio(trx, { propertyId, kind: 'house', payerCompanyId })
        await chargeFolio(trx, id, { category: 'other', description: 'A dinner', unitAmount: 9_000 })
        return id
      }
      const writtenOff = await issuedOne()
      await writeOffReceivable(trx, writtenOff, 'Insolvent', null)
      return {
        incomeAccountId,
        customerId,
        spare,
        draft: await draftOf(),
        toIssue: await draftOf(),
        toVoid: await draftOf(),
        issued: await issuedOne(),
        toWriteOff: await issuedOne(),
        writtenOff,
        billedFolioId: await folio(),
        folioToBill: await folio(),
      }
    },
    as,
  )
}
export type Receivables = Awaited<ReturnType<typeof makeReceivables>>
