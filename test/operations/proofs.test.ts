import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'chai'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

describe('the proofs of jobs', () => {
  const page = read('docs/operations/proofs.md')

  it('name tests, faults and rules that exist', () => {
    const sources: Record<string, string> = { chaos: 'test/chaos/plan.ts', checker: 'test/chaos/checker.ts' }
    const missing = [...page.matchAll(/(?:`([\w/-]+)`|(chaos|checker)) "([^"]+)"/g)].flatMap(
      ([, test = '', other = '', words = '']) => {
        const path = sources[other] ?? `test/${test}.test.ts`
        if (!existsSync(new URL(`../../${path}`, import.meta.url))) return [path]
        return read(path).includes(words) ? [] : [`${path}: ${words}`]
      },
    )
    expect(missing).to.deep.equal([])
  })

  it('are there in each line', () => {
    const rows = page.split('\n').filter((line) => /^\| (?!must hold)[a-zA-Z]/.test(line))
    expect(rows).to.have.lengthOf.above(30)
    for (const row of rows) expect(row).to.match(/"[^"]+"/)
  })
})
