import { expect } from 'chai'
import { cut } from '../../config/cut.ts'
import { failureOf } from '../../workers/payment/outcome.ts'

describe('a text that is cut', () => {
  it('ends between two letters, and is as long as it may be', () => {
    for (const [text, most, kept] of [
      ['Sol', 5, 'Sol'],
      ['Solar', 3, 'Sol'],
      ['Sol😀', 4, 'Sol'],
      ['Sol😀', 5, 'Sol😀'],
      ['😀😀', 3, '😀'],
    ] as const)
      expect(cut(text, most), text).to.equal(kept)
  })

  it('can be stored, as the words of a gateway', () => {
    const { message } = failureOf({ code: 'declined', message: `${'x'.repeat(199)}😀` })
    expect(message).to.equal('x'.repeat(199))
  })
})
