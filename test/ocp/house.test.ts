import { createHmac, randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { SMTPServer } from 'smtp-server'
import { settings } from '../../config/env.ts'
import { standIn } from '../../config/outgoing-address.ts'
import { createGuest, mergeGuests } from '../../db/guests/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { closeMail } from '../../workers/providers/smtp.ts'
import { makeKey } from '../auth/support.ts'
import { useOwner } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import { drain } from '../support/drain.ts'
import { attemptsOf, deliverAll, useMailPeer } from '../support/messages.ts'
import { makeHold, readBooking } from '../support/stay.ts'
import { startTwilioPeer } from '../support/twilio-peer.ts'
import type { TwilioPeer } from '../support/twilio-peer.ts'
import { certificate, privateKey } from './certificate.ts'
import { channelOf, makeConversation, makeTemplate } from './records.ts'

const { getExpectedTwilioSignature } = createRequire(import.meta.url)('twilio/lib/webhooks/webhooks.js') as {
  getExpectedTwilioSignature: (token: string, url: string, params: Record<string, string>) => string
}

/** The link of a mail that went before these were sealed. It is good for ever. */
const unsealedLink = (tenantId: string, messageId: string): string => {
  const named = Buffer.from(`00${tenantId}${messageId}`.replaceAll('-', ''), 'hex')
  const proof = createHmac('sha256', settings.tokenKey ?? '')
    .update('unsubscribe|')
    .update(named)
    .digest()
  return `/api/public/unsubscribe/${Buffer.concat([named, proof.subarray(0, 20)]).toString('base64url')}`
}

describe('a house that writes to its guests', function () {
  this.timeout(240_000)
  const mail = useMailPeer()
  const unset = { ...settings.twilio }
  let peer: TwilioPeer
  const phones = () => {
    before(async () => {
      peer = await startTwilioPeer()
      Object.assign(settings.twilio, {
        accountSid: peer.accountSid,
        authToken: peer.authToken,
        baseUrl: peer.baseUrl,
        from: '+15005550006',
        whatsappFrom: '+15005550007',
      })
    })
    after(async () => {
      Object.assign(settings.twilio, unset)
      await peer.stop()
    })
  }
  phones()

  const own = useOwner({ units: 4 }, { anew: true, more: () => ({}) })
  const send = (method: string, path: string, body: unknown = {}) => own.owner.send(method, `ocp/${path}`, body)
  const get = (path: string) => own.owner.get(`ocp/${path}`)
  const good = ({ status, body }: Reply, wanted = 200) => {
    expect(status, JSON.stringify(body)).to.equal(wanted)
    return body
  }
  const said = ({ status, body }: Reply) => [status, body.code]
  const contents = [
    { channel: 'email', locale: 'en', subject: 'Hello', text: 'Dear {{guest.firstName | default:"guest"}}' },
  ]
  const newTemplate = (more: object = {}) => ({
    key: `k-${randomUUID().slice(0, 8)}`,
    name: 'A template',
    purpose: 'service',
    urgency: 'normal',
    context: 'reservation',
    contents,
    ...more,
  })
  const guestWith = (more: object) =>
    own.house.inHouse((trx) =>
      createGuest(trx, { firstName: 'Ana', lastName: 'Souza', source: 'staff', language: 'en', ...more } as never),
    )
  const grant = (guestId: string, purpose = 'marketing_email') =>
    own.house.inHouse((trx) =>
      sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, ?, 'granted', 'desk', 'v1', '{"type": "system"}')`,
        [guestId, purpose],
      ),
    )
  /** A Twilio callback to a channel, signed as Twilio does. */
  const twilioSays = async (
    kind: 'sms' | 'whatsapp',
    form: Record<string, string>,
    { token = peer.authToken, signed = (url: string) => url } = {},
  ) => {
    const { callbackUrl } = good(await get(`channels?kind=${kind}&propertyId=${own.house.propertyId}`)).data[0] as {
      callbackUrl: string
    }
    const path = callbackUrl.slice(settings.publicBaseUrl.length)
    return own.world.request('POST', path, {
      raw: new URLSearchParams(form).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': getExpectedTwilioSignature(token, signed(callbackUrl), form),
      },
    })
  }
  /** A booking of the portal, 40 days ahead and paid by card, over HTTP; `again` sends its requests once more with their keys. */
  const bookAsGuest = async () => {
    const { request } = own.world
    const { propertyId, unitTypeId, ratePlanId, termsVersion, day } = own.house
    const from = `127.0.40.${Math.floor(Math.random() * 250) + 2}`
    const room = { unitTypeId, ratePlanId, adults: 2, childrenAges: [], extras: [] }
    const asked = { propertyId, arrival: day(40), departure: day(42), rooms: [room] }
    const { quote } = good(await request('POST', '/api/public/quotes', { from, body: asked }))
    const email = `ana-${randomUUID().slice(0, 8)}@example.com`
    const booker = { firstName: 'Ana', lastName: 'Souza', email, phone: '+5524999990000' }
    const [holdKey, payKey] = [randomUUID(), randomUUID()]
    const all = async () => {
      const body = { quote, booker, acceptedTerms: termsVersion }
      const held = await request('POST', '/api/public/reservations/hold', { from, idempotencyKey: holdKey, body })
      const { bookingId, guestToken: guest } = good(held, 201) as { bookingId: string; guestToken: string }
      const by = { from, guest, idempotencyKey: payKey, body: { method: 'card', cardToken: 'success' } }
      const { paymentId } = good(await request('POST', '/api/public/payments/create', by), 201) as { paymentId: string }
      return { bookingId, paymentId, guest }
    }
    const { guest, ...first } = await all()
    const again = async () => {
      const { guest: _, ...same } = await all()
      expect(same).to.deep.equal(first)
    }
    const payRest = async () => {
      const body = { method: 'card', amount: 'all', cardToken: 'success' }
      good(await request('POST', '/api/public/payments/create', { from, guest, body }), 201)
    }
    return { ...first, email, again, payRest }
  }
  const enable = () => own.house.inHouse((trx) => sql(trx, `update message_channel set enabled = true`))
  const noQuiet = () =>
    own.house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00"}}'::jsonb`,
      ),
    )

  beforeEach(async () => {
    peer.texts.splice(0)
    await noQuiet()
  })

  it('S9: an automation and what it costs', async () => {
    const unknown = newTemplate({ contents: [{ ...contents[0], text: '{{guest.shoeSize}}' }] })
    expect(said(await send('POST', 'templates', unknown))).to.deep.equal([400, 'variable_unknown'])
    const template = good(await send('POST', 'templates', newTemplate()), 201)
    const automation = {
      name: 'Ours',
      trigger: { event: 'reservation.confirmed' },
      templateId: template.id as string,
      plan: [{ channel: 'email', waitMinutes: 30 }],
    }
    expect(said(await send('POST', 'automations', automation))).to.deep.equal([422, 'template_not_published'])
    good(await send('POST', `templates/${template.id}/publish`))
    good(await send('POST', 'automations', automation), 201)
    const book = await bookAsGuest()
    await drain()
    const { rooms } = await readBooking(own.house, book.bookingId)
    const reservationId = rooms[0]?.id ?? ''
    const statuses = async () =>
      (good(await get(`messages?reservationId=${reservationId}&limit=50`)).data as { status: string }[])
        .map(({ status }) => (status === 'delivered' ? 'sent' : status))
        .sort()
    expect(await statuses()).to.deep.equal(['scheduled', 'sent', 'sent', 'sent'])
    expect(mail.peer.mails.map(({ recipients }) => recipients)).to.deep.equal(Array(3).fill([book.email]))
    const used = async () =>
      (good(await get('usage')).months[0] as { meters: { meter: string; quantity: number }[] }).meters
    expect((await used())[0]).to.include({ meter: 'messages.email', quantity: 3, amount: 0, allowance: 2_000 })
    const idempotencyKey = randomUUID()
    const cancel = () =>
      own.owner.send('POST', `reservations/${reservationId}/cancel`, { reason: 'guest_request' }, { idempotencyKey })
    good(await cancel())
    await drain()
    expect(await statuses()).to.deep.equal(['cancelled', 'sent', 'sent', 'sent', 'sent'])
    expect((await used())[0]?.quantity).to.equal(4)
    await book.again()
    good(await cancel())
    await drain()
    expect(await statuses()).to.deep.equal(['cancelled', 'sent', 'sent', 'sent', 'sent'])
    expect([(await used())[0]?.quantity, mail.peer.mails.length]).to.deep.equal([4, 4])
  })

  it('asks for a balance until it is paid', async () => {
    const template = good(await send('POST', 'templates', newTemplate()), 201)
    good(await send('POST', `templates/${template.id}/publish`))
    const automation = good(
      await send('POST', 'automations', {
        name: 'What is due',
        trigger: { anchor: 'arrival', days: -5, at: '10:00' },
        conditions: { balanceDue: true },
        templateId: template.id as string,
      }),
      201,
    )
    const book = await bookAsGuest()
    await drain()
    const asked = async () =>
      (
        good(await get(`messages?automationId=${automation.id}`)).data as { status: string; reason: string | null }[]
      ).map(({ status, reason }) => [status, reason])
    expect(await asked()).to.deep.equal([['scheduled', null]])
    await book.payRest()
    await drain()
    expect(await asked()).to.deep.equal([['cancelled', 'not_wanted']])
  })

  it('takes no template that could not be sent, or that could run something', async () => {
    const html = (text: string) => newTemplate({ contents: [{ ...contents[0], html: text }] })
    for (const text of [
      '<script>1</script>',
      '<a href="javascript:x">x</a>',
      '<p onclick="x">x</p>',
      '<a title={{guest.firstName}}>x</a>',
      '<a href="{{guest.firstName}}">x</a>',
      '<iframe src="https://x.example"></iframe>',
      '<form action="https://x.example"></form>',
      '<img src="http://x.example/a.png">',
    ])
      expect(said(await send('POST', 'templates', html(text))), text).to.deep.equal([400, 'html_not_allowed'])
    const fine = '<p style="color:red">Hi <a href="https://x.example">{{guest.firstName | default:"you"}}</a></p>'
    good(await send('POST', 'templates', html(fine)), 201)
    const marketing = good(
      await send('POST', 'templates', newTemplate({ purpose: 'marketing', context: 'guest' })),
      201,
    )
    expect(said(await send('POST', `templates/${marketing.id}/publish`))).to.deep.equal([422, 'template_incomplete'])
    const bare = good(
      await send('POST', 'templates', newTemplate({ contents: [{ ...contents[0], text: '{{guest.firstName}}' }] })),
      201,
    )
    expect(said(await send('POST', `templates/${bare.id}/publish`))).to.deep.equal([422, 'template_incomplete'])
    const shown = good(await send('POST', `templates/${bare.id}/preview`, { channel: 'email', locale: 'en' }))
    expect(shown).to.include({ text: 'Ana', subject: 'Hello' })
  })

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
    const [text] = peer.texts
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
    expect(peer.misuses).to.deep.equal([])
  })

  it('answers a guest, and stops at the word', async () => {
    await enable()
    const inbound = (sid: string, Body: string) =>
      twilioSays('whatsapp', { MessageSid: sid, From: 'whatsapp:+5511987650002', To: 'whatsapp:+15005550007', Body })
    const guestId = await guestWith({ phone: '+5511987650002' })
    await grant(guestId, 'marketing_whatsapp')
    // The stay was booked under a profile that has been merged into this one since.
    const before = await guestWith({ email: 'ana.before@guests.example' })
    const { rooms } = await readBooking(own.house, await makeHold(own.house))
    const reservationId = rooms[0]?.id ?? ''
    await own.house.inHouse((trx) =>
      sql(trx, `update reservation set status = 'confirmed', confirmed_at = now(), primary_guest_id = ? where id = ?`, [
        before,
        reservationId,
      ]),
    )
    await own.house.inHouse((trx) => mergeGuests(trx, guestId, { mergedGuestId: before, reason: 'one person' }))
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
    const [written] = good(await get('messages?direction=inbound')).data as { reservationId: string }[]
    expect(written).to.include({ guestId, reservationId })
    const { key } = await makeKey(own.house.tenantId, ['read'])
    const seen = await own.world.request('GET', `/api/tenants/${own.house.tenantId}/ocp/conversations`, { key })
    expect(seen.body.data[0]?.address, JSON.stringify(seen.body)).to.include('*')
    good(await send('POST', `conversations/${conversation?.id}/reply`, { text: 'Yes, behind the house.' }), 201)
    await deliverAll()
    expect(peer.texts.map(({ to, body }) => [to, body])).to.deep.equal([
      ['whatsapp:+5511987650002', 'Yes, behind the house.'],
    ])
    expect(good(await get('conversations?unanswered=true')).data).to.deep.equal([])
    await own.house.inHouse((trx) => sql(trx, `update conversation set last_inbound_at = now() - interval '25 hours'`))
    expect(said(await send('POST', `conversations/${conversation?.id}/reply`, { text: 'Still there?' }))).to.deep.equal(
      [422, 'window_closed'],
    )
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

  it('sends a campaign to those who agreed, with a way out that works by one click', async () => {
    const { propertyId } = own.house
    const templateId = await own.house.inHouse((trx) => makeTemplate(trx, { marketing: true }))
    const willing = await guestWith({ email: 'willing@example.com' })
    const other = await guestWith({ email: 'other@example.com' })
    const unwilling = await guestWith({ email: 'unwilling@example.com' })
    await grant(willing)
    await grant(other)
    const campaign = good(
      await send('POST', 'campaigns', {
        propertyId,
        name: 'Winter',
        templateId,
        plan: [{ channel: 'email', waitMinutes: 30 }],
        segment: { languages: ['en'] },
      }),
      201,
    )
    const dry = good(await send('POST', `campaigns/${campaign.id}/launch`, { dryRun: true }))
    expect(dry).to.deep.include({ audience: 2, cost: { amount: 0, currency: 'BRL' } })
    expect(dry.excluded.consentMissing).to.equal(1)
    expect(JSON.stringify(dry.examples)).to.not.contain('willing@')
    good(await send('POST', `campaigns/${campaign.id}/launch`))
    await own.house.inHouse((trx) =>
      sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_email', 'withdrawn', 'desk', 'v1', '{"type": "system"}')`,
        [other],
      ),
    )
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
    const raw = mail.peer.mails[0]?.source ?? ''
    expect(raw).to.match(/List-Unsubscribe-Post: List-Unsubscribe=One-Click/)
    const link = /List-Unsubscribe:\s*<([^>]+)>/.exec(raw)?.[1] ?? ''
    const path = link.slice(settings.publicBaseUrl.length)
    expect((await own.world.request('GET', path)).status).to.equal(200)
    const token = Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'base64url')
    const tenant = Buffer.from(own.house.tenantId.replaceAll('-', ''), 'hex')
    expect(token.includes(tenant), 'the tenant is not read from a link').to.equal(false)
    const [sent] = await own.house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from message where campaign_id = ? and status = 'sent'`, [campaign.id]),
    )
    expect((await own.world.request('GET', unsealedLink(own.house.tenantId, sent?.id ?? ''))).status).to.equal(200)
    expect((await own.world.request('GET', unsealedLink(randomUUID(), sent?.id ?? ''))).status).to.equal(404)
    expect(good(await get('suppressions')).data).to.deep.equal([])
    const click = {
      raw: 'List-Unsubscribe=One-Click',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }
    const has = (features: string) =>
      own.world.database.admin.raw(`update tenant set features = ${features} where id = ?`, [own.house.tenantId])
    await has(`array_remove(features, 'ocp')`)
    for (let time = 0; time < 2; time += 1) expect((await own.world.request('POST', path, click)).status).to.equal(200)
    await has(`features || '{ocp}'`)
    expect((await own.world.request('POST', `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`)).status).to.equal(
      404,
    )
    const found = good(await get('suppressions')).data as { cause: string; address: string }[]
    expect(found.map(({ cause, address }) => [cause, address])).to.deep.equal([['unsubscribe', 'willing@example.com']])
    expect(good(await get('campaigns')).data[0]).to.deep.include({ status: 'completed' })
    const again = { ...campaign, name: 'Again', propertyId, templateId, segment: { languages: ['en'] } }
    const { name, segment } = again
    const next = good(await send('POST', 'campaigns', { propertyId, templateId, name, segment }), 201)
    expect(said(await send('POST', `campaigns/${next.id}/launch`))).to.deep.equal([422, 'audience_empty'])
    expect(unwilling).to.be.a('string')
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
