import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { House } from '../support/factories.ts'
import { makeMoney } from '../support/money.ts'
import type { Money } from '../support/money.ts'
import type { Known } from './inputs.ts'

/** Accounts, movements, transfers and sessions in each state that a command starts from. */
export const ofCash = async (
  house: House,
  given?: Money,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const money = given ?? (await makeMoney(house))
  const { bankAccountId, safeAccountId, closedRegisterId, registerId, expenseAccountId } = money
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    records: {
      cashAccountId: money.cashAccountId,
      cashMovementId: money.cashMovementId,
      cashTransferId: money.cashTransferId,
      cashSessionId: money.cashSessionId,
      bankStatementId: money.bankStatementId,
      statementLineId: money.statementLineId,
      pixChargeId: money.pixChargeId,
    },
    known: {
      bookId: one(house.bookId),
      propertyId: one(house.propertyId, undefined),
      cashAccountId: one(bankAccountId, safeAccountId),
      'cashAccounts.archive cashAccountId': one(money.emptyAccountId),
      cashMovementId: one(money.cashMovementId),
      'cashMovements.reverse cashMovementId': one(money.reversibleId),
      cashTransferId: one(money.cashTransferId),
      'cashTransfers.cancel cashTransferId': one(money.cancellableId),
      cashSessionId: one(money.cashSessionId),
      'cashSessions.approve cashSessionId': one(money.reviewed),
      bankStatementId: one(money.bankStatementId),
      'bankStatements.delete bankStatementId': one(money.untouchedId),
      'bankStatements.reconcile bankStatementId': one(money.provableId),
      'bankStatements.reopen bankStatementId': one(money.provenId),
      statementLineId: one(money.statementLineId),
      'bankStatementLines.unmatch statementLineId': one(money.matchedLineId),
      pixChargeId: one(money.pixChargeId),
      'pixCharges.cancel pixChargeId': one(money.withdrawableId),
      'cashAccounts.setPix cashAccountId': one(money.pixAccountId),
      pixKeyId: one(undefined),
      targetType: one(undefined),
      targetId: one(undefined),
      installmentId: one(undefined),
      connection: one(undefined),
      payoutId: one(undefined),
      payableInstallmentId: one(undefined),
      receivableInstallmentId: one(undefined),
      closingBalance: one(undefined),
      registerId: one(closedRegisterId, registerId),
      fromAccountId: one(bankAccountId),
      toAccountId: one(safeAccountId),
      safeAccountId: one(safeAccountId, null),
      ledgerAccountId: one(undefined),
      accountId: one(expenseAccountId),
      counterBookId: one(undefined),
      costCenterId: one(undefined),
      payee: one(undefined),
      method: one('manual'),
      receivedOn: one(house.day(0)),
      sentOn: one(house.day(0)),
      bookedOn: one(house.day(0)),
    },
    examples: {
      'cashAccounts.create': Array.from({ length: 20 }, (_, index) => ({
        kind: 'safe',
        code: `X-${index}-${randomUUID().slice(0, 4).toUpperCase()}`,
        name: 'Safe',
        propertyId: house.propertyId,
      })),
      'cashTransfers.create': [
        { fromAccountId: bankAccountId, toAccountId: safeAccountId, method: 'manual', amount: 100, purpose: 'Change' },
        { fromAccountId: safeAccountId, toAccountId: registerId, method: 'manual', amount: 100, purpose: 'Change' },
      ],
      'cashMovements.list': [{}, { cashAccountId: bankAccountId }, { unmatched: true, kind: 'manual' }],
      'cashTransfers.confirm': [{ receivedOn: house.day(0) }],
      'cashSessions.close': [{ count: { '10000': 2 } }],
      'cashSessions.approve': [{}],
      'cashAccounts.setPix': ['a', 'b'].map((name) => ({
        keys: [{ type: 'email', key: `${name}-${randomUUID().slice(0, 8)}@sol.example` }],
      })),
      'pixCharges.create': [{ kind: 'static', cashAccountId: bankAccountId, amount: 1_000, text: 'Deposit' }],
      'bankStatements.create': ['MEMO', 'NAME'].map((tag) => ({
        cashAccountId: bankAccountId,
        format: 'ofx',
        fileName: 'extrato.ofx',
        content: Buffer.from(`<OFX><STMTRS><${tag}>${randomUUID()}</STMTRS></OFX>`).toString('base64'),
      })),
      'bankStatementLines.match': [
        { ignoreReason: 'No money of the house' },
        { targets: [{ book: { accountId: expenseAccountId, amount: -5, description: 'Fee' } }] },
      ],
      'cashPosition.read': [{}, { bookId: house.bookId, days: 3 }],
    },
  }
}
