import { setTimeout as wait } from 'node:timers/promises'
import { assertKeys } from '../config/env.ts'
import { startHealthServer } from '../config/health-server.ts'
import { log } from '../config/log.ts'
import { startTracing, stopTracing } from '../config/tracing.ts'
import { closeDatabase, openDatabase } from '../db/lib/connection.ts'
import { checkRole } from '../db/lib/role-check.ts'
import { onWake } from '../db/lib/wake.ts'
import { failingChecks } from './admin/health.ts'
import { canServe, readState, stopServing } from './lib/health.ts'
import { startMetering, stopMetering } from './lib/metering.ts'
import { closeRedis, openRedis, publishWake } from './lib/redis.ts'
import { listen, makeServer } from './server.ts'
import { registerModules } from '../db/register.ts'

const deadlineMs = 25_000

assertKeys('api')
registerModules()
await openDatabase()
await checkRole((why) => {
  log.fatal(why)
  process.exit(1)
})
await startTracing('pousada-api')
openRedis()
onWake(publishWake)
startMetering()
const server = await makeServer()
const address = await listen(server)
const metricsServer = await startHealthServer('api', async () => {
  const state = await readState()
  return { isReady: canServe(state), detail: { ...state, checks: await failingChecks() } }
})
log.info({ address, healthPort: metricsServer.port }, 'api ready')

let ending = false

// The first signal lets requests under way finish; a second one, or the deadline, ends at once.
const end = async (signal: string) => {
  if (ending) process.exit(1)
  ending = true
  log.info({ signal }, 'api ends')
  stopServing()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const sweep = setInterval(() => server.closeIdleConnections(), 100)
  await Promise.race([closed, wait(deadlineMs, undefined, { ref: false })])
  clearInterval(sweep)
  server.closeAllConnections()
  await metricsServer.stop()
  closeRedis()
  await Promise.race([stopMetering(), wait(2_000, undefined, { ref: false })])
  await stopTracing()
  await Promise.race([closeDatabase(), wait(2_000, undefined, { ref: false })])
  process.exit(0)
}

process.on('SIGTERM', () => void end('SIGTERM'))
process.on('SIGINT', () => void end('SIGINT'))
