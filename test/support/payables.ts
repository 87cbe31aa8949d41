import { createCashAccount } from '../../db/cash/index.ts'
import {
  approvePayable,
  createCredit,
  createOrder,
  createPayable,
  createPayment,
  createRecurring,
  createSupplier,
  lockSupplier,
  proposeBankDetails,
  readPayable,
  submitPayable,
} from '../../db/accounts-payable/index.ts'
import { addAttachment } from '../../db/lib/attachments.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from './factories.ts'

/** Debts of a house: a supplier, bills in each state, a payment, a credit, an order, and a bill that recurs. */
export const makePayables = async (house: House) => {
  const { userId } = await makeUser({ [house.tenantId]: 'finance' })
  const approver = await makeUser({ [house.tenantId]: 'owner' })
  const { bookId, propertyId } = house
  const as = (id: string) => ({ actor: { type: 'user' as const, id } })
  const making = { features: ['suppliers'] }
  const made = await inTenant(
    house.tenantId,
    async (trx) => {
      const account = await sqlOne<{ id: string }>(
        trx,
        `select id from account where book_id = ? and code = '5.1.09'`,
        [bookId],
      )
      const accountId = account?.id ?? ''
      const supplierId = await createSupplier(trx, { legalName: 'Lavanderia Ondas Ltda' })
      const spare = await createSupplier(trx, { legalName: 'Jardins do Mar Ltda' })
      await proposeBankDetails(trx, await lockSupplier(trx, supplierId), {
        details: { keyType: 'email', key: 'contas@ondas.example' },
      })
      const bill = (number: string) =>
        createPayable(
          trx,
          {
            bookId,
            propertyId,
            supplierId,
            kind: 'bill',
            number,
            issuedOn: house.today,
            lines: [{ description: 'Laundry', accountId, amount: 500_000 }],
          },
          making,
        )
      const [draft, toSubmit, awaiting, approved, toVoid, toReject] = [
        await bill('A1'),
        await bill('A2'),
        await bill('A3'),
        await bill('A4'),
        await bill('A5'),
        await bill('A6'),
      ]
      for (const id of [awaiting, approved, toReject]) await submitPayable(trx, id, null)
      const order = (what: string) =>
        createOrder(
          trx,
          {
            supplierId,
            propertyId,
            lines: [{ description: what, accountId, quantity: '2', unitPrice: 1_000 }],
          },
          making,
        )
      const file = { fileName: 'bill.csv', mediaType: 'text/csv' as const, bytes: Buffer.from('line,amount\n') }
      const attached = { module: 'accounts-payable', type: 'payable', id: draft }
      return {
        accountId,
        supplierId,
        spare,
        draft,
        toSubmit,
        awaiting,
        approved,
        toVoid,
        toReject,
        orderId: await order('Soap'),
        toClose: await order('Brushes'),
        attachmentId: await addAttachment(trx, attached, file),
        removed: await addAttachment(trx, attached, file),
        recurringPayableId: await createRecurring(
          trx,
          {
            bookId,
            name: 'Water',
            template: { supplierId, kind: 'bill', lines: [{ description: 'Water', accountId, amount: 1_000 }] },
            unit: 'month',
            firstOn: house.day(40),
          },
          making,
        ),
        cashAccountId: await createCashAccount(trx, { bookId, kind: 'bank', code: 'PAYBANK', name: 'Banco' }),
      }
    },
    as(userId),
  )
  await inTenant(
    house.tenantId,
    (trx) => approvePayable(trx, made.approved, { role: 'owner', expectedVersion: null }, null),
    as(approver.userId),
  )
  const paid = await inTenant(
    house.tenantId,
    async (trx) => {
      const { installments } = await readPayable(trx, made.approved)
      const installmentId = installments[0]?.id ?? ''
      const pay = () =>
        createPayment(
          trx,
          { method: 'manual', cashAccountId: made.cashAccountId, items: [{ installmentId, principal: 100 }] },
          making,
        )
      const credit = (number: string) =>
        createCredit(
          trx,
          { supplierId: made.supplierId, payableId: made.approved, number, issuedOn: house.today, amount: 900 },
          making,
        )
      return {
        installmentId,
        payablePaymentId: await pay(),
        toReverse: await pay(),
        supplierCreditId: await credit('C1'),
        toEnd: await credit('C2'),
      }
    },
    as(userId),
  )
  return { ...made, ...paid }
}
export type Payables = Awaited<ReturnType<typeof makePayables>>
