import '../support/variables.ts'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    properties: { type: 'string', default: '2' },
    days: { type: 'string', default: '30' },
  },
})
const number = (name: keyof typeof values) => {
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
  const { print } = await import('./report.ts')
  failed = print(options, await simulate(options))
} finally {
  await stopServices()
}
process.exitCode = failed ? 1 : 0
