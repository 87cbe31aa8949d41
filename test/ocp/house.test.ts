import { createHmac, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { drain } from '../support/drain.ts'
import { deliverAll } from '../support/messages.ts'
import { readBooking } from '../support/stay.ts'
import { makeTemplate } from './records.ts'
import { contents, good, newTemplate, said, useWritingHouse } from './support.ts'

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
  const house = useWritingHouse()
  const { own, mail, send, get, guestWith, grant } = house
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
      `<a href='{{property.website | default:"javascript:x"}}'>x</a>`,
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
})
