import { expect } from 'chai'
import fc from 'fast-check'
import { sql } from '../../db/lib/connection.ts'
import { nothingKnown } from '../../db/payment/calls.ts'
import { mayFollow } from '../../db/payment/rules/states.ts'
import type { PaymentStatus } from '../../db/payment/rules/states.ts'
import { applySnapshot } from '../../db/payment/payments/snapshot.ts'
import type { PaymentSnapshot } from '../../db/payment/payments/snapshot.ts'
import { useDatabase } from '../support/database.ts'
import { creditOf, makeBooking, makeTill, pay, paymentOf, within } from './support.ts'
import type { Till } from './support.ts'

const statuses = ['unknown', 'requires_action', 'processing', 'authorised', 'failed', 'cancelled', 'captured'] as const
const ranks: Record<PaymentStatus, number> = {
  created: 0, unknown: 0, requires_action: 1, processing: 2, authorised: 3, failed: 4, cancelled: 4, expired: 4, captured: 5, reversed: 6,
} // oxfmt-ignore

const snapshot = (id: string, status: (typeof statuses)[number]): PaymentSnapshot => ({
  ...nothingKnown,
  status,
  externalId: status === 'unknown' ? null : `ch_${id}`,
  currency: 'BRL',
  capturedAmount: status === 'captured' ? 20_000 : 0,
})

const countOf = (till: Till, id: string) =>
  within(till, async (trx) => {
    const [row] = await sql<{ captured: number; allocated: number; lines: number }>(
      trx,
      `select (select count(*) from posting_event where event = 'payment.payment_captured' and source_id = :id)::int as captured,
         (select count(*) from posting_event e join payment_allocation a on a.id = e.source_id where e.event = 'payment.payment_allocated' and a.payment_id = :id)::int as allocated,
         (select count(*) from payment_allocation where payment_id = :id)::int as lines`,
      { id },
    )
    return row!
  })

describe('facts of a gateway', () => {
  useDatabase()
  let till: Till
  before(async () => {
    till = await makeTill()
  })

  it('may follow one another only upwards, but for created to unknown', () => {
    const all = Object.keys(ranks) as PaymentStatus[]
    for (const from of all)
      for (const to of all)
        expect(mayFollow(from, to), `${from} to ${to}`).to.equal(
          ranks[to] > ranks[from] || (from === 'created' && to === 'unknown'),
        )
  })

  it('end in the same state in whatever order and number they come, and are posted once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...statuses), { minLength: 1, maxLength: 7 }), async (facts) => {
        const bookingId = await makeBooking(till)
        const { id } = await pay(till, bookingId)
        await within(till, (trx) => sql(trx, `update payment set sent_at = now() where id = ?`, [id]))
        for (const fact of facts) await within(till, (trx) => applySnapshot(trx, id, snapshot(id, fact)))
        const payment = await paymentOf(till, id)
        expect(ranks[payment.status]).to.equal(Math.max(...facts.map((fact) => ranks[fact])))
        const paid = facts.includes('captured')
        expect(await countOf(till, id)).to.deep.equal({
          captured: paid ? 1 : 0,
          allocated: paid ? 1 : 0,
          lines: paid ? 1 : 0,
        })
        expect(await creditOf(till, bookingId)).to.equal(paid ? 20_000 : 0)
      }),
      { numRuns: 40 },
    )
  })

  it('of one payment that come at once are applied once', async () => {
    const bookingId = await makeBooking(till)
    const { id } = await pay(till, bookingId)
    const facts = [...statuses, ...statuses, ...statuses]
    await Promise.all(facts.map((fact) => within(till, (trx) => applySnapshot(trx, id, snapshot(id, fact)))))
    expect((await paymentOf(till, id)).status).to.equal('captured')
    expect(await countOf(till, id)).to.deep.equal({ captured: 1, allocated: 1, lines: 1 })
  })

  it('are held to their ranks by the database too', async () => {
    const bookingId = await makeBooking(till)
    const { id } = await pay(till, bookingId)
    await within(till, (trx) => applySnapshot(trx, id, snapshot(id, 'captured')))
    const refused = await within(till, (trx) =>
      sql(trx, `update payment set status = 'failed', captured_at = null where id = ?`, [id]),
    ).catch((error: unknown) => error)
    expect(refused).to.include({ code: 'PL011' })
  })
})
