import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { receivableCreated } from '../../../config/events/accounts-receivable.ts'
import { refuseFuture, todayAfter } from '../../documents/index.ts'
import type { BookFacts, Share } from '../../documents/index.ts'
import { sum } from '../../lib/amounts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { billFolios, lockFoliosToBill, refuseUnbillable } from '../../reservations/index.ts'
import type { FolioToBill } from '../../reservations/index.ts'
import { refuseCustomer, takeCredit } from '../credit.ts'
import type { CreditOverride } from '../credit.ts'
import { lockCustomer } from '../customers/customers.ts'
import type { ReceivableRecord } from '../models.ts'
import { noteAll, tellAll } from '../state.ts'
import { partOf, payersOf, refuseOthers, writeBill } from './bill.ts'
import type { Part } from './bill.ts'

export type FromFolios = {
  customerId: string
  folioIds?: readonly string[] | undefined
  receivableIds?: readonly string[] | undefined
  /** Bills of stays that departed up to this day. */
  unbilledUntil?: string | undefined
  issuedOn?: string | undefined
  installments?: readonly Share[] | undefined
  customerReference?: string | undefined
  override?: CreditOverride
}

/** Bills of stays of a customer that wait, locked: those named, or those of the book that departed up to a day. */
const lockUnbilled = async (
  trx: Trx,
  { customerId, receivableIds, unbilledUntil }: FromFolios,
  bookId: string | null,
): Promise<ReceivableRecord[]> => {
  if (!receivableIds && unbilledUntil === undefined) return []
  const rows = await sql<ReceivableRecord>(
    trx,
    `select * from receivable where tenant_id = :tenantId and customer_id = :customerId
       and case when cast(:ids as uuid[]) is not null then id = any(cast(:ids as uuid[]))
         else status = 'unbilled' and departed_on <= cast(:until as date) and (cast(:bookId as uuid) is null or book_id = cast(:bookId as uuid)) end
     order by id for no key update limit 201`,
    {
      tenantId: contextOf(trx).tenantId,
      customerId,
      ids: receivableIds ?? null,
      until: unbilledUntil ?? null,
      bookId,
    },
  )
  for (const [index, id] of (receivableIds ?? []).entries()) {
    const row = rows.find((one) => one.id === id)
    const field = `receivableIds.${index}`
    if (!row)
      throw unprocessable('reference_not_found', 'There is no such bill of a stay', [
        { field, message: 'does not exist, or is of another customer' },
      ])
    if (row.status === 'consolidated')
      throw conflict('folio_already_billed', 'The stay is billed already', [
        { field, message: `is billed by receivable ${row.consolidatedIntoId}` },
      ])
    if (row.status !== 'unbilled')
      throw conflict('invalid_transition', 'The document is no bill of a stay that waits', [
        { field, message: `is ${row.status}` },
      ])
  }
  return rows
}

type Place = Pick<BookFacts, 'id' | 'currency' | 'timeZone'>

/** The book of all parts; `known` are those that are read already. 422 `reference_not_found` where they stand in several. */
const bookOfParts = async (trx: Trx, ids: readonly string[], known: readonly Place[]): Promise<Place> => {
  const own = known.find(({ id }) => ids.every((one) => one === id))
  if (own) return own
  const [book, ...more] = await sql<Place>(
    trx,
    `select id, currency, time_zone from book where tenant_id = ? and id = any(?::uuid[])`,
    [contextOf(trx).tenantId, [...new Set(ids)]],
  )
  if (!book) throw new Error('folios stand in no book')
  if (more.length > 0)
    throw unprocessable('reference_not_found', 'The folios stand in several books', [
      { field: 'folioIds', message: 'stand in several books' },
    ])
  return book
}

/** The last day on which a part came to be owed: the business day of a folio, and the day on which a stay that waits ended. */
const lastDayOf = (
  folios: readonly Pick<FolioToBill, 'businessDate'>[],
  unbilled: readonly Pick<ReceivableRecord, 'departedOn' | 'issuedOn'>[],
): string =>
  [
    ...folios.map(({ businessDate }) => businessDate),
    ...unbilled.map(({ departedOn, issuedOn }) => departedOn ?? issuedOn),
  ]
    .toSorted()
    .at(-1) ?? ''

/** 422 `date_out_of_range` for an invoice that is dated before what it bills was owed. */
const refuseEarly = (issuedOn: string, lastOn: string): void => {
  if (issuedOn < lastOn)
    throw unprocessable('date_out_of_range', 'An invoice is not dated before what it bills', [
      { field: 'issuedOn', message: `must be ${lastOn} or later` },
    ])
}

/**
 * Bills folios and bills of stays that wait as one invoice, all or none (R4). 400 where none, or more than 200, are named; else the errors of `billStays`, and
 * 422 `reference_not_found`, `installments_not_equal`, `date_out_of_range`. Answers its id; null where `unbilledUntil` finds nothing and nothing else is named.
 */
export const billFromFolios = async (trx: Trx, given: FromFolios): Promise<string | null> => {
  const folioIds = [...new Set(given.folioIds ?? [])]
  if (given.receivableIds && given.unbilledUntil !== undefined)
    throw invalid([{ field: 'unbilledUntil', message: 'does not stand beside receivableIds' }])
  if (folioIds.length === 0 && !given.receivableIds && given.unbilledUntil === undefined)
    throw invalid([{ field: 'folioIds', message: 'or receivableIds or unbilledUntil is required' }])
  const folios = await lockFoliosToBill(trx, folioIds)
  await refuseUnbillable(trx, folios)
  const payers = await payersOf(trx, folioIds)
  refuseOthers(folios, payers, given.customerId)
  const customer = await lockCustomer(trx, given.customerId).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'not_found')
      throw unprocessable('reference_not_found', 'There is no such customer', [
        { field: 'customerId', message: 'does not exist' },
      ])
    throw error
  })
  const unbilled = await lockUnbilled(trx, given, payers[0]?.bookId ?? null)
  const count = folios.length + unbilled.length
  if (count === 0) return null
  if (count > 200) throw invalid([{ field: 'folioIds', message: 'one invoice bills 200 folios and stays at most' }])
  const book = await bookOfParts(
    trx,
    [...payers.map(({ bookId }) => bookId), ...unbilled.map(({ bookId }) => bookId)],
    payers.map(({ bookId, currency, timeZone }) => ({ id: bookId, currency, timeZone })),
  )
  refuseCustomer(customer, book.currency)
  const lastOn = lastDayOf(folios, unbilled)
  const issuedOn = given.issuedOn ?? todayAfter(book, lastOn)
  refuseFuture(book, issuedOn, 'issuedOn', lastOn)
  refuseEarly(issuedOn, lastOn)
  const fresh = sum(folios.map(({ balance }) => balance))
  const overridden = await takeCredit(trx, customer, fresh, given.override)
  const parts = [
    ...folios.map(partOf),
    ...unbilled.map((one): Part => ({
      description: `Stay that ended on ${one.departedOn ?? one.issuedOn}`,
      amount: one.total,
      fromReceivableId: one.id,
      propertyId: one.propertyId,
    })),
  ]
  const id = await writeBill(trx, {
    ...overridden,
    customer,
    kind: 'invoice',
    status: 'issuing',
    book,
    issuedOn,
    departedOn: null,
    parts,
    installments: given.installments,
    customerReference: given.customerReference,
  })
  if (unbilled.length > 0)
    await sql(
      trx,
      `update receivable set status = 'consolidated', consolidated_into_id = ?, version = version + 1 where tenant_id = ? and id = any(?::uuid[])`,
      [id, contextOf(trx).tenantId, unbilled.map((one) => one.id)],
    )
  await noteAll(
    trx,
    unbilled.map((one) => one.id),
    { command: 'consolidate', from: 'unbilled', to: 'consolidated' },
  )
  await tellAll(trx, receivableCreated, [id])
  await billFolios(
    trx,
    folios.map((folio) => ({ folio, receivableId: id, customer })),
  )
  return id
}
