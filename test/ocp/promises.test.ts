import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createIssue } from '../../db/issues/index.ts'
import { createGuest } from '../../db/guests/index.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import {
  createAutomation,
  createTemplate,
  decideSending,
  deletePastMessages,
  publishTemplate,
  queueMessage,
  receiveMessage,
} from '../../db/ocp/index.ts'
import { sealCredentials } from '../../db/ocp/channel-accounts.ts'
import { addressIndex, lockAddress, suppress } from '../../db/ocp/suppression.ts'
import { confirmGroup } from '../../db/reservations/index.ts'
import { createGroup } from '../../db/reservations/group/create.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, deliverAll, makeConfirmed, messagesOf, useMailPeer } from '../support/messages.ts'
import { readBooking } from '../support/stay.ts'
import { useTwilio } from '../support/twilio.ts'
import { until } from '../support/until.ts'
import { channelOf } from './records.ts'

const minute = 60_000
const email = 'ana@example.com'
const phone = '+5524999990000'
const by = (channel: 'email' | 'sms' | 'whatsapp') => ({ channel, waitMinutes: 30 })

describe('what messages promise', function () {
  this.timeout(120_000)
  const world = useDatabase()
  const mail = useMailPeer()
  const twilio = useTwilio()
  let house: House
  beforeEach(async () => {
    await world.database.admin.raw('delete from jobs; delete from provider_gate')
    house = await makeHouse({ deposit: null })
    await house.inHouse((trx) => sql(trx, `update message_channel set enabled = true`))
    await house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00"}}'::jsonb`,
      ),
    )
  })

  const queue = async (request: Partial<Parameters<typeof queueMessage>[1]> = {}) =>
    (await house.inHouse((trx) =>
      queueMessage(trx, {
        propertyId: house.propertyId,
        templateKey: 'registration-link',
        dedupeKey: randomUUID(),
        recipient: { name: 'Ana', email, phone },
        ...request,
      }),
    )) ?? ''
  const reasons = async () => (await messagesOf(house)).map((one) => `${one.status} ${one.reason ?? ''}`.trim())
  const willing = (address: string) =>
    house.inHouse(async (trx) => {
      const guestId = await createGuest(trx, {
        firstName: 'Ana',
        lastName: 'Souza',
        source: 'staff',
        language: 'en',
        email: address,
      } as never)
      await sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_email', 'granted', 'desk', 'v1', '{"type": "system"}')`,
        [guestId],
      )
      return guestId
    })
  /** Processes that wait for a lock of the transaction `trx`. */
  const waiters = async () =>
    (
      await sqlOne<{ count: number }>(
        world.database.admin,
        `select count(distinct pid) as count from pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      )
    )?.count ?? 0

  it('two messages whose plans name the channels the other way round do not wait for each other', async () => {
    await house.inHouse((trx) =>
      suppress(trx, { kind: 'sms', address: phone, scope: 'all', cause: 'manual', messageId: null }),
    )
    await house.inHouse((trx) =>
      suppress(trx, { kind: 'email', address: email, scope: 'all', cause: 'manual', messageId: null }),
    )
    const ids = [await queue({ plan: [by('sms'), by('email')] }), await queue({ plan: [by('email'), by('sms')] })]
    let going: Promise<unknown>[] = []
    await house.inHouse(async (trx) => {
      for (const index of [addressIndex(trx, 'sms', phone), addressIndex(trx, 'email', email)])
        await lockAddress(trx, index)
      // Without a repetition: of two that wait for each other one would fail.
      going = ids.map((id) => inTenant(house.tenantId, (own) => decideSending(own, id, 0), {}, { repeats: 0 }))
      await until(async () => (await waiters()) >= 2, { withinMs: 20_000, what: 'both wait' })
    })
    expect(await Promise.all(going)).to.deep.equal([{ done: 'recipient_suppressed' }, { done: 'recipient_suppressed' }])
  })

  it('a text of an own account, whose outcome is unknown, is looked for there and not sent again', async () => {
    const id = await channelOf(house, 'sms')
    await house.inHouse(async (trx) => {
      const credentials = await sealCredentials(trx, id, {
        accountSid: twilio.peer.accountSid,
        authToken: twilio.peer.authToken,
        from: '+15005550006',
      })
      await sql(
        trx,
        `update message_channel set transport = 'own', credentials = ?, verification = '{"status": "verified"}', sender_address = '+15005550008' where id = ?`,
        [credentials, id],
      )
    })
    twilio.peer.behave('reset after taking')
    await queue({ plan: [by('sms')] })
    await deliverAll()
    twilio.peer.behave('accept')
    await deliverAll(3 * minute)
    expect(
      twilio.peer.texts.map(({ from }) => from),
      'the sender is the channel’s',
    ).to.deep.equal(['+15005550008'])
    const [attempt] = await attemptsOf(house)
    expect(attempt).to.include({ status: 'sent', transport: 'own', providerId: twilio.peer.texts[0]?.sid })
  })

  it('nothing is sent once more to somebody who has said no meanwhile', async () => {
    await house.inHouse((trx) =>
      sql(trx, `update message_template set purpose = 'marketing', urgency = 'normal' where key = 'thank-you'`),
    )
    const guestId = await willing('vera@example.com')
    mail.peer.behave('close after data')
    await queue({ templateKey: 'thank-you', guestId, recipient: undefined as never, plan: [by('email')] })
    await deliverAll()
    mail.peer.behave('accept')
    const before = mail.peer.mails.length
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_email', 'withdrawn', 'desk', 'v1', '{"type": "system"}')`,
        [guestId],
      ),
    )
    await deliverAll(11 * minute)
    expect(mail.peer.mails).to.have.length(before)
    expect(await reasons()).to.deep.equal(['failed outcome_unknown'])
  })

  it('a stop word that meets twenty messages lets none leave after it, however often and late it comes', async () => {
    const guestId = await house.inHouse((trx) =>
      createGuest(trx, { firstName: 'Ana', source: 'staff', language: 'en', phone } as never),
    )
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_sms', 'granted', 'desk', 'v1', '{"type": "system"}')`,
        [guestId],
      ),
    )
    const ids: string[] = []
    for (let time = 0; time < 20; time += 1) ids.push(await queue({ plan: [by('sms')] }))
    const word = {
      providerId: 'SM-stop',
      from: phone,
      subject: null,
      text: ' Sair. ',
      attachments: [],
      isOptOut: false,
    }
    const counted = `select count(*) as count from message_attempt`
    // Messages decided before the word are seen with it: from there to the commit the address is locked.
    const refuse = () =>
      house.inHouse(async (trx) => {
        const isNew = await receiveMessage(trx, house.propertyId, 'sms', word)
        return isNew ? ((await sqlOne<{ count: number }>(trx, counted))?.count ?? 0) : null
      })
    const decide = (id: string) => house.inHouse((trx) => decideSending(trx, id, 0))
    const begun = [...ids.slice(0, 10).map(decide), refuse(), refuse(), ...ids.slice(10).map(decide), refuse()]
    const answers = await Promise.all(begun)
    const before = answers.filter((answer) => typeof answer === 'number')
    expect(before, 'the word counts once').to.have.length(1)
    expect((await house.inHouse((trx) => sqlOne<{ count: number }>(trx, counted)))?.count).to.equal(before[0])
    const refused = answers.filter(
      (answer) =>
        answer !== null && typeof answer === 'object' && 'done' in answer && answer.done === 'recipient_suppressed',
    )
    expect(refused.length + (before[0] ?? 0)).to.equal(20)
    expect(await decide(await queue({ plan: [by('sms')] }))).to.deep.equal({ done: 'recipient_suppressed' })
    const said = await house.inHouse((trx) =>
      sql(trx, `select decision from guest_consent where guest_id = ? and purpose = 'marketing_sms' order by at`, [
        guestId,
      ]),
    )
    expect(said).to.deep.equal([{ decision: 'granted' }, { decision: 'withdrawn' }])
  })

  it('no text goes to a number that a stranger gave, before a payment or a proven e-mail', async () => {
    const bookingId = await makeConfirmed(house)
    await world.database.admin.raw('delete from jobs')
    const { rooms } = await readBooking(house, bookingId)
    const about = { reservationId: rooms[0]?.id ?? '', plan: [by('sms'), by('email')] }
    await queue(about)
    await deliverAll()
    expect([twilio.peer.texts.length, mail.peer.mails.length]).to.deep.equal([0, 1])
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into guest_access_code (booking_id, expires_at, used_at) values (?, now() + interval '10 minutes', now())`,
        [bookingId],
      ),
    )
    for (let time = 0; time < 4; time += 1) await queue(about)
    await deliverAll()
    expect([twilio.peer.texts.length, mail.peer.mails.length], 'three in ten minutes').to.deep.equal([3, 2])
    await world.database.admin.raw(`update message_attempt set created_at = created_at - interval '11 minutes'`)
    for (let time = 0; time < 4; time += 1) await queue(about)
    await deliverAll()
    expect([twilio.peer.texts.length, mail.peer.mails.length], 'five an hour').to.deep.equal([5, 4])
  })

  const automate = (context: 'issue' | 'group', event: string, text: string) =>
    house.inHouse(async (trx) => {
      const templateId = await createTemplate(trx, {
        key: `t-${randomUUID().slice(0, 8)}`,
        name: 'Told',
        purpose: 'service',
        urgency: 'immediate',
        context,
        contents: [{ channel: 'email', locale: 'en', subject: 'Told', text }],
      })
      await publishTemplate(trx, templateId)
      await createAutomation(trx, { name: `On ${event}`, templateId, trigger: { event }, plan: [by('email')] })
    })

  it('an issue is told to its guest by an automation, once, and one without a guest to nobody', async () => {
    await automate('issue', 'issue.opened', 'Number {{issue.number}}: {{issue.title | default:"-"}}')
    const guestId = await willing('vera@example.com')
    const open = (more: object) =>
      house.inHouse(async (trx: Trx) => {
        const category = await sqlOne<{ id: string }>(trx, `select id from issue_category where code = 'equipment'`)
        return createIssue(trx, {
          propertyId: house.propertyId,
          categoryId: category?.id ?? '',
          title: 'The shower leaks',
          priority: 'normal',
          ...more,
        })
      })
    const id = await open({ guestId })
    await open({})
    await deliverAll()
    const told = (await messagesOf(house)).filter((one) => one.origin === 'automation')
    expect(told.map(({ issueId, status }) => [issueId, status])).to.deep.equal([[id, 'sent']])
    const texts = mail.peer.mails.filter(({ text }) => /Number \d+: The shower leaks/.test(text))
    expect(texts.map(({ to }) => to.join(','))).to.deep.equal(['vera@example.com'])
  })

  it('a group is told to its contact, by its name and days', async () => {
    await automate(
      'group',
      'group.confirmed',
      '{{group.name | default:"-"}} from {{group.arrival | default:"-" | date}}',
    )
    const group = (contact: object | null) =>
      house.inHouse(async (trx) => {
        const id = await createGroup(trx, {
          propertyId: house.propertyId,
          code: randomUUID().slice(0, 8).toUpperCase(),
          name: 'Souza wedding',
          arrival: house.day(40),
          departure: house.day(42),
          ratePlanId: house.ratePlanId,
          ...(contact ? { contact: contact as never } : {}),
        })
        await confirmGroup(trx, id)
      })
    await group({ name: 'Rita Souza', email: 'rita@example.com' })
    await group(null)
    await deliverAll()
    expect(mail.peer.mails.map(({ to, text }) => [to.join(','), text.includes('Souza wedding from')])).to.deep.equal([
      ['rita@example.com', true],
    ])
  })

  it('messages go after two years, with their attempts, and nothing younger or unsent', async () => {
    const old = await queue({ plan: [by('email')] })
    await deliverAll()
    const later = await queue({ scheduledFor: new Date(Date.now() + 86_400_000) })
    const young = await queue({ plan: [by('email')] })
    await house.inHouse((trx) =>
      suppress(trx, {
        kind: 'email',
        address: 'x@example.com',
        scope: 'marketing',
        cause: 'unsubscribe',
        messageId: old,
      }),
    )
    await world.database.admin.raw(
      `update message set created_at = created_at - interval '2 years 1 day' where id in (?, ?)`,
      [old, later],
    )
    expect(await house.inHouse(deletePastMessages)).to.equal(1)
    expect(await house.inHouse(deletePastMessages)).to.equal(0)
    const left = await house.inHouse((trx) => sql<{ id: string }>(trx, `select id from message order by id`))
    expect(left.map(({ id }) => id)).to.have.members([later, young])
    expect(await attemptsOf(house, old)).to.deep.equal([])
    const [kept] = await house.inHouse((trx) => sql(trx, `select message_id, cause from suppression`))
    expect(kept).to.deep.equal({ messageId: null, cause: 'unsubscribe' })
  })
})
