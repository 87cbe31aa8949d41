import { expect } from 'chai'
import { applySnapshot, nothingKnown } from '../../db/payment/index.ts'
import { useDatabase } from '../support/database.ts'
import { makeBooking, makeTill, pay, paymentOf, sweep, within, work } from './support.ts'

describe('a card that is declined while its owner is there', () => {
  useDatabase()

  it('ends its payment with the sixth decline, though each is in the same words, and is counted once however often it is read', async () => {
    const till = await makeTill()
    const { id } = await pay(till, await makeBooking(till), { token: 'action_abandoned' })
    await work()
    const { externalId } = await paymentOf(till, id)
    const read = (declineRef: string) =>
      within(till, (trx) =>
        applySnapshot(trx, id, {
          ...nothingKnown,
          status: 'requires_action',
          externalId,
          currency: 'BRL',
          failure: { code: 'declined', message: 'Your card was declined.' },
          declineRef,
        }),
      )
    for (const charge of [1, 2, 3, 4, 5]) for (let times = 0; times < 2; times += 1) await read(`ch_${charge}`)
    expect(await paymentOf(till, id)).to.include({ status: 'requires_action', declines: 5 })
    await sweep()
    await work()
    expect((await paymentOf(till, id)).status).to.equal('requires_action')
    await read('ch_6')
    expect((await paymentOf(till, id)).declines).to.equal(6)
    await sweep()
    await work()
    expect((await paymentOf(till, id)).status).to.equal('cancelled')
  })
})
