import { readdirSync } from 'node:fs'
import { withWorld } from './world.ts'
import type { Bench } from './bench.ts'

const names = readdirSync(new URL('./cases/', import.meta.url)).map((file) => file.replace(/\.ts$/, ''))
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))

if (wanted.length === 0 || wanted.some((name) => name !== 'all' && !names.includes(name))) {
  console.error(`npm run bench -- <name> [--quick] [--only=<part>], one of: ${[...names, 'all'].join(', ')}`)
  process.exit(1)
}

const { report } = await import('./report.ts')
for (const name of wanted.includes('all') ? names : wanted) {
  const { bench } = (await import(new URL(`./cases/${name}.ts`, import.meta.url).href)) as { bench: Bench }
  await withWorld(async (database) => {
    const { results, notes } = await bench(database)
    await report(name, results, notes)
    if (results.some((result) => result.holds === false)) process.exitCode = 2
  })
}
