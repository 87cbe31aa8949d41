import { notFound } from '../../../config/errors.ts'
import { isOfGuest } from '../../guests/index.ts'
import type { Condition } from '../../lib/conditions.ts'
import { prepared, preparedOne } from '../../lib/connection.ts'
import type { Actor, Trx } from '../../lib/connection.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import type { FolioLineRow, FolioRow } from '../../rows.ts'
import type { PartTax } from '../rules/folio-lines.ts'
import { projectionOf } from './outlook.ts'

export const folioKinds = ['guest', 'company', 'group', 'house'] as const
export const folioBalances = ['due', 'credit', 'zero'] as const

export type FolioRecord = Omit<FolioRow, 'tenantId'>

const columns = `f.id, f.property_id, f.number, f.kind, f.reservation_id, f.group_id, f.is_primary, f.payer_guest_id, f.payer_company_id, f.label, f.stage, f.status, f.currency, f.charges,
  f.credits, f.balance, f.credit_limit, f.locked, f.receivable_id, f.version, f.created_at, f.updated_at`

const balances = { due: 'f.balance > 0', credit: 'f.balance < 0', zero: 'f.balance = 0' } as const

type Filter = Paging & {
  propertyId?: string | undefined
  reservationId?: string | undefined
  bookingId?: string | undefined
  groupId?: string | undefined
  kind?: string | undefined
  status?: string | undefined
  payerGuestId?: string | undefined
  payerCompanyId?: string | undefined
  balance?: keyof typeof balances | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

/** Folios, those opened last first. */
export const listFolios = (trx: Trx, { scope, balance, ...filter }: Filter): Promise<Page<FolioRecord>> =>
  readPage<FolioRecord>(
    trx,
    {
      columns,
      from: 'folio f',
      conditions: [
        ...inScope(scope, 'f.property_id'),
        ...where('f.property_id = ?', filter.propertyId),
        ...where('f.reservation_id = ?', filter.reservationId),
        ...where('f.reservation_id in (select r.id from reservation r where r.booking_id = ?)', filter.bookingId),
        ...where('f.group_id = ?', filter.groupId),
        ...where('f.kind = ?', filter.kind),
        ...where('f.status = ?', filter.status),
        ...where(isOfGuest('f.payer_guest_id'), filter.payerGuestId),
        ...where('f.payer_company_id = ?', filter.payerCompanyId),
        ...(balance ? [{ text: balances[balance], values: [] }] : []),
      ],
      order: 'f.created_at desc, f.id',
    },
    filter,
  )

export type FolioShown = FolioRecord & {
  /** The amount that its routes will bring up to the business date, and the balance when the stays end. */
  unposted: number
  projected: number
  totals: { category: string; amount: number }[]
  taxes: { code: string; included: boolean; amount: number }[]
}

/** A folio with its sums by category and tax. 404. */
export const readFolio = async (trx: Trx, id: string): Promise<FolioShown> => {
  const folio = await preparedOne<FolioRecord & { businessDate: string | null }>(
    trx,
    `select ${columns}, p.business_date from folio f join property p on p.tenant_id = f.tenant_id and p.id = f.property_id where f.id = ?`,
    [id],
  )
  if (!folio) throw notFound()
  const { businessDate, ...record } = folio
  const [totals, included, onTop] = await Promise.all([
    prepared<{ category: string; amount: number }>(
      trx,
      `select coalesce(category, 'payments') as category, sum(amount)::bigint as amount from folio_line where folio_id = ? group by 1 order by 1`,
      [id],
    ),
    prepared<{ code: string; amount: number }>(
      trx,
      `select t ->> 'code' as code, sum((t ->> 'amount')::bigint * sign(l.amount)::bigint)::bigint as amount
       from folio_line l cross join lateral jsonb_array_elements(l.taxes) t where l.folio_id = ? and (t ->> 'included')::boolean group by 1 order by 1`,
      [id],
    ),
    prepared<{ code: string; amount: number }>(
      trx,
      `select description as code, sum(amount)::bigint as amount from folio_line where folio_id = ? and category = 'tax' group by 1 order by 1`,
      [id],
    ),
  ])
  const taxes = [
    ...included.map((tax) => ({ ...tax, included: true })),
    ...onTop.map((tax) => ({ ...tax, included: false })),
  ]
  const { unposted, projected } = await projectionOf(trx, record, businessDate ? { businessDate } : {})
  return { ...record, unposted, projected, totals, taxes }
}

export type LineRecord = Omit<
  FolioLineRow,
  'tenantId' | 'taxes' | 'postedBy' | 'sourceType' | 'sourceId' | 'sourceKey'
> & {
  taxes: PartTax[]
  postedBy: Actor
}

const lineColumns = `l.id, l.folio_id, l.seq, l.kind, l.category, l.description, trim_scale(l.quantity)::text as quantity, l.unit_amount, l.amount, l.taxes,
  l.business_date, l.original_line_id, l.transfer_id, l.payment_id, l.receipt_id, l.tax_rule_id, l.posted_by, l.created_at`

/** Lines as they read: a line that lowers a charge lowers its taxes. */
const signed = (rows: LineRecord[]): LineRecord[] =>
  rows.map((row) => ({
    ...row,
    taxes: row.taxes.map((tax) => ({ ...tax, amount: row.amount < 0 ? 0 - tax.amount : tax.amount })),
  }))

type LineFilter = Paging & {
  folioId: string
  kind?: string | undefined
  category?: string | undefined
  businessDate?: string | undefined
}

/** Lines of a folio, in the order in which they were written. */
export const listLines = async (trx: Trx, filter: LineFilter): Promise<Page<LineRecord>> => {
  const { total, rows } = await readPage<LineRecord>(
    trx,
    {
      columns: lineColumns,
      from: 'folio_line l',
      conditions: [
        { text: 'l.folio_id = ?', values: [filter.folioId] },
        ...where('l.kind = ?', filter.kind),
        ...where('l.category = ?', filter.category),
        ...where('l.business_date = ?::date', filter.businessDate),
      ],
      order: 'l.seq',
    },
    filter,
  )
  return { total, rows: signed(rows) }
}

/** Lines by their ids, in the order in which they were written. */
export const readLines = async (trx: Trx, ids: readonly string[]): Promise<LineRecord[]> =>
  signed(
    await prepared<LineRecord>(
      trx,
      `select ${lineColumns} from folio_line l where l.id = any(?::uuid[]) order by l.seq`,
      [ids],
    ),
  )
