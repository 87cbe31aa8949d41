import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { SMTPServer } from 'smtp-server'
import { settings } from '../../config/env.ts'
import { standIn } from '../../config/outgoing-address.ts'
import { sql } from '../../db/lib/connection.ts'
import { closeMail } from '../../workers/providers/smtp.ts'
import { makeKey } from '../auth/support.ts'
import { attemptsOf, deliverAll } from '../support/messages.ts'
import { drain } from '../support/drain.ts'
import { makeHold } from '../support/stay.ts'
import { certificate, privateKey } from './certificate.ts'
import { channelOf, makeConversation } from './records.ts'
import { good, said, useWritingHouse } from './support.ts'

describe('a house that is written to', function () {
  this.timeout(240_000)
  const house = useWritingHouse()
  const { own, send, get, guestWith, grant, twilioSays, enable } = house
  it('hears Twilio once, in any order, and believes nobody else', async () => {
    await enable()
    const sent = good(
      await send('POST', 'messages', {
        propertyId: own.house.propertyId,
        recipient: { name: 'Ana', phone: '+5511987650001' },
        text: { text: 'Your room is ready' },
        plan: [{ channel: 'sms', waitMinutes: 30 }],
      }),
      201,
    )
    await deliverAll()
    const [text] = house.peer.texts
    const state = (MessageStatus: string) => ({ MessageSid: text?.sid ?? '', MessageStatus })
    expect((await twilioSays('sms', state('delivered'), { token: 'somebody' })).status).to.equal(401)
    const other = (url: string) => url.replace(/^https?/, (scheme) => (scheme === 'http' ? 'https' : 'http'))
    expect((await twilioSays('sms', state('delivered'), { signed: other })).status).to.equal(401)
    expect((await twilioSays('whatsapp', state('delivered'))).status).to.equal(200)
    for (const word of ['delivered', 'delivered', 'sent', 'undelivered', 'queued'])
      expect((await twilioSays('sms', state(word))).status).to.equal(200)
    await deliverAll()
    const read = good(await get(`messages/${sent.id}`))
    expect(read).to.include({ status: 'delivered', recipient: '+5511987650001', text: 'Your room is ready' })
    expect(read.attempts).to.have.length(1)
    expect(house.peer.misuses).to.deep.equal([])
  })

  it('answers a guest, and stops at the word', async () => {
    await enable()
    const inbound = (sid: string, Body: string) =>
      twilioSays('whatsapp', { MessageSid: sid, From: 'whatsapp:+5511987650002', To: 'whatsapp:+15005550007', Body })
    const guestId = await guestWith({ phone: '+5511987650002' })
    await grant(guestId, 'marketing_whatsapp')
    await Promise.all([inbound('SM1', 'Is there parking?'), inbound('SM1', 'Is there parking?')])
    await deliverAll()
    const [conversation, ...others] = good(await get('conversations?unanswered=true')).data as {
      id: string
      guestId: string
      lastMessage: { text: string }
    }[]
    expect(others).to.deep.equal([])
    expect(conversation).to.include({ guestId })
    expect(conversation?.lastMessage.text).to.equal('Is there parking?')
    const { key } = await makeKey(own.house.tenantId, ['read'])
    const seen = await own.world.request('GET', `/api/tenants/${own.house.tenantId}/ocp/conversations`, { key })
    expect(seen.body.data[0]?.address, JSON.stringify(seen.body)).to.include('*')
    good(await send('POST', `conversations/${conversation?.id}/reply`, { text: 'Yes, behind the house.' }), 201)
    await deliverAll()
    expect(house.peer.texts.map(({ to, body }) => [to, body])).to.deep.equal([
      ['whatsapp:+5511987650002', 'Yes, behind the house.'],
    ])
    expect(good(await get('conversations?unanswered=true')).data).to.deep.equal([])
    await own.house.inHouse((trx) => sql(trx, `update conversation set last_inbound_at = now() - interval '25 hours'`))
    expect(said(await send('POST', `conversations/${conversation?.id}/reply`, { text: 'Still there?' }))).to.deep.equal(
      [422, 'window_closed'],
    )
    // Heard only now, a word of yesterday opens no window, but waits for an answer.
    await inbound('SM3', 'Is there a pool?')
    await own.world.database.admin.raw(
      `update message_callback set created_at = now() - interval '25 hours' where status = 'received'`,
    )
    await deliverAll()
    expect(said(await send('POST', `conversations/${conversation?.id}/reply`, { text: 'Yes' }))).to.deep.equal([
      422,
      'window_closed',
    ])
    expect(good(await get('conversations?unanswered=true')).data).to.have.length(1)
    await inbound('SM2', '  Párar. ')
    await deliverAll()
    expect(said(await send('POST', `conversations/${conversation?.id}/reply`, { text: 'Sorry' }))).to.deep.equal([
      422,
      'recipient_suppressed',
    ])
    const [consent] = await own.house.inHouse((trx) =>
      sql(trx, `select decision from guest_consent where guest_id = ? order by at desc limit 1`, [guestId]),
    )
    expect(consent).to.deep.equal({ decision: 'withdrawn' })
    const [stop] = good(await get('suppressions?cause=stop')).data as { id: string; address: string }[]
    expect(stop?.address).to.equal('+5511987650002')
    good(await send('POST', `suppressions/${stop?.id}/lift`, { reason: 'asked at the desk' }))
    good(await send('POST', `conversations/${conversation?.id}/close`))
    expect(said(await send('POST', `conversations/${conversation?.id}/reply`, { text: 'Hi' }))).to.deep.equal([
      409,
      'invalid_transition',
    ])
  })

  it('knows the stay of the guest who writes, also where it was booked under a profile that was merged', async () => {
    await enable()
    const bookingId = await makeHold(own.house)
    const guestId = await guestWith({ phone: '+5511987650003' })
    const mergedGuestId = await guestWith({ firstName: 'Anna' })
    const [stay] = await own.house.inHouse((trx) =>
      sql<{ id: string }>(trx, `update reservation set primary_guest_id = ? where booking_id = ? returning id`, [
        mergedGuestId,
        bookingId,
      ]),
    )
    good(await own.owner.send('POST', `guests/${guestId}/merge`, { mergedGuestId, reason: 'One person' }))
    await twilioSays('sms', { MessageSid: 'SM9', From: '+5511987650003', To: '+15005550006', Body: 'We are late' })
    await deliverAll()
    expect(good(await get('messages?direction=inbound')).data[0]).to.include({ guestId, reservationId: stay?.id })
  })

  it('keeps what an erased guest writes, of nobody it knows', async () => {
    await enable()
    const from = '+5511987650004'
    const guestId = await guestWith({ phone: from })
    const write = async (MessageSid: string, Body: string) => {
      expect((await twilioSays('sms', { MessageSid, From: from, To: '+15005550006', Body })).status).to.equal(200)
      await deliverAll()
    }
    await write('SM21', 'Is there parking?')
    const asked = good(
      await own.owner.send('POST', 'privacy-requests', { guestId, kind: 'erasure', channel: 'email' }),
      201,
    )
    const approval = { identityMethod: 'document', planHash: (asked.plan as { hash: string }).hash }
    good(await own.owner.send('POST', `privacy-requests/${asked.id}/approve`, approval))
    await drain()
    await write('SM22', 'And breakfast?')
    const heard = good(await get('messages?direction=inbound&sort=createdAt')).data as {
      guestId: string | null
      reservationId: string | null
    }[]
    expect(heard.map((one) => [one.guestId, one.reservationId])).to.deep.equal([
      [guestId, null],
      [null, null],
    ])
    const conversations = good(await get('conversations?unanswered=true')).data as {
      guestId: string | null
      lastMessage: { text: string }
    }[]
    expect(conversations[0]?.lastMessage.text).to.equal('And breakfast?')
    expect(conversations[0]?.guestId).to.equal(null)
    // A stop word of theirs is heard as that of any stranger.
    await write('SM23', 'SAIR')
    expect((good(await get('suppressions?cause=stop')).data as { address: string }[])[0]?.address).to.equal(from)
  })

  it('sends by a server of its own once that is proven, with TLS and a login', async () => {
    const taken: { user: unknown; secure: boolean; text: string }[] = []
    const server = new SMTPServer({
      key: privateKey,
      cert: certificate,
      authMethods: ['PLAIN', 'LOGIN'],
      onAuth: ({ username, password }, _session, done) =>
        password === 'right' ? done(null, { user: username }) : done(new Error('Invalid login')),
      onData: (stream, session, done) => {
        let text = ''
        stream.on('data', (part: Buffer) => (text += part.toString('utf8')))
        stream.on('end', () => {
          taken.push({ user: session.user, secure: session.secure, text })
          done()
        })
      },
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const takeBack = standIn({ host: 'mail.example', port: (server.server.address() as AddressInfo).port })
    const before = settings.smtpCa
    settings.smtpCa = certificate
    try {
      const id = await channelOf(own.house, 'email')
      const account = (password: string) => ({
        transport: 'own',
        senderAddress: 'hello@sol.example',
        credentials: { host: 'mail.example', port: 587, user: 'sol', password },
      })
      expect(said(await send('PATCH', `channels/${id}`, { ...account('wrong'), enabled: true }))).to.deep.equal([
        422,
        'sender_not_verified',
      ])
      const statusAfter = async (password: string) => {
        const changed = good(await send('PATCH', `channels/${id}`, account(password)))
        expect(JSON.stringify(changed)).to.not.contain(password)
        good(await send('POST', `channels/${id}/test`, { recipient: 'me@sol.example' }))
        await deliverAll()
        const { data } = good(await get(`channels?kind=email`))
        return (data as { verification: { status: string } }[])[0]?.verification.status
      }
      expect(await statusAfter('wrong')).to.equal('failed')
      expect(await statusAfter('right')).to.equal('verified')
      await makeConversation(own.house, { kind: 'email', address: 'ana@example.com' })
      const [conversation] = good(await get('conversations')).data as { id: string }[]
      good(await send('POST', `conversations/${conversation?.id}/reply`, { text: 'Good day' }), 201)
      await deliverAll()
      expect(taken.map(({ user, secure }) => [user, secure])).to.deep.equal([
        ['sol', true],
        ['sol', true],
      ])
      expect(taken[1]?.text).to.contain('hello@sol.example').and.to.contain('Good day')
      const [attempt] = await attemptsOf(own.house)
      expect(attempt).to.include({ transport: 'own', status: 'sent' })
      expect(good(await get('usage')).months[0].meters[0].quantity).to.equal(0)
    } finally {
      settings.smtpCa = before
      closeMail()
      takeBack()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  })

  it('signs what is reported of mail with the secret of the channel alone', async () => {
    const id = await channelOf(own.house, 'email')
    const secret = Buffer.alloc(32, 7).toString('base64')
    good(await send('PATCH', `channels/${id}`, { credentials: { inboundSecret: secret } }))
    const { callbackUrl } = good(await get('channels?kind=email')).data[0] as { callbackUrl: string }
    const body = JSON.stringify({
      type: 'inbound',
      id: 'mail-1',
      from: 'guest@example.com',
      subject: 'Question\r\nBcc: x',
      text: 'Do you take dogs?',
    })
    const post = (key: string) => {
      const at = String(Math.floor(Date.now() / 1_000))
      const signed = createHmac('sha256', Buffer.from(key, 'base64')).update(`m1.${at}.${body}`).digest('base64')
      return own.world.request('POST', callbackUrl.slice(settings.publicBaseUrl.length), {
        raw: body,
        headers: {
          'content-type': 'application/json',
          'webhook-id': 'm1',
          'webhook-timestamp': at,
          'webhook-signature': `v1,${signed}`,
        },
      })
    }
    expect((await post(Buffer.alloc(32, 8).toString('base64'))).status).to.equal(401)
    expect((await post(secret)).status).to.equal(200)
    expect((await post(secret)).status).to.equal(200)
    await deliverAll()
    const { data } = good(await get('messages?direction=inbound'))
    expect(data).to.have.length(1)
    expect((await own.world.request('POST', '/api/callbacks/messages/nobody', {})).status).to.equal(401)
  })
})
