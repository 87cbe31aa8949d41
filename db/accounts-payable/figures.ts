import { notFound } from '../../config/errors.ts'
import { addDays } from '../../config/time.ts'
import { ageing, bookOf, bookToday, listedInstallments, ofHouses, statement, todayOf } from '../documents/index.ts'
import type { InstallmentsAsked } from '../documents/index.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { less, numberOf, readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import { wholeRefusals } from './payments/refusals.ts'
import { payableSide } from './side.ts'
import { detailsInUse } from './suppliers/bank-details.ts'

export type InstallmentFilter = Paging &
  InstallmentsAsked & { supplierId?: string | undefined; inPayment?: boolean | undefined }
type InstallmentRow = {
  id: string
  payableId: string
  payee: { supplierId: string | null; name: string }
  number: string | null
  seq: number
  of: number
  dueOn: string
  daysOverdue: number
  amount: number
  open: number
  currency: string
  payableStatus: string
  onHold: boolean
  inPayment: string | null
  boletoLine: string | null
  pixCode: string | null
  supplierStatus: string | null
  paymentsBlocked: boolean | null
  detailsId: string | null
  detailsUsable: boolean | null
}

const live = `(select x.payable_payment_id from payable_payment_item x where x.tenant_id = i.tenant_id and x.installment_id = i.id and x.status in ('queued', 'sending') limit 1)`

/** Installments that payments name which have not ended: few, and an index has them alone. */
const busy = `select x.installment_id from payable_payment_item x where x.tenant_id = ? and x.status in ('queued', 'sending') and x.installment_id is not null`

/** The schedule of what is to be paid, by due date: of approved bills, those with something open unless asked otherwise. */
export const listInstallments = async (trx: Trx, filter: InstallmentFilter) => {
  const { tenantId } = contextOf(trx)
  const listed = listedInstallments(trx, payableSide, filter, where('p.supplier_id = ?', filter.supplierId))
  const from = `payable_installment i join payable p on p.tenant_id = i.tenant_id and p.id = i.payable_id join book b on b.tenant_id = p.tenant_id and b.id = p.book_id`
  const conditions = [
    { text: `i.tenant_id = ? and p.status <> 'void' and i.amount > 0`, values: [tenantId] },
    ...listed.conditions,
  ]
  const isBusy = { text: `i.id in (${busy})`, values: [tenantId] }
  const isFree = { text: `i.id not in (${busy})`, values: [tenantId] }
  const { rows, total } = await readPage<InstallmentRow>(
    trx,
    {
      columns: `i.id, i.payable_id, jsonb_build_object('supplierId', p.supplier_id, 'name', coalesce(s.legal_name, p.payee_name)) as payee, p.number, i.seq,
        (select count(*) from payable_installment o where o.tenant_id = i.tenant_id and o.payable_id = i.payable_id) as "of", i.due_on,
        greatest(case when i.open > 0 then ${bookToday} - i.due_on else 0 end, 0) as days_overdue, i.amount, i.open, p.currency, p.status as payable_status, p.on_hold,
        ${live} as in_payment, i.boleto_line, i.pix_code, s.status as supplier_status, s.payments_blocked, d.id as details_id, d.usable_from <= now() as details_usable`,
      from,
      joins: `left join supplier s on s.tenant_id = p.tenant_id and s.id = p.supplier_id
        left join lateral ${detailsInUse('p')} d on true`,
      conditions: [...conditions, ...(filter.inPayment === undefined ? [] : [filter.inPayment ? isBusy : isFree])],
      total:
        filter.inPayment === undefined
          ? listed.total
          : filter.inPayment
            ? null
            : less(listed.total, numberOf({ text: from, values: [] }, [...conditions, isBusy])),
      order: 'i.due_on, i.id',
    },
    filter,
  )
  return {
    total,
    rows: rows.map(({ boletoLine, pixCode, ...row }) => {
      const refusals = wholeRefusals({ ...row, pixCode, status: row.payableStatus })
      const payableBy = refusals.length === 0 ? 'pix' : boletoLine !== null && row.open > 0 ? 'boleto' : 'none'
      return { ...row, payableBy, refusals }
    }),
  }
}

const groups = { payee: 'd.payee_key', property: `d.property_id::text`, costCenter: `d.cost_center_id::text` } as const
export type AgeingBy = keyof typeof groups
export type AgeingFilter = Paging & {
  bookId?: string | undefined
  asOf?: string | undefined
  propertyId?: string | undefined
  /** The houses of the caller; all unless given. */
  propertyIds?: readonly string[] | null | undefined
  by: AgeingBy
}

/** SQL: the available amount of credit notes and advances on a day, by the same groups; they have no cost centre. */
const creditsOn = (by: AgeingBy): string => `
  select ${by === 'costCenter' ? 'null::text' : groups[by]} as key, d.amount - coalesce(f.used, 0) as credits
  from (select id from supplier_credit where tenant_id = :tenantId and book_id = :bookId and available > 0 and status = 'open'
    union select supplier_credit_id from supplier_credit_fact where tenant_id = :tenantId and dated_on > cast(:asOf as date)) c
  cross join lateral (select x.* from supplier_credit x where x.tenant_id = :tenantId and x.id = c.id offset 0) d
  left join lateral (select sum(f.amount) as used from supplier_credit_fact f
    where f.tenant_id = d.tenant_id and f.supplier_credit_id = d.id and f.dated_on <= cast(:asOf as date)) f on true
  where d.tenant_id = :tenantId and d.book_id = :bookId and d.issued_on <= cast(:asOf as date)
    and (cast(:propertyId as uuid) is null or d.property_id = cast(:propertyId as uuid)) and ${ofHouses('d')}`

type Named = { key: string; name: string; supplierId: string | null }
/** Payees by the first record of a kind that names them. */
const payeesOf = (trx: Trx, record: 'payable' | 'supplier_credit', keys: readonly string[]): Promise<Named[]> =>
  sql<Named>(
    trx,
    `select distinct on (p.payee_key) p.payee_key as key, p.supplier_id, coalesce(s.legal_name, p.payee_name) as name from ${record} p
     left join supplier s on s.tenant_id = p.tenant_id and s.id = p.supplier_id where p.tenant_id = ? and p.payee_key = any(?::text[]) order by p.payee_key, p.created_at`,
    [contextOf(trx).tenantId, keys],
  )
const namesOf = async (trx: Trx, by: AgeingBy, keys: readonly string[]): Promise<Named[]> => {
  const { tenantId } = contextOf(trx)
  if (by === 'payee') {
    const billed = await payeesOf(trx, 'payable', keys)
    const others = keys.filter((key) => !billed.some((one) => one.key === key))
    return others.length === 0 ? billed : [...billed, ...(await payeesOf(trx, 'supplier_credit', others))]
  }
  const table = by === 'property' ? 'property' : 'cost_center'
  return sql<Named>(
    trx,
    `select id::text as key, null as supplier_id, name from ${table} where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, keys],
  )
}

/** Open amounts on a day by age (R24): one page of groups, and the totals of all. It reads dated facts, so that a past date never changes. */
export const readAgeing = async (trx: Trx, { by, page, limit, propertyIds = null, ...filter }: AgeingFilter) => {
  const book = await bookOf(trx, filter)
  const asOf = filter.asOf ?? todayOf(book)
  const found = await ageing(
    trx,
    payableSide,
    { bookId: book.id, asOf, propertyId: filter.propertyId, propertyIds, by: groups[by], page, limit },
    { names: ['credits'], text: creditsOn(by) },
  )
  const names = await namesOf(
    trx,
    by,
    found.rows.flatMap(({ key }) => key ?? []),
  )
  return {
    asOf,
    currency: book.currency,
    totals: found.totals,
    total: found.total,
    rows: found.rows.map(({ key, ...amounts }) => {
      const named = names.find((one) => one.key === key)
      return {
        ...amounts,
        key: by === 'payee' && named?.supplierId === null ? null : key,
        name: named?.name ?? null,
      }
    }),
  }
}

/** The account of a supplier over days (R24), as far as the houses of the caller go, null for all. `credit`: owed more; `debit`: owed less. 404; 400 `range_invalid`, `range_too_long`. */
export const readStatement = async (
  trx: Trx,
  supplierId: string,
  { bookId, ...days }: { bookId?: string | undefined; from?: string | undefined; to?: string | undefined },
  propertyIds: readonly string[] | null,
) => {
  const found = await sqlOne<{ id: string }>(trx, `select id from supplier where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    supplierId,
  ])
  if (!found) throw notFound()
  const book = await bookOf(trx, { bookId })
  const to = days.to ?? todayOf(book)
  const from = days.from ?? addDays(to, -365)
  const made = await statement(trx, payableSide, { bookId: book.id, party: supplierId, propertyIds, from, to })
  return {
    ...made,
    bookId: book.id,
    currency: book.currency,
    from,
    to,
    entries: made.entries.map(({ raised, lowered, ...entry }) => ({ ...entry, credit: raised, debit: lowered })),
  }
}
