import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'chai'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

describe('the proofs of jobs', () => {
  const page = read('docs/operations/proofs.md')

  it('name tests, faults and rules that exist', () => {
    const sources: Record<string, string[]> = {
      chaos: ['test/chaos/plan.ts'],
      checker: ['checker', 'money-checks', 'message-checks', 'refusal-checks'].map((name) => `test/chaos/${name}.ts`),
    }
    const missing = [...page.matchAll(/(?:`([\w/-]+)`|(chaos|checker)) "([^"]+)"/g)].flatMap(
      ([, test = '', other = '', words = '']) => {
        const paths = sources[other] ?? [`test/${test}.test.ts`]
        const absent = paths.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))
        if (absent.length > 0) return absent
        return paths.some((path) => read(path).includes(words)) ? [] : [`${paths.join()}: ${words}`]
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
