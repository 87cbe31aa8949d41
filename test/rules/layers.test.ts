import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { expect } from 'chai'

type Found = { filename: string; message: string; help?: string }

/** Files that import what their folder must not, with a part of what the linter says. */
const wrong: Record<string, [line: string, says: string]> = {
  'db/guests/rules/connection.ts': [`import { sql } from '../../lib/connection.ts'`, 'rules are pure'],
  'db/guests/rules/face.ts': [`import { sum } from '../../financial/index.ts'`, 'rules take types from elsewhere'],
  'db/guests/rules/beside.ts': [`import { x } from '../create.ts'`, 'rules take types from elsewhere'],
  'db/guests/above.ts': [`import { x } from '../reservations/index.ts'`, 'a module imports lower ones only'],
  'db/reservations/behind.ts': [`import { x } from '../guests/create.ts'`, 'through its index.ts alone'],
  'db/guests/edge.ts': [`import { x } from '../../api/server.ts'`, 'db imports config and jobs alone'],
  'api/guests/other.ts': [`import { x } from '../../workers/processors.ts'`, 'api and workers never import each other'],
}
const right: Record<string, string> = {
  'db/guests/rules/pure.ts': `import type { Named } from '../create.ts'\nexport type { Named }\nexport { x } from './other.ts'`,
  'db/reservations/face.ts': `export { x } from '../guests/index.ts'`,
}

describe('the linter', () => {
  const folder = mkdtempSync(join(tmpdir(), 'layers-'))
  let found: Found[] = []
  before(() => {
    copyFileSync('.oxlintrc.layers.json', join(folder, '.oxlintrc.json'))
    const files = { ...right, ...Object.fromEntries(Object.entries(wrong).map(([path, [line]]) => [path, line])) }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), `${text}\n`)
    }
    const run = () => {
      try {
        return execFileSync(resolve('node_modules/.bin/oxlint'), ['--format', 'json'], {
          cwd: folder,
          encoding: 'utf8',
        })
      } catch (error) {
        return (error as { stdout: string }).stdout
      }
    }
    found = (JSON.parse(run()) as { diagnostics: Found[] }).diagnostics
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const [path, [line, says]] of Object.entries(wrong))
    it(`refuses ${line} in ${path}`, () => {
      const own = found.filter(({ filename }) => filename.endsWith(path))
      expect(own.map(({ message, help = '' }) => `${message} ${help}`).join('\n')).to.contain(says)
    })

  it('lets through types, rules beside rules, and faces of lower modules', () => {
    expect(found.filter(({ filename }) => Object.keys(right).some((path) => filename.endsWith(path)))).to.deep.equal([])
  })
})
