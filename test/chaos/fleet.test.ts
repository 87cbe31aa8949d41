import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { freePort } from '../../scripts/services/port.ts'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'

/** The folder of a service whose api is this program. */
const serviceOf = (program: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'pousada-fleet-'))
  mkdirSync(join(folder, 'api'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  writeFileSync(join(folder, 'api/main.js'), program)
  return folder
}

const servesWith = (status: number) => `import { createServer } from 'node:http'
  console.log('it listens')
  createServer((_, reply) => reply.writeHead(${status}).end('{"status":"of ${status}"}')).listen(Number(process.env.PORT), '127.0.0.1')`

describe('the processes of a campaign', () => {
  const ended: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of ended.splice(0)) await end()
  })
  const fleetOf = async (program: string): Promise<Fleet> => {
    const built = serviceOf(program)
    const fleet = await startFleet(
      { api: 1, relay: 0, scheduler: 0, worker: 0 },
      { built, logs: built, environment: {} },
    )
    ended.push(async () => {
      await fleet.stop()
      rmSync(built, { recursive: true, force: true })
    })
    return fleet
  }
  const complaintOf = async (fleet: Fleet, withinMs: number): Promise<string> =>
    fleet.ready(withinMs).then(
      () => 'ready',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )

  it('a fleet is ready once each process says so', async () => {
    await (await fleetOf(servesWith(200))).ready()
  })

  it('a process that does not get ready is told with its answer and its last lines', async () => {
    const fleet = await fleetOf(servesWith(503))
    const [api] = fleet.members
    await until(async () => (await api?.unreadiness())?.startsWith('503'))
    expect(await complaintOf(fleet, 1)).to.match(
      /^api-1 is not ready .*: 503 \{"status":"of 503"\}\n.*ended by itself 0 times\n +it listens$/,
    )
  })

  it('a process that ends at its start is told with how it ended and its last lines', async () => {
    const fleet = await fleetOf(`console.log('the port is taken'); process.exit(3)`)
    const [api] = fleet.members
    await until(() => (api?.deaths().length ?? 0) > 0)
    expect(await complaintOf(fleet, 1)).to.match(
      /^api-1 is not ready (.|\n)*ended by itself [1-9]\d* times, 3(.|\n)*the port is taken$/,
    )
  })

  it('ports of processes stand below those that a system gives away, and each is given once', async () => {
    const ports = await Promise.all(Array.from({ length: 40 }, () => freePort()))
    expect(new Set(ports).size).to.equal(40)
    expect(Math.max(...ports)).to.be.below(32_768)
  })
})
