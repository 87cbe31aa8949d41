import { expect } from 'chai'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runInThisContext } from 'node:vm'
import { inAscii } from '../../scripts/bundle.ts'
import { built } from '../support/built.ts'

/** Texts of the main file and of those beside it that it loads. */
const parts = async (): Promise<string[]> => {
  const folder = join(await built(), 'api')
  return readdirSync(folder)
    .filter((name) => /^(main|part-\w+)\.js$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
}

describe('the bundle of the api', () => {
  it('is ASCII: V8 keeps its text with one byte a letter', async function () {
    this.timeout(120_000)
    for (const text of await parts()) expect(text.match(/.{0,40}[^\0-\x7f].{0,40}/g)).to.equal(null)
  })

  it('is in parts: V8 keeps most of the memory that it takes to parse the largest file', async function () {
    this.timeout(120_000)
    const sizes = (await parts()).map((text) => text.length)
    const whole = sizes.reduce((sum, size) => sum + size, 0)
    expect(Math.max(...sizes)).to.be.below(whole / 3)
  })

  it('an escaped letter of a regular expression matches as it did', () => {
    const escaped = inAscii(String.raw`/^c[oó]d(?:—|±)$/iu.test('CÓD—')`)
    expect(escaped).to.match(/^[\0-\x7f]+$/)
    expect(runInThisContext(escaped)).to.equal(true)
  })
})
