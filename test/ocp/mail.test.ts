import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { earlierRelease } from '../support/events.ts'
import { attemptsOf, deliverAll, makeConfirmed, messagesOf, useMailHouse } from '../support/messages.ts'
import { readBooking } from '../support/stay.ts'

describe('messages by e-mail', () => {
  const mail = useMailHouse()

  it('tell a guest of the confirmation and of the cancellation, each once', async () => {
    const bookingId = await makeConfirmed(mail.house, { email: 'clara@guests.example' })
    await deliverAll()
    const booking = await readBooking(mail.house, bookingId)
    expect(mail.peer.mails).to.have.length(1)
    const [confirmation] = mail.peer.mails
    const [{ name } = { name: '' }] = await mail.house.inHouse((trx) =>
      sql<{ name: string }>(trx, `select name from property`),
    )
    expect(confirmation?.recipients).to.deep.equal(['clara@guests.example'])
    expect(confirmation?.to).to.deep.equal(['clara@guests.example'])
    expect(confirmation?.subject).to.equal(`Sua reserva ${booking.number}-1 em ${name} está confirmada`)
    expect(confirmation?.text)
      .to.contain('Olá, Ana,')
      .and.to.contain('R$ 400,00')
      .and.to.contain('Quarto, Flexível')
      .and.not.to.contain('{{')
    expect(confirmation?.source).to.match(/^Auto-Submitted: auto-generated\r$/m)

    await mail.house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'changed_plans' }))
    await deliverAll()
    expect(mail.peer.mails.map((one) => one.subject.includes('cancelada'))).to.deep.equal([false, true])
    const messages = await messagesOf(mail.house)
    expect(messages.map((one) => one.status)).to.deep.equal(['sent', 'sent'])
    const attempts = await attemptsOf(mail.house)
    expect(attempts.map((one) => one.status)).to.deep.equal(['sent', 'sent'])
    expect(JSON.stringify(attempts[0]?.proof)).to.contain('250 2.0.0 taken')
  })

  it('say nothing of a hold that its guest let go', async () => {
    const { makeHold } = await import('../support/stay.ts')
    const bookingId = await makeHold(mail.house)
    await mail.house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'changed_plans' }))
    await deliverAll()
    expect(mail.peer.mails).to.deep.equal([])
    expect(await messagesOf(mail.house)).to.deep.equal([])
  })

  it('come once though the same event is handled twenty times at once', async () => {
    await makeConfirmed(mail.house)
    const { triggerMessages } = await import('../../db/ocp/trigger.ts')
    const [event] = await mail.house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from event where type = 'reservation.confirmed'`),
    )
    const eventId = event?.id ?? ''
    const made = await Promise.all(
      Array.from({ length: 20 }, () => inTenant(mail.house.tenantId, (trx) => triggerMessages(trx, eventId))),
    )
    expect(made.reduce((sum, count) => sum + count, 0)).to.equal(1)
    await deliverAll()
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
    expect(await messagesOf(mail.house)).to.have.length(1)
  })

  it('find the stay that an event is about, also where a release of before has written it', async () => {
    const { triggerMessages } = await import('../../db/ocp/trigger.ts')
    const bookingId = await makeConfirmed(mail.house)
    const { propertyId, tenantId } = mail.house
    for (const data of [{ bookingId }, { targetType: 'booking', targetId: bookingId }]) {
      const [event] = await mail.house.inHouse((trx) =>
        sql<{ id: string }>(
          trx,
          `insert into event (id, type, property_id, entity, actor, request_id, data)
           values (gen_random_uuid(), 'payment.captured', ?, ?::jsonb, '{"type": "system", "id": null}', ?, ?::jsonb) returning id`,
          [propertyId, JSON.stringify({ type: 'Payment', id: bookingId }), earlierRelease, JSON.stringify(data)],
        ),
      )
      expect(await inTenant(tenantId, (trx) => triggerMessages(trx, event?.id ?? ''))).to.equal(1)
      const [message] = await mail.house.inHouse((trx) =>
        sql<{ bookingId: string }>(
          trx,
          `select r.booking_id from message m join reservation r on r.tenant_id = m.tenant_id and r.id = m.reservation_id where m.event_id = ?`,
          [event?.id],
        ),
      )
      expect(message, JSON.stringify(data)).to.deep.equal({ bookingId })
    }
  })

  it('are asked for once by a module too, and make one job', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => mail.queue({ dedupeKey: 'link-1' })))
    expect(ids.filter((id) => id !== null)).to.have.length(1)
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
  })

  it('are not sent by a job whose turn is over', async () => {
    const id = await mail.queue({ scheduledFor: new Date(Date.now() + 3_600_000) })
    await mail.house.inHouse((trx) => sql(trx, `update message set turn = turn + 1 where id = ?`, [id]))
    await deliverAll(7_200_000)
    expect(mail.peer.mails).to.deep.equal([])
  })

  it('reach one recipient, whatever a name or address tries', async () => {
    for (const email of [
      'a@b.example\r\nBcc:x@y.example',
      'a@b.example,x@y.example',
      '"a@x.example" <b@y.example>',
      'a@b.example>',
      '<a@b.example>',
      'a b@c.example',
    ])
      await mail.queue({ recipient: { name: 'Ana', email } })
    await deliverAll()
    expect(mail.peer.mails).to.deep.equal([])
    expect((await messagesOf(mail.house)).map((one) => `${one.status} ${one.reason}`)).to.deep.equal(
      Array(6).fill('suppressed recipient_missing'),
    )

    await mail.queue({
      recipient: { name: 'Eve\r\nBcc: x@y.example, "q" <z@w.example> {{code}}', email: 'eve@example.com' },
    })
    await deliverAll()
    const [only] = mail.peer.mails
    expect(only?.recipients).to.deep.equal(['eve@example.com'])
    expect(only?.to).to.deep.equal(['eve@example.com'])
    expect(only?.source.split('\r\n\r\n')[0]).not.to.match(/^Bcc:/im)
    expect(only?.text).to.contain('{{code}}')
  })

  it('carry a code only on their way: what is stored shows it blotted out', async () => {
    const codeId = randomUUID()
    await mail.queue({ templateKey: 'booking-access-code', data: { guestAccessCodeId: codeId } })
    await deliverAll()
    const { guestAccessCode } = await import('../../config/derived-secrets.ts')
    expect(mail.peer.mails[0]?.text).to.contain(guestAccessCode(codeId))
    const { unseal } = await import('../../db/lib/sealing/index.ts')
    const { attemptPlace } = await import('../../db/ocp/sending.ts')
    const [attempt] = await attemptsOf(mail.house)
    const body = await mail.house.inHouse((trx) =>
      unseal<{ text: string }>(
        trx,
        'tenant',
        attemptPlace(attempt?.id ?? '', 'body'),
        attempt?.body ?? Buffer.alloc(0),
      ),
    )
    expect(body.text).to.contain('•••').and.not.to.contain(guestAccessCode(codeId))
  })

  it('leave no address in clear in any table, job or event', async () => {
    const { email, name } = { email: 'needle.in.a.haystack@example.com', name: 'Zephyrine' }
    await makeConfirmed(mail.house, { email })
    await mail.queue({ recipient: { name, email } })
    for (const behaviour of ['accept', '550', '550 recipient'] as const) {
      mail.peer.behave(behaviour)
      await mail.queue({ recipient: { name, email } })
      await deliverAll()
    }
    expect((await attemptsOf(mail.house)).map((one) => one.status)).to.deep.equal([
      'sent',
      'sent',
      'sent',
      'failed',
      'bounced',
    ])
    const tables = await mail.database.admin('pg_tables').where({ schemaname: 'public' }).pluck<string[]>('tablename')
    const found: string[] = []
    for (const table of tables) {
      const clear = await sql(
        mail.database.admin,
        `select 1 from ${table} t where t::text ilike any (array['%needle.in%', '%6e6565646c652e696e%']) limit 1`,
      )
      if (clear.length > 0) found.push(table)
    }
    expect(found).to.deep.equal([])
  })
})
