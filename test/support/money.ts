import { randomUUID } from 'node:crypto'
import {
  closeSession,
  createCashAccount,
  createCharge,
  createMovement,
  createTransfer,
  importStatement,
  matchLine,
  openSession,
  receiveStatement,
  reconcileStatement,
} from '../../db/cash/index.ts'
import { always } from '../../db/lib/conditions.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from './factories.ts'

export type Money = Awaited<ReturnType<typeof makeMoney>>

/** A statement of an account that holds 10.00 with lines of these amounts; its id and theirs. */
const makeStatement = async (trx: Trx, cashAccountId: string, on: string, amounts: readonly number[]) => {
  const content = Buffer.from(randomUUID()).toString('base64')
  const id = await receiveStatement(trx, { cashAccountId, format: 'ofx', fileName: 'a.ofx', content })
  await importStatement(trx, id, {
    bank: null,
    account: null,
    currency: null,
    from: null,
    to: null,
    opening: 1_000,
    closing: null,
    lines: amounts.map((amount) => ({
      bookedOn: on,
      amount,
      externalId: null,
      documentNumber: null,
      text: 'PIX RECEBIDO',
      counterpartyDocument: null,
      endToEndId: null,
    })),
  })
  const lines = await sql<{ id: string }>(
    trx,
    `select id from bank_statement_line where bank_statement_id = ? order by position`,
    [id],
  )
  return { id, lines: lines.map((line) => line.id) }
}

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
      const statement = async (amounts: readonly number[], booked: readonly number[]) => {
        const made = await makeStatement(trx, await account('bank', 1_000), house.day(0), amounts)
        for (const index of booked) {
          const book = { accountId: expenseAccountId, amount: amounts[index] ?? 0, description: 'Fee' }
          await matchLine(trx, made.lines[index] ?? '', [{ book }], { expected: null, scope: always, features: [] })
        }
        return made
      }
      const proven = await statement([-100], [0])
      await reconcileStatement(trx, proven.id, { closingBalance: undefined, expected: null })
      const open = await statement([-5, -7], [1])
      await sql(trx, `insert into pix_key (cash_account_id, type, value) values (?, 'random', ?)`, [
        bankAccountId,
        randomUUID(),
      ])
      const charge = async () =>
        (await createCharge(trx, { kind: 'static', cashAccountId: bankAccountId, amount: 100 })).id
      return {
        pixAccountId: await account('bank', 1_000),
        pixChargeId: await charge(),
        withdrawableId: await charge(),
        bankStatementId: open.id,
        provenId: proven.id,
        provableId: (await statement([-100], [0])).id,
        untouchedId: (await statement([-100], [])).id,
        statementLineId: open.lines[0] ?? '',
        matchedLineId: open.lines[1] ?? '',
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
