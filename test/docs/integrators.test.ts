import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { seedDemo } from '../../db/demo/seed.ts'
import { useWorld } from '../support/world.ts'

const folder = new URL('../../docs/integrators/', import.meta.url)
const run = promisify(execFile)

/** The blocks of a page as one script that stops at the first thing that is not as the page says. */
const scriptOf = (page: string): string => {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] ?? '')
  const lines = blocks.join('\n').split('\n')
  const checked = lines.map((line) => {
    const [, command, expected] = /^(status .*?)\s+# (\d{3})$/.exec(line) ?? []
    if (command === undefined) return line
    return `got=$(${command}); [ "$got" = ${expected} ] || { echo "$got in place of ${expected}:" ${JSON.stringify(command).replaceAll('$', '\\$')} >&2; exit 1; }`
  })
  return ['set -euo pipefail', ...checked].join('\n')
}

describe('a page for integrators', function () {
  this.timeout(60_000)
  const world = useWorld()
  before(() => seedDemo())

  for (const file of readdirSync(folder).filter((name) => name.endsWith('.md')))
    it(`${file} says what the demo does, block by block`, async () => {
      const page = readFileSync(new URL(file, folder), 'utf8')
      expect(page).to.match(/^```sh$/m)
      // A code of an authenticator is for its half minute.
      const left = 30_000 - (Date.now() % 30_000)
      if (left < 10_000) await new Promise((resolve) => setTimeout(resolve, left + 50))
      const { stdout } = await run('bash', ['-c', scriptOf(page)], {
        env: { ...process.env, BASE: world.baseUrl },
      }).catch((error: Error & { stdout?: string; stderr?: string }) => {
        throw new Error(`${file}: ${error.stderr ?? ''}\nafter: ${error.stdout ?? ''}`)
      })
      // What a value was picked out of held it.
      expect(stdout.split('\n')).to.not.include('undefined')
    })
})
