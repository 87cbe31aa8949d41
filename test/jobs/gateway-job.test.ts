import { expect } from 'chai'
import { submitPayment } from '../../jobs/payment.ts'
import { gatewayJob, unheard } from '../../workers/lib/gateway-job.ts'
import type { Answer } from '../../workers/lib/gateway-job.ts'
import type { JobContext } from '../../workers/lib/processor.ts'

type Given = {
  outcome?: Answer<unknown, string>
  /** Nothing is found to ask for. */
  isEmpty?: boolean
  hasOtherwise?: boolean
  isScheduled?: boolean
  attempt?: number
}

/** Runs a job of a gateway over a context that notes what it is asked to do. Answers the notes in their order. */
const run = async ({
  outcome = { kind: 'refused', code: 'never', message: 'was not asked' },
  isEmpty = false,
  hasOtherwise = false,
  isScheduled = true,
  attempt = 1,
}: Given): Promise<string[]> => {
  const notes: string[] = []
  const note = (text: string) => {
    notes.push(text)
    return Promise.resolve()
  }
  const processor = gatewayJob(submitPayment, {
    load: async () => {
      await note('load')
      return isEmpty ? null : 'this'
    },
    ...(hasOtherwise ? { otherwise: () => note('otherwise') } : {}),
    ask: async (_asking, call) => {
      await note(`ask ${call}`)
      return outcome
    },
    apply: {
      known: (_trx, _payload, snapshot: string) => note(`known ${snapshot}`),
      refused: (_trx, _payload, { code, message }) => note(`refused ${code}: ${message}`),
      unknown: (_trx, _payload, wasReached) => note(`unknown, ${wasReached ? 'reached' : 'not reached'}`),
    },
    isScheduled,
  })
  const transaction = async (name: string, work?: (trx: never) => Promise<unknown>) => {
    await note(`${name} {`)
    const answer = await work?.(undefined as never)
    await note('}')
    return answer
  }
  const context = {
    payload: {},
    attempt,
    effect: (work: (trx: never) => Promise<unknown>) => transaction('effect', work),
    finish: (work?: (trx: never) => Promise<unknown>) => transaction('finish', work),
    retryLater: (message: string, { afterMs = 0 } = {}) => {
      throw new Error(`later: ${message}, ${afterMs}`)
    },
  } as unknown as JobContext
  if (processor.style !== 'outside') throw new Error('a job of a gateway calls the outside')
  await processor.run(context).catch((error: Error) => note(error.message))
  return notes
}

const asked = ['effect {', 'load', '}', 'ask this']

describe('A job of a gateway', () => {
  it('reads, asks outside any transaction, and ends with the answer that it was given', async () => {
    expect(await run({ outcome: { kind: 'known', snapshot: 'paid' } })).to.deep.equal([
      ...asked,
      'finish {',
      'known paid',
      '}',
    ])
  })

  it('tells a refusal with its code and its words', async () => {
    const outcome = { kind: 'refused', code: 'declined', message: 'no funds' } as const
    expect(await run({ outcome })).to.deep.equal([...asked, 'finish {', 'refused declined: no funds', '}'])
  })

  it('says of an unknown outcome that the other side may have been reached, at the first try and at any', async () => {
    for (const attempt of [1, 5])
      expect(await run({ outcome: { kind: 'unknown', code: 'timeout' }, attempt })).to.deep.equal([
        ...asked,
        'finish {',
        'unknown, reached',
        '}',
      ])
  })

  it('tries again what was not sent, after the time that was asked for, and leaves it to the schedule with the third try', async () => {
    const outcome = { kind: 'not_sent', code: 'ECONNREFUSED', afterMs: 700 } as const
    const later = 'later: the gateway was not reached: ECONNREFUSED, 700'
    for (const attempt of [1, 2]) expect(await run({ outcome, attempt })).to.deep.equal([...asked, later])
    for (const attempt of [3, 4])
      expect(await run({ outcome, attempt })).to.deep.equal([...asked, 'finish {', 'unknown, not reached', '}'])
    expect(await run({ outcome, attempt: 9, isScheduled: false }), 'no schedule comes back to it').to.deep.equal([
      ...asked,
      later,
    ])
    expect((await run({ outcome: { kind: 'not_sent', code: 'x' } })).at(-1)).to.match(/, 0$/)
  })

  it('writes an answer that needed no call', async () => {
    const notes: string[] = []
    const write = () => Promise.resolve(notes.push('written'))
    expect(await run({ outcome: { kind: 'write', write } })).to.deep.equal([...asked, 'finish {', '}'])
    expect(notes).to.deep.equal(['written'])
  })

  it('asks nothing where there is nothing to do, and ends, with what is written then', async () => {
    const found = ['effect {', 'load', '}', 'finish {']
    expect(await run({ isEmpty: true })).to.deep.equal([...found, '}'])
    expect(await run({ isEmpty: true, hasOtherwise: true })).to.deep.equal([...found, 'otherwise', '}'])
  })

  it('takes a refusal to read as no news of the record', () => {
    expect(unheard({ kind: 'refused', code: 'gone', message: 'no' })).to.deep.equal({ kind: 'unknown', code: 'gone' })
    expect(unheard({ kind: 'known', snapshot: 1 })).to.deep.equal({ kind: 'known', snapshot: 1 })
  })
})
