import { readBrCode } from '../../../config/br-code.ts'
import type { Condition } from '../../lib/conditions.ts'
import { attemptsOf } from '../../lib/attempts.ts'
import { contextOf } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { onDays } from '../../lib/days.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import { unseal } from '../../lib/sealing/index.ts'
import type { TransferRecord } from '../models.ts'
import { maskDocument } from '../sight.ts'
import type { Sight } from '../sight.ts'
import { keyAtBank, payeePlace, transferById } from './request.ts'
import type { Payee } from './request.ts'

export type TransferFilter = Paging & {
  status?: string | undefined
  method?: string | undefined
  accountId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  sourceId?: string | undefined
  scope: Condition
}

const listed = (row: TransferRecord) => {
  const { payee: _, nextReadAt: __, readCount: ___, datedOn: ____, ...rest } = row
  return rest
}

/** Transfers, latest first. */
export const listTransfers = async (
  trx: Trx,
  { status, method, accountId, from, to, sourceId, scope, ...paging }: TransferFilter,
): Promise<Page<ReturnType<typeof listed>>> => {
  const { total, rows } = await readPage<TransferRecord>(
    trx,
    {
      columns: 't.*',
      from: 'cash_transfer t',
      conditions: [
        ...where('t.tenant_id = ?', contextOf(trx).tenantId),
        ...inScope(scope, 't.property_id'),
        ...where('t.status = ?', status),
        ...where('t.method = ?', method),
        ...where('? in (t.from_account_id, t.to_account_id)', accountId),
        ...where('t.source_id = ?', sourceId),
      ],
      days: onDays('t.dated_on', { from, to }),
      order: 't.created_at desc, t.id',
    },
    paging,
  )
  return { total, rows: rows.map(listed) }
}

/** A transfer with its payee, the name and amount inside their BR Code (R12), and the calls to the bank; 404. */
export const readTransfer = async (trx: Trx, id: string, { reveals }: Sight) => {
  const row = await transferById(trx, id)
  const payee = row.payee ? await unseal<Payee>(trx, 'tenant', payeePlace(id), row.payee) : null
  const code = payee && 'brCode' in payee ? readBrCode(payee.brCode) : null
  const masked = payee?.document && !reveals ? { ...payee, document: maskDocument(payee.document) } : payee
  return {
    ...listed(row),
    payee: masked,
    payeeCode: code && { name: code.name, amount: code.amount },
    attempts: await attemptsOf(trx, [keyAtBank(id)]),
  }
}
