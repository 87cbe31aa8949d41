import { invalid, unprocessable } from '../../../config/errors.ts'
import type { ReceiptTarget } from '../../../config/receipts.ts'
import { assertOpen, businessDay } from '../../financial/index.ts'
import { bookOf, refuseFuture, todayAfter } from '../../documents/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lockedTarget, lockTargets } from '../../payment/index.ts'
import type { LockedTargets } from '../../payment/index.ts'
import type { ReceivableRecord } from '../models.ts'
import { amountsOf, automatic, cashOf, withheldOf } from '../rules/allocations.ts'
import type { GivenAllocation } from '../rules/allocations.ts'
import { expectPayable, isPayable, lockInstallments, oldestOpen } from './installments.ts'
import type { PayableInstallment } from './installments.ts'
import type { WithheldTax } from './models.ts'
import type { Planned, PlannedAllocation, PlannedTransfer } from './write.ts'

export type GivenTransfer = { targetType: ReceiptTarget; targetId: string; amount: number }
/** The documents that a receipt is to pay, as they are sent; `auto` means all that the customer owes, the oldest due first. */
export type Wanted = {
  customerId?: string | undefined
  thirdParty?: boolean | undefined
  on?: string | undefined
  allocations?: readonly (GivenAllocation | GivenTransfer)[] | undefined
  auto?: boolean | undefined
}
/** The money that is allocated. `since`: the first day on which it can be, which is the day that counts where `isNew`, and no other is said; else today is. */
export type Money = {
  bookId: string
  currency: string
  customerId: string | null
  available: number
  since: string
  isNew?: boolean
}
/** Judges by the caller's role a place that money comes from or goes to; throws. */
export type Judge = (place: { propertyId: string | null }) => void
/** The locked records of a plan. */
export type Held = { targets: LockedTargets; installments: PayableInstallment[]; documents: ReceivableRecord[] }

const isTransfer = (one: GivenAllocation | GivenTransfer): one is GivenTransfer => 'targetType' in one

/** Refuses what is sent twice, and what goes with nothing: 400. */
export const refuseMixed = ({ allocations, auto = false, customerId, on }: Wanted, isKnown: boolean): void => {
  if (auto && allocations !== undefined)
    throw invalid([{ field: 'auto', message: 'does not stand beside allocations' }])
  if (auto && !isKnown && customerId === undefined)
    throw invalid([{ field: 'customerId', message: 'is required: the receipt has no customer' }])
  if (!auto && allocations === undefined && on !== undefined)
    throw invalid([{ field: 'on', message: 'dates allocations, of which there are none' }])
  const keys = (allocations ?? []).map((one) =>
    isTransfer(one) ? `${one.targetType} ${one.targetId}` : one.installmentId,
  )
  const twice = keys.findIndex((key, index) => keys.indexOf(key) !== index)
  if (twice >= 0) throw invalid([{ field: `allocations.${twice}`, message: 'stands twice' }])
}

/** Locks what a receipt is to pay in the one order: folios with what is before them, customers, documents. */
export const lockWanted = async (
  trx: Trx,
  { bookId, customerId: owner }: Pick<Money, 'bookId' | 'customerId'>,
  { allocations = [], auto = false, customerId }: Wanted,
): Promise<Held> => {
  const targets = await lockTargets(trx, allocations.filter(isTransfer))
  const known = customerId ?? owner
  const ids = auto
    ? known === null
      ? []
      : (await oldestOpen(trx, { bookId, customerId: known })).map((one) => one.installmentId)
    : allocations.flatMap((one) => (isTransfer(one) ? [] : [one.installmentId]))
  return { targets, ...(await lockInstallments(trx, ids, known === null ? [] : [known])) }
}

const transferOf = async (
  trx: Trx,
  money: Money,
  { targetType, targetId, amount }: GivenTransfer,
  { targets }: Held,
  index: number,
): Promise<PlannedTransfer> => {
  const at = (name: string, message: string) => [{ field: `allocations.${index}.${name}`, message }]
  const target = lockedTarget(targets, targetType, targetId)
  const book = target && (await bookOf(trx, { propertyId: target.propertyId }))
  if (!target || book?.id !== money.bookId)
    throw unprocessable('reference_not_found', 'There is no such target', at('targetId', 'is no record of the book'))
  if (target.currency !== money.currency)
    throw unprocessable('currency_mismatch', `It is paid in ${target.currency}`, at('targetId', 'has another currency'))
  if (!target.open) throw unprocessable('target_closed', 'Nothing more can be paid for it', at('targetId', 'is closed'))
  if (amount > target.payable)
    throw unprocessable('target_closed', `At most ${target.payable} can be paid for it`, at('amount', 'is too much'))
  return {
    targetType,
    targetId,
    amount,
    propertyId: target.propertyId,
    payable: target.payable,
    stage: target.stage,
    businessDate: await businessDay(trx, target.propertyId),
  }
}

type Codes = Map<string, { code: string; active: boolean }>

const taxCodesOf = async (trx: Trx, bookId: string, wanted: readonly GivenAllocation[]): Promise<Codes> => {
  const ids = wanted.flatMap(({ withheld = [] }) => withheld.map(({ taxCodeId }) => taxCodeId))
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; code: string; active: boolean }>(
    trx,
    `select id, code, active from tax_code where tenant_id = ? and book_id = ? and kind = 'withheld_by_customers' and id = any(?::uuid[])`,
    [contextOf(trx).tenantId, bookId, ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

const withheldTaxes = ({ withheld = [] }: GivenAllocation, codes: Codes, index: number): WithheldTax[] =>
  withheld.map(({ taxCodeId, amount }, place) => {
    const field = `allocations.${index}.withheld.${place}.taxCodeId`
    const found = codes.get(taxCodeId)
    if (!found?.active)
      throw unprocessable('reference_not_found', 'The book has no such tax code', [
        { field, message: found ? 'is switched off' : 'is no code withheld by customers' },
      ])
    if (withheld.findIndex((one) => one.taxCodeId === taxCodeId) !== place)
      throw invalid([{ field, message: 'stands twice' }])
    return { taxCodeId, amount, code: found.code }
  })

/** Whose installments a receipt pays: those of its customer alone unless a third party pays. 422 `other_customer`. */
const payerOf = (
  money: Money,
  { customerId, thirdParty = false }: Wanted,
  installments: readonly PayableInstallment[],
): string | null => {
  const payer = money.customerId ?? customerId ?? installments[0]?.customerId ?? null
  if (money.customerId !== null && customerId !== undefined && customerId !== money.customerId)
    throw unprocessable('other_customer', 'The receipt is of another customer', [
      { field: 'customerId', message: 'is not the customer of the receipt' },
    ])
  const other = thirdParty ? -1 : installments.findIndex((one) => one.customerId !== payer)
  if (other >= 0)
    throw unprocessable('other_customer', 'An installment is of another customer', [
      { field: `allocations.${other}.installmentId`, message: 'is owed by another customer; say thirdParty' },
    ])
  return payer
}

/** The day of allocations: not before the money or a document, and not ahead. 422 `date_out_of_range`. */
const dayOf = async (
  trx: Trx,
  money: Money,
  wanted: Wanted,
  installments: readonly PayableInstallment[],
): Promise<string> => {
  const book = await bookOf(trx, { bookId: money.bookId })
  const first = installments.reduce((latest, { issuedOn }) => (issuedOn > latest ? issuedOn : latest), money.since)
  const on = wanted.on ?? (money.isNew ? first : todayAfter(book, first))
  refuseFuture(book, on, 'on', first)
  if (on < first)
    throw unprocessable('date_out_of_range', 'Money pays nothing before it is there, or before the document', [
      { field: 'on', message: `must be ${first} or later` },
    ])
  return on
}

/**
 * The payments of a receipt, judged under the locks of `lockWanted` (R9, R10). 422 `reference_not_found`, `currency_mismatch`, `target_closed`,
 * `amount_exceeds_open`, `amount_exceeds_available`, `other_customer`, `date_out_of_range`, and the errors of periods.
 */
export const planOf = async (
  trx: Trx,
  money: Money,
  wanted: Wanted,
  held: Held,
  judge: Judge,
): Promise<Planned & { customerId: string | null }> => {
  const given: readonly (GivenAllocation | GivenTransfer)[] = wanted.auto
    ? automatic(held.installments.filter(isPayable), money.available)
    : (wanted.allocations ?? [])
  const byId = new Map(held.installments.map((one) => [one.installmentId, one]))
  const plain = given.flatMap((one) => (isTransfer(one) ? [] : [one]))
  const codes = await taxCodesOf(trx, money.bookId, plain)
  const allocations: PlannedAllocation[] = []
  const transfers: PlannedTransfer[] = []
  let available = money.available
  for (const [index, one] of given.entries()) {
    const exceeded = (code: string, message: string) =>
      unprocessable(code as 'amount_exceeds_open', 'The amounts do not fit', [
        { field: `allocations.${index}.${isTransfer(one) ? 'amount' : 'principal'}`, message },
      ])
    if (isTransfer(one)) {
      if (one.amount > available)
        throw exceeded('amount_exceeds_available', `takes ${one.amount}, ${available} is available`)
      transfers.push(await transferOf(trx, money, one, held, index))
      available -= one.amount
      continue
    }
    const installment = expectPayable(byId.get(one.installmentId), money, `allocations.${index}.installmentId`)
    const withheld = withheldTaxes(one, codes, index)
    const { amounts, problem } = amountsOf(one, { open: installment.open, available })
    if (problem) throw exceeded(problem.code, problem.message)
    if (!amounts)
      throw invalid([
        {
          field: `allocations.${index}`,
          message: `takes off more than it pays: discount, fee and withheld are ${(one.discount ?? 0) + (one.fee ?? 0) + withheldOf(withheld)}`,
        },
      ])
    allocations.push({ installment, amounts: { ...amounts, withheld } })
    available -= cashOf(amounts)
  }
  const paid = allocations.map(({ installment }) => installment)
  for (const place of [...paid, ...transfers]) judge(place)
  const customerId = payerOf(money, wanted, paid)
  const on = await dayOf(trx, money, wanted, paid)
  if (paid.length > 0) await assertOpen(trx, money.bookId, on)
  return { on, allocations, transfers, customerId }
}
