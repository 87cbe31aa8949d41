import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays, localInstant } from '../../config/time.ts'
import { signToken, verifyToken } from '../../config/tokens.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { checkIn } from '../../db/reservations/check-in.ts'
import { forgetLimits } from '../auth/support.ts'
import { drain } from '../support/drain.ts'
import { deliverAll, useMailPeer } from '../support/messages.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { newCpf, useGuests } from './support.ts'

describe('Links to registration forms', () => {
  const world = useWorld()
  const mail = useMailPeer()
  const desk = useGuests(world, {
    settings: {
      registration: { mode: 'warn' },
      messages: { quietFrom: '00:00', quietUntil: '00:00' },
      frontDesk: { conditions: ['dirty', 'clean', 'inspected'] },
    },
  })
  const { call, rows } = desk
  const mode = (registration: object) =>
    call('PATCH', `properties/${desk.house.propertyId}/settings`, { registration }, { role: 'owner' })
  beforeEach(() => forgetLimits(world))

  const book = async (from: number) => {
    const email = `rosa-${randomUUID()}@example.com`
    const bookingId = await makeHold(desk.house, {
      from,
      nights: 1,
      words: { booker: { firstName: 'Rosa', lastName: 'Lins', email } },
    })
    await desk.house.inHouse((trx) => confirmBooking(trx, bookingId))
    const [stay] = await rows<{ id: string }>(`select id from reservation where booking_id = ?`, [bookingId])
    const reservationId = stay?.id ?? ''
    const { body } = await call('GET', `guest-registrations?reservationId=${reservationId}`)
    return { reservationId, email, formId: (body.data[0] as { id: string } | undefined)?.id ?? '' }
  }
  const whole = () => ({
    document: { kind: 'cpf', countryCode: 'BR', number: newCpf() },
    birthDate: '1988-08-08',
    nationality: 'BR',
    residence: { city: 'Natal', countryCode: 'BR' },
    occupation: 'Painter',
    reason: 'leisure',
    transport: 'car',
  })
  const read = async (formId: string) => (await call('GET', `guest-registrations/${formId}`)).body

  const tokenIn = (text: string) => /guest-registrations\/([0-9a-f-]+)#token=(\S+)/.exec(text)
  const linkOf = async (formId: string): Promise<string> => {
    mail.peer.mails.splice(0)
    const sent = await call('POST', `guest-registrations/${formId}/send-link`, { channel: 'email' })
    expect(sent.status, JSON.stringify(sent.body)).to.equal(200)
    await drain({ kinds: ['messages.send-registration-link', 'messages.deliver'] })
    const found = tokenIn(mail.peer.mails.map(({ text }) => text).join('\n'))
    expect(found?.[1]).to.equal(formId)
    return found?.[2] ?? ''
  }
  const open = (formId: string, token: string, body?: object) =>
    world.request(body ? 'PATCH' : 'GET', `/api/public/guest-registrations/${formId}`, {
      headers: { 'x-registration-token': token },
      ...(body ? { body } : {}),
    })

  it('are filled in by the guest behind a link, who sees no value of them', async () => {
    const { formId, reservationId } = await book(0)
    const token = await linkOf(formId)
    const seen = await open(formId, token)
    expect(seen.status, JSON.stringify(seen.body)).to.equal(200)
    expect(seen.body).to.deep.include({ status: 'pending', name: 'Rosa Lins', masked: [] })
    const form = whole()
    const filled = await open(formId, token, { form, signed: { name: 'Rosa Lins' } })
    expect(filled.body).to.deep.include({ status: 'ready', missing: [], signedName: 'Rosa Lins' })
    expect(filled.body.masked).to.include.members(['document', 'birthDate', 'residence'])
    expect(JSON.stringify(filled.body))
      .to.not.match(/(?<![\da-f-])1988(?![\da-f])|Natal|Painter/)
      .and.not.contain(form.document.number)
    expect(await read(formId)).to.include({ signedVia: 'link' })
    // No trace of the token stays here.
    const [kept] = await rows<{ text: string }>(`select string_agg(m::text, '') as text from message m`)
    expect(kept?.text).to.not.contain(token)
    const jobs = await world.database.admin.raw(
      `select payload::text from jobs where kind = 'messages.send-registration-link'`,
    )
    expect(JSON.stringify(jobs.rows)).to.not.contain(token)
    // A new link ends the one before, and the check-in ends them all.
    const second = await linkOf(formId)
    expect((await open(formId, token)).body.code).to.equal('registration_token_invalid')
    expect((await open(formId, second)).status).to.equal(200)
    await desk.house.inHouse((trx) =>
      checkIn(trx, reservationId, { override: { rules: ['early_check_in'], reason: 'a test' } }),
    )
    expect((await open(formId, second)).status).to.equal(401)
    expect((await call('POST', `guest-registrations/${formId}/send-link`, { channel: 'email' })).status).to.equal(409)
  })

  it('open for their own link alone, ten times a minute', async () => {
    const mine = await book(30)
    const other = await book(31)
    const token = await linkOf(mine.formId)
    expect((await world.request('GET', `/api/public/guest-registrations/${mine.formId}`)).body.code).to.equal(
      'registration_token_missing',
    )
    expect((await open(other.formId, token)).status).to.equal(401)
    expect((await open(mine.formId, `${token}x`)).status).to.equal(401)
    const forged = await signToken('guest', { tenant: desk.house.tenantId, registration: mine.formId }, 600)
    expect((await open(mine.formId, forged)).status).to.equal(401)
    const late = await signToken(
      'registration',
      { tenant: desk.house.tenantId, registration: mine.formId },
      60,
      new Date(Date.now() - 120_000),
    )
    expect((await open(mine.formId, late)).status).to.equal(401)
    expect(
      (await open(mine.formId, token, { form: { document: { kind: 'cpf', countryCode: 'BR', number: '1' } } })).body
        .code,
    ).to.equal('document_invalid')
    expect((await open(mine.formId, token, { form: { phone: '1' } })).status).to.equal(400)
    const replies = await Promise.all(Array.from({ length: 24 }, () => open(mine.formId, token)))
    const statuses = replies.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).to.be.lessThanOrEqual(20)
    expect(statuses).to.include(429)
  })

  it('are sent to guests who arrive soon, once, where there is an address', async () => {
    const soon = await book(2)
    const later = await book(40)
    const invite = async () => {
      const { inviteGuests } = await import('../../jobs/guests.ts')
      const { inPlatform } = await import('../../db/lib/connection.ts')
      const { enqueue } = await import('../../db/lib/enqueue.ts')
      await inPlatform((trx) => enqueue(trx, inviteGuests, {}))
      mail.peer.mails.splice(0)
      await drain({ kinds: ['messages.invite-guests', 'messages.send-registration-link', 'messages.deliver'] })
      return mail.peer.mails.map(({ text }) => text).filter((text) => text.includes('guest-registrations')).length
    }
    expect(await invite()).to.equal(1)
    expect((await read(soon.formId)).linkSentAt).to.be.a('string')
    expect((await read(later.formId)).linkSentAt).to.equal(null)
    expect(await invite()).to.equal(0)
    const phone = await call('POST', `guest-registrations/${soon.formId}/send-link`, { channel: 'sms' })
    expect([phone.status, phone.body.code]).to.deep.equal([422, 'recipient_missing'])
  })

  /** Mails of a stay that its automations send by the morning of its arrival. */
  const mailsBeforeArrival = async ({ reservationId, email }: { reservationId: string; email: string }) => {
    mail.peer.mails.splice(0)
    await deliverAll(12 * 3_600_000)
    const mine = mail.peer.mails.filter(({ recipients }) => recipients.includes(email))
    const texts = mine.map(({ text }) => text).filter((text) => text.includes('Ficha de registro'))
    const stored = await rows<{ id: string }>(
      `select m.id from message m join message_template t on t.tenant_id = m.tenant_id and t.id = m.template_id
       where t.key = 'pre-arrival' and m.reservation_id = ? and m.sent_at is not null`,
      [reservationId],
    )
    expect(texts).to.have.length(stored.length)
    const [id = ''] = stored.map((row) => row.id)
    const { body } = await call('GET', `ocp/messages/${id}`, undefined, { role: 'owner' })
    return { text: texts.join('\n'), kept: JSON.stringify(body.attempts) }
  }

  it('stand in the message before arrival, and open the form of its reader as those sent by hand do', async () => {
    const { formId, ...stay } = await book(2)
    const { text, kept } = await mailsBeforeArrival(stay)
    const [, id, token = ''] = tokenIn(text) ?? []
    expect(id).to.equal(formId)
    const seen = await open(formId, token)
    expect([seen.status, seen.body.status]).to.deep.equal([200, 'pending'])
    expect((await open(formId, token, { form: whole(), signed: { name: 'Rosa Lins' } })).body.status).to.equal('ready')
    // It ends with the day of arrival, the house keeps no copy of it, and the guest is not written to for it once more.
    const verified = await verifyToken('registration', token)
    const [house] = await rows<{ timezone: string }>(`select timezone from property`)
    expect(verified.ok && verified.expiresAt).to.deep.equal(
      localInstant(addDays(desk.house.today, 3), '00:00', house?.timezone ?? ''),
    )
    expect(kept).to.contain('•••').and.not.contain(token)
    expect((await read(formId)).linkSentAt).to.be.a('string')
    expect(await linkOf(formId)).to.be.a('string')
    expect((await open(formId, token)).body.code).to.equal('registration_token_invalid')
  })

  it('of a message before arrival end none that was sent before', async () => {
    const { formId, ...stay } = await book(2)
    const first = await linkOf(formId)
    const { text } = await mailsBeforeArrival(stay)
    expect((await open(formId, first)).status).to.equal(200)
    expect((await open(formId, tokenIn(text)?.[2] ?? '')).status).to.equal(200)
  })

  it('are in no message before arrival where the house keeps no forms, or to an address given by hand', async () => {
    const template = async () =>
      (await rows<{ id: string }>(`select id from message_template where key = 'pre-arrival'`))[0]?.id ?? ''
    const { formId, reservationId } = await book(2)
    const byHand = await call(
      'POST',
      'ocp/messages',
      {
        propertyId: desk.house.propertyId,
        recipient: { name: 'Somebody', email: 'else@example.com' },
        reservationId,
        templateId: await template(),
        plan: [{ channel: 'email', waitMinutes: 30 }],
      },
      { role: 'owner' },
    )
    expect(byHand.status, JSON.stringify(byHand.body)).to.equal(201)
    expect((await mode({ mode: 'off' })).status).to.equal(200)
    mail.peer.mails.splice(0)
    await deliverAll(12 * 3_600_000)
    const texts = mail.peer.mails.map(({ text }) => text).filter((text) => text.includes('Ficha de registro'))
    expect(texts).to.have.length(2)
    for (const text of texts) expect(text).to.contain('na recepção, ao chegar').and.not.contain('guest-registrations')
    await mode({ mode: 'warn' })
    expect((await read(formId)).linkSentAt).to.equal(null)
  })
})
