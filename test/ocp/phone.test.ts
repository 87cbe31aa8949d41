import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { closedGates, listGates } from '../../db/jobs/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { queueMessage } from '../../db/ocp/index.ts'
import { usualPlan } from '../../db/ocp/queue.ts'
import { applyReport } from '../../db/ocp/reports.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, deliverAll, makeConfirmed, messagesOf, useMailPeer } from '../support/messages.ts'
import { useTwilio } from '../support/twilio.ts'

const minute = 60_000

describe('messages by SMS and WhatsApp', () => {
  const world = useDatabase()
  const mail = useMailPeer()
  const twilio = useTwilio()
  let house: House

  beforeEach(async () => {
    // Jobs that an earlier test left for later do not belong to this one.
    await world.database.admin.raw('delete from jobs; delete from provider_gate')
    house = await makeHouse({ deposit: null })
    await house.inHouse((trx) => sql(trx, `update message_channel set enabled = true`))
  })
  const queue = (request: Partial<Parameters<typeof queueMessage>[1]> = {}) =>
    house.inHouse((trx) =>
      queueMessage(trx, {
        propertyId: house.propertyId,
        templateKey: 'registration-link',
        dedupeKey: randomUUID(),
        recipient: { name: 'Ana', email: 'ana@example.com', phone: '+5524999990000' },
        plan: [
          { channel: 'sms', waitMinutes: 30 },
          { channel: 'email', waitMinutes: 30 },
        ],
        ...request,
      }),
    )
  const statuses = async () =>
    (await attemptsOf(house)).map((one) => `${one.kind} ${one.status} ${one.errorCode ?? ''}`.trim())

  it('go through Twilio, and stay the only one where they are delivered', async () => {
    const id = await queue()
    await deliverAll()
    expect(twilio.peer.texts).to.have.length(1)
    expect(twilio.peer.texts[0]).to.include({ to: '+5524999990000', from: '+15005550006' })
    expect(twilio.peer.texts[0]?.body).to.contain('faça seu registro')
    const [attempt] = await attemptsOf(house)
    expect(attempt).to.include({ status: 'sent', providerId: twilio.peer.texts[0]?.sid, segments: 1 })
    await house.inHouse((trx) => applyReport(trx, attempt?.id ?? '', { status: 'delivered' }))
    await deliverAll(31 * minute)
    expect(mail.peer.mails).to.deep.equal([])
    expect((await messagesOf(house))[0]).to.include({ id, status: 'delivered' })
  })

  it('fall back to mail where nothing said that they arrived, and note a delivery that comes later', async () => {
    await queue()
    await deliverAll(31 * minute)
    expect(twilio.peer.texts).to.have.length(1)
    expect(mail.peer.mails).to.have.length(1)
    expect(await statuses()).to.deep.equal(['sms sent', 'email sent'])
    const [text] = await attemptsOf(house)
    await house.inHouse((trx) => applyReport(trx, text?.id ?? '', { status: 'delivered' }))
    expect(await statuses()).to.deep.equal(['sms delivered', 'email sent'])
  })

  it('have failed with the last of them that was sent, also where the other channels had no address', async () => {
    const id = await queue({ recipient: { name: 'Ana', phone: '+5524999990000' } })
    await deliverAll(31 * minute)
    expect([await statuses(), (await messagesOf(house))[0]?.status]).to.deep.equal([['sms sent'], 'sent'])
    const [text] = await attemptsOf(house)
    const say = (status: 'failed' | 'delivered', code?: string) =>
      house.inHouse((trx) => applyReport(trx, text?.id ?? '', { status, code }))
    await say('failed', 'twilio_30003')
    await deliverAll()
    expect((await messagesOf(house))[0]).to.include({ id, status: 'failed', reason: 'twilio_30003' })
    await say('delivered')
    expect((await messagesOf(house))[0]).to.include({ status: 'delivered', reason: null })
    expect(twilio.peer.texts).to.have.length(1)
  })

  it('spare the next channel when the delivery comes before its turn', async () => {
    await queue()
    await drain({ kinds: ['messages.deliver'] })
    await drain({ kinds: ['messages.fall-back'], aheadMs: 31 * minute })
    const [text] = await attemptsOf(house)
    await house.inHouse((trx) => applyReport(trx, text?.id ?? '', { status: 'delivered' }))
    await deliverAll(60 * minute)
    expect(mail.peer.mails).to.deep.equal([])
    expect((await messagesOf(house))[0]?.status).to.equal('delivered')
  })

  it('apply reports in any order and number', async () => {
    const orders = [
      ['delivered', 'read', 'failed'],
      ['failed', 'read', 'delivered'],
      ['read', 'read', 'delivered'],
      ['read', 'failed', 'delivered'],
    ] as const
    for (const order of orders) {
      const id = await queue({ plan: [{ channel: 'sms', waitMinutes: 30 }] })
      await deliverAll()
      const [attempt] = await attemptsOf(house, id ?? '')
      for (const status of order) await house.inHouse((trx) => applyReport(trx, attempt?.id ?? '', { status }))
      const [settled] = await attemptsOf(house, id ?? '')
      expect(settled?.status, order.join(' ')).to.equal('read')
      expect((await messagesOf(house)).find((one) => one.id === id)?.status, order.join(' ')).to.equal('read')
    }
  })

  it('go to the next channel for a number that does not exist or has opted out, and never there again', async () => {
    for (const [behaviour, code] of [
      ['unknown number', 'twilio_21211'],
      ['stopped', 'twilio_21610'],
    ] as const) {
      mail.peer.mails.splice(0)
      await house.inHouse((trx) =>
        sql(trx, `update suppression set lifted_at = now(), lift_reason = 'test' where lifted_at is null`),
      )
      twilio.peer.behave(behaviour)
      const id = await queue()
      await deliverAll()
      const attempts = await attemptsOf(house, id ?? '')
      expect(attempts.map((one) => one.errorCode)).to.deep.equal([code, null])
      expect(JSON.stringify(attempts), 'also where the provider repeats the number').not.to.contain('99999000')
      expect(mail.peer.mails).to.have.length(1)
      twilio.peer.behave('accept')
      await queue()
      await deliverAll()
      expect(twilio.peer.texts).to.deep.equal([])
      expect(mail.peer.mails).to.have.length(2)
    }
  })

  it('are never taken as sent without a well-formed id', async () => {
    for (const behaviour of ['empty 200', '500 json', '502 html', 'reset'] as const) {
      twilio.peer.behave(behaviour)
      const id = await queue()
      await deliverAll()
      expect(
        (await attemptsOf(house, id ?? '')).map((one) => one.status),
        behaviour,
      ).to.deep.equal(['unknown'])
      expect((await messagesOf(house)).find((one) => one.id === id)?.status).to.equal('sending')
    }
    expect(mail.peer.mails, 'nothing falls back while it may still have arrived').to.deep.equal([])
  })

  it('of unknown outcome are looked for, and adopted where Twilio has them', async () => {
    twilio.peer.behave('reset after taking')
    await queue()
    await deliverAll()
    expect(await statuses()).to.deep.equal(['sms unknown ECONNRESET'])
    await deliverAll(3 * minute)
    expect(twilio.peer.texts, 'it was not sent again').to.have.length(1)
    const [attempt] = await attemptsOf(house)
    expect(attempt).to.include({ status: 'sent', providerId: twilio.peer.texts[0]?.sid })
  })

  it('of unknown outcome are sent once more where Twilio has none', async () => {
    twilio.peer.behave('502 html')
    await queue()
    await deliverAll()
    twilio.peer.behave('accept')
    await deliverAll(3 * minute)
    expect(twilio.peer.texts).to.have.length(1)
    expect(await statuses()).to.deep.equal(['sms sent'])
  })

  it('wait while Twilio is busy', async () => {
    twilio.peer.behave('429')
    await queue()
    await drain({ kinds: ['messages.deliver'], deliveries: 1 })
    expect(await statuses()).to.deep.equal(['sms failed http_429'])
    expect((await messagesOf(house))[0]?.status).to.equal('queued')
    twilio.peer.behave('accept')
    // The time that it asked to be left alone is over.
    await world.database.admin.raw('update provider_gate set closed_until = now()')
    await house.inHouse((trx) =>
      sql(trx, `update jobs set status = 'pending', run_at = now() where kind = 'messages.deliver'`),
    )
    await deliverAll()
    expect(twilio.peer.texts).to.have.length(1)
  })

  it('wait while Twilio refuses our credentials, without using up a try, and go once they are right', async () => {
    const { authToken } = settings.twilio
    settings.twilio.authToken = 'ended'
    const id = await queue()
    for (let tries = 0; tries < 8; tries += 1) {
      await deliverAll()
      await world.database.admin.raw(
        `update jobs set run_at = now() where kind = 'messages.deliver'; update provider_gate set closed_until = now()`,
      )
    }
    const [gate] = await inPlatform((trx) => listGates(trx))
    expect(gate).to.include({ gate: 'twilio', state: 'closed', reason: 'credentials_refused', lastSuccessAt: null })
    expect(await inPlatform((trx) => closedGates(trx))).to.deep.equal([
      { provider: 'twilio', outage: 0, credentials: 1 },
    ])
    expect((await messagesOf(house)).find((one) => one.id === id)?.status).to.equal('queued')
    expect(mail.peer.mails, 'nothing is wrong with the number').to.deep.equal([])
    settings.twilio.authToken = authToken
    await deliverAll()
    expect(twilio.peer.texts).to.have.length(1)
    expect((await inPlatform((trx) => listGates(trx)))[0]).to.include({ state: 'open', failures: 0 })
  })

  for (const fault of ['account suspended', 'sender not ours'] as const)
    it(`wait while the fault is the account's: ${fault}`, async () => {
      twilio.peer.behave(fault)
      const id = await queue()
      await deliverAll()
      expect((await inPlatform((trx) => listGates(trx)))[0]).to.include({
        gate: 'twilio',
        state: 'closed',
        reason: 'credentials_refused',
      })
      expect((await messagesOf(house)).find((one) => one.id === id)?.status).to.equal('queued')
      expect(mail.peer.mails).to.deep.equal([])
      twilio.peer.behave('accept')
      await world.database.admin.raw(
        `update jobs set run_at = now() where kind = 'messages.deliver'; update provider_gate set closed_until = now()`,
      )
      await deliverAll()
      expect(twilio.peer.texts).to.have.length(1)
    })

  for (const fault of ['forbidden for this message', 'no such content'] as const)
    it(`fall back at once, and leave the gate open, where the fault is the message's: ${fault}`, async () => {
      twilio.peer.behave(fault)
      await queue()
      await deliverAll()
      expect((await inPlatform((trx) => listGates(trx)))[0]?.state ?? 'open').to.equal('open')
      expect(mail.peer.mails).to.have.length(1)
      twilio.peer.behave('accept')
      await queue()
      await deliverAll()
      expect(twilio.peer.texts).to.have.length(1)
    })

  it('leave documents to e-mail, where SMS comes first in the order of the house', async () => {
    const order = ['sms', 'email'] as const
    expect(usualPlan('reservation-confirmed', order).map((step) => step.channel)).to.deep.equal(['email', 'sms'])
    expect(usualPlan('payment-captured', order).map((step) => step.channel)).to.deep.equal(['email', 'sms'])
    expect(usualPlan('arrival-day', order).map((step) => step.channel)).to.deep.equal(['sms', 'email'])
    expect(usualPlan('reservation-confirmed', ['sms']).map((step) => step.channel)).to.deep.equal(['sms'])
    await house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = jsonb_set(settings, '{messages}', '{"order": ["sms", "email"]}') where id = ?`,
        [house.propertyId],
      ),
    )
    await makeConfirmed(house, { email: 'ana@example.com' })
    await deliverAll()
    const [confirmation] = await messagesOf(house)
    expect(confirmation).to.include({ status: 'sent' })
    expect(mail.peer.mails.map(({ to }) => to)).to.deep.equal([['ana@example.com']])
    expect(twilio.peer.texts, 'a text would come if the mail did not').to.deep.equal([])
  })

  it('of unknown outcome wait where Twilio refuses our credentials, and are looked for afterwards', async () => {
    const { authToken } = settings.twilio
    twilio.peer.behave('reset after taking')
    await queue()
    await deliverAll()
    settings.twilio.authToken = 'ended'
    await drain({ kinds: ['messages.resolve-unknown'], aheadMs: 3 * minute, starts: 3 }).catch(() => [])
    expect(await statuses()).to.deep.equal(['sms unknown ECONNRESET'])
    settings.twilio.authToken = authToken
    await world.database.admin.raw('update provider_gate set closed_until = now()')
    await deliverAll(3 * minute)
    expect(await statuses()).to.deep.equal(['sms sent'])
  })

  it('go to countries that the house allows, and by WhatsApp with approved contents alone', async () => {
    await queue({
      recipient: { name: 'Joe', email: 'joe@example.com', phone: '+14155550100' },
      plan: [{ channel: 'sms', waitMinutes: 30 }],
    })
    await queue({ plan: [{ channel: 'whatsapp', waitMinutes: 30 }] })
    await deliverAll()
    expect((await messagesOf(house)).map((one) => one.reason)).to.deep.equal(['country_not_allowed', 'no_content'])

    const contentSid = `HX${'a'.repeat(32)}`
    const whatsapp = {
      channel: 'whatsapp',
      locale: 'pt',
      subject: null,
      text: null,
      html: null,
      contentSid,
      contentVariables: { 1: '{{property.name}}' },
    }
    await house.inHouse(async (trx) => {
      const [template] = await sql<{ id: string }>(
        trx,
        `select id from message_template where key = 'registration-link'`,
      )
      await sql(trx, `update message_template_version set status = 'replaced' where template_id = ?`, [template?.id])
      await sql(
        trx,
        `insert into message_template_version (template_id, number, status, contents, published_at) values (?, 2, 'published', ?::jsonb, now())`,
        [template?.id, JSON.stringify([whatsapp])],
      )
      await sql(trx, `update message_template set published_number = 2 where id = ?`, [template?.id])
    })
    await queue({ plan: [{ channel: 'whatsapp', waitMinutes: 30 }] })
    await deliverAll()
    expect(twilio.peer.texts[0]).to.include({ to: 'whatsapp:+5524999990000', from: 'whatsapp:+15005550007', body: '' })
  })

  describe('under sandbox', () => {
    beforeEach(() => house.inHouse((trx) => sql(trx, `update message_channel set transport = 'sandbox'`)))

    it('leave nothing, and meet the fate that the address names', async () => {
      const sent: Record<string, string> = {}
      for (const [phone, email] of [
        ['+5524999990000', 'ana@example.com'],
        ['+5524999990001', 'fail@example.com'],
        ['+5524999990003', 'ana@example.com'],
      ] as const)
        sent[`${phone} ${email}`] = (await queue({ recipient: { name: 'Ana', phone, email } })) ?? ''
      const { guestAccessCode } = await import('../../config/derived-secrets.ts')
      const codeId = randomUUID()
      const code = await queue({
        templateKey: 'booking-access-code',
        data: { guestAccessCodeId: codeId },
        plan: [{ channel: 'email', waitMinutes: 10 }],
      })
      await deliverAll(2 * minute)
      const messages = await messagesOf(house)
      expect(
        Object.entries(sent).map(([to, id]) => `${to} ${messages.find((one) => one.id === id)?.status}`),
      ).to.deep.equal([
        '+5524999990000 ana@example.com delivered',
        '+5524999990001 fail@example.com failed',
        '+5524999990003 ana@example.com sent',
      ])
      await deliverAll(31 * minute)
      expect(twilio.peer.texts).to.deep.equal([])
      expect(mail.peer.mails).to.deep.equal([])
      expect((await attemptsOf(house, sent['+5524999990003 ana@example.com'])).map((one) => one.kind)).to.deep.equal([
        'sms',
        'email',
      ])

      const { unseal } = await import('../../db/lib/sealing/index.ts')
      const { attemptPlace } = await import('../../db/ocp/sending.ts')
      const [attempt] = await attemptsOf(house, code ?? '')
      const body = await house.inHouse((trx) =>
        unseal<{ text: string }>(
          trx,
          'tenant',
          attemptPlace(attempt?.id ?? '', 'body'),
          attempt?.body ?? Buffer.alloc(0),
        ),
      )
      expect(body.text, 'what would have been sent can be read').to.contain(guestAccessCode(codeId))
    })

    it('do not answer for numbers that end in 0002', async () => {
      await queue({ recipient: { name: 'Ana', phone: '+5524999990002' }, plan: [{ channel: 'sms', waitMinutes: 30 }] })
      await deliverAll(10 * minute)
      expect((await messagesOf(house))[0]).to.include({ status: 'failed', reason: 'outcome_unknown' })
    })
  })
})
