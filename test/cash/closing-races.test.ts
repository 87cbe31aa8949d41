import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { closeSession, createMovement, createTransfer, recordMovement, reverseMovement } from '../../db/cash/index.ts'
import { createFiscalYear, softClosePeriod } from '../../db/financial/index.ts'
import { always } from '../../db/lib/conditions.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { balanceOf, post } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import { as, makeTill, numbersOf, openTill, refusal } from './support.ts'
import type { Till } from './support.ts'

describe('money that is booked while what holds it closes', function () {
  this.timeout(60_000)
  useDatabase()
  let till: Till
  let expense: string
  beforeEach(async () => {
    till = await makeTill()
    const account = await inTenant(till.tenantId, (trx) =>
      sqlOne<{ id: string }>(trx, `select id from account where code = '6.1.10'`),
    )
    expense = account?.id ?? ''
  })

  const seen = { mayApprove: true, ownOf: null, reveals: false }
  const byHand = (cashAccountId: string, amount: number, bookedOn?: string) =>
    refusal(
      as(till, till.cashier, (trx) =>
        createMovement(
          trx,
          { cashAccountId, amount, bookedOn, accountId: expense, description: 'By hand' },
          { sight: seen, scope: always, judge: () => {} },
        ),
      ),
    )
  const sale = (amount: number) =>
    as(till, till.cashier, (trx) =>
      recordMovement(trx, {
        cashAccountId: till.registerId,
        amount,
        kind: 'guest_payment',
        source: { type: 'payment', id: randomUUID() },
        description: 'A sale',
      }),
    )
  const supply = (amount: number) =>
    refusal(
      as(till, till.cashier, (trx) =>
        createTransfer(
          trx,
          { fromAccountId: till.bankId, toAccountId: till.registerId, method: 'manual', amount, purpose: 'Change' },
          { ownOf: null, scope: always, judge: () => {} },
        ),
      ),
    )

  for (const before of [0, 12, 24, 36])
    it(`is in the count of the session, or refused: 48 bookings of each kind, the close after ${before} of them`, async () => {
      const sessionId = await openTill(till, { '10000': 2 })
      const earlier = await Promise.all(Array.from({ length: 12 }, (_, index) => sale(1_000 + index)))
      const bookings = earlier.flatMap(({ movementId, amount }, index) => [
        { amount: 100 + index, book: () => refusal(sale(100 + index)) },
        { amount: -(10 + index), book: () => byHand(till.registerId, -(10 + index)) },
        { amount: 5_000 + index, book: () => supply(5_000 + index) },
        {
          amount: -amount,
          book: () =>
            refusal(as(till, till.cashier, (trx) => reverseMovement(trx, { movementId, description: 'Wrong' }))),
        },
      ])
      const start = (part: typeof bookings) => part.map(async ({ amount, book }) => ({ amount, outcome: await book() }))
      const count = { '10000': 3 }
      const begun = start(bookings.slice(0, before))
      const closing = refusal(
        as(till, till.cashier, (trx) =>
          closeSession(trx, sessionId, { count, drop: { amount: 25_000 } }, { mayApprove: false }),
        ),
      )
      const outcomes = await Promise.all([...begun, ...start(bookings.slice(before))])
      expect(await closing).to.equal('done')
      for (const { outcome } of outcomes)
        expect(outcome).to.be.oneOf(['done', 'session_closed', 'session_required', 'cash_busy'])
      const booked = outcomes.filter(({ outcome }) => outcome === 'done').reduce((sum, { amount }) => sum + amount, 0)
      const session = await inTenant(till.tenantId, (trx) =>
        sqlOne<{ expected: number; difference: number }>(
          trx,
          `select expected, difference from cash_session where id = ?`,
          [sessionId],
        ),
      )
      const expected = 20_000 + earlier.reduce((sum, { amount }) => sum + amount, 0) + booked
      expect(session).to.deep.equal({ expected, difference: 30_000 - expected })
      // The drawer holds what was counted less the drop, and every other booking of the session is refused from now on.
      expect(await numbersOf(till, till.registerId)).to.include({ balance: 5_000, summed: 5_000 })
      expect(await byHand(till.registerId, 1)).to.equal('session_required')
    })

  it('is in the sums of the period, or refused: 30 bookings each time that it is tried to close', async () => {
    const startsOn = `${Number(till.today.slice(0, 4)) - 1}-01-01`
    await inTenant(till.tenantId, (trx) => createFiscalYear(trx, { bookId: till.bookId, startsOn }))
    const period = await inTenant(till.tenantId, (trx) =>
      sqlOne<{ id: string }>(trx, `select id from fiscal_period where kind = 'regular' and starts_on = ?`, [startsOn]),
    )
    const close = () =>
      refusal(
        as(till, till.cashier, async (trx) => {
          await sql(trx, `select id from fiscal_period where id = ? for no key update`, [period?.id])
          await softClosePeriod(trx, period?.id ?? '')
        }),
      )
    let taken = 0
    let closed = 'no'
    for (let round = 0; closed !== 'done' && round < 12; round += 1) {
      await post(till)
      const before = Math.max(0, 20 - round * 5)
      const begun = Array.from({ length: before }, () => byHand(till.bankId, 10, startsOn))
      const closing = close()
      const rest = Array.from({ length: 30 - before }, () => byHand(till.bankId, 10, startsOn))
      const outcomes = await Promise.all([...begun, ...rest])
      closed = await closing
      const done = outcomes.filter((one) => one === 'done').length
      taken += done
      // All were booked before it closed and keep it from that, or all come too late.
      expect(closed).to.be.oneOf(['done', 'postings_waiting'])
      if (closed === 'done') expect(new Set(outcomes)).to.deep.equal(new Set(['period_closed']))
      else expect(new Set(outcomes)).to.deep.equal(new Set(['done']))
    }
    expect(closed).to.equal('done')
    expect(taken).to.be.greaterThan(0)
    await post(till)
    expect(await numbersOf(till, till.bankId)).to.include({
      balance: 100_000 + 10 * taken,
      summed: 100_000 + 10 * taken,
    })
    expect(await balanceOf(till, 'bank')).to.equal(100_000 + 10 * taken)
    const left = await inTenant(till.tenantId, (trx) =>
      sql(trx, `select status from posting_event where status <> 'posted'`),
    )
    expect(left).to.deep.equal([])
    expect(await byHand(till.bankId, 10, startsOn)).to.equal('period_closed')
  })
})
