import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { processors } from '../../workers/processors.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, makeConfirmed, messagesOf, useMailPeer } from '../support/messages.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'

const markers = mkdtempSync(join(tmpdir(), 'pousada-mail-crash-'))

describe('a worker of messages that dies as in a power cut', function () {
  this.timeout(240_000)
  useDatabase()
  const mail = useMailPeer()
  let house: House
  let relay: RunningRelay | null = null
  let workers: RunningWorkers | null = null

  before(async () => {
    relay = await startRelay()
  })
  beforeEach(async () => {
    house = await makeHouse({ deposit: null })
  })
  afterEach(async () => {
    await workers?.stop({ deadlineMs: 3_000 })
    workers = null
  })
  after(async () => {
    await relay?.stop()
    rmSync(markers, { recursive: true, force: true })
  })

  const healAndWait = async () => {
    workers = await startWorkers({ queues: { messages: 3 }, processors })
    const unknown = async () => {
      // The ten minutes that an unknown mail is left alone are not waited for.
      await house.inHouse((trx) =>
        sql(trx, `update jobs set run_at = now() where kind = 'messages.resolve-unknown' and status = 'pending'`),
      )
      return (await messagesOf(house)).length === 1 && (await attemptsOf(house))[0]?.status === 'sent'
    }
    await until(unknown, { withinMs: 90_000, everyMs: 200, what: 'the mail' })
  }

  for (const [point, copies] of [
    ['call.started', 1],
    ['call.answered', 2],
    ['job.committed', 1],
  ] as const)
    it(`at ${point}: one message, one attempt, and the guest's reader shows one mail`, async () => {
      const dying = await startProcess('workers', {
        WORKER_QUEUES: 'messages:1',
        CRASH_AT: `${point}@${join(markers, point)}`,
        SMTP_URL: mail.peer.url,
      })
      await makeConfirmed(house)
      await dying.exited
      await healAndWait()
      expect(mail.peer.mails).to.have.length(copies)
      expect(new Set(mail.peer.mails.map((one) => one.messageId)).size).to.equal(1)
      expect(await messagesOf(house)).to.have.length(1)
      expect(await attemptsOf(house)).to.have.length(1)
    })
})
