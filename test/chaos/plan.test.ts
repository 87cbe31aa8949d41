import { expect } from 'chai'
import { crashPoints } from '../../config/crash.ts'
import { faults, planOf } from './plan.ts'
import type { FaultName } from './plan.ts'
import { cases, nameOf } from './points.ts'

const minutes = (count: number) => count * 60_000
const names = Object.keys(faults) as FaultName[]
const groupOf = (name: FaultName): string => {
  const shape = faults[name]
  return 'group' in shape ? shape.group : name
}

describe('the plan of a campaign', () => {
  it('follows from its seed alone', () => {
    expect(planOf(7, minutes(10))).to.deep.equal(planOf(7, minutes(10)))
    expect(planOf(7, minutes(10))).to.not.deep.equal(planOf(8, minutes(10)))
  })

  it('has every fault within ten minutes', () => {
    for (const seed of [1, 2, 3])
      expect(names.filter((name) => !planOf(seed, minutes(10)).some((one) => one.name === name))).to.deep.equal([])
  })

  it('never has two faults of one group at once, and none beyond its end', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const plan = planOf(seed, minutes(5))
      for (const [index, one] of plan.entries()) {
        expect(one.atMs + one.lastsMs).to.be.at.most(minutes(5))
        const meanwhile = plan
          .slice(index + 1)
          .filter((other) => groupOf(other.name) === groupOf(one.name) && other.atMs < one.atMs + one.lastsMs)
        expect(meanwhile, `${one.name} of seed ${seed}`).to.deep.equal([])
      }
    }
  })

  it('draws from some faults where that is asked for', () => {
    const plan = planOf(1, minutes(3), ['kill redis', 'kill worker'])
    expect(new Set(plan.map((one) => one.name))).to.deep.equal(new Set(['kill redis', 'kill worker']))
  })

  it('has a case at the beginning, the commit and the end of every kind of job that makes messages to guests or sends them', () => {
    const kinds = ['trigger', 'plan-automation', 'expand-campaign', 'deliver', 'fall-back', 'resolve-unknown']
    const wanted = kinds.flatMap((verb) =>
      ['job.claimed', 'job.completing', 'job.committed'].map((point) => `${point}/messages.${verb}`),
    )
    const campaigns = cases.filter(({ story }) => story === 'campaign').map(({ kind }) => kind)
    expect(wanted.filter((name) => !cases.some((one) => nameOf(one) === name))).to.deep.equal([])
    expect([...new Set(campaigns)].toSorted()).to.deep.equal(['messages.deliver', 'messages.expand-campaign', 'send'])
  })

  it('has a case for every point to die at', () => {
    expect(crashPoints.filter((point) => !cases.some((one) => one.point === point))).to.deep.equal([])
  })
})
