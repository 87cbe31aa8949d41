import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInThisContext } from 'node:vm'
import { inAscii } from '../../scripts/bundle.ts'
import { built } from '../support/built.ts'

describe('the bundle of the api', () => {
  it('is ASCII: V8 keeps its text with one byte a letter', async function () {
    this.timeout(120_000)
    const text = readFileSync(join(await built(), 'api/main.js'), 'utf8')
    expect(text.match(/.{0,40}[^\0-\x7f].{0,40}/g)).to.equal(null)
  })

  it('an escaped letter of a regular expression matches as it did', () => {
    const escaped = inAscii(String.raw`/^c[oó]d(?:—|±)$/iu.test('CÓD—')`)
    expect(escaped).to.match(/^[\0-\x7f]+$/)
    expect(runInThisContext(escaped)).to.equal(true)
  })
})
