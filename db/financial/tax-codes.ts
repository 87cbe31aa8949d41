import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { addDays } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { where, readPage } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import type { TaxCodeRow } from '../rows.ts'
import { bookFor } from './chart.ts'
import { TaxCode, TaxRate } from './models.ts'
import type { TaxCodeKind } from './models.ts'

/** A rate in millionths, with its days. */
export type RateOfTax = { rate: number; validFrom: string; validTo: string | null }
export type TaxCodeRecord = Omit<TaxCodeRow, 'tenantId' | 'kind'> & { kind: TaxCodeKind; rate: number | null }

const columns = `t.id, t.book_id, t.kind, t.code, t.name, t.liability_account_id, t.contra_account_id, t.sections, t.payee_name, t.due_day, t.active,
  t.version, t.created_at, t.updated_at, r.rate`
const inForce = `left join book b on b.tenant_id = t.tenant_id and b.id = t.book_id
  left join tax_rate r on r.tenant_id = t.tenant_id and r.tax_code_id = t.id
    and daterange(r.valid_from, r.valid_to, '[]') @> cast(now() at time zone b.time_zone as date)`

/** A page of tax codes, each with the rate of today in the book's zone. */
export const listTaxCodes = async (
  trx: Trx,
  { bookId, kind, active, page, limit }: Paging & { bookId?: string; kind?: TaxCodeKind; active?: boolean },
): Promise<Page<TaxCodeRecord>> => {
  return readPage<TaxCodeRecord>(
    trx,
    {
      columns,
      from: 'tax_code t',
      joins: inForce,
      conditions: [
        { text: 't.tenant_id = ?', values: [contextOf(trx).tenantId] },
        ...where('t.book_id = ?', bookId),
        ...where('t.kind = ?', kind),
        ...where('t.active = ?', active),
      ],
      order: 't.kind, t.code, t.id',
    },
    { page, limit },
  )
}

/** A tax code with all its rates, the latest first. 404. */
export const readTaxCode = async (trx: Trx, id: string): Promise<TaxCodeRecord & { rates: RateOfTax[] }> => {
  const { tenantId } = contextOf(trx)
  const [, code, rates] = await Promise.all([
    readRow(trx, TaxCode, id, ['id']),
    sqlOne<TaxCodeRecord>(trx, `select ${columns} from tax_code t ${inForce} where t.tenant_id = ? and t.id = ?`, [
      tenantId,
      id,
    ]),
    sql<RateOfTax>(
      trx,
      `select rate, valid_from, valid_to from tax_rate where tenant_id = ? and tax_code_id = ? order by valid_from desc`,
      [tenantId, id],
    ),
  ])
  return { ...code!, rates }
}

export type TaxCodeChange = {
  name?: string | undefined
  liabilityAccountId?: string | undefined
  contraAccountId?: string | null | undefined
  sections?: string[] | undefined
  payeeName?: string | null | undefined
  dueDay?: number | null | undefined
  active?: boolean | undefined
}
export type NewTaxCode = TaxCodeChange & {
  bookId?: string
  kind: TaxCodeKind
  code: string
  name: string
  liabilityAccountId: string
  rate?: number
  validFrom?: string
}

/** 422 for accounts that the code cannot have, 400 for a code of a period without sections or contra account. */
const judge = async (trx: Trx, bookId: string, kind: TaxCodeKind, code: TaxCodeChange): Promise<void> => {
  if (kind !== 'period' && (code.sections ?? []).length > 0)
    throw invalid([{ field: 'sections', message: 'belong to codes of kind period alone' }])
  const ids = [code.liabilityAccountId, code.contraAccountId].filter((id) => id !== undefined && id !== null)
  const accounts = await sql<{ id: string; class: string; postable: boolean; control: string | null; status: string }>(
    trx,
    `select id, class, postable, control, status from account where tenant_id = ? and book_id = ? and id = any(?::uuid[])`,
    [contextOf(trx).tenantId, bookId, ids],
  )
  const judged = (field: 'liabilityAccountId' | 'contraAccountId', wanted: readonly string[]): FieldError[] => {
    const id = code[field]
    if (!id) return []
    const account = accounts.find((one) => one.id === id)
    if (!account) return [{ field, message: 'is no account of the book' }]
    if (!account.postable || account.control !== null || account.status !== 'active')
      return [{ field, message: 'is a group, archived, or a control account' }]
    return wanted.includes(account.class) ? [] : [{ field, message: `must be of class ${wanted.join(' or ')}` }]
  }
  const errors = [
    ...judged('liabilityAccountId', [kind === 'withheld_by_customers' ? 'asset' : 'liability']),
    ...judged('contraAccountId', ['revenue', 'expense']),
  ]
  if (errors.length > 0) throw unprocessable('account_not_usable', 'The code cannot have this account', errors)
}

/** 409 `duplicate_code`, 422 `account_not_usable`. */
export const createTaxCode = async (trx: Trx, { bookId, rate, validFrom, ...code }: NewTaxCode): Promise<string> => {
  const id = randomUUID()
  const book = await bookFor(trx, bookId)
  if (code.kind === 'period' && !code.contraAccountId)
    throw invalid([{ field: 'contraAccountId', message: 'is required for kind period' }])
  if ((rate === undefined) !== (validFrom === undefined))
    throw invalid([{ field: rate === undefined ? 'rate' : 'validFrom', message: 'is required beside the other' }])
  await judge(trx, book.id, code.kind, code)
  await insertRow(trx, TaxCode, { ...code, id, bookId: book.id })
  if (rate !== undefined && validFrom !== undefined) await insertRow(trx, TaxRate, { taxCodeId: id, rate, validFrom })
  return id
}

/** Changes what counts from the next assessment or document on. The caller holds the code's row. */
export const changeTaxCode = async (trx: Trx, id: string, change: TaxCodeChange): Promise<void> => {
  const { bookId, kind, contraAccountId } = await readRow(trx, TaxCode, id)
  if (kind === 'period' && change.contraAccountId === null && contraAccountId !== null)
    throw invalid([{ field: 'contraAccountId', message: 'is required for kind period' }])
  await judge(trx, bookId, kind, change)
  await changeRow(trx, TaxCode, id, change)
}

/** Adds a rate from a day; the one in force before ends the day before. 409 `overlap` where a later rate stands. The caller holds the code's row. */
export const addTaxRate = async (trx: Trx, id: string, { rate, validFrom }: { rate: number; validFrom: string }) => {
  const { tenantId } = contextOf(trx)
  await sql(
    trx,
    `update tax_rate set valid_to = ?::date where tenant_id = ? and tax_code_id = ? and valid_from < ? and (valid_to is null or valid_to >= ?)`,
    [addDays(validFrom, -1), tenantId, id, validFrom, validFrom],
  )
  await insertRow(trx, TaxRate, { taxCodeId: id, rate, validFrom })
  await sql(trx, `update tax_code set version = version + 1 where tenant_id = ? and id = ?`, [tenantId, id])
}
