import { randomUUID } from 'node:crypto'
import { forbidden, invalid, unprocessable } from '../../../config/errors.ts'
import type { ReceiptMethod } from '../../../config/receipts.ts'
import { findAccountFacts, recordMovement } from '../../cash/index.ts'
import type { AccountFacts } from '../../cash/index.ts'
import { businessDay } from '../../financial/index.ts'
import type { Trx } from '../../lib/connection.ts'
import { expectCustomer, insertReceipt, postRecorded } from './insert.ts'
import { lockWanted, planOf, refuseMixed } from './plan.ts'
import type { Judge, Wanted } from './plan.ts'
import { shownPlan } from './show-plan.ts'
import type { PlanShown } from './show-plan.ts'
import { writeAllocations } from './write.ts'

export type GivenReceipt = Pick<Wanted, 'allocations' | 'auto' | 'customerId' | 'thirdParty'> & {
  cashAccountId: string
  method: Exclude<ReceiptMethod, 'credit'>
  amount: number
  receivedOn: string
  reference?: string | undefined
  payerName?: string | undefined
  payerDocument?: string | undefined
}

const drawers = new Set(['register', 'safe', 'petty_cash'])

/** The account that takes the money. Cash lies in a drawer, and a register takes nothing else. 400, 403 for another cashier's, 422. */
const accountOf = async (trx: Trx, given: GivenReceipt, ownOf: string | null): Promise<AccountFacts> => {
  const { cashAccountId, method } = given
  const account = await findAccountFacts(trx, cashAccountId)
  if (!account)
    throw unprocessable('reference_not_found', 'There is no such cash account', [
      { field: 'cashAccountId', message: 'is no cash account' },
    ])
  if (account.status !== 'active') throw unprocessable('account_archived', 'The cash account is archived')
  if ((method === 'cash') !== drawers.has(account.kind))
    throw invalid([
      {
        field: 'method',
        message:
          method === 'cash' ? 'cash lies in a register, a safe or petty cash' : `cash alone lies in a ${account.kind}`,
      },
    ])
  if (ownOf !== null && (account.kind !== 'register' || account.sessionId === null || account.cashierId !== ownOf))
    throw forbidden('forbidden', 'You record money on your own open session')
  return account
}

/** A register is booked on the open business day alone. */
const lockDay = async (trx: Trx, account: AccountFacts, receivedOn: string): Promise<void> => {
  if (account.kind !== 'register' || account.propertyId === null) return
  const day = await businessDay(trx, account.propertyId)
  if (receivedOn !== day)
    throw unprocessable('date_out_of_range', 'A register is booked on the open business day', [
      { field: 'receivedOn', message: `must be ${day}` },
    ])
}

type Caller = {
  /** Set where the caller records money on their own open session alone. */
  ownOf: string | null
  judge: Judge
}

/** Judges a receipt before it is made, under the locks of what it pays. */
const judged = async (trx: Trx, given: GivenReceipt, { ownOf, judge }: Caller) => {
  const { customerId, allocations, auto, thirdParty, amount, receivedOn } = given
  const wanted: Wanted = { customerId, allocations, auto, thirdParty }
  refuseMixed(wanted, false)
  const account = await accountOf(trx, given, ownOf)
  judge(account)
  await lockDay(trx, account, receivedOn)
  const { bookId, currency } = account
  const money = { bookId, currency, customerId: customerId ?? null, available: amount, since: receivedOn, isNew: true }
  const held = await lockWanted(trx, money, wanted)
  if (customerId !== undefined) await expectCustomer(trx, customerId, currency)
  return { account, held, plan: await planOf(trx, money, wanted, held, judge) }
}

/**
 * Records money of a customer, or of nobody known yet, and what it pays (R8 to R10). Its allocations are dated by the day of the money, or that of the latest
 * document that it pays. Throws what `planOf` and `recordMovement` do, 409 `customer_archived`, and 403 for a caller of `ownOf` on another session.
 */
export const createReceipt = async (trx: Trx, given: GivenReceipt, caller: Caller): Promise<string> => {
  const { account, held, plan } = await judged(trx, given, caller)
  const id = randomUUID()
  const movement = await recordMovement(trx, {
    cashAccountId: account.id,
    amount: given.amount,
    kind: 'receipt',
    source: { type: 'receipt', id },
    description: 'Received from a customer',
    currency: account.currency,
    ...(account.kind === 'register' ? {} : { bookedOn: given.receivedOn }),
  })
  const receipt = await insertReceipt(trx, {
    id,
    bookId: account.bookId,
    propertyId: movement.propertyId,
    customerId: plan.customerId,
    sourceType: 'manual',
    sourceId: id,
    method: given.method,
    currency: account.currency,
    amount: given.amount,
    receivedOn: movement.bookedOn,
    movement,
    reference: given.reference,
    payer: { name: given.payerName ?? null, document: given.payerDocument ?? null },
  })
  const isAllocated = plan.allocations.length + plan.transfers.length > 0
  const { post } = isAllocated ? await writeAllocations(trx, receipt, held.documents, plan) : { post: null }
  await postRecorded(trx, receipt, movement)
  await post?.()
  return id
}

/** Tries a receipt: the payments that it would make. Writes nothing. */
export const tryReceipt = async (trx: Trx, given: GivenReceipt, caller: Caller): Promise<PlanShown> => {
  const { account, plan } = await judged(trx, given, caller)
  return shownPlan(plan, given.amount, account.currency)
}
