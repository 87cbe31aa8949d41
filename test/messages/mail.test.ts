import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { inTenant, sql } from '../../db/connection.ts'
import { queueMessage } from '../../db/ocp/index.ts'
import { suppress } from '../../db/ocp/suppression.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, deliverAll, makeConfirmed, messagesOf, useMailPeer } from '../support/messages.ts'
import { readBooking } from '../support/stay.ts'

const tenMinutes = 10 * 60_000

describe('messages by e-mail', () => {
  const world = useDatabase()
  const mail = useMailPeer()
  let house: House

  beforeEach(async () => {
    // What an earlier test left to be done later is not this one's.
    await world.database.admin.raw('delete from jobs')
    house = await makeHouse({ deposit: null })
  })

  const queue = (request: Partial<Parameters<typeof queueMessage>[1]> = {}) =>
    house.inHouse((trx) =>
      queueMessage(trx, {
        propertyId: house.propertyId,
        templateKey: 'registration-link',
        dedupeKey: randomUUID(),
        recipient: { name: 'Ana Souza', email: 'ana@example.com' },
        ...request,
      }),
    )

  it('tell a guest of the confirmation and of the cancellation, each once', async () => {
    const bookingId = await makeConfirmed(house, { email: 'clara@guests.example' })
    await deliverAll()
    const booking = await readBooking(house, bookingId)
    expect(mail.peer.mails).to.have.length(1)
    const [confirmation] = mail.peer.mails
    const [{ name } = { name: '' }] = await house.inHouse((trx) =>
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

    await house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'changed_plans' }))
    await deliverAll()
    expect(mail.peer.mails.map((one) => one.subject.includes('cancelada'))).to.deep.equal([false, true])
    const messages = await messagesOf(house)
    expect(messages.map((one) => one.status)).to.deep.equal(['sent', 'sent'])
    const attempts = await attemptsOf(house)
    expect(attempts.map((one) => one.status)).to.deep.equal(['sent', 'sent'])
    expect(JSON.stringify(attempts[0]?.proof)).to.contain('250 2.0.0 taken')
  })

  it('say nothing of a hold that its guest let go', async () => {
    const { makeHold } = await import('../support/stay.ts')
    const bookingId = await makeHold(house)
    await house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'changed_plans' }))
    await deliverAll()
    expect(mail.peer.mails).to.deep.equal([])
    expect(await messagesOf(house)).to.deep.equal([])
  })

  it('come once though the same event is handled twenty times at once', async () => {
    await makeConfirmed(house)
    const { triggerMessages } = await import('../../db/ocp/trigger.ts')
    const [event] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from event where type = 'reservation.confirmed'`),
    )
    const eventId = event?.id ?? ''
    const made = await Promise.all(
      Array.from({ length: 20 }, () => inTenant(house.tenantId, (trx) => triggerMessages(trx, eventId))),
    )
    expect(made.reduce((sum, count) => sum + count, 0)).to.equal(1)
    await deliverAll()
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
    expect(await messagesOf(house)).to.have.length(1)
  })

  it('are asked for once by a module too, and make one job', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => queue({ dedupeKey: 'link-1' })))
    expect(ids.filter((id) => id !== null)).to.have.length(1)
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
  })

  it('are not sent by a job whose turn is over', async () => {
    const id = await queue({ scheduledFor: new Date(Date.now() + 3_600_000) })
    await house.inHouse((trx) => sql(trx, `update message set turn = turn + 1 where id = ?`, [id]))
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
      await queue({ recipient: { name: 'Ana', email } })
    await deliverAll()
    expect(mail.peer.mails).to.deep.equal([])
    expect((await messagesOf(house)).map((one) => `${one.status} ${one.reason}`)).to.deep.equal(
      Array(6).fill('suppressed recipient_missing'),
    )

    await queue({
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
    await queue({ templateKey: 'booking-access-code', data: { guestAccessCodeId: codeId } })
    await deliverAll()
    const { guestAccessCode } = await import('../../config/derived-secrets.ts')
    expect(mail.peer.mails[0]?.text).to.contain(guestAccessCode(codeId))
    const { unseal } = await import('../../db/sealing/index.ts')
    const { attemptPlace } = await import('../../db/ocp/sending.ts')
    const [attempt] = await attemptsOf(house)
    const body = await house.inHouse((trx) =>
      unseal<{ text: string }>(
        trx,
        'tenant',
        attemptPlace(attempt?.id ?? '', 'body'),
        attempt?.body ?? Buffer.alloc(0),
      ),
    )
    expect(body.text).to.contain('•••').and.not.to.contain(guestAccessCode(codeId))
  })

  describe('with a peer that fails', () => {
    it('451: is tried again under the same Message-ID, and arrives', async () => {
      mail.peer.behave('451')
      const id = await queue()
      const { drain } = await import('../support/drain.ts')
      await drain({ kinds: ['messages.deliver'], deliveries: 1 })
      expect((await messagesOf(house))[0]?.status).to.equal('queued')
      mail.peer.behave('accept')
      await house.inHouse((trx) =>
        sql(trx, `update jobs set status = 'pending', run_at = now() where kind = 'messages.deliver'`),
      )
      await deliverAll()
      expect(mail.peer.mails).to.have.length(1)
      expect(mail.peer.mails[0]?.messageId).to.contain(`${id}.2@`)
      expect((await attemptsOf(house)).map((one) => `${one.status} ${one.errorCode ?? ''}`)).to.deep.equal([
        'failed smtp_451',
        'sent ',
      ])
      expect((await messagesOf(house))[0]?.status).to.equal('sent')
    })

    it('451 for ever: ends as failed and not as forgotten', async () => {
      mail.peer.behave('451')
      await queue()
      await deliverAll(86_400_000)
      const [message] = await messagesOf(house)
      expect(message).to.include({ status: 'failed', reason: 'smtp_451' })
    })

    it('550 of the mail: is not tried again', async () => {
      mail.peer.behave('550')
      await queue()
      await deliverAll(86_400_000)
      expect((await messagesOf(house))[0]).to.include({ status: 'failed', reason: 'smtp_550' })
      expect(await attemptsOf(house)).to.have.length(1)
      expect(await house.inHouse((trx) => sql(trx, `select id from suppression`))).to.deep.equal([])
    })

    it('550 of the mailbox: nothing more goes there', async () => {
      mail.peer.behave('550 recipient')
      await queue()
      await deliverAll()
      mail.peer.behave('accept')
      await queue()
      await deliverAll()
      expect((await messagesOf(house)).map((one) => `${one.status} ${one.reason}`)).to.deep.equal([
        'failed smtp_550',
        'suppressed recipient_suppressed',
      ])
      expect((await attemptsOf(house))[0]?.status).to.equal('bounced')
      expect(mail.peer.mails).to.deep.equal([])
    })

    it('closes after DATA: is unknown, left alone for ten minutes, then sent once more under the same Message-ID', async () => {
      mail.peer.behave('close after data')
      await queue()
      await deliverAll()
      expect((await messagesOf(house))[0]?.status).to.equal('sending')
      expect((await attemptsOf(house)).map((one) => one.status)).to.deep.equal(['unknown'])
      await deliverAll(tenMinutes - 60_000)
      expect(mail.peer.mails, 'the pool did not send it again by itself').to.have.length(1)
      mail.peer.behave('accept')
      await deliverAll(tenMinutes + 1_000)
      expect(mail.peer.mails).to.have.length(2)
      expect(new Set(mail.peer.mails.map((one) => one.messageId)).size).to.equal(1)
      expect((await attemptsOf(house)).map((one) => one.status)).to.deep.equal(['sent'])
      expect((await messagesOf(house))[0]?.status).to.equal('sent')
    })

    it('stays silent: a mail has failed after its second try, a code after its first', async () => {
      mail.peer.behave('close after data')
      await queue()
      await queue({ templateKey: 'booking-access-code', data: { guestAccessCodeId: randomUUID() } })
      await deliverAll(86_400_000)
      expect((await messagesOf(house)).map((one) => `${one.status} ${one.reason}`)).to.deep.equal(
        Array(2).fill('failed outcome_unknown'),
      )
      expect(mail.peer.mails.filter((one) => /c[óo]d/i.test(one.subject))).to.have.length(1)
      expect(mail.peer.mails).to.have.length(3)
    })

    it('is not there: is not sent, and sent when it is', async () => {
      const { settings } = await import('../../config/env.ts')
      const url = settings.smtpUrl
      settings.smtpUrl = 'smtp://127.0.0.1:9'
      await queue()
      const { drain } = await import('../support/drain.ts')
      await drain({ kinds: ['messages.deliver'], deliveries: 1 })
      expect((await attemptsOf(house)).map((one) => `${one.status} ${one.errorCode}`)).to.deep.equal([
        'failed ECONNREFUSED',
      ])
      settings.smtpUrl = url
      await house.inHouse((trx) =>
        sql(trx, `update jobs set status = 'pending', run_at = now() where kind = 'messages.deliver'`),
      )
      await deliverAll()
      expect(mail.peer.mails).to.have.length(1)
    })

    it('a start that died after the call: one attempt, and the second mail is the first one again', async () => {
      const id = await queue()
      const { decideSending } = await import('../../db/ocp/sending.ts')
      const decision = await house.inHouse((trx) => decideSending(trx, id ?? '', 0))
      if (!('send' in decision)) throw new Error('it was not to be sent')
      const { sendMail } = await import('../../workers/providers/smtp.ts')
      expect((await sendMail({ ...decision.send, isAutomatic: true }, AbortSignal.timeout(5_000))).kind).to.equal(
        'accepted',
      )
      // The process is gone before it writes; the job is started again.
      await deliverAll()
      expect((await attemptsOf(house)).map((one) => one.status)).to.deep.equal(['unknown'])
      await deliverAll(tenMinutes + 1_000)
      expect(mail.peer.mails.map((one) => one.messageId)).to.deep.equal(Array(2).fill(decision.send.messageId))
      expect((await attemptsOf(house)).map((one) => one.status)).to.deep.equal(['sent'])
    })
  })

  describe('checked again when they are sent', () => {
    const statuses = async () => (await messagesOf(house)).map((one) => `${one.status} ${one.reason ?? ''}`.trim())

    it('a suppression added meanwhile stops them', async () => {
      await queue()
      await house.inHouse((trx) =>
        suppress(trx, { kind: 'email', address: 'ANA@example.com', scope: 'all', cause: 'manual', messageId: null }),
      )
      await deliverAll()
      expect(await statuses()).to.deep.equal(['suppressed recipient_suppressed'])
      expect(mail.peer.mails).to.deep.equal([])
    })

    it('marketing needs the consent of that moment, and stops when it is withdrawn', async () => {
      const bookingId = await makeConfirmed(house)
      await deliverAll()
      mail.peer.mails.splice(0)
      const { bookerGuestId } = await readBooking(house, bookingId)
      await house.inHouse((trx) =>
        sql(trx, `update message_template set purpose = 'marketing', urgency = 'normal' where key = 'thank-you'`),
      )
      await house.inHouse((trx) =>
        sql(
          trx,
          `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00"}}'::jsonb`,
        ),
      )
      const consent = (decision: string) =>
        house.inHouse((trx) =>
          sql(
            trx,
            `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_email', ?, 'desk', '1', '{}')`,
            [bookerGuestId, decision],
          ),
        )
      const ask = () =>
        house.inHouse((trx) =>
          queueMessage(trx, {
            propertyId: house.propertyId,
            templateKey: 'thank-you',
            dedupeKey: randomUUID(),
            guestId: bookerGuestId,
          }),
        )
      await ask()
      await deliverAll()
      await consent('granted')
      await ask()
      await deliverAll()
      await ask()
      await consent('withdrawn')
      await deliverAll()
      expect((await statuses()).slice(1)).to.deep.equal([
        'suppressed consent_missing',
        'sent',
        'suppressed consent_missing',
      ])
      expect(mail.peer.mails).to.have.length(1)
    })

    it('a reservation cancelled meanwhile is not confirmed to its guest', async () => {
      const bookingId = await makeConfirmed(house)
      const { drain } = await import('../support/drain.ts')
      await drain({ kinds: ['messages.trigger'] })
      await house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'changed_plans' }))
      await deliverAll()
      expect((await statuses()).sort()).to.deep.equal(['sent', 'suppressed reservation_status'])
      expect(mail.peer.mails).to.have.length(1)
    })

    it('a feature that ended, a time that is over, a channel that was switched off', async () => {
      await queue({ scheduledFor: new Date(Date.now() - 7_200_000), validMinutes: 60 })
      await deliverAll()
      await house.inHouse((trx) => sql(trx, `update message_channel set enabled = false where kind = 'email'`))
      await queue()
      await deliverAll()
      await world.database.admin.raw(
        `update entitlement_grant set ended_at = now(), end_cause = 'expired' where tenant_id = ? and key = 'ocp'`,
        [house.tenantId],
      )
      await queue()
      await deliverAll()
      expect(await statuses()).to.deep.equal([
        'expired too_late',
        'suppressed no_channel',
        'expired feature_not_enabled',
      ])
      expect(mail.peer.mails).to.deep.equal([])
    })

    it('no more a day than the house allows one guest and itself', async () => {
      await house.inHouse((trx) =>
        sql(trx, `update message_template set urgency = 'normal' where key = 'registration-link'`),
      )
      await house.inHouse((trx) =>
        sql(
          trx,
          `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00", "perGuestDaily": 2}}'::jsonb`,
        ),
      )
      for (let n = 0; n < 3; n += 1) await queue()
      const { decideSending } = await import('../../db/ocp/sending.ts')
      const ids = await house.inHouse((trx) => sql<{ id: string }>(trx, `select id from message`))
      const decisions = await Promise.all(ids.map(({ id }) => house.inHouse((trx) => decideSending(trx, id, 0))))
      expect(decisions.filter((one) => 'send' in one)).to.have.length(2)
      expect(decisions.filter((one) => 'done' in one && one.done === 'guest_limit')).to.have.length(1)

      await house.inHouse((trx) => sql(trx, `update message_channel set daily_cap = 3 where kind = 'email'`))
      const more = await Promise.all(
        Array.from({ length: 4 }, (_, n) => queue({ recipient: { name: 'Rui', email: `rui${n}@example.com` } })),
      )
      const later = await Promise.all(more.map((id) => house.inHouse((trx) => decideSending(trx, id ?? '', 0))))
      expect(later.filter((one) => 'send' in one)).to.have.length(1)
      expect(later.filter((one) => 'done' in one && one.done === 'postponed')).to.have.length(3)
    })
  })

  it('leave no address in clear in any table, job or event', async () => {
    const { email, name } = { email: 'needle.in.a.haystack@example.com', name: 'Zephyrine' }
    await makeConfirmed(house, { email })
    await queue({ recipient: { name, email } })
    for (const behaviour of ['accept', '550', '550 recipient'] as const) {
      mail.peer.behave(behaviour)
      await queue({ recipient: { name, email } })
      await deliverAll()
    }
    expect((await attemptsOf(house)).map((one) => one.status)).to.deep.equal([
      'sent',
      'sent',
      'sent',
      'failed',
      'bounced',
    ])
    const tables = await world.database.admin('pg_tables').where({ schemaname: 'public' }).pluck<string[]>('tablename')
    const found: string[] = []
    for (const table of tables) {
      const clear = await sql(
        world.database.admin,
        `select 1 from ${table} t where t::text ilike any (array['%needle.in%', '%6e6565646c652e696e%']) limit 1`,
      )
      if (clear.length > 0) found.push(table)
    }
    expect(found).to.deep.equal([])
  })
})
