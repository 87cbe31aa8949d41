import { notFound } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { attemptsOf } from '../../lib/attempts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { findRow } from '../../lib/records.ts'
import { onDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import { unseal } from '../../lib/sealing/index.ts'
import { PixCharge } from '../models.ts'
import type { ChargeRecord } from '../models.ts'
import { maskDocument } from '../sight.ts'
import { chargePayer } from './charges.ts'
import type { Payer } from './charges.ts'
import { pixReturnsOf } from './return-list.ts'

export type ChargeFilter = Paging & {
  status?: string | undefined
  kind?: string | undefined
  targetType?: string | undefined
  targetId?: string | undefined
  cashAccountId?: string | undefined
  dueFrom?: string | undefined
  dueTo?: string | undefined
  txid?: string | undefined
  scope: Condition
}

const shown = async (trx: Trx, row: ChargeRecord, reveals: boolean) => {
  const {
    payer,
    merchantName: _,
    merchantCity: __,
    location: ___,
    endsAt: ____,
    createdBy: _____,
    graceDays,
    ...rest
  } = row
  const known = payer ? await unseal<Payer>(trx, 'tenant', chargePayer(row.id), payer) : null
  return {
    ...rest,
    daysAfterDue: graceDays,
    payer: known && { name: known.name, document: reveals ? known.document : maskDocument(known.document) },
  }
}
export type ChargeShown = Awaited<ReturnType<typeof shown>>

/** Charges, latest first. */
export const listCharges = async (
  trx: Trx,
  { scope, page, limit, ...asked }: ChargeFilter,
  { reveals }: { reveals: boolean },
): Promise<Page<ChargeShown>> => {
  const { total, rows } = await readPage<ChargeRecord>(
    trx,
    {
      columns: 'c.*',
      from: 'pix_charge c',
      conditions: [
        ...where('c.tenant_id = ?', contextOf(trx).tenantId),
        ...inScope(scope, 'c.property_id'),
        ...where('c.status = ?', asked.status),
        ...where('c.kind = ?', asked.kind),
        ...where('c.target_type = ?', asked.targetType),
        ...where('c.target_id = ?', asked.targetId),
        ...where('c.cash_account_id = ?', asked.cashAccountId),
        ...where('c.txid = ?', asked.txid),
      ],
      days: onDays('c.due_on', { from: asked.dueFrom, to: asked.dueTo }),
      order: 'c.created_at desc, c.id',
    },
    { page, limit },
  )
  return { total, rows: await Promise.all(rows.map((row) => shown(trx, row, reveals))) }
}

type Received = {
  id: string
  endToEndId: string
  amount: number
  receivedAt: Date
  cashMovementId: string
  claimedByType: 'payment' | 'receipt'
  claimedById: string
  returned: number
}

/** A charge with the money that came for it, what of that goes back, and the calls to the bank; 404. */
export const readCharge = async (trx: Trx, id: string, reveals: boolean) => {
  const row = await findRow(trx, PixCharge, id)
  if (!row) throw notFound('No such charge')
  const receipts = await sql<Received>(
    trx,
    `select id, end_to_end_id, amount, provider_time as received_at, cash_movement_id, claimed_by_type, claimed_by_id, returned from pix_receipt
     where tenant_id = ? and pix_charge_id = ? order by provider_time, id limit 100`,
    [contextOf(trx).tenantId, id],
  )
  const [returns, attempts] = await Promise.all([
    pixReturnsOf(
      trx,
      receipts.map((one) => one.id),
    ),
    attemptsOf(trx, [row.txid]),
  ])
  return {
    ...(await shown(trx, row, reveals)),
    receipts: receipts.map((one) => ({ ...one, pixReturns: returns.get(one.id) ?? [] })),
    attempts,
  }
}

/** Active charges by a date that nobody else counts: those without a target. */
export const chargeForecast = `select c.currency, c.due_on as date, c.amount, c.property_id from pix_charge c where c.tenant_id = :tenantId
  and (cast(:bookId as uuid) is null or c.book_id = :bookId) and (cast(:propertyId as uuid) is null or c.property_id = :propertyId)
  and c.kind = 'due_date' and c.status = 'active' and c.target_id is null`
