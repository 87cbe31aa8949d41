import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { lifecycle } from '../../db/lib/lifecycle.ts'
import { stayLifecycle, transitions } from '../../db/reservations/rules/states.ts'

type Status = 'draft' | 'sent' | 'partly_paid' | 'paid' | 'void'
const statuses: readonly Status[] = ['draft', 'sent', 'partly_paid', 'paid', 'void']
const invoice = lifecycle<Status>('An invoice')({
  sent: { from: ['draft'], to: 'sent' },
  voided: { from: ['sent', 'partly_paid'], to: 'void' },
  changed: { from: ['draft'] },
})

const outcome = (ask: () => unknown): unknown => {
  try {
    return ask()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.status} ${error.code}`
  }
}
const refused = '409 invalid_transition'

describe('The lifecycle of a document', () => {
  it('makes a move once, answers it again as it is, and refuses it from any other state', () => {
    const moves = (command: 'sent' | 'voided') =>
      statuses.map((status) => outcome(() => invoice.isDue(command, status)))
    expect(moves('sent')).to.deep.equal([true, false, refused, refused, refused])
    expect(moves('voided')).to.deep.equal([refused, true, true, refused, false])
  })

  it('allows what leaves the state as it is in its own states alone', () => {
    const changes = statuses.map((status) => outcome(() => invoice.allow('changed', status)))
    expect(changes).to.deep.equal([undefined, refused, refused, refused, refused])
    expect(outcome(() => invoice.isDue('changed', 'draft'))).to.equal(true)
  })

  it('says in which state the document is, and in which it must be', () => {
    expect(() => invoice.isDue('voided', 'paid'))
      .to.throw(ApiError, 'An invoice that is paid cannot be voided')
      .with.deep.property('errors', [{ field: 'status', message: 'must be sent or partly paid' }])
  })

  it('of a stay is that of its transitions', () => {
    for (const [command, { from, to }] of [
      ['checked in', transitions.T13],
      ['checked out', transitions.T16],
      ['a no-show', transitions.T18],
    ] as const) {
      expect(stayLifecycle.isDue(command, from), command).to.equal(true)
      expect(stayLifecycle.isDue(command, to), command).to.equal(false)
      expect(
        outcome(() => stayLifecycle.isDue(command, 'cancelled')),
        command,
      ).to.equal(refused)
    }
  })
})
