import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { closeSession, openSession, recordMovement } from '../../db/cash/index.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'
import { as, makeTill, numbersOf, openTill, refusal } from './support.ts'
import type { Till } from './support.ts'

describe('many at one register', function () {
  this.timeout(60_000)
  useDatabase()
  let till: Till
  beforeEach(async () => {
    till = await makeTill()
  })

  const record = (amount: number) =>
    as(till, till.cashier, (trx) =>
      recordMovement(trx, {
        cashAccountId: till.registerId,
        amount,
        kind: 'guest_payment',
        source: { type: 'payment', id: randomUUID() },
        description: 'A sale',
      }),
    )
  const sessions = () =>
    inTenant(till.tenantId, (trx) =>
      sql<{ status: string; expected: number; counted: number; difference: number }>(
        trx,
        `select status, expected, counted, difference from cash_session order by opened_at`,
      ),
    )

  it('50 sales while the session closes: each is expected, or refused', async () => {
    const sessionId = await openTill(till)
    const sales = Array.from({ length: 50 }, () => refusal(record(100)))
    const close = refusal(
      as(till, till.cashier, (trx) => closeSession(trx, sessionId, { count: { '10000': 2 } }, { mayApprove: false })),
    )
    const outcomes = await Promise.all(sales)
    expect(await close).to.equal('done')
    const taken = outcomes.filter((one) => one === 'done').length
    for (const one of outcomes) expect(one).to.be.oneOf(['done', 'session_closed', 'session_required', 'cash_busy'])
    const [session] = await sessions()
    expect(session?.expected).to.equal(20_000 + 100 * taken)
    expect(session?.difference).to.equal(-100 * taken)
    // The drawer holds what was counted.
    expect(await numbersOf(till, till.registerId)).to.include({ balance: 20_000, summed: 20_000 })
    const late = await inTenant(till.tenantId, (trx) =>
      sqlOne<{ count: number }>(trx, `select count(*) as count from cash_movement where kind = 'guest_payment'`),
    )
    expect(late?.count).to.equal(taken)
  })

  it('20 pay out at once: together never more than the drawer holds', async () => {
    await openTill(till)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => refusal(record(-3_000))))
    expect(outcomes.filter((one) => one === 'done')).to.have.length(6)
    for (const one of outcomes) expect(one).to.be.oneOf(['done', 'cash_short'])
    expect(await numbersOf(till, till.registerId)).to.include({ balance: 2_000, summed: 2_000 })
  })

  it('a register is opened once, and a cashier opens one', async () => {
    const opening = (cashier: string) =>
      refusal(as(till, cashier, (trx) => openSession(trx, till.registerId, { '10000': 1 })))
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => opening(randomUUID())))
    expect(outcomes.filter((one) => one === 'done')).to.have.length(1)
    expect(new Set(outcomes)).to.deep.equal(new Set(['done', 'session_open']))
    // The float was counted once, and the difference booked once.
    expect(await numbersOf(till, till.registerId)).to.include({ balance: 10_000, summed: 10_000, movementCount: 2 })
  })

  it('closed twice at once it is counted once', async () => {
    const sessionId = await openTill(till)
    const close = (pieces: number) =>
      refusal(
        as(till, till.cashier, (trx) =>
          closeSession(trx, sessionId, { count: { '10000': pieces } }, { mayApprove: false }),
        ),
      )
    expect(await Promise.all([close(2), close(2), close(2)])).to.deep.equal(['done', 'done', 'done'])
    expect(await sessions()).to.deep.equal([{ status: 'closed', expected: 20_000, counted: 20_000, difference: 0 }])
  })
})
