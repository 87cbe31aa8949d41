import { expect } from 'chai'
import { lateChargesOf } from '../../db/accounts-receivable/rules/late-charges.ts'
import { stepOf } from '../../db/accounts-receivable/rules/dunning.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './desk.ts'

describe('settings of receivables', function () {
  this.timeout(60_000)
  const world = useWorld()

  it('are kept for each book; numbers grow alone, and a jump has its reason', async () => {
    const a = await openReceivables(world)
    const before = await a.good(a.owner, 'GET', `settings?bookId=${a.bookId}`)
    expect(before).to.include({ version: 0, badDebtAccountId: null })
    expect(before.dunning).to.include({ enabled: false, minimum: 0 })
    const badDebtAccountId = await a.account('6.1.09')
    const after = await a.set({
      lateCharges: { fineRate: 200, monthlyInterestRate: 100 },
      badDebtAccountId,
      numbering: { invoice: { prefix: 'F-' } },
    })
    expect(after).to.include({ version: 1, badDebtAccountId })
    expect(after.numbering.invoice).to.deep.equal({ prefix: 'F-', next: 1 })
    const jump = (next: number, more: object = {}) =>
      a.refused(a.owner, 'PUT', `settings?bookId=${a.bookId}`, { numbering: { invoice: { next } }, ...more })
    expect(await jump(100)).to.deep.equal([422, 'number_not_growing'])
    const jumped = await a.set({ numbering: { invoice: { next: 100 } }, numberingReason: 'Numbers of the old system' })
    expect(jumped.numbering.invoice).to.deep.equal({ prefix: 'F-', next: 100 })
    expect(await jump(99, { numberingReason: 'Back again' })).to.deep.equal([422, 'number_not_growing'])
    const steps = [
      { level: 1, days: 10, channels: ['email'], stopCredit: false },
      { level: 2, days: 10, channels: ['email'], stopCredit: false },
    ]
    expect(await a.refused(a.owner, 'PUT', `settings?bookId=${a.bookId}`, { dunning: { steps } })).to.deep.equal([
      400,
      'validation_failed',
    ])
    expect(
      await a.refused(a.owner, 'PUT', `settings?bookId=${a.bookId}`, { badDebtAccountId: await a.account('1.1.3.02') }),
    ).to.deep.equal([422, 'account_not_usable'])
    expect((await a.good(a.owner, 'GET', `settings?bookId=${a.bookId}`)).lateCharges).to.deep.equal({
      fineRate: 200,
      monthlyInterestRate: 100,
    })
    const stale = await a.owner.send(
      'PUT',
      `accounts-receivable/settings?bookId=${a.bookId}`,
      { dunning: { hour: 10 } },
      { headers: { 'if-match': '"1"' } },
    )
    expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
    const manager = await a.refused(a.manager, 'PUT', `settings?bookId=${a.bookId}`, { dunning: { hour: 10 } })
    expect(manager[0]).to.equal(403)
  })
})

describe('rules of what is late', () => {
  const on = (open: number, dueOn: string, asOf: string, fineRate: number, monthlyInterestRate: number) =>
    lateChargesOf({ open, dueOn }, { fineRate, monthlyInterestRate }, asOf)

  it('proposes fine and interest half-up, and nothing up to the due day', () => {
    expect(on(116_667, '2026-08-01', '2026-11-23', 200, 0)).to.deep.equal({
      fine: 2_333,
      interest: 0,
      asOf: '2026-11-23',
    })
    expect(on(100_000, '2026-08-01', '2026-08-01', 200, 100)).to.include({ fine: 0, interest: 0 })
    expect(on(100_000, '2026-08-01', '2026-08-16', 200, 100)).to.include({ fine: 2_000, interest: 500 })
    expect(on(25, '2026-08-01', '2026-08-02', 200, 0)).to.include({ fine: 1 })
    expect(on(10_000_000_000_000, '2020-01-01', '2026-01-01', 1_000, 1_000)).to.include({
      fine: 1_000_000_000_000,
      interest: 73_066_666_666_667,
    })
  })

  it('takes the highest step that was reached, once, and skips lower ones for good', () => {
    const steps = [-3, 5, 15].map((days, index) => ({
      level: index + 1,
      days,
      channels: ['email' as const],
      stopCredit: false,
    }))
    const level = (dueOn: string, noticed: number | null) => stepOf(steps, { dueOn, noticed }, '2026-06-20')?.level
    expect(level('2026-06-24', null)).to.equal(undefined)
    expect(level('2026-06-23', null)).to.equal(1)
    expect(level('2026-06-14', 1)).to.equal(2)
    expect(level('2026-06-01', null)).to.equal(3)
    expect(level('2026-06-01', 3)).to.equal(undefined)
  })
})
