import { expect } from 'chai'
import { segmentsOf } from '../../db/ocp/rules/segments.ts'

const one = (character: string, count: number) => character.repeat(count)

describe('the parts of an SMS', () => {
  it('are of 160 places, or of 153 each, where the alphabet of phones has all of its characters', () => {
    expect(
      ['', one('a', 160), one('ç', 70), one('a', 161), one('a', 306), one('a', 307)].map(segmentsOf),
    ).to.deep.equal([1, 1, 1, 2, 2, 3])
    expect(segmentsOf(one('€', 80)), 'two places each').to.equal(1)
    expect(segmentsOf(one('€', 81))).to.equal(2)
  })

  it('end before a character of two places that does not fit', () => {
    // Of 153 places 152 are used: 76 of them in each part.
    expect(segmentsOf(one('€', 152))).to.equal(2)
    expect(segmentsOf(one('€', 153)), '306 places').to.equal(3)
    expect(segmentsOf(`${one('a', 152)}€${one('a', 152)}`), '306 places').to.equal(3)
    expect(segmentsOf(`${one('a', 151)}€${one('a', 153)}`), '306 places, cut between characters').to.equal(2)
  })

  it('end before a character of two units of UTF-16 that does not fit', () => {
    expect([one('😀', 35), one('😀', 36), one('😀', 66), one('😀', 67)].map(segmentsOf)).to.deep.equal([1, 2, 2, 3])
    expect(segmentsOf(`${one('ã', 66)}😀${one('ã', 66)}`), '134 units').to.equal(3)
  })
})
