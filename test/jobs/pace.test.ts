import { expect } from 'chai'
import type { Room } from '../../db/jobs/dispatch.ts'
import { keepPace, nextDepth, paceMs } from '../../workers/lib/relay-pace.ts'
import type { Pace } from '../../workers/lib/relay-pace.ts'

describe('how full a window is kept', () => {
  it('a tenant alone has two jobs for each that can run, and more only where Redis is found nearly dry', () => {
    const look = { window: 50, concurrency: 5, share: 12, held: 0 } as Room
    expect(nextDepth(undefined, look)).to.equal(12)
    expect(nextDepth({ depth: 12, wasHeldBack: true }, look), 'dry').to.equal(24)
    expect(nextDepth({ depth: 48, wasHeldBack: true }, look), 'never above the window').to.equal(50)
    expect(nextDepth({ depth: 12, wasHeldBack: false }, look), 'nobody was kept waiting').to.equal(12)
    expect(nextDepth({ depth: 48, wasHeldBack: true }, { ...look, held: 46 }), 'slow').to.equal(45)
    expect(nextDepth({ depth: 12, wasHeldBack: true }, { ...look, held: 12 })).to.equal(12)
    expect(nextDepth(undefined, { ...look, concurrency: 0 }), 'nobody works').to.equal(50)
  })
})

describe('the pace of a queue of which more waits', () => {
  const look = { concurrency: 50, held: 80 } as Room
  const known = { left: 100, atMs: 1_000, taken: 0, overMs: 0, eachMs: null }

  it('follows what was taken lately: refilled when most of what is spare has gone', () => {
    const pace = keepPace(known, look, 100, 1_020)
    expect([pace.eachMs, paceMs(pace, look)]).to.deep.equal([1, 35])
    expect(paceMs({ ...pace, eachMs: 0.01 }, look), 'not at once').to.equal(2)
    expect(paceMs({ ...pace, eachMs: 1_000 }, look), 'and not too late').to.equal(50)
    expect(paceMs(pace, { ...look, concurrency: 0 }), 'nobody works').to.equal(20)
  })

  it('is not judged by few, who are counted on, nor by one burst', () => {
    const first = keepPace({ ...known, eachMs: 3 }, { ...look, held: 98 }, 100, 1_002)
    expect(first).to.deep.equal({ left: 100, atMs: 1_002, taken: 2, overMs: 2, eachMs: 3 })
    expect(keepPace(first, { ...look, held: 92 }, 100, 1_010).eachMs, '1 ms lately, 3 before').to.equal(1.5)
    expect(keepPace(known, { ...look, held: 99 }, 100, 1_100).eachMs, 'unless nobody takes more').to.equal(100)
  })

  it('quickens where workers are found without any, who would have taken more', () => {
    const dry = { ...look, held: 40 }
    expect(paceMs(keepPace(null, dry, 100, 1_000), dry)).to.equal(2)
    expect(keepPace({ ...known, eachMs: 3 }, dry, 100, 1_120).eachMs).to.be.closeTo(2 / 1.5, 0.001)
    expect(keepPace({ ...known, eachMs: 1.5 }, dry, 100, 1_600).eachMs).to.equal(1)
    let pace: Pace = { ...known, eachMs: 1 }
    for (let n = 0; n < 3_000; n += 1) pace = keepPace(pace, dry, 100, pace.atMs + 10)
    for (let n = 0; n < 20; n += 1) pace = keepPace(pace, { ...look, held: 95 }, 100, pace.atMs + 50)
    expect(pace.eachMs, 'slow jobs after long want').to.be.closeTo(10, 1)
  })
})
