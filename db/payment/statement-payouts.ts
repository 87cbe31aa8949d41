import { unprocessable } from '../../config/errors.ts'
import { recordMovement, reverseMovement } from '../cash/index.ts'
import type { StatementTarget } from '../cash/index.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

type Row = {
  id: string
  amount: number
  currency: string
  bookId: string
  status: string
  booked: number
  standing: number
}

const bookedFor = `from cash_movement m where m.tenant_id = p.tenant_id and m.source_type = 'payout' and m.source_id = p.id`

const rowsOf = (trx: Trx, ids: readonly string[]): Promise<Row[]> =>
  sql<Row>(
    trx,
    `select p.id, p.amount, p.currency, g.book_id, p.status, (select count(*) ${bookedFor}) as booked,
       (select count(*) ${bookedFor} and not exists (select from cash_movement r where r.tenant_id = m.tenant_id and r.reverses_id = m.id)) as standing
     from payout p join gateway_account g on g.tenant_id = p.tenant_id and g.id = p.gateway_account_id
     where p.tenant_id = ? and p.id = any(?::uuid[]) order by p.id`,
    [contextOf(trx).tenantId, ids],
  )

const lock = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  await sql(trx, `select id from payout where tenant_id = ? and id = any(?::uuid[]) order by id for no key update`, [
    contextOf(trx).tenantId,
    ids,
  ])
}

/** Payouts of gateways as lines of a statement bring them: out of the money in transit, into the bank. */
export const payoutTarget: StatementTarget = {
  books: ['payout'],
  lock,
  settle: async (trx, asked, { account, on }) => {
    const rows = await rowsOf(
      trx,
      asked.map(({ id }) => id),
    )
    const made: { movementId: string; amount: number }[] = []
    for (const { id } of asked) {
      const payout = rows.find((row) => row.id === id)
      if (payout?.bookId !== account.bookId || payout.currency !== account.currency)
        throw unprocessable('reference_not_found', 'There is no such payout of the book', [
          { field: 'targets', message: `${id} is no payout of the book` },
        ])
      if (payout.standing > 0 || payout.status === 'failed' || payout.status === 'cancelled')
        throw unprocessable('in_use', 'The payout has arrived already, or has failed', [
          { field: 'targets', message: `${id} is ${payout.standing > 0 ? 'booked' : payout.status}` },
        ])
      const { movementId } = await recordMovement(trx, {
        cashAccountId: account.id,
        amount: payout.amount,
        kind: 'payout',
        source: { type: 'payout', id, seq: payout.booked },
        description: 'Payout of the gateway',
        bookedOn: on,
      })
      made.push({ movementId, amount: payout.amount })
    }
    return made
  },
  lockMade: async (trx, movementIds) =>
    lock(
      trx,
      (
        await sql<{ sourceId: string }>(
          trx,
          `select source_id from cash_movement where tenant_id = ? and id = any(?::uuid[])`,
          [contextOf(trx).tenantId, movementIds],
        )
      ).map(({ sourceId }) => sourceId),
    ),
  undo: async (trx, movementIds, reason) => {
    for (const movementId of movementIds) await reverseMovement(trx, { movementId, description: reason })
  },
  open: `select p.id, p.amount, coalesce(p.arrives_on, p.created_on) as date, 'payout' as words
    from payout p join gateway_account g on g.tenant_id = p.tenant_id and g.id = p.gateway_account_id
    where p.tenant_id = :tenantId and g.book_id = cast(:bookId as uuid) and p.currency = :currency and p.status in ('pending', 'in_transit', 'paid')
      and p.amount = l.amount and not exists (select ${bookedFor}
        and not exists (select from cash_movement r where r.tenant_id = m.tenant_id and r.reverses_id = m.id))`,
}
