import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { ruleFor } from '../../db/cash/rules/match-rules.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from '../accounts-payable/desk.ts'

describe('rules for lines of a bank', function () {
  this.timeout(120_000)
  const world = useWorld()
  const rule = (then: object, when: object = {}) => ({
    name: 'Fees',
    when: { direction: 'out', textContains: ['tarifa'], ...when },
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the contract; its value is no function
    then,
    automatic: true,
  })

  it('name an account and a cost centre of their book that can be booked on, and say something of a line', async () => {
    const [a, other] = [await openPayables(world), await openPayables(world)]
    const bankId = await a.bank(1_000, a.on('01-01'))
    const accountId = await a.account('8.2')
    const set = async (...matchRules: object[]): Promise<[number, string, string]> => {
      const [status, reply] = await a.send(a.finance, 'PATCH', `cash/accounts/${bankId}`, { matchRules })
      return [status, String(reply.code), String((reply.errors as Parsed[] | undefined)?.[0]?.field)]
    }
    const sound = rule({ accountId })
    const at = 'matchRules.1.'
    for (const [wrong, refused] of [
      [rule({ accountId: randomUUID() }), [422, 'reference_not_found', `${at}then.accountId`]],
      [rule({ accountId: await other.account('8.2') }), [422, 'reference_not_found', `${at}then.accountId`]],
      [rule({ accountId: await a.account('2.1.1.01') }), [422, 'account_not_usable', `${at}then.accountId`]],
      [rule({ accountId, costCenterId: randomUUID() }), [422, 'reference_not_found', `${at}then.costCenterId`]],
      [rule({ accountId }, { textContains: ['***'] }), [400, 'validation_failed', `${at}when.textContains.0`]],
      [rule({ accountId }, { amountFrom: 2, amountTo: 1 }), [400, 'validation_failed', `${at}when.amountTo`]],
    ] as const)
      expect(await set(sound, wrong)).to.deep.equal(refused)
    expect(await set(sound)).to.have.property('0', 200)
    const account = { bookId: a.bookId, kind: 'bank', code: 'B9', name: 'Banco' }
    const foreign = { ...account, matchRules: [rule({ accountId: await other.account('8.2') })] }
    expect(await a.refused(a.finance, 'POST', 'cash/accounts', foreign)).to.deep.equal([422, 'reference_not_found'])
  })

  it('fit no line by words of signs alone, which stood before they were refused', () => {
    const line = { amount: -100, text: 'ALUGUEL', counterpartyDocument: null }
    const fits = (word: string) => ruleFor([rule({ accountId: 'a' }, { textContains: [word] }) as never], line) !== null
    expect([fits('***'), fits('aluguel')]).to.deep.equal([false, true])
  })
})
