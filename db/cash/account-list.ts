import { notFound } from '../../config/errors.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { always } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { unseal } from '../lib/sealing/index.ts'
import { holderPlace } from './accounts.ts'
import type { Holder } from './accounts.ts'
import type { AccountRecord } from './models.ts'
import { readPix } from './pix/set-up.ts'
import { maskDocument } from './sight.ts'
import { bankBalance } from './bank-balance.ts'
import type { BankBalance } from './bank-balance.ts'
import type { Sight } from './sight.ts'

type Row = AccountRecord & { openSessionId: string | null; sessionBlind: boolean }

export type AccountFilter = Paging & {
  kind?: string | undefined
  propertyId?: string | undefined
  bookId?: string | undefined
  status?: string | undefined
  scope: Condition
}

const columns = `a.*, s.id as open_session_id, coalesce(s.blind, false) as session_blind`
const joins = `left join cash_session s on s.tenant_id = a.tenant_id and s.register_id = a.id and s.status = 'open'`

const shown = async (trx: Trx, row: Row, { mayApprove, reveals }: Sight) => {
  const { holder, balance, movementCount: _, csvMapping: __, ...rest } = row
  const held = holder ? await unseal<Holder>(trx, 'tenant', holderPlace(row.id), holder) : null
  return {
    ...rest,
    /** The balance of a blind drawer is seen only once it is counted. */
    balance: row.sessionBlind && !mayApprove ? null : balance,
    holderName: held?.name ?? null,
    holderDocument: held?.document && !reveals ? maskDocument(held.document) : (held?.document ?? null),
  }
}
export type AccountShown = Awaited<ReturnType<typeof shown>>

/** Accounts by book, kind and code. */
export const listCashAccounts = async (
  trx: Trx,
  { kind, propertyId, bookId, status, scope, ...paging }: AccountFilter,
  sight: Sight,
): Promise<Page<AccountShown>> => {
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: 'cash_account a',
      joins,
      conditions: [
        ...where('a.tenant_id = ?', contextOf(trx).tenantId),
        ...inScope(scope, { propertyId: 'a.property_id', kind: 'a.kind' }),
        ...where('a.kind = ?', kind),
        ...where('a.property_id = ?', propertyId),
        ...where('a.book_id = ?', bookId),
        ...where('a.status = ?', status),
      ],
      order: 'a.book_id, a.kind, a.code, a.id',
    },
    paging,
  )
  return { total, rows: await Promise.all(rows.map((row) => shown(trx, row, sight))) }
}

/** The balance that the bank stated last; null where no statement states one. */
const bankOf = (trx: Trx, id: string) =>
  sqlOne<BankBalance>(trx, bankBalance(':id', ':tenantId'), { id, tenantId: contextOf(trx).tenantId })

/** An account with its open session and what its bank says; 404. */
export const readCashAccount = async (trx: Trx, id: string, sight: Sight) => {
  const { rows } = await readPage<Row>(
    trx,
    {
      columns,
      from: 'cash_account a',
      joins,
      conditions: [
        ...where('a.tenant_id = ?', contextOf(trx).tenantId),
        ...where('a.id = ?', id),
        ...inScope(always, 'a.property_id'),
      ],
      order: 'a.id',
    },
    { page: 1, limit: 1 },
  )
  const [row] = rows
  if (!row) throw notFound('No such cash account')
  const [account, bank, pix] = await Promise.all([
    shown(trx, row, sight),
    bankOf(trx, id),
    readPix(trx, id, sight.reveals),
  ])
  return { ...account, bank, pix }
}
