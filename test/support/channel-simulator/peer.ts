import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { simulatorHost } from '../../../config/channels.ts'
import type { ChannelRange } from '../../../config/channels.ts'
import { standIn } from '../../../workers/lib/outgoing.ts'
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

/** A channel manager in a process of its own, for the tests of the surrounding `describe`; its host is reached from this process. */
export const useSimulator = (): Simulator => {
  let child: ChildProcess | null = null
  let port = 0
  let leave = () => {}
  before(async () => {
    child = spawn(process.execPath, ['--import', 'tsx/esm', fileURLToPath(new URL('./main.ts', import.meta.url))], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout! })
    const line = await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve)
      child?.once('exit', () => reject(new Error('the channel simulator ended at its start')))
    })
    port = (JSON.parse(line) as { port: number }).port
    leave = standIn({ host: simulatorHost, port })
  })
  after(async () => {
    leave()
    const ended = new Promise((resolve) => child?.once('exit', resolve))
    child?.stdin?.end()
    await ended
  })
  return {
    get port() {
      return port
    },
    account: async (name) => {
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
    },
  }
}
