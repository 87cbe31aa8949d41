import { approvePayable, createPayable, createSupplier, submitPayable } from '../../db/accounts-payable/index.ts'
import { createCustomer, createReceivable, issueReceivable } from '../../db/accounts-receivable/index.ts'
import { assignNumber } from '../../db/documents/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from '../support/factories.ts'

/** An invoice and a bill of a house that are due on these days. */
export const owe = async (of: House, installments: { dueOn: string; amount: number }[]): Promise<void> => {
  const [maker, judge] = [await makeUser({ [of.tenantId]: 'finance' }), await makeUser({ [of.tenantId]: 'owner' })]
  const as = ({ userId }: { userId: string }) => ({ actor: { type: 'user' as const, id: userId } })
  const { bookId, propertyId } = of
  const issuedOn = of.day(-10)
  const amount = installments.reduce((sum, one) => sum + one.amount, 0)
  const payableId = await inTenant(
    of.tenantId,
    async (trx) => {
      const account = async (code: string) =>
        (await sql<{ id: string }>(trx, `select id from account where book_id = ? and code = ?`, [bookId, code]))[0]!.id
      const customerId = await createCustomer(trx, {
        kind: 'company',
        legalName: 'Do Mar S.A.',
        currency: 'BRL',
        termDays: 5,
      })
      const lines = [{ description: 'Hall', unitAmount: amount, accountId: await account('4.3.08') }]
      const receivableId = await createReceivable(trx, {
        bookId,
        propertyId,
        customerId,
        issuedOn,
        lines,
        installments,
      })
      await issueReceivable(trx, receivableId, null, null)
      await assignNumber(trx, 'receivable', receivableId)
      const supplierId = await createSupplier(trx, { legalName: 'Lavanderia Ondas Ltda' })
      const bought = [{ description: 'Laundry', accountId: await account('5.1.09'), amount }]
      const bill = {
        bookId,
        propertyId,
        supplierId,
        kind: 'bill' as const,
        number: 'A1',
        issuedOn,
        lines: bought,
        installments,
      }
      const id = await createPayable(trx, bill, { features: ['suppliers'] })
      await submitPayable(trx, id, null)
      return id
    },
    as(maker),
  )
  await inTenant(
    of.tenantId,
    (trx) => approvePayable(trx, payableId, { role: 'owner', expectedVersion: null }, null),
    as(judge),
  )
}
