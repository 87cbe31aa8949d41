import { randomUUID } from 'node:crypto'
import { sum } from '../lib/amounts.ts'
import type { Trx } from '../lib/connection.ts'
import { later, sql } from '../lib/connection.ts'
import type { Part } from '../lib/records.ts'
import { raisePosting } from '../financial/index.ts'
import type { DayPosting } from '../financial/index.ts'
import type { PaymentRow } from '../rows.ts'
import { standingAllocations } from './payments/read.ts'
import { takeNewestFirst } from './rules/states.ts'
import type { Offer, Payable, TargetRef, TargetType } from './targets.ts'
import { targetDocument, targetOf } from './targets.ts'

export type LockedTargets = Map<string, Payable>

const lockOrder: TargetType[] = ['booking', 'reservation', 'pos_order', 'folio', 'receivable']
const keyOf = ({ targetType, targetId }: TargetRef) => `${targetType} ${targetId}`

/** Locks targets in the one lock order; what does not exist is left out. */
export const lockTargets = async (trx: Trx, targets: readonly TargetRef[]): Promise<LockedTargets> => {
  const wanted = new Map(targets.map((target) => [keyOf(target), target]))
  const sorted = [...wanted.values()].sort(
    (a, b) => lockOrder.indexOf(a.targetType) - lockOrder.indexOf(b.targetType) || (a.targetId < b.targetId ? -1 : 1),
  )
  const locked: LockedTargets = new Map()
  for (const target of sorted) {
    const payable = await targetOf(target.targetType).lock(trx, target.targetId)
    if (payable) locked.set(keyOf(target), payable)
  }
  return locked
}

export const lockedTarget = (locked: LockedTargets, targetType: TargetType, targetId: string) =>
  locked.get(keyOf({ targetType, targetId }))

/** The posting of an allocation, by the stage that its folio has. */
export const postingOfAllocated = (
  payment: Pick<PaymentRow, 'id' | 'method'>,
  target: TargetRef,
  { allocationId, amount, documentId }: Allocated,
  stage: Payable['stage'],
): DayPosting => ({
  event: 'payment.payment_allocated',
  source: { id: allocationId },
  payload: {
    amounts: { amount },
    documents: { payment: payment.id, ...targetDocument(target.targetType, documentId ?? target.targetId) },
    context: { target: target.targetType, method: payment.method, ...(stage ? { folioStage: stage } : {}) },
  },
})

const raiseAllocated = (
  trx: Trx,
  payment: PaymentRow,
  target: TargetRef,
  allocationId: string,
  amount: number,
  { stage, documentId }: { stage: Payable['stage']; documentId?: string | undefined },
) =>
  raisePosting(trx, {
    ...postingOfAllocated(payment, target, { allocationId, amount, documentId }, stage),
    propertyId: payment.propertyId,
  })

const rowPart = (
  id: string,
  paymentId: string,
  target: TargetRef,
  amount: number,
  reversesId: string | null = null,
): Part => ({
  text: `insert into payment_allocation (id, payment_id, target_type, target_id, amount, reverses_id) values (?, ?, ?, ?, ?, ?)`,
  values: [id, paymentId, target.targetType, target.targetId, amount, reversesId],
})

/** Goes with the next statement. */
const insert = (trx: Trx, ...row: Parameters<typeof rowPart>): void => {
  const { text, values } = rowPart(...row)
  later(trx, text, values)
}

export type Allocated = { allocationId: string; amount: number; documentId?: string | undefined }

/**
 * Offers captured money to the target that the payment was made for. Target and payment are locked. The row of the payment and
 * the posting are the caller's: see `postAllocated`.
 */
export const offer = async (
  trx: Trx,
  payment: Pick<PaymentRow, 'id' | 'method'>,
  target: TargetRef,
  amount: number,
  facts: Pick<Offer, 'businessDate' | 'late' | 'payable'>,
): Promise<Allocated | null> => {
  const allocationId = randomUUID()
  const { taken, documentId } = await targetOf(target.targetType).apply(trx, target.targetId, {
    id: allocationId,
    paymentId: payment.id,
    amount,
    method: payment.method,
    ...facts,
  })
  if (taken < 0 || taken > amount) throw new Error(`${target.targetType} ${target.targetId} took ${taken} of ${amount}`)
  if (taken === 0) return null
  insert(trx, allocationId, payment.id, target, taken, null)
  return { allocationId, amount: taken, documentId }
}

/** Allocates all of what was captured to a record whose own command takes the money, and knows that it is payable: with the row, which goes with the payment. */
export const allocateTo = (
  paymentId: string,
  target: TargetRef,
  amount: number,
): { allocated: Allocated; part: Part } => {
  const allocationId = randomUUID()
  return { allocated: { allocationId, amount }, part: rowPart(allocationId, paymentId, target, amount) }
}

export const postAllocated = (
  trx: Trx,
  payment: PaymentRow,
  target: TargetRef,
  allocated: Allocated,
  stage: Payable['stage'],
) =>
  raiseAllocated(trx, payment, target, allocated.allocationId, allocated.amount, {
    stage,
    documentId: allocated.documentId,
  })

type GivenBack = { target: TargetRef; reversalId: string; amount: number; documentId: string | undefined }

/**
 * Takes allocations back, newest first, of one target or of all. Targets and payment are locked. A part of an allocation
 * is taken back by reversing it and standing the rest again. Answers what came back; its sum may be less than wanted.
 */
export const giveBack = async (
  trx: Trx,
  payment: PaymentRow,
  wanted: number,
  businessDate: string,
  only?: TargetRef,
  ids?: readonly string[],
): Promise<GivenBack[]> => {
  if (wanted <= 0) return []
  const standing = (await standingAllocations(trx, payment.id)).filter(
    (one) => (!only || keyOf(one) === keyOf(only)) && (!ids || ids.includes(one.id)),
  )
  const given: GivenBack[] = []
  for (const { item, taken } of takeNewestFirst(standing, wanted)) {
    const target: TargetRef = { targetType: item.targetType, targetId: item.targetId }
    const reversalId = randomUUID()
    insert(trx, reversalId, payment.id, target, -item.amount, item.id)
    const restId = taken < item.amount ? randomUUID() : null
    if (restId !== null) insert(trx, restId, payment.id, target, item.amount - taken, null)
    const named = await targetOf(target.targetType).revert(trx, target.targetId, {
      id: reversalId,
      allocationId: item.id,
      restId,
      paymentId: payment.id,
      amount: taken,
      method: payment.method,
      businessDate,
      late: payment.late,
    })
    given.push({ target, reversalId, amount: taken, documentId: named?.documentId })
  }
  return given
}

export const postGivenBack = async (trx: Trx, payment: PaymentRow, given: readonly GivenBack[]) => {
  for (const { target, reversalId, amount, documentId } of given) {
    // Giving the money back may have moved the folio to another stage; its locks are held already.
    const stage = (await targetOf(target.targetType).lock(trx, target.targetId))?.stage
    await raiseAllocated(trx, payment, target, reversalId, -amount, { stage, documentId })
  }
}

export type MovedMoney = { allocationId: string; paymentId: string; targetId: string; amount: number }
type Destination = { folioId: string; amount: number; stage: 'deposit' | 'guest' }

/**
 * Moves captured money that stands on a booking to folios of it, oldest first, as allocations of its own: each is undone by itself,
 * and is posted by the stage of its folio. Booking and folios are locked, and their own sums are the caller's. Answers what went
 * where, which is less than wanted where less stands there.
 */
export const moveAllocations = async (
  trx: Trx,
  bookingId: string,
  folios: readonly Destination[],
): Promise<MovedMoney[]> => {
  const source: TargetRef = { targetType: 'booking', targetId: bookingId }
  const payments = await sql<PaymentRow>(
    trx,
    `select p.* from payment p where exists (select from payment_allocation a
       where a.tenant_id = p.tenant_id and a.payment_id = p.id and a.target_type = 'booking' and a.target_id = ?)
     order by p.id for no key update`,
    [bookingId],
  )
  const wanted = folios.map((folio) => ({ ...folio }))
  const moved: MovedMoney[] = []
  const postings: (() => Promise<unknown>)[] = []
  for (const payment of payments.toSorted((a, b) => (a.capturedAt?.getTime() ?? 0) - (b.capturedAt?.getTime() ?? 0))) {
    const standing = (await standingAllocations(trx, payment.id))
      .filter((one) => keyOf(one) === keyOf(source))
      .toReversed()
    for (const allocation of standing) {
      const total = Math.min(allocation.amount, sum(wanted.map((folio) => folio.amount)))
      if (total === 0) continue
      const reversalId = randomUUID()
      insert(trx, reversalId, payment.id, source, -allocation.amount, allocation.id)
      if (total < allocation.amount) insert(trx, randomUUID(), payment.id, source, allocation.amount - total, null)
      postings.push(() => raiseAllocated(trx, payment, source, reversalId, -total, { stage: undefined }))
      let left = total
      for (const folio of wanted) {
        const amount = Math.min(left, folio.amount)
        if (amount === 0) continue
        const target: TargetRef = { targetType: 'folio', targetId: folio.folioId }
        const allocationId = randomUUID()
        insert(trx, allocationId, payment.id, target, amount, null)
        postings.push(() => raiseAllocated(trx, payment, target, allocationId, amount, { stage: folio.stage }))
        moved.push({ allocationId, paymentId: payment.id, targetId: folio.folioId, amount })
        folio.amount -= amount
        left -= amount
      }
    }
  }
  for (const post of postings) await post()
  return moved
}

/** A folio as the postings of its money see it. */
type FolioPlace = { folioId: string; stage: 'deposit' | 'guest' }
type FolioMove = { paymentId: string; amount: number; from: FolioPlace; to: FolioPlace }

/**
 * Moves captured money between folios by its allocations, newest first, so that a refund finds it where it is. The folios are locked, and their lines
 * are the caller's. Answers the amount of each move, which is less than wanted where less stands there, and the postings, for the end of the
 * transaction.
 */
export const moveBetweenFolios = async (
  trx: Trx,
  moves: readonly FolioMove[],
): Promise<{ amounts: number[]; post: () => Promise<void> }> => {
  const payments = await sql<PaymentRow>(
    trx,
    `select * from payment where id = any(?::uuid[]) order by id for no key update`,
    [[...new Set(moves.map((one) => one.paymentId))]],
  )
  const postings: (() => Promise<unknown>)[] = []
  const amounts: number[] = []
  for (const { paymentId, amount, from, to } of moves) {
    const payment = payments.find((one) => one.id === paymentId)
    if (!payment) throw new Error(`payment ${paymentId} is gone`)
    const source: TargetRef = { targetType: 'folio', targetId: from.folioId }
    const target: TargetRef = { targetType: 'folio', targetId: to.folioId }
    const standing = (await standingAllocations(trx, paymentId)).filter((one) => keyOf(one) === keyOf(source))
    let moved = 0
    for (const { item, taken } of takeNewestFirst(standing, amount)) {
      const [reversalId, allocationId] = [randomUUID(), randomUUID()]
      insert(trx, reversalId, paymentId, source, -item.amount, item.id)
      if (taken < item.amount) insert(trx, randomUUID(), paymentId, source, item.amount - taken, null)
      insert(trx, allocationId, paymentId, target, taken, null)
      postings.push(
        () => raiseAllocated(trx, payment, source, reversalId, -taken, { stage: from.stage }),
        () => raiseAllocated(trx, payment, target, allocationId, taken, { stage: to.stage }),
      )
      moved += taken
    }
    amounts.push(moved)
  }
  return {
    amounts,
    post: async () => {
      for (const post of postings) await post()
    },
  }
}
