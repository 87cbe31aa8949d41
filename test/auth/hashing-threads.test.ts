import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { hashingThreads, hashPassword } from '../../db/auth/hashing.ts'
import { threads } from '../../db/auth/threads.ts'
import { built } from '../support/built.ts'
import { until } from '../support/until.ts'
import { hashAsInProduction, verifies } from './hashing-work.ts'

const parameters = { memoryCost: 64, timeCost: 1, parallelism: 1 }
const task = (text: string, against: string | null = null) => ({ text, against, parameters })

/** The nice value of a thread of this process: field 19 of its stat, counted behind the name in brackets. */
const priority = (thread: number | string) =>
  Number(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[16])
const lowest = () => readdirSync('/proc/self/task').filter((thread) => priority(thread) === 19).length

describe('the threads that hash', () => {
  hashAsInProduction()

  it('take what the requests leave: the lowest priority is theirs alone', async function () {
    if (process.platform !== 'linux') this.skip()
    const before = lowest()
    const own = hashingThreads(1)
    await own(task('a'))
    expect(lowest()).to.equal(before + 1)
    // Numbers of threads begin anew: the thread that serves is the one numbered as its process, whichever comes first.
    expect(priority(process.pid)).to.be.lessThan(19)
  })

  it('are as many as allowed, however much is asked, and answer each what he asked', async () => {
    const own = hashingThreads(2)
    const texts = Array.from({ length: 12 }, (_, n) => `text ${n}`)
    const hashes = await Promise.all(texts.map((text) => own(task(text))))
    const same = await Promise.all(texts.map((text, n) => own(task(text, String(hashes[n])))))
    const other = await Promise.all(texts.map((text, n) => own(task(text, String(hashes[(n + 1) % 12])))))
    expect([...same, ...other]).to.deep.equal([...Array<boolean>(12).fill(true), ...Array<boolean>(12).fill(false)])
  })

  it('tell what is wrong with a task, and go on', async () => {
    const own = hashingThreads(1)
    const results = await Promise.allSettled([own(task('a', 'no hash at all')), own(task('a'))])
    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled'])
  })

  it('that die answer who waits with 503, and are replaced', async () => {
    const own = hashingThreads(1, new URL('./mortal-thread.js', import.meta.url))
    const first = own(task('lives'))
    expect(await first).to.equal('done')
    const doomed = await Promise.allSettled(['dies', 'waits behind it'].map((text) => own(task(text))))
    for (const one of doomed)
      expect(one.status === 'rejected' && one.reason).to.include({ status: 503, code: 'service_unavailable' })
    expect(await own(task('lives'))).to.equal('done')
  })

  it('end once nobody has asked for the time that was said, and are replaced', async () => {
    const file = new URL('./mortal-thread.js', import.meta.url)
    const own = threads<{ text: string }, number>({ most: 1, file, heapMb: 32, idleMs: 1_000 })
    const first = await own({ text: 'which' })
    expect(await own({ text: 'which' })).to.equal(first)
    await until(
      async () => {
        await wait(1_200)
        return (await own({ text: 'which' })) > first
      },
      { what: 'another thread' },
    )
  })

  it('hold no process that has nothing else to do, and are waited for by one that has', async function () {
    this.timeout(120_000)
    const file = join(await built(), 'db/auth/hashing.js')
    const script = `
      import { hashingThreads } from ${JSON.stringify(file)}
      const own = hashingThreads(1)
      console.log(String(await own(${JSON.stringify(task('a'))})).slice(0, 9))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 60_000,
    })
    expect(stdout.trim()).to.equal('$argon2id')
  })

  it('are those of passwords', async () => {
    const hash = await hashPassword('a password of some length')
    expect(await verifies('a password of some length', hash)).to.equal(true)
    expect(await verifies('another one', hash)).to.equal(false)
  })
})
