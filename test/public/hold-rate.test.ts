import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { countingHold, refuseBeyondRate } from '../../api/public/hold-rate.ts'
import { closeRedis, openRedis, quickly } from '../../api/lib/redis.ts'
import type { Answer, RequestFacts } from '../../api/lib/route.ts'
import { settings } from '../../config/env.ts'
import { until } from '../support/until.ts'

const connect = async () => {
  openRedis(settings.redisUrl, 5_000)
  await until(() => quickly((redis) => redis.ping()))
}

describe('holds of an address in an hour', () => {
  afterEach(closeRedis)

  const made: Answer = { status: 201, headers: {}, body: null }
  /** Holds as the route does: judged in the middle of it, and then with this outcome. */
  const hold = async (
    client: string,
    end: () => Answer | Promise<Answer> = () => made,
    rawBody: string = randomUUID(),
  ): Promise<string> => {
    const request = { rawBody: Buffer.from(rawBody) } as RequestFacts
    try {
      await countingHold(client, request, async () => {
        refuseBeyondRate(request)
        return end()
      })
      return 'held'
    } catch (error) {
      return (error as { code?: string }).code ?? (error as Error).message
    }
  }
  const holds = async (client: string, count: number) => {
    const ends = await Promise.all(Array.from({ length: count }, () => hold(client)))
    return ends.filter((end) => end === 'held').length
  }

  for (const isAway of [false, true])
    it(`are ten, however many ask at once; what fails, is refused or repeated counts as none; Redis is away: ${isAway}`, async () => {
      if (!isAway) await connect()
      const client = randomUUID()
      for (let n = 0; n < 12; n += 1) {
        expect(await hold(client, () => Promise.reject(new Error('sold out')))).to.equal('sold out')
        await hold(client, () => ({ ...made, status: 200 }))
        await hold(client, () => ({ ...made, headers: { 'Idempotent-Replayed': 'true' } }))
      }
      expect(await holds(client, 7)).to.equal(7)
      expect(await holds(client, 20)).to.equal(3)
      expect([await hold(client), await hold(client)]).to.deep.equal(['hold_limit', 'hold_limit'])
      expect(await hold(randomUUID())).to.equal('held')
    })

  for (const isAway of [false, true])
    it(`are one where the same is sent many times at once; Redis is away: ${isAway}`, async () => {
      if (!isAway) await connect()
      const client = randomUUID()
      const body = randomUUID()
      let first = true
      const end = () => (first ? ((first = false), made) : { ...made, status: 200 })
      const ends = await Promise.all(Array.from({ length: 20 }, () => hold(client, end, body)))
      expect(new Set(ends)).to.deep.equal(new Set(['held']))
      expect(await holds(client, 20)).to.equal(9)
    })

  it('are no more for one that failed when its hour was over', async () => {
    await connect()
    const client = randomUUID()
    const failing = hold(client, async () => {
      await quickly((redis) => redis.del(`held:${client}`))
      throw new Error('sold out')
    })
    expect(await failing).to.equal('sold out')
    expect(await quickly((redis) => redis.exists(`held:${client}`))).to.equal(0)
    expect(await holds(client, 20)).to.equal(10)
  })

  it('are no more for one that failed when Redis had come back', async () => {
    const client = randomUUID()
    const failing = hold(client, async () => {
      await connect()
      throw new Error('sold out')
    })
    expect(await failing).to.equal('sold out')
    expect(await holds(client, 20)).to.equal(10)
  })
})
