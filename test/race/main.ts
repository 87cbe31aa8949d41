import '../support/variables.ts'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    processes: { type: 'string', default: '8' },
  },
})
const number = (name: keyof typeof values) => {
  const value = Number(values[name])
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number above 0`)
  return value
}
const options = { seed: number('seed'), seconds: number('seconds'), processes: number('processes') }

const { startServices, stopServices, testRedisUrl } = await import('../support/services.ts')
const { settings } = await import('../../config/env.ts')
let failed = true
try {
  await startServices()
  settings.redisUrl = testRedisUrl()
  const { freshDatabase, leaveDatabase } = await import('../support/database.ts')
  const { campaign, furnish } = await import('./campaign.ts')
  await freshDatabase()
  const { done, refused, transactions, looks, violations } = await campaign(await furnish(), options)
  await leaveDatabase()
  failed = violations.length > 0
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  console.log(`seed ${options.seed}, ${options.seconds} seconds, ${options.processes} processes of 8 hands`)
  console.log(`done: ${list(done)}`)
  console.log(`refused: ${list(refused)}`)
  console.log(`${transactions} transactions with locks, ${looks} looks, ${violations.length} rules violated`)
  for (const { rule, count, examples } of violations) {
    console.log(`\nVIOLATED ${count} times: ${rule}`)
    for (const example of examples) console.log(`  ${JSON.stringify(example)}`)
  }
} finally {
  await stopServices()
}
process.exitCode = failed ? 1 : 0
