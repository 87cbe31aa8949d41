import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createPayment } from '../../db/payment/index.ts'
import { sendAccessCode } from '../../db/reservations/access.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import { deliverAll, useMailPeer } from '../support/messages.ts'
import { gatewaySays, startPayment } from '../support/pay.ts'
import { makeHold, outlive, readBooking } from '../support/stay.ts'

/** The text of a line of the mail after its label. */
const line = (text: string | undefined, label: string) => new RegExp(`^${label}: (.*?)\\r?$`, 'm').exec(text ?? '')?.[1]

describe('what a guest reads of a booking', () => {
  useDatabase()
  const mail = useMailPeer()
  const pay = (house: Awaited<ReturnType<typeof makeHouse>>, bookingId: string) =>
    house.inHouse((trx) =>
      createPayment(trx, {
        channel: 'portal',
        method: 'card',
        amount: 12_000,
        currency: 'BRL',
        targetType: 'booking',
        targetId: bookingId,
        propertyId: house.propertyId,
        cardToken: 'success',
      }),
    )

  it('says what was paid, what is left, and what comes back', async () => {
    const house = await makeHouse()
    const bookingId = await makeHold(house, { email: 'bia@guests.example', from: 5 })
    await pay(house, bookingId)
    await drain()
    const received = mail.peer.mails.find((one) => one.subject.startsWith('Recebemos'))
    const confirmed = mail.peer.mails.find((one) => one.subject.includes('confirmada'))
    expect(mail.peer.mails.map((one) => one.recipients[0])).to.deep.equal(['bia@guests.example', 'bia@guests.example'])
    expect(received?.subject).to.equal('Recebemos seu pagamento de R$ 120,00')
    expect(line(received?.text, 'Forma de pagamento')).to.equal('cartão')
    for (const text of [received?.text, confirmed?.text]) {
      expect(line(text, 'Pago até agora')).to.equal('R$ 120,00')
      expect(line(text, 'A pagar')).to.equal('R$ 280,00')
    }
    expect(line(confirmed?.text, 'Total da estadia')).to.equal('R$ 400,00')
    expect(line(confirmed?.text, 'Alterações e cancelamento')).to.match(/Cancelamento/)

    mail.peer.mails.splice(0)
    const [room] = (await readBooking(house, bookingId)).rooms
    expect(room?.status).to.equal('confirmed')
    await house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 20_000, reason: 'changed_plans' }))
    await drain()
    expect(mail.peer.mails).to.have.length(1)
    expect(line(mail.peer.mails[0]?.text, 'Taxa de cancelamento')).to.equal('R$ 200,00')
    expect(line(mail.peer.mails[0]?.text, 'A devolver')).to.equal('R$ 0,00')
  })

  it('writes a code in the language of the booking, or in the one that is asked for', async () => {
    const house = await makeHouse({ units: 3 })
    const subjects: string[] = []
    for (const [locale, email] of [
      [undefined, 'one@guests.example'],
      ['es', 'two@guests.example'],
      ['xx', 'three@guests.example'],
    ] as const) {
      const bookingId = await makeHold(house, { email })
      await house.inHouse((trx) => sql(trx, `update booking set language = 'en' where id = ?`, [bookingId]))
      const { number } = await readBooking(house, bookingId)
      await house.inHouse((trx) =>
        sendAccessCode(trx, { propertyId: house.propertyId, number, email, locale, client: '127.0.0.1' }),
      )
      await deliverAll()
      subjects.push(mail.peer.mails.at(-1)?.subject.replace(number, '…') ?? '')
    }
    expect(subjects).to.deep.equal([
      'Your code for booking …',
      'Su código para la reserva …',
      'Seu código da reserva …',
    ])
  })

  it('tells whoever paid too late for a room that is gone, once', async () => {
    const house = await makeHouse({ units: 1 })
    const late = await makeHold(house, { email: 'rui@guests.example' })
    const paymentId = await startPayment(house, late, 'due', 'pix')
    await outlive(house, late)
    expect(await house.inHouse((trx) => expireHold(trx, late))).to.equal('expired')
    await makeHold(house)
    await gatewaySays(house, paymentId, 'captured')
    await drain({ kinds: ['inventory.confirm-paid'] })
    await house.inHouse((trx) => confirmPaid(trx, late))
    await deliverAll()
    expect((await readBooking(house, late)).rooms[0]?.status).to.equal('expired')
    const returned = mail.peer.mails.filter((one) => one.subject.includes('devolvido'))
    expect(returned).to.have.length(1)
    expect(returned[0]?.recipients).to.deep.equal(['rui@guests.example'])
    expect(returned[0]?.text).to.contain('R$ 120,00')
  })
})
