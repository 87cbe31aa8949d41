import { expect } from 'chai'
import fc from 'fast-check'
import type { Clocks } from '../../db/issues/rules/clocks.ts'
import { hoursOf } from '../../db/issues/rules/hours.ts'
import type { HouseHours, Hours } from '../../db/issues/rules/hours.ts'
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

  const weekdays = { days: [1, 2, 3, 4, 5], from: '09:00', until: '18:00' }
  const lisbon = (businessHours: HouseHours['businessHours'], holidays: string[] = []) =>
    hoursOf({ timeZone: 'Europe/Lisbon', businessHours, holidays })

  it('run in business hours by the clock of the house, over weekends, holidays and changes of its clock', () => {
    const week = lisbon([weekdays], ['2026-12-25', '2027-01-01'])
    const after = (hours: Hours, from: string, minutes: number) =>
      hours.after(new Date(from), minutes * minute).toISOString()
    // Thursday 24 December, 17:30: half an hour is left; then a holiday and a weekend.
    expect(after(week, '2026-12-24T17:30:00Z', 30)).to.equal('2026-12-24T18:00:00.000Z')
    expect(after(week, '2026-12-24T17:30:00Z', 31)).to.equal('2026-12-28T09:01:00.000Z')
    expect(after(week, '2026-12-26T03:00:00Z', 60)).to.equal('2026-12-28T10:00:00.000Z')
    expect(week.between(new Date('2026-12-24T17:30:00Z'), new Date('2026-12-28T09:01:00Z'))).to.equal(31 * minute)
    // Friday in winter, Monday in summer: an hour earlier by the sun.
    expect(after(week, '2026-03-27T17:00:00Z', 120)).to.equal('2026-03-30T09:00:00.000Z')
    // The night of the change has an hour less in spring and one more in autumn.
    const nights = lisbon([{ days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', until: '06:00' }])
    const night = (day: string) => nights.between(new Date(`${day}T00:00:00Z`), new Date(`${day}T12:00:00Z`)) / minute
    expect([night('2026-03-28'), night('2026-03-29'), night('2026-10-26')]).to.deep.equal([360, 300, 360])
    expect(
      nights.between(new Date('2026-10-24T23:00:00Z'), new Date('2026-10-25T12:00:00Z')) / minute,
      'the hour that comes twice counts twice',
    ).to.equal(420)
    const late = lisbon([{ days: [6], from: '20:00', until: '00:00' }])
    expect(after(late, '2026-11-28T19:00:00Z', 241)).to.equal('2026-12-05T20:01:00.000Z')
  })

  it('of business hours add up: what comes after so much time lies that much later', () => {
    const week = lisbon(
      [weekdays, { days: [6], from: '08:00', until: '12:00' }, { days: [1, 5], from: '19:30', until: '00:00' }],
      ['2026-03-30', '2026-10-26'],
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 400 * 1_440 }),
        fc.integer({ min: 1, max: 6_000 }),
        fc.integer({ min: 1, max: 6_000 }),
        (start, first, second) => {
          const from = new Date(Date.parse('2026-01-01T00:00:00Z') + start * minute)
          const [once, twice] = [week.after(from, first * minute), week.after(from, (first + second) * minute)]
          expect(week.after(once, second * minute)).to.deep.equal(twice)
          expect(week.between(from, twice)).to.equal((first + second) * minute)
          expect(week.between(twice, from)).to.equal(0)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('by business hours stand while the house is closed, in waits and steps too', () => {
    const week = lisbon([weekdays])
    // Friday 16:00, four hours: Monday 11:00.
    const friday = new Date('2026-11-27T16:00:00Z')
    const begun = startedAt(friday, high, week)
    expect(begun.firstResponseDueAt.toISOString()).to.equal('2026-11-27T16:30:00.000Z')
    expect(begun.resolutionDueAt.toISOString()).to.equal('2026-11-30T11:00:00.000Z')
    const state = issue({ status: 'waiting', firstRespondedAt: friday, createdAt: friday, ...begun })
    // A wait from Friday 17:00 to Monday 10:00 is two hours of the house.
    const waited = afterWaiting(
      { ...state, waitingSince: new Date('2026-11-27T17:00:00Z') },
      new Date('2026-11-30T10:00:00Z'),
      week,
    )
    expect(waited.waitedSeconds).to.equal(7_200)
    expect(waited.resolutionDueAt.toISOString()).to.equal('2026-11-30T13:00:00.000Z')
    const missed = { ...state, ...waited, status: 'in_progress' as const, waitingSince: null }
    expect(retargeted(missed, high, week).resolutionDueAt).to.deep.equal(waited.resolutionDueAt)
    const once = { ...missed, resolutionBreachedAt: waited.resolutionDueAt }
    // 150 % is two hours later, 200 % four: Monday 15:00 and 17:00.
    expect(instantsOf(once, week).checkAt?.toISOString()).to.equal('2026-11-30T15:00:00.000Z')
    expect(missedBy(once, new Date('2026-11-30T16:59:00Z'), week).overdueSteps).to.equal(1)
    expect(missedBy(once, new Date('2026-11-30T17:00:00Z'), week).overdueSteps).to.equal(2)
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
