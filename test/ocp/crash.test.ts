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
  let relay: RunningRelay | null = null
  let workers: RunningWorkers | null = null

  before(async () => {
    relay = await startRelay()
  })
  afterEach(async () => {
    await workers?.stop({ deadlineMs: 3_000 })
    workers = null
  })
  after(async () => {
    await relay?.stop()
    rmSync(markers, { recursive: true, force: true })
  })

  const isSent = async (house: House) => {
    // The ten minutes that an unknown mail is left alone are not waited for.
    await house.inHouse((trx) =>
      sql(trx, `update jobs set run_at = now() where kind = 'messages.resolve-unknown' and status = 'pending'`),
    )
    return (await messagesOf(house)).length === 1 && (await attemptsOf(house))[0]?.status === 'sent'
  }

  it("at any point: one message, one attempt, and each guest's reader shows one mail", async () => {
    const points = ['call.started', 'call.answered', 'job.committed']
    const houses: House[] = []
    for (const _ of points) houses.push(await makeHouse({ deposit: null }))
    // Each takes one message, and dies over it: the locks of all three run out at once.
    const dying = await Promise.all(
      points.map((point) =>
        startProcess('workers', {
          WORKER_QUEUES: 'messages:1',
          CRASH_AT: `${point}@${join(markers, point)}`,
          SMTP_URL: mail.peer.url,
        }),
      ),
    )
    for (const house of houses) await makeConfirmed(house)
    await Promise.all(dying.map(({ exited }) => exited))
    workers = await startWorkers({ queues: { messages: 3 }, processors })
    for (const house of houses) await until(() => isSent(house), { withinMs: 90_000, everyMs: 100, what: 'the mail' })
    // The one whose answer was lost is sent again, under its name.
    expect(mail.peer.mails).to.have.length(4)
    expect(new Set(mail.peer.mails.map((one) => one.messageId)).size).to.equal(3)
    for (const house of houses) {
      expect(await messagesOf(house)).to.have.length(1)
      expect(await attemptsOf(house)).to.have.length(1)
    }
  })
})
