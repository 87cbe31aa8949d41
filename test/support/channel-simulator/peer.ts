import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { simulatorHost } from '../../../config/channels.ts'
import type { ChannelRange } from '../../../config/channels.ts'
import { standIn } from '../../../workers/lib/outgoing.ts'
import { built } from '../built.ts'
import { clientOf } from '../client.ts'
import type { Asked, Mood } from './store.ts'

export type Shown = {
  /** By `unit type|rate plan|day`, as the channel knows them. */
  days: Record<string, Omit<ChannelRange, 'from' | 'to' | 'unitType'> | undefined>
  log: Asked[]
  acknowledged: string[]
}
export type Account = {
  name: string
  secret: string
  behave: (mood: Mood) => Promise<Shown>
  /** Revisions that it hands out from now on. */
  sell: (revisions: { id: string }[]) => Promise<Shown>
  look: () => Promise<Shown>
}
export type Simulator = { port: number; account: (name: string) => Promise<Account> }

const accountAt = async (port: number, name: string): Promise<Account> => {
  const ask = async (body: object) =>
    (await clientOf(`http://127.0.0.1:${port}`)<Shown>('POST', `/control/${name}`, { body })).body
  const secret = `secret-of-${name}-${'x'.repeat(16)}`
  await ask({ secret })
  return {
    name,
    secret,
    behave: (mood) => ask({ mood }),
    sell: (revisions) => ask({ revisions }),
    look: () => ask({}),
  }
}

/** A channel manager in a process of its own. */
export const startSimulator = async (): Promise<Simulator & { stop: () => Promise<void> }> => {
  const child = spawn(process.execPath, [join(await built(), 'test/support/channel-simulator/main.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const line = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    child.once('exit', () => reject(new Error('the channel simulator ended at its start')))
  })
  const { port } = JSON.parse(line) as { port: number }
  return {
    port,
    account: (name) => accountAt(port, name),
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.stdin.end()
      await ended
    },
  }
}

/** One for the tests of the surrounding `describe`; its host is reached from this process. */
export const useSimulator = (): Simulator => {
  let running: Awaited<ReturnType<typeof startSimulator>> | null = null
  let leave = () => {}
  before(async () => {
    running = await startSimulator()
    leave = standIn({ host: simulatorHost, port: running.port })
  })
  after(async () => {
    leave()
    await running?.stop()
  })
  return {
    get port() {
      return running?.port ?? 0
    },
    account: (name) => accountAt(running?.port ?? 0, name),
  }
}
