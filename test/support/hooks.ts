import type { Runner } from 'mocha'
import { setTimeout as wait } from 'node:timers/promises'
import { settings } from '../../config/env.ts'
import { closeDatabase } from '../../db/lib/connection.ts'
import { stopServices } from './services.ts'
import { registerModules } from '../../db/register.ts'

const ours = new Set(['TCPServerWrap', 'TCPSocketWrap', 'TLSWrap', 'ProcessWrap'])
const running = () => process.getActiveResourcesInfo().filter((kind) => ours.has(kind))

/** Servers, connections and processes of one file would run on beside the tests of the next: it fails whose they are. */
async function leavesNothing(this: Mocha.Context) {
  this.timeout(60_000)
  for (const deadline = Date.now() + 30_000; running().length > 0;) {
    if (Date.now() > deadline) throw new Error(`still running: ${running().join(', ')}`)
    await wait(10)
  }
}

let given = { ...settings }

/** Before the first file of a run. */
export const begin = () => {
  registerModules()
  given = { ...settings }
}

/** Adds to each file what holds after all of them. */
export const watch = (root: Mocha.Suite) => {
  for (const suite of root.suites) {
    suite.afterAll('leaves nothing running', leavesNothing)
    // Settings that one file changes would otherwise remain for the next file.
    suite.afterAll('leaves the settings as they were', () => void Object.assign(settings, given))
  }
}

/** Node now and then counts a timer that nothing holds any more, and would never end: each file has left nothing behind by then. */
const endAnyway = () => {
  console.error(`still there after its end: ${process.getActiveResourcesInfo().join(', ')}`)
  process.exit()
}

/** After the last file of a run. */
export const end = async () => {
  await closeDatabase()
  await stopServices()
  setTimeout(endAnyway, 20_000).unref()
}

/** Mocha calls these two itself, in a run of files that were named. */
export function mochaGlobalSetup(this: Runner) {
  begin()
  watch(this.suite)
}

export const mochaGlobalTeardown = () => end()
