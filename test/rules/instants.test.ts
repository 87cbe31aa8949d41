import { expect } from 'chai'
import { Instant } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'

describe('an instant', () => {
  it('lies within the days that are known, in UTC as well as in its own zone', () => {
    const check = compile(Instant)
    const isInstant = (value: string) => check(value) === null
    for (const good of ['2026-11-20T12:00:00.000Z', '2200-12-31T23:59:59Z', '1900-01-01T00:00:00+00:00'])
      expect(isInstant(good), good).to.equal(true)
    for (const bad of ['2200-12-31T23:59:59-05:00', '1900-01-01T00:00:00+05:00', '2026-02-30T00:00:00Z'])
      expect(isInstant(bad), bad).to.equal(false)
  })
})
