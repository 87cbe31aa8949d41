import '../support/variables.ts'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    properties: { type: 'string', default: '2' },
    days: { type: 'string', default: '30' },
    keep: { type: 'boolean', default: false },
  },
})
const number = (name: 'seed' | 'properties' | 'days') => {
  const value = Number(values[name])
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number above 0`)
  return value
}
const options = { seed: number('seed'), properties: number('properties'), days: number('days') }

await import('../support/environment.ts')
const { stopServices } = await import('../support/services.ts')
let failed = true
try {
  const { registerModules } = await import('../../db/register.ts')
  registerModules()
  const { simulate } = await import('./run.ts')
  const { figuresOf, print, progress } = await import('./report.ts')
  const outcome = await simulate(options, progress(options))
  failed = print(options, outcome)
  if (values.keep) {
    const { report } = await import('../../bench/report.ts')
    const { results, notes } = figuresOf(options, outcome)
    await report(`simulate-${options.properties}x${options.days}`, results, notes, outcome.postgres)
  }
} finally {
  await stopServices()
}
process.exitCode = failed ? 1 : 0
