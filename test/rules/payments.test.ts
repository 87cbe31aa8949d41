import { expect } from 'chai'
import fc from 'fast-check'
import {
  expiryOf,
  isCancellable,
  isLive,
  readAfterMs,
  readRefundAfterMs,
  refundMayFollow,
  shownStatus,
  takeNewestFirst,
} from '../../db/payment/rules/states.ts'
import type { PaymentStatus, RefundStatus } from '../../db/payment/rules/states.ts'
import {
  chargeCallbacks,
  chargeStatus,
  planCharge,
  planRefund,
  refundStatus,
} from '../../workers/gateways/sandbox-plan.ts'
import type { Charge } from '../../workers/gateways/sandbox-plan.ts'

const minute = 60_000
const hour = 60 * minute

describe('the rules of payments', () => {
  it('read what is unknown after 10 s, 30 s, 2, 10 and 30 minutes, then hourly', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 100].map((count) => readAfterMs('unknown', 'card', count))).to.deep.equal([
      10_000,
      30_000,
      2 * minute,
      10 * minute,
      30 * minute,
      hour,
      hour,
      hour,
    ])
  })

  it('read what waits after 30 s, 2 and 5 minutes, then every 15', () => {
    expect([0, 1, 2, 3, 4].map((count) => readAfterMs('requires_action', 'pix', count))).to.deep.equal([
      30_000,
      2 * minute,
      5 * minute,
      15 * minute,
      15 * minute,
    ])
  })

  it('read bank money 1 h and 24 h after it ended unpaid, and cards not at all', () => {
    for (const method of ['pix', 'boleto'])
      for (const status of ['failed', 'cancelled', 'expired'] as const)
        expect(
          [0, 1, 2].map((count) => readAfterMs(status, method, count)),
          `${method} ${status}`,
        ).to.deep.equal([hour, 23 * hour, null])
    expect(readAfterMs('expired', 'card', 0)).to.equal(null)
    expect(readAfterMs('captured', 'pix', 0)).to.equal(null)
  })

  it('read refunds after 1 and 10 minutes, hourly for 3 days, daily for 30, then no more', () => {
    const waits = Array.from({ length: 200 }, (_, count) => readRefundAfterMs('unknown', count))
    expect(waits.slice(0, 2)).to.deep.equal([minute, 10 * minute])
    expect(waits.filter((wait) => wait === hour)).to.have.length(72)
    expect(waits.filter((wait) => wait === 24 * hour)).to.have.length(30)
    expect(waits.at(-1)).to.equal(null)
    for (const status of ['succeeded', 'failed'] as const) expect(readRefundAfterMs(status, 0)).to.equal(null)
  })

  it('let refunds rise only', () => {
    const ranks: Record<RefundStatus, number> = { requested: 0, unknown: 0, processing: 1, succeeded: 2, failed: 3 }
    const all = Object.keys(ranks) as RefundStatus[]
    for (const from of all)
      for (const to of all)
        expect(refundMayFollow(from, to), `${from} to ${to}`).to.equal(
          ranks[to] > ranks[from] || (from === 'requested' && to === 'unknown'),
        )
  })

  it('end cards and Pix after 30 minutes, slips two days after they are due, within 1 to 10 days', () => {
    const now = new Date('2026-11-20T12:00:00.000Z')
    const days = (count: number) => new Date(now.getTime() + count * 24 * hour)
    for (const method of ['card', 'pix'] as const)
      expect(expiryOf(method, now)).to.deep.equal(new Date(now.getTime() + 30 * minute))
    expect([0, 1, 3, 10, 40].map((due) => expiryOf('boleto', now, due))).to.deep.equal([
      days(3),
      days(3),
      days(5),
      days(12),
      days(12),
    ])
  })

  it('show guests one of nine states', () => {
    const shown = (status: PaymentStatus, refundReserved = 0, refundedAmount = 0) =>
      shownStatus({ status, refundReserved, refundedAmount })
    expect(shown('created')).to.equal('pending')
    expect(shown('requires_action')).to.equal('action_required')
    for (const status of ['unknown', 'processing'] as const) expect(shown(status)).to.equal('processing')
    for (const status of ['authorised', 'captured'] as const) expect(shown(status)).to.equal('paid')
    expect(shown('captured', 100, 0)).to.equal('refunding')
    expect(shown('captured', 100, 50)).to.equal('refunding')
    expect(shown('captured', 100, 100)).to.equal('refunded')
    for (const status of ['failed', 'cancelled', 'expired'] as const) expect(shown(status)).to.equal(status)
  })

  it('supersede only what the gateway has not begun with', () => {
    const live = (
      ['created', 'unknown', 'requires_action', 'processing', 'authorised', 'failed', 'captured'] as const
    ).filter(isLive)
    expect(live.filter(isCancellable)).to.deep.equal(['created', 'requires_action'])
    expect(live).to.have.length(5)
  })

  it('take from the newest first, no more than wanted and no more than is there', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 8 }),
        fc.integer({ min: 0, max: 5000 }),
        (amounts, wanted) => {
          const items = amounts.map((amount, index) => ({ amount, index }))
          const taken = takeNewestFirst(items, wanted)
          const sum = taken.reduce((total, one) => total + one.taken, 0)
          expect(sum).to.equal(
            Math.min(
              wanted,
              amounts.reduce((total, amount) => total + amount, 0),
            ),
          )
          expect(taken.map((one) => one.item.index)).to.deep.equal(taken.map((_, index) => index))
          expect(taken.slice(0, -1).every((one) => one.taken === one.item.amount)).to.equal(true)
        },
      ),
    )
  })
})

describe('the plan of the sandbox gateway', () => {
  const now = 1_000_000
  const second = 1_000
  const charge = (token: string, method = 'card', expiresAt: number | null = now + 10 * second): Charge => ({
    id: 'ch_1',
    ourId: 'p',
    accountRef: 'a',
    amount: 500,
    currency: 'BRL',
    method,
    token,
    returnUrl: null,
    createdAt: now,
    expiresAt,
    cancelledAt: null,
    mode: 'charge',
    platformFee: 0,
    captured: null,
    savedMethod: null,
    customer: null,
    linkId: null,
    ...planCharge(token, method, 500, now, expiresAt, second),
  })
  const states = (made: Charge, seconds: number[]) => seconds.map((after) => chargeStatus(made, now + after * second))

  it('captures cards at once, and others after 3 s', () => {
    expect(states(charge('success'), [0])).to.deep.equal(['captured'])
    for (const method of ['pix', 'boleto'])
      expect(states(charge('success', method), [0, 2.9, 3])).to.deep.equal([
        'requires_action',
        'requires_action',
        'captured',
      ])
    expect(states(charge('action'), [0, 3])).to.deep.equal(['requires_action', 'captured'])
  })

  it('is never paid, paid late even when closed, or short', () => {
    expect(states(charge('pix_unpaid', 'pix'), [100])).to.deep.equal(['requires_action'])
    const late = { ...charge('pix_late', 'pix'), cancelledAt: now + 11 * second }
    expect(states(late, [12, 14.9, 15])).to.deep.equal(['cancelled', 'cancelled', 'captured'])
    expect(planCharge('pix_short', 'pix', 500, now, null, second).paidAmount).to.equal(499)
  })

  it('closed before it is paid is not paid; closed after it, it is', () => {
    const closed = (after: number) => ({ ...charge('success', 'pix'), cancelledAt: now + after * second })
    expect(states(closed(2), [10])).to.deep.equal(['cancelled'])
    expect(states(closed(4), [10])).to.deep.equal(['captured'])
  })

  it('calls back once, five times, in the wrong order, or never', () => {
    const due = (token: string) =>
      chargeCallbacks(charge(token), now, second).map(({ type, copies }) => `${type} ${copies}`)
    expect(due('success')).to.deep.equal(['charge.captured 1'])
    expect(due('action')).to.deep.equal(['charge.requires_action 1', 'charge.captured 1'])
    expect(due('duplicate_callback')).to.deep.equal(['charge.captured 5'])
    expect(due('reordered_callback')).to.deep.equal(['charge.captured 1', 'charge.processing 1'])
    expect(due('lost_callback')).to.deep.equal([])
  })

  it('refunds at once, fails after 3 s, or takes it back after 6 s', () => {
    const at = (token: string, seconds: number[]) => {
      const refund = {
        id: 're_1',
        ourId: 'r',
        accountRef: 'a',
        charge: 'ch_1',
        amount: 5,
        currency: 'BRL',
        createdAt: now,
        ...planRefund(token, now, second),
      }
      return seconds.map((after) => refundStatus(refund, now + after * second))
    }
    expect(at('success', [0, 100])).to.deep.equal(['succeeded', 'succeeded'])
    expect(at('refund_fails', [0, 3])).to.deep.equal(['processing', 'failed'])
    expect(at('refund_returns', [0, 5, 6])).to.deep.equal(['succeeded', 'succeeded', 'failed'])
  })
})
