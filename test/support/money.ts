import { randomUUID } from 'node:crypto'
import { closeSession, createCashAccount, createMovement, createTransfer, openSession } from '../../db/cash/index.ts'
import { always } from '../../db/lib/conditions.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from './factories.ts'

export type Money = Awaited<ReturnType<typeof makeMoney>>

/** A house with banks, a safe and registers, one of them closed, and a movement, a transfer and a session of each kind. */
export const makeMoney = async (house: House) => {
  const { propertyId } = house
  const { userId } = await makeUser({ [house.tenantId]: 'manager' })
  const part = randomUUID().slice(0, 6).toUpperCase()
  let made = 0
  const sight = { mayApprove: true, ownOf: null, reveals: true }
  const free = { scope: always, judge: () => {} }
  return inTenant(
    house.tenantId,
    async (trx) => {
      const account = (kind: 'bank' | 'safe' | 'register', amount: number) => {
        made += 1
        const opening = { amount, on: house.day(0) }
        return createCashAccount(trx, { kind, code: `${part}-${made}`, name: `${kind} ${made}`, propertyId, opening })
      }
      const found = await sqlOne<{ id: string }>(trx, `select id from account where book_id = ? and code = '6.1.10'`, [
        house.bookId,
      ])
      const expenseAccountId = found?.id ?? ''
      const [bankAccountId, safeAccountId] = [await account('bank', 5_000_000), await account('safe', 100_000)]
      const [reviewedId, closedRegisterId, registerId] = [
        await account('register', 20_000),
        await account('register', 20_000),
        await account('register', 20_000),
      ]
      const reviewed = await openSession(trx, reviewedId, { '10000': 2 })
      await closeSession(trx, reviewed, { count: { '10000': 1 } }, { mayApprove: true })
      const cashSessionId = await openSession(trx, registerId, { '10000': 2 })
      const movement = () =>
        createMovement(
          trx,
          { cashAccountId: bankAccountId, amount: -100, accountId: expenseAccountId, description: 'Flowers' },
          { sight, ...free },
        )
      const transfer = () =>
        createTransfer(
          trx,
          {
            fromAccountId: bankAccountId,
            toAccountId: safeAccountId,
            method: 'manual',
            amount: 500,
            purpose: 'Change',
          },
          { ownOf: null, ...free },
        )
      return {
        userId,
        expenseAccountId,
        bankAccountId,
        safeAccountId,
        registerId,
        closedRegisterId,
        reviewed,
        cashSessionId,
        cashAccountId: bankAccountId,
        emptyAccountId: await account('safe', 0),
        cashMovementId: await movement(),
        reversibleId: await movement(),
        cashTransferId: await transfer(),
        cancellableId: await transfer(),
      }
    },
    { actor: { type: 'user', id: userId } },
  )
}
