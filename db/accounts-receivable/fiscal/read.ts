import { notFound } from '../../../config/errors.ts'
import type { FiscalOperation, FiscalOutcome } from '../../../config/fiscal.ts'
import type { Numbered } from '../../documents/index.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { withinDaysOf } from '../../lib/days.ts'
import { inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging, Sort } from '../../lib/paging.ts'
import { FiscalDocument } from './models.ts'
import type { FiscalRecord, FiscalSnapshot } from './models.ts'
import { openSnapshot } from './state.ts'

export type FiscalListed = Omit<FiscalRecord, 'snapshot'>
export type Exchange = { at: Date; operation: FiscalOperation; outcome: FiscalOutcome; code: string | null }
export type FiscalShown = FiscalListed & { snapshot: FiscalSnapshot; log: Exchange[] }

export const fiscalSorts = { createdAt: 'd.created_at', rpsNumber: 'd.rps_number', total: 'd.total' }
export type FiscalFilter = Paging & {
  status?: string | undefined
  receivableId?: string | undefined
  folioId?: string | undefined
  bookId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  rpsNumber?: number | undefined
  q?: string | undefined
  scope: Condition
  sort: Sort<keyof typeof fiscalSorts>
}

const columns = FiscalDocument.columns.fields
  .filter((field) => field !== 'snapshot')
  .map((field) => `d.${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`)
  .join(', ')

/** A page of fiscal documents; `q` finds what the authority gave them. Days are those of the book. */
export const listFiscal = (trx: Trx, filter: FiscalFilter): Promise<Page<FiscalListed>> => {
  return readPage<FiscalListed>(
    trx,
    {
      columns,
      from: 'fiscal_document d join book b on b.tenant_id = d.tenant_id and b.id = d.book_id',
      counted: { list: 'fiscal_document', as: 'd' },
      conditions: [
        { text: 'd.tenant_id = ?', values: [contextOf(trx).tenantId] },
        ...inScope(filter.scope, { propertyId: 'd.property_id' }),
        ...where('d.status = ?', filter.status),
        ...where('d.receivable_id = ?', filter.receivableId),
        ...where('d.folio_id = ?', filter.folioId),
        ...where('d.book_id = ?', filter.bookId),
        ...where('d.rps_number = ?', filter.rpsNumber),
        ...(filter.q === undefined
          ? []
          : [
              {
                text: `(d.authority_number = ? or d.access_key = ? or d.verification_code = ?)`,
                values: [filter.q, filter.q, filter.q],
              },
            ]),
      ],
      days: withinDaysOf('b.time_zone', 'd.created_at', filter),
      order: orderBy(filter.sort, fiscalSorts, 'd.id', ['rpsNumber', 'total']),
    },
    filter,
  )
}

/** A fiscal document with what it says and the log of its exchanges. 404. */
export const readFiscalDocument = async (trx: Trx, id: string): Promise<FiscalShown> => {
  const { tenantId } = contextOf(trx)
  const row = await sqlOne<FiscalRecord>(trx, `select * from fiscal_document where tenant_id = ? and id = ?`, [
    tenantId,
    id,
  ])
  if (!row) throw notFound()
  const log = await sql<Exchange>(
    trx,
    `select at, operation, outcome, code from fiscal_exchange where tenant_id = ? and fiscal_document_id = ? order by position desc limit 200`,
    [tenantId, id],
  )
  return { ...row, snapshot: await openSnapshot(trx, row), log: log.toReversed() }
}

/** 404. */
export const statusOfFiscal = async (trx: Trx, id: string): Promise<string> => {
  const row = await sqlOne<{ status: string }>(
    trx,
    `select status from fiscal_document where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw notFound()
  return row.status
}

/** The document of a receivable that stands, else the last one; null where there is none. */
export const fiscalOfReceivable = (
  trx: Trx,
  receivableId: string,
): Promise<Pick<FiscalRecord, 'id' | 'status' | 'rpsNumber' | 'authorityNumber' | 'documentUrl'> | null> =>
  sqlOne(
    trx,
    `select id, status, rps_number, authority_number, document_url from fiscal_document where tenant_id = ? and receivable_id = ?
     order by status in ('rejected', 'cancelled'), created_at desc, id limit 1`,
    [contextOf(trx).tenantId, receivableId],
  )

/** Numbers of documents sent to authorities, for the check of gaps. They are given as a document is first sent. */
export const rpsNumbers: Numbered = {
  prepare: () => Promise.resolve(null),
  text: `select 'rps' as kind, cast(null as uuid) as scope_id, cast(null as int) as year, rps_number as number
    from fiscal_document where tenant_id = :tenantId and book_id = :bookId and rps_number is not null`,
}
