import { expect } from 'chai'
import { requireAllCallable } from '../../api/lib/callable.ts'
import { ApiError, recoveryOf } from '../../config/errors.ts'

/** The error that is thrown while one of these is unknown; null once all are known. */
const unknownOf = (given: Record<string, string>): unknown => {
  try {
    requireAllCallable(given)
    return null
  } catch (error) {
    return error
  }
}

describe('verdicts on addresses that are to be called', () => {
  const now = performance.now.bind(performance)
  let ahead = 0

  before(() => {
    performance.now = () => now() + ahead
  })
  after(() => {
    performance.now = now
  })

  const learn = async (given: Record<string, string>) => {
    const error = unknownOf(given)
    expect(await recoveryOf(error)?.()).to.equal(true)
  }
  const later = async (seconds: number) => {
    ahead += seconds * 1_000
    // The cache takes its time anew after a millisecond.
    await new Promise((resolve) => setTimeout(resolve, 5))
  }

  it('judges an address that is known already with the unknown one beside it, so that both last for the repeat', async () => {
    const known = { baseUrl: 'https://8.8.8.8/pix' }
    const both = { ...known, tokenUrl: 'https://8.8.4.4/token' }
    await learn(known)
    expect(unknownOf(known)).to.equal(null)
    await later(59)
    await learn(both)
    await later(2)
    expect(unknownOf(both)).to.equal(null)
    await later(60)
    expect(unknownOf(known)).to.be.instanceOf(ApiError)
  })

  it('refuses one that is not public by its field, and the others with it', async () => {
    const given = { good: 'https://8.8.8.8/', bad: 'https://10.0.0.1/' }
    await later(120)
    await learn(given)
    expect(unknownOf(given)).to.deep.include({
      code: 'address_refused',
      errors: [{ field: 'bad', message: 'private address: every address of the host must be public' }],
    })
  })
})
