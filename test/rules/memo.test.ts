import { expect } from 'chai'
import { memo } from '../../config/memo.ts'

describe('a bounded memory', () => {
  it('works an answer out once, and forgets the one that was asked for longest ago', () => {
    const worked: string[] = []
    const answer = memo<string>(2)
    const ask = (key: string) =>
      answer(key, () => {
        worked.push(key)
        return key.toUpperCase()
      })
    expect(['a', 'b', 'a', 'c', 'a', 'b'].map(ask)).to.deep.equal(['A', 'B', 'A', 'C', 'A', 'B'])
    expect(worked).to.deep.equal(['a', 'b', 'c', 'b'])
  })
})
