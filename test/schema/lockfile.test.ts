import { expect } from 'chai'
import { readFileSync } from 'node:fs'

type Entry = { optionalDependencies?: Record<string, string> }

const { packages } = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Entry>
}

/** Tells whether Node finds a package from another: its own folder first, then those above. */
const isThere = (from: string, name: string): boolean => {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    if (packages[`${base === '' ? '' : `${base}/`}node_modules/${name}`]) return true
    if (base === '') return false
  }
}

describe('the lock file', () => {
  it('names the packages of every platform: npm ci refuses one that lacks any', () => {
    const lacking = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !isThere(from, name))
        .map((name) => `${from}: ${name}`),
    )
    expect(lacking).to.deep.equal([])
  })
})
