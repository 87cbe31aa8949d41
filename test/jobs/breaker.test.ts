import { expect } from 'chai'
import { closeRedis, openRedis, quickly, redisAnswers } from '../../api/lib/redis.ts'
import { settings } from '../../config/env.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import type { TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

describe('a Redis that hangs under requests', () => {
  let proxy: TcpProxy
  let asked = 0
  const ping = () =>
    quickly((redis) => {
      asked += 1
      return redis.ping()
    })
  /** Counts, of a number of requests at once, those that waited for Redis, none of which it answers. */
  const waiting = async (requests: number) => {
    asked = 0
    const answers = await Promise.all(Array.from({ length: requests }, ping))
    expect(answers.every((answer) => answer === null)).to.equal(true)
    return asked
  }
  before(async () => {
    const url = new URL(settings.redisUrl)
    proxy = await startTcpProxy(Number(url.port))
    url.port = String(proxy.port)
    openRedis(url.href, 100)
    await until(async () => (await ping()) === 'PONG')
  })
  after(async () => {
    closeRedis()
    await proxy.stop()
  })

  it('is waited for by one request a second and by no other, and is used again once it answers', async () => {
    proxy.freezeNew(true)
    proxy.freeze()
    expect(await waiting(1)).to.equal(1)
    expect(redisAnswers()).to.equal(false)
    expect(await waiting(50), 'while it rests').to.equal(0)

    let tried = 0
    await until(async () => (tried = await waiting(50)) > 0)
    expect(tried, 'after its rest').to.equal(1)
    expect(redisAnswers()).to.equal(false)

    // The frozen connection is never told so; it is given up by itself, and a new one is made.
    proxy.freezeNew(false)
    await until(async () => (await ping()) === 'PONG', { withinMs: 30_000 })
    expect(redisAnswers()).to.equal(true)
  })
})
