import { lifecycle } from '../../lib/lifecycle.ts'
import { notFound, versionConflict } from '../../../config/errors.ts'
import { supplierCreditCreated } from '../../../config/events/accounts-payable.ts'
import type { Event } from '../../../config/events/event.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { CreditRecord } from '../models.ts'

export const creditMoves = lifecycle<'open' | 'void'>('A credit')({
  refunded: { from: ['open'] },
  voided: { from: ['open'], to: 'void' },
})

export const tellCredit = (trx: Trx, credit: CreditRecord, event: Event = supplierCreditCreated) =>
  emit(trx, event, {
    propertyId: credit.propertyId,
    id: credit.id,
    version: credit.version,
    data: {
      supplierCreditId: credit.id,
      supplierId: credit.supplierId,
      amount: credit.amount,
      currency: credit.currency,
    },
  })

/** Locks a credit, after bills and payments. 404, 409 `version_conflict`. */
export const lockCredit = async (trx: Trx, id: string, expected: number | null = null): Promise<CreditRecord> => {
  const row = await sqlOne<CreditRecord>(
    trx,
    `select * from supplier_credit where tenant_id = ? and id = ? for no key update`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

type CreditUse = { sourceId: string; on: string; amount: number }

const write = (
  trx: Trx,
  credit: CreditRecord,
  type: string,
  uses: readonly CreditUse[],
  movementId: string | null = null,
) =>
  sql(
    trx,
    `insert into supplier_credit_fact (supplier_credit_id, dated_on, type, source_id, cash_movement_id, amount)
     select cast(? as uuid), u.dated_on, ?, u.source_id, cast(? as uuid), u.amount from jsonb_to_recordset(cast(? as jsonb)) as u (dated_on date, source_id uuid, amount bigint)`,
    [
      credit.id,
      type,
      movementId,
      JSON.stringify(uses.map(({ sourceId, on, amount }) => ({ source_id: sourceId, dated_on: on, amount }))),
    ],
  )

const total = (uses: readonly CreditUse[]) => uses.reduce((sum, { amount }) => sum + amount, 0)

/** Uses up credit for items, or gives it back where the amounts are below 0. The caller holds the credit. 422 `credit_exceeded`. */
export const applyCredit = async (trx: Trx, credit: CreditRecord, uses: readonly CreditUse[]): Promise<void> => {
  const amount = total(uses)
  await sql(
    trx,
    `update supplier_credit set applied = applied + ?, version = version + 1 where tenant_id = ? and id = ?`,
    [amount, contextOf(trx).tenantId, credit.id],
  )
  await write(trx, credit, amount < 0 ? 'restored' : 'applied', uses)
}

/** Writes money that a supplier gave back for a credit. 422 `credit_exceeded`. */
export const refundOf = async (trx: Trx, credit: CreditRecord, use: CreditUse, movementId: string): Promise<void> => {
  await sql(
    trx,
    `update supplier_credit set refunded = refunded + ?, version = version + 1 where tenant_id = ? and id = ?`,
    [use.amount, contextOf(trx).tenantId, credit.id],
  )
  await write(trx, credit, 'refunded', [use], movementId)
}

/** Ends a credit that was never used. */
export const endCredit = async (trx: Trx, credit: CreditRecord, on: string): Promise<void> => {
  await sql(trx, `update supplier_credit set status = 'void', version = version + 1 where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    credit.id,
  ])
  await write(trx, credit, 'voided', [{ sourceId: credit.id, on, amount: credit.amount }])
}
