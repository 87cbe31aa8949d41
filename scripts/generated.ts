import { readFileSync } from 'node:fs'
import '../test/support/variables.ts'
import { startServices, stopServices } from '../test/support/services.ts'
import { generateLayers } from './layers.ts'
import { generateOpenApi } from './openapi.ts'
import { generateRows, generateSchema } from './rows.ts'

/** Ends with 1 where a generated file is not what would be generated now. */
const read = (name: string) => {
  try {
    return readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
  } catch {
    return null
  }
}

await startServices()
try {
  const checks = [
    { name: 'db/rows.ts', made: await generateRows(), command: 'npm run rows' },
    { name: 'test/schema/schema.txt', made: await generateSchema(), command: 'npm run rows' },
    { name: '.oxlintrc.layers.json', made: generateLayers(), command: 'npm run layers' },
    { name: 'docs/openapi.json', made: await generateOpenApi(), command: 'npm run openapi' },
  ]
  for (const { name, made, command } of checks) {
    if (read(name) === made) continue
    console.error(`${name} is not what the sources say: run ${command} and commit it`)
    process.exitCode = 1
  }
} finally {
  await stopServices()
}
