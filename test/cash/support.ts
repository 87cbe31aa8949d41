import { randomUUID } from 'node:crypto'
import { createCashAccount, openSession } from '../../db/cash/index.ts'
import type { NewCashAccount } from '../../db/cash/index.ts'
import { fromDatabase } from '../../db/lib/errors.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { makeHouse, stateOf } from '../financial/support.ts'
import type { House } from '../financial/support.ts'

export type Till = House & { registerId: string; safeId: string; bankId: string; cashier: string }

let accounts = 0
/** An account of the house; a register and a safe are of its property. */
export const addAccount = (house: House, given: Pick<NewCashAccount, 'kind'> & Partial<NewCashAccount>) =>
  inTenant(house.tenantId, (trx) => {
    accounts += 1
    return createCashAccount(trx, {
      code: `A-${accounts}`,
      name: 'Account',
      propertyId: house.propertyId,
      ...given,
    })
  })

/** The work of a person. */
export const as = <T>(house: House, userId: string, work: (trx: Trx) => Promise<T>): Promise<T> =>
  inTenant(house.tenantId, work, { actor: { type: 'user', id: userId } })

/** A house with a register, its safe and a bank, and a session that a cashier has opened with 200.00. */
export const makeTill = async (given: Partial<NewCashAccount> = {}): Promise<Till> => {
  const house = await makeHouse()
  const safeId = await addAccount(house, { kind: 'safe' })
  const registerId = await addAccount(house, {
    kind: 'register',
    safeAccountId: safeId,
    opening: { amount: 20_000, on: house.today },
    ...given,
  })
  const bankId = await addAccount(house, { kind: 'bank', opening: { amount: 100_000, on: house.today } })
  return { ...house, registerId, safeId, bankId, cashier: randomUUID() }
}

export const openTill = (till: Till, count: Record<string, number> = { '10000': 2 }) =>
  as(till, till.cashier, (trx) => openSession(trx, till.registerId, count))

export const numbersOf = (house: House, accountId: string) =>
  inTenant(house.tenantId, async (trx) => {
    const row = await sqlOne<{ balance: number; cleared: number; movementCount: number; summed: number }>(
      trx,
      `select a.balance, a.cleared, a.movement_count,
         (select coalesce(sum(m.amount), 0)::bigint from cash_movement m where m.cash_account_id = a.id) as summed
       from cash_account a where a.id = ?`,
      [accountId],
    )
    return row!
  })

/** The code of the reply to what is refused; 'done' when it passes. */
export const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => fromDatabase(error)?.code ?? stateOf(error),
  )
