import { expect } from 'chai'
import * as fc from 'fast-check'
import { retryClasses } from '../../config/queues.ts'
import type { RetryClass } from '../../config/queues.ts'
import { nextAfterContention, nextWait } from '../../db/jobs/rules/retry.ts'

const course = (retry: RetryClass, tries?: number) => {
  const steps: string[] = []
  for (let attempts = 1; attempts < 100; attempts += 1) {
    const wait = nextWait(retry, attempts, { tries, random: 1 })
    if (wait.tier === 'end') return [...steps, wait.outcome]
    steps.push(`${wait.tier} ${wait.ms / 1000}`)
  }
  throw new Error('never ends')
}

describe('waits between tries', () => {
  it('internal: 8 tries within seconds, then 30 a minute apart, then dead', () => {
    const steps = course('internal')
    expect(steps.slice(0, 7)).to.deep.equal([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2].map((seconds) => `redis ${seconds}`))
    expect(steps.slice(7, 37)).to.deep.equal(Array<string>(30).fill('postgres 60'))
    expect(steps.slice(37)).to.deep.equal(['dead'])
  })

  it('provider: 5 tries, then the waits of the long tier', () => {
    expect(course('provider')).to.deep.equal([
      ...[1, 2, 4, 8].map((seconds) => `redis ${seconds}`),
      ...[300, 900, 3600, 10_800, 21_600, 43_200].map((seconds) => `postgres ${seconds}`),
      'dead',
    ])
  })

  it('messages expire, deliveries fail, reports die, ticks are missed', () => {
    expect(course('message').at(-1)).to.equal('expired')
    expect(course('webhook')).to.have.lengthOf(10)
    expect(course('webhook').at(-1)).to.equal('failed')
    expect(course('report')).to.deep.equal(['redis 1', 'dead'])
    expect(course('tick')).to.deep.equal(['missed'])
  })

  it('a kind that lowers its tries gets no more than those', () => {
    expect(course('provider', 3)).to.deep.equal(['redis 1', 'redis 2', 'dead'])
    expect(course('webhook', 1)).to.deep.equal(['failed'])
  })

  it('another change of the same records is waited for at the pace of internal, then once a minute without an end', () => {
    expect(nextAfterContention(1, { random: 1 })).to.deep.equal({ tier: 'redis', ms: 50 })
    for (const times of [8, 37, 38, 1_000])
      expect(nextAfterContention(times, { random: 1 })).to.deep.equal({ tier: 'postgres', ms: 60_000 })
  })

  it('what the other side asks for is waited at least, in PostgreSQL when it is over a minute', () => {
    expect(nextWait('provider', 1, { atLeastMs: 30_000, random: 0 })).to.deep.equal({ tier: 'redis', ms: 30_000 })
    expect(nextWait('provider', 1, { atLeastMs: 90_000, random: 1 })).to.deep.equal({ tier: 'postgres', ms: 90_000 })
  })

  it('every class ends, no wait is negative, and none passes its cap', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(retryClasses) as RetryClass[])),
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (retry, attempts, random) => {
          const wait = nextWait(retry, attempts, { random })
          if (wait.tier === 'end') return attempts >= retryClasses[retry].tries
          const most =
            wait.tier === 'redis' ? retryClasses[retry].backoffMs[1] : Math.max(...retryClasses[retry].laterMs)
          return wait.ms >= 0 && wait.ms <= most
        },
      ),
    )
  })
})
