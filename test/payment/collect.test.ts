import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import { cancelReservations, collectDeposit, collectFee, watchDeposits } from '../../db/reservations/index.ts'
import { payForBooking } from '../../db/reservations/payments.ts'
import type { PaymentRow } from '../../db/rows.ts'
import { readPayment, sendPaymentLink } from '../../jobs/payment.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useMailPeer } from '../support/messages.ts'
import { pay } from '../support/pay.ts'
import { makeHold, readBooking } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

type Stay = { bookingId: string; id: string }

describe('Money that is asked for without anybody of the house', () => {
  const world = useWorld()
  const mail = useMailPeer()
  let house: House

  beforeEach(async () => {
    settings.sandboxSecondMs = 20
    settings.publicBaseUrl = world.baseUrl
    // Two nights of 20,000; 30 % is due at booking.
    house = await makeHouse({ units: 4 })
  })

  const change = (text: string, values: unknown[] = []) => house.inHouse((trx) => sql(trx, text, values))
  const payments = (id: string) =>
    house.inHouse((trx) =>
      sql<PaymentRow>(
        trx,
        `select * from payment where target_type = 'reservation' and target_id = ? order by created_at`,
        [id],
      ),
    )
  const aheadMs = 30 * 60_000
  const work = (ahead = 0) => world.drain({ aheadMs: ahead })

  /** A stay that is confirmed by its deposit; with a saved card where the guest agreed. */
  const stay = async (saves: boolean, from = 30): Promise<Stay> => {
    const bookingId = await makeHold(house, { from })
    if (saves)
      await house.inHouse((trx) => payForBooking(trx, bookingId, { method: 'card', amount: 'due', saveMethod: true }))
    else {
      await pay(house, bookingId)
      await house.inHouse((trx) => confirmPaid(trx, bookingId))
    }
    await until(
      async () => {
        await work()
        const method = await house.inHouse((trx) =>
          sqlOne<{ status: string }>(trx, `select status from payment_method`),
        )
        return !saves || method?.status === 'active'
      },
      { withinMs: 20_000, what: 'the card being saved' },
    )
    return { bookingId, id: (await readBooking(house, bookingId)).rooms[0]?.id ?? '' }
  }

  /** A second installment that has fallen due. */
  const fallDue = async ({ id }: Stay, amount = 8_000): Promise<string> => {
    const [made] = await house.inHouse((trx) =>
      sql<{ id: string }>(
        trx,
        `insert into deposit (reservation_id, position, due_at, amount, origin) values (?, 9, now() - interval '1 second', ?, 'manual') returning id`,
        [id, amount],
      ),
    )
    // The first one was due before.
    await change(
      `update deposit set due_at = now() - interval '1 day' where reservation_id = ? and origin = 'policy'`,
      [id],
    )
    await house.inHouse((trx) => watchDeposits(trx, id))
    return made?.id ?? ''
  }

  it('charges the saved card for an installment that fell due, once', async () => {
    const one = await stay(true)
    const depositId = await fallDue(one)
    await Promise.all([1, 2, 3].map(() => house.inHouse((trx) => collectDeposit(trx, depositId))))
    await work()
    await work(aheadMs)
    const [payment, ...others] = await payments(one.id)
    expect(others).to.deep.equal([])
    expect(payment).to.include({
      channel: 'automatic',
      status: 'captured',
      capturedAmount: 8_000,
      allocatedAmount: 8_000,
      origin: 'gateway',
    })
    expect((await readBooking(house, one.bookingId)).folios[0]).to.include({ credits: 20_000 })
    expect(mail.peer.mails.some((each) => JSON.stringify(each).includes('/pay/'))).to.equal(false)
  })

  it('sends a link where no card was saved: one message, with the page of the gateway', async () => {
    const one = await stay(false)
    // Nobody pays the link before its message was read.
    settings.sandboxSecondMs = 1_200_000
    const depositId = await fallDue(one)
    await work()
    await house.inHouse((trx) => collectDeposit(trx, depositId))
    const [payment, ...others] = await payments(one.id)
    expect(others).to.deep.equal([])
    expect(payment).to.include({ channel: 'link', amount: 8_000 })
    const paymentId = payment?.id ?? ''
    await house.inHouse((trx) => enqueue(trx, sendPaymentLink, { tenantId: house.tenantId, paymentId }))
    await work()
    const sent = await house.inHouse((trx) =>
      sql<{ id: string; status: string }>(
        trx,
        `select id, status from message where payment_id = ? and dedupe_key like 'link-%'`,
        [paymentId],
      ),
    )
    expect(sent.map((each) => each.status)).to.deep.equal(['sent'])
    const mails = mail.peer.mails.filter((each) => each.messageId.includes(sent[0]?.id ?? '-'))
    expect(mails).to.have.length(1)
    expect(mails[0]?.text).to.match(/https:\/\/gateway\.sandbox\.example\/pay\/\w+/)
    await world.database.admin.raw(
      `update sandbox_object set state = jsonb_set(state, '{paidAt}', to_jsonb((extract(epoch from now()) * 1000)::bigint)) where our_id = ?`,
      [paymentId],
    )
    // The gateway tells of nothing by itself that was changed behind its back.
    await house.inHouse((trx) => enqueue(trx, readPayment, { tenantId: house.tenantId, paymentId }))
    await work(aheadMs)
    const [later] = await payments(one.id)
    expect(later).to.include({ status: 'captured' })
    expect(later).to.include({ capturedAmount: 8_000, allocatedAmount: 8_000 })
  })

  it('sends a link after the saved card was declined', async () => {
    const one = await stay(true)
    await world.database.admin.raw(
      `update sandbox_object set state = jsonb_set(state, '{token}', '"decline"') where kind = 'method'`,
    )
    await fallDue(one)
    await work()
    expect((await payments(one.id)).map(({ channel, status }) => [channel, status])).to.deep.equal([
      ['automatic', 'failed'],
    ])
    await work(aheadMs)
    expect((await payments(one.id)).map((each) => each.channel)).to.deep.equal(['automatic', 'link'])
    await work(aheadMs)
    expect(await payments(one.id)).to.have.length(2)
  })

  it('asks for nothing where the house does not want it, or the guest is paying already', async () => {
    const one = await stay(true)
    await change(`update property set settings = jsonb_set(settings, '{deposits}', '{"collectAutomatically": false}')`)
    const depositId = await fallDue(one)
    await work()
    expect(await payments(one.id)).to.deep.equal([])
    await change(`update property set settings = jsonb_set(settings, '{deposits}', '{"collectAutomatically": true}')`)
    await house.inHouse((trx) =>
      payForBooking(trx, one.bookingId, { method: 'pix', amount: 'all', cardToken: 'pix_unpaid' }),
    )
    await house.inHouse((trx) => collectDeposit(trx, depositId))
    expect(await payments(one.id)).to.deep.equal([])
    const again = await change(
      `select id from jobs where kind = 'payments.collect-deposit' and run_at > now() + interval '50 minutes'`,
    )
    expect(again).to.have.length(1)
  })

  it('charges the saved card for what the fee of a cancellation leaves open, once', async () => {
    const one = await stay(true)
    await change(
      `update reservation set policies = jsonb_set(policies, '{cancellation,rules}', '{"tiers":[],"after":{"type":"full","value":0,"of":"total"},"graceHoursAfterBooking":0,"earlyDeparture":{"type":"none","value":0,"of":"room"}}') where id = ?`,
      [one.id],
    )
    await house.inHouse((trx) =>
      cancelReservations(trx, one.bookingId, { acceptedFee: 40_000, reason: 'changed_plans' }),
    )
    expect((await readBooking(house, one.bookingId)).folios[0]).to.include({ charges: 40_000, credits: 12_000 })
    await work()
    await house.inHouse((trx) => collectFee(trx, one.id))
    await work()
    expect(
      (await payments(one.id)).map(({ channel, status, capturedAmount }) => [channel, status, capturedAmount]),
    ).to.deep.equal([['automatic', 'captured', 28_000]])
    expect((await readBooking(house, one.bookingId)).folios[0]).to.include({ balance: 0 })
  })

  it('leaves a fee on the folio where no card was saved', async () => {
    const one = await stay(false)
    await change(`update reservation set status = 'no_show', fee_amount = 40000 where id = ?`, [one.id])
    await house.inHouse((trx) => collectFee(trx, one.id))
    expect(await payments(one.id)).to.deep.equal([])
  })
})
