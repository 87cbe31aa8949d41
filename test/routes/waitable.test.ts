import { expect } from 'chai'
import type { Server } from 'node:http'
import { open } from '../../api/lib/access/kinds.ts'
import { waitable } from '../../api/lib/waitable.ts'
import { listen, makeServer } from '../../api/server.ts'
import { Bool, Count, Obj, Text } from '../../config/schema.ts'
import { clientOf } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { useWorld } from '../support/world.ts'

const run = { status: 'queued', working: true, reads: 0 }
const Run = Obj({ status: Text(1, 10), working: Bool, reads: Count })
const find = () => Promise.resolve(run)
const state = () => {
  run.reads += 1
  return Promise.resolve(run.status)
}

const byStatus = waitable({
  id: 'runs.read',
  path: '/api/public/runs/one',
  summary: 'Read or wait for a run',
  access: open(),
  since: ['queued', 'running', 'done'],
  returns: Run,
  read: state,
  find,
})
const untilDone = waitable({
  id: 'runs.check',
  path: '/api/public/checks/one',
  summary: 'Read a check, or wait for its end',
  access: open(),
  returns: Run,
  read: () => Promise.resolve(run.working),
  isEnough: (working) => !working,
  find,
})

describe('a read that can wait', () => {
  useWorld()
  let server: Server
  let request: Client
  before(async () => {
    server = await makeServer([byStatus, untilDone])
    request = clientOf(await listen(server, 0, '127.0.0.1'))
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => Object.assign(run, { status: 'queued', working: true, reads: 0 }))

  const timed = async (path: string) => {
    const from = performance.now()
    const { status, body } = await request('GET', path)
    return { status, body, ms: performance.now() - from }
  }

  it('answers at once without seconds, without a state to wait beyond, and where the state is another', async () => {
    for (const query of ['', '?waitSeconds=5', '?since=queued', '?waitSeconds=5&since=running']) {
      const { status, ms } = await timed(`/api/public/runs/one${query}`)
      expect([query, status, ms < 4_500]).to.deep.equal([query, 200, true])
    }
    expect(run.reads).to.equal(1)
  })

  it('answers once its state is another', async () => {
    setTimeout(() => (run.status = 'done'), 300)
    const { body, ms } = await timed('/api/public/runs/one?waitSeconds=10&since=queued')
    expect(body).to.include({ status: 'done' })
    expect(ms).to.be.within(300, 9_500)
  })

  it('answers once it is enough, or the time is over', async () => {
    const late = await timed('/api/public/checks/one?waitSeconds=1')
    expect(late.body).to.include({ working: true })
    expect(late.ms).to.be.greaterThan(950)
    setTimeout(() => (run.working = false), 300)
    const done = await timed('/api/public/checks/one?waitSeconds=10')
    expect(done.body).to.include({ working: false })
    expect(done.ms).to.be.within(300, 9_500)
  })

  it('waits no longer than 20 seconds, and beyond no state that there is not', async () => {
    for (const query of ['waitSeconds=21', 'waitSeconds=1&since=lost', 'waitSeconds=-1'])
      expect((await request('GET', `/api/public/runs/one?${query}`)).status, query).to.equal(400)
    expect((await request('GET', '/api/public/checks/one?since=queued')).status).to.equal(400)
  })
})
