import { expect } from 'chai'
import fc from 'fast-check'
import type { Clocks } from '../../db/issues/rules/clocks.ts'
import { afterWaiting, instantsOf, missedBy, readingOf, retargeted, startedAt } from '../../db/issues/rules/clocks.ts'

const minute = 60_000
const opened = new Date('2026-11-01T12:00:00.000Z')
const at = (minutes: number) => new Date(opened.getTime() + minutes * minute)
const high = { firstResponseMinutes: 30, resolutionMinutes: 240 }
const issue = (more: Partial<Clocks> = {}): Clocks => ({
  status: 'open',
  createdAt: opened,
  firstRespondedAt: null,
  firstResponseBreachedAt: null,
  resolutionBreachedAt: null,
  overdueSteps: 0,
  waitingSince: null,
  waitedSeconds: 0,
  ...startedAt(opened, high),
  ...more,
})

describe('The clocks of an issue', () => {
  it('give the time waited back and no more, whatever the order, and tell a deadline once', () => {
    const turn = fc.record({ work: fc.nat(200), wait: fc.nat(200) })
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 12 }), (turns) => {
        let state = issue({ status: 'in_progress', firstRespondedAt: at(0) })
        let [now, waited, told] = [0, 0, 0]
        for (const { work, wait } of turns) {
          now += work
          const missed = missedBy(state, at(now))
          if (missed.resolution) {
            told += 1
            state = { ...state, resolutionBreachedAt: at(now) }
          }
          state = { ...state, overdueSteps: missed.overdueSteps }
          if (state.resolutionBreachedAt === null) waited += wait
          now += wait
          state = { ...state, ...afterWaiting({ ...state, waitingSince: at(now - wait) }, at(now)) }
          expect(state.resolutionDueAt).to.deep.equal(at(240 + waited))
          expect(missedBy(state, at(now)).escalations === 0 || at(now) >= state.resolutionDueAt).to.equal(true)
        }
        expect(told).to.be.at.most(1)
        expect(state.waitedSeconds).to.equal(turns.reduce((sum, { wait }) => sum + wait * 60, 0))
      }),
    )
  })

  it('name the nearest deadline that is not met', () => {
    expect(instantsOf(issue())).to.deep.equal({ nextDueAt: at(30), checkAt: at(30) })
    const answered = issue({ status: 'in_progress', firstRespondedAt: at(10) })
    expect(instantsOf(answered)).to.deep.equal({ nextDueAt: at(240), checkAt: at(240) })
    expect(instantsOf({ ...answered, status: 'waiting', waitingSince: at(20) })).to.deep.equal({
      nextDueAt: null,
      checkAt: null,
    })
    expect(instantsOf({ ...answered, status: 'resolved' })).to.deep.equal({ nextDueAt: null, checkAt: null })
  })

  it('never pause the first response', () => {
    const waiting = issue({ status: 'waiting', waitingSince: at(5) })
    expect(instantsOf(waiting)).to.deep.equal({ nextDueAt: at(30), checkAt: at(30) })
  })

  it('move the resolution by the time waited, ten times over', () => {
    let now = issue({ firstRespondedAt: at(1) })
    for (let turn = 0; turn < 10; turn += 1)
      now = { ...now, ...afterWaiting({ ...now, waitingSince: at(turn * 10) }, at(turn * 10 + 7)), waitingSince: null }
    expect(now.waitedSeconds).to.equal(70 * 60)
    expect(now.resolutionDueAt).to.deep.equal(at(240 + 70))
  })

  it('do not run again after they were missed', () => {
    const missed = issue({ resolutionBreachedAt: at(240), waitingSince: at(250) })
    expect(afterWaiting(missed, at(300))).to.deep.equal({ waitedSeconds: 3_000, resolutionDueAt: at(240) })
    expect(retargeted(missed, { firstResponseMinutes: 5, resolutionMinutes: 15 })).to.not.have.property(
      'resolutionDueAt',
    )
  })

  it('count other targets from the opening, plus the time waited, and keep what was met', () => {
    const answered = issue({ firstRespondedAt: at(3), waitedSeconds: 600 })
    expect(retargeted(answered, { firstResponseMinutes: 15, resolutionMinutes: 120 })).to.deep.equal({
      resolutionMinutes: 120,
      resolutionDueAt: at(130),
    })
  })

  it('tell each deadline once, and escalate at 100, 150 and 200 percent', () => {
    const fresh = issue()
    expect(missedBy(fresh, at(29)).escalations).to.equal(0)
    expect(missedBy(fresh, at(30))).to.include({ firstResponse: true, resolution: false, escalations: 1 })
    const late = issue({ firstResponseBreachedAt: at(30), firstRespondedAt: at(40) })
    expect(missedBy(late, at(240))).to.include({ resolution: true, overdueSteps: 0, escalations: 1 })
    const once = { ...late, resolutionBreachedAt: at(240) }
    expect(missedBy(once, at(359)).escalations).to.equal(0)
    expect(missedBy(once, at(360))).to.include({ resolution: false, overdueSteps: 1, escalations: 1 })
    expect(missedBy({ ...once, overdueSteps: 1 }, at(480))).to.include({ overdueSteps: 2, escalations: 1 })
    expect(missedBy({ ...once, overdueSteps: 2 }, at(10_000)).escalations).to.equal(0)
    expect(instantsOf({ ...once, overdueSteps: 2 }).checkAt).to.equal(null)
  })

  it('catch up on all that was missed while nobody looked', () => {
    expect(missedBy(issue(), at(1_000))).to.deep.equal({
      firstResponse: true,
      resolution: true,
      overdueSteps: 2,
      escalations: 4,
    })
  })

  it('are read by the time of the database', () => {
    const clocks = issue()
    const now = { ...clocks, ...instantsOf(clocks) }
    expect(readingOf(now, at(20))).to.deep.equal({ late: false, dueInMinutes: 10, paused: false })
    expect(readingOf(now, at(31))).to.deep.include({ late: true, dueInMinutes: -1 })
    const waiting = { ...now, status: 'waiting' as const, nextDueAt: null, resolutionBreachedAt: at(240) }
    expect(readingOf(waiting, at(300))).to.deep.equal({ late: true, dueInMinutes: null, paused: true })
  })
})
