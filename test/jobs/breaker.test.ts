import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { closeRedis, openRedis, quickly, redisAnswers } from '../../api/lib/redis.ts'
import { settings } from '../../config/env.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import type { TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

describe('a Redis that hangs under requests', () => {
  let proxy: TcpProxy
  const ping = () => quickly((redis) => redis.ping())
  const timed = async () => {
    const from = performance.now()
    const answer = await ping()
    return { answer, ms: performance.now() - from }
  }
  before(async () => {
    const url = new URL(settings.redisUrl)
    proxy = await startTcpProxy(Number(url.port))
    url.port = String(proxy.port)
    openRedis(url.href)
    await until(async () => (await ping()) === 'PONG')
  })
  after(async () => {
    closeRedis()
    await proxy.stop()
  })

  it('costs one request a second 100 ms and all others nothing, and is used again once it answers', async () => {
    proxy.freezeNew(true)
    proxy.freeze()
    const first = await timed()
    expect(first.answer).to.equal(null)
    expect(first.ms).to.be.within(80, 1_000)
    expect(redisAnswers()).to.equal(false)
    const resting = await Promise.all(Array.from({ length: 50 }, timed))
    expect(Math.max(...resting.map(({ ms }) => ms))).to.be.lessThan(90)

    await sleep(1_100)
    const after = await Promise.all(Array.from({ length: 50 }, timed))
    expect(after.filter(({ ms }) => ms > 80)).to.have.lengthOf(1)
    expect(redisAnswers()).to.equal(false)

    // The frozen connection is never told so; it is given up by itself, and a new one is made.
    proxy.freezeNew(false)
    await until(async () => (await ping()) === 'PONG', { withinMs: 8_000 })
    expect(redisAnswers()).to.equal(true)
  })
})
