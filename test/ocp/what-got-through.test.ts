import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createGuest, mergeGuests } from '../../db/guests/index.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import {
  allowResend,
  applyReport,
  cancelMessage,
  createAutomation,
  createCampaign,
  deleteAutomation,
  launchCampaign,
  queueMessage,
  receiveMessage,
  stopCampaign,
} from '../../db/ocp/index.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, deliverAll, messagesOf, useMailPeer } from '../support/messages.ts'
import { useTwilio } from '../support/twilio.ts'
import { makeTemplate } from './records.ts'

const lateMs = 31 * 60_000
const phone = '+5524999990000'

describe('messages of which something got through', function () {
  this.timeout(120_000)
  const world = useDatabase()
  const mail = useMailPeer()
  useTwilio()
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

  const queue = () =>
    house.inHouse((trx) =>
      queueMessage(trx, {
        propertyId: house.propertyId,
        templateKey: 'registration-link',
        dedupeKey: randomUUID(),
        recipient: { name: 'Ana', email: 'ana@example.com', phone },
        plan: [
          { channel: 'sms', waitMinutes: 30 },
          { channel: 'email', waitMinutes: 30 },
        ],
      }),
    )
  const guest = (more: object, purposes: readonly string[]) =>
    house.inHouse(async (trx) => {
      const id = await createGuest(trx, { firstName: 'Ana', lastName: 'Souza', source: 'staff', ...more } as never)
      for (const purpose of purposes)
        await sql(
          trx,
          `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, ?, 'granted', 'desk', 'v1', '{"type": "system"}')`,
          [id, purpose],
        )
      return id
    })

  it('stay sent where the mail after a text is refused, or is never heard of', async () => {
    for (const behaviour of ['550', 'close after data'] as const) {
      mail.peer.behave(behaviour)
      const id = (await queue()) ?? ''
      await deliverAll(86_400_000)
      const attempts = (await attemptsOf(house, id)).map(({ kind, status }) => `${kind} ${status}`)
      expect(attempts, behaviour).to.deep.equal(['sms sent', 'email failed'])
      expect((await messagesOf(house)).find((one) => one.id === id)).to.include({ status: 'sent', reason: null })
    }
  })

  it('go on to their next channel though their automation is deleted', async () => {
    const automationId = await house.inHouse(async (trx) =>
      createAutomation(trx, {
        name: 'Thanks',
        templateId: await makeTemplate(trx, { context: 'reservation' }),
        trigger: { event: 'reservation.confirmed' },
      }),
    )
    const [left, unsent] = [(await queue()) ?? '', (await queue()) ?? '']
    await house.inHouse((trx) =>
      sql(trx, `update message set automation_id = ? where id = any(?::uuid[])`, [automationId, [left, unsent]]),
    )
    await house.inHouse((trx) => sql(trx, `update message set scheduled_for = now(), status = 'queued'`))
    await drain({ kinds: ['messages.deliver'], deliveries: 1 })
    await drain({ kinds: ['messages.fall-back'], aheadMs: lateMs })
    const before = await messagesOf(house)
    const passed = before.filter(({ sentAt }) => sentAt !== null)
    expect(passed.map(({ status }) => status)).to.include('queued')
    await house.inHouse(async (trx) => {
      await sql(trx, `select id from automation where id = ? for update`, [automationId])
      await deleteAutomation(trx, automationId)
    })
    const after = await messagesOf(house)
    for (const { id, sentAt } of before)
      expect(after.find((one) => one.id === id)?.status, id).to.equal(sentAt === null ? 'cancelled' : 'queued')
  })

  it('stand on it where staff cancels what waits for its next channel, or the campaign ends', async () => {
    const [byStaff, byCampaign] = [(await queue()) ?? '', (await queue()) ?? '']
    const campaignId = await house.inHouse(async (trx) =>
      createCampaign(trx, {
        propertyId: house.propertyId,
        name: 'Winter',
        templateId: await makeTemplate(trx, { marketing: true }),
        plan: [{ channel: 'email', waitMinutes: 30 }],
        segment: { languages: ['en'] },
      }),
    )
    await drain({ kinds: ['messages.deliver'] })
    await drain({ kinds: ['messages.fall-back'], aheadMs: lateMs })
    expect((await messagesOf(house)).map(({ status }) => status)).to.deep.equal(['queued', 'queued'])
    await house.inHouse(async (trx) => {
      await sql(trx, `update message set campaign_id = ? where id = ?`, [campaignId, byCampaign])
      await sql(trx, `update campaign set status = 'cancelled', ended_at = now() where id = ?`, [campaignId])
      await cancelMessage(trx, byStaff)
      expect(await stopCampaign(trx, campaignId)).to.equal(false)
    })
    await deliverAll(86_400_000)
    expect((await messagesOf(house)).map(({ status, reason }) => `${status} ${reason}`)).to.deep.equal([
      'sent null',
      'sent null',
    ])
    expect(mail.peer.mails).to.have.length(0)
  })

  const launchTo = async () => {
    const [one, other] = [
      await guest({ language: 'en', email: 'one@example.com' }, ['marketing_email']),
      await guest({ language: 'en', email: 'other@example.com' }, ['marketing_email']),
    ]
    await house.inHouse(async (trx) => {
      const id = await createCampaign(trx, {
        propertyId: house.propertyId,
        name: 'Winter',
        templateId: await makeTemplate(trx, { marketing: true }),
        plan: [{ channel: 'email', waitMinutes: 30 }],
        segment: { languages: ['en'] },
      })
      await launchCampaign(trx, id, undefined)
    })
    await drain({ kinds: ['messages.expand-campaign'] })
    await house.inHouse((trx) =>
      sql(
        trx,
        `update jobs set run_at = now() + interval '1 day' where kind = 'messages.deliver'
        and payload->>'messageId' = (select id::text from message where guest_id = ?)`,
        [other],
      ),
    )
    await drain({ kinds: ['messages.deliver'] })
    expect(mail.peer.mails.map(({ to }) => to)).to.deep.equal([['one@example.com']])
    return { one, other }
  }

  it('come once from a campaign to a guest whose other profile had it', async () => {
    const { one, other } = await launchTo()
    await house.inHouse((trx) => mergeGuests(trx, other, { mergedGuestId: one, reason: 'the same person' }))
    await deliverAll(86_400_000 + 60_000)
    expect(mail.peer.mails).to.have.length(1)
    expect((await messagesOf(house)).map(({ status, reason }) => `${status} ${reason}`).toSorted()).to.deep.equal([
      'sent null',
      'suppressed already_sent',
    ])
  })

  it('come once from a campaign to a guest whose other profile may have had it, for all that was heard of it', async () => {
    const { one, other } = await launchTo()
    const [message] = (await messagesOf(house)).filter(({ sentAt }) => sentAt !== null)
    const [attempt] = await attemptsOf(house, message?.id ?? '')
    await house.inHouse(async (trx) => {
      await sql(trx, `update message_attempt set status = 'unknown', rank = 1, sent_at = null where id = ?`, [
        attempt?.id,
      ])
      await sql(trx, `update message set status = 'sending', sent_at = null where id = ?`, [message?.id])
      // It is given up: once more would be twice.
      expect(await allowResend(trx, attempt?.id ?? '')).to.equal(false)
      await mergeGuests(trx, other, { mergedGuestId: one, reason: 'the same person' })
    })
    await deliverAll(86_400_000 + 60_000)
    expect(mail.peer.mails).to.have.length(1)
    expect((await messagesOf(house)).map(({ status, reason }) => `${status} ${reason}`).toSorted()).to.deep.equal([
      'failed outcome_unknown',
      'suppressed already_sent',
    ])
  })

  it('of a campaign are counted anew when its time has come', async () => {
    await guest({ language: 'en', email: 'one@example.com' }, ['marketing_email'])
    const id = await house.inHouse(async (trx) => {
      const campaignId = await createCampaign(trx, {
        propertyId: house.propertyId,
        name: 'Winter',
        templateId: await makeTemplate(trx, { marketing: true }),
        plan: [{ channel: 'email', waitMinutes: 30 }],
        segment: { languages: ['en'] },
      })
      await launchCampaign(trx, campaignId, new Date(Date.now() + 3_600_000))
      return campaignId
    })
    await guest({ language: 'en', email: 'other@example.com' }, ['marketing_email'])
    await drain({ kinds: ['messages.expand-campaign'], aheadMs: 3_700_000 })
    expect(
      await house.inHouse((trx) => sqlOne(trx, `select status, audience from campaign where id = ?`, [id])),
    ).to.deep.equal({ status: 'completed', audience: 2 })
  })

  it('are ended for all guests of a phone by what the carrier reports', async () => {
    const ids = [await guest({ phone }, ['marketing_sms']), await guest({ phone }, ['marketing_sms'])]
    const messageId = (await queue()) ?? ''
    await drain({ kinds: ['messages.deliver'] })
    const [attempt] = await attemptsOf(house, messageId)
    await house.inHouse((trx) =>
      applyReport(trx, attempt?.id ?? '', { status: 'failed', code: '21610', suppress: 'stop' }),
    )
    const decided = await house.inHouse((trx) =>
      sql<{ guestId: string }>(
        trx,
        `select guest_id from guest_consent where purpose = 'marketing_sms' and decision = 'withdrawn' order by guest_id`,
      ),
    )
    expect(decided.map(({ guestId }) => guestId)).to.deep.equal(ids.toSorted())
  })

  it('are not tried again on a channel that was switched off since nobody knew of them', async () => {
    for (const enabled of [true, false]) {
      const messageId = (await queue()) ?? ''
      await drain({ kinds: ['messages.deliver'] })
      const [attempt] = await attemptsOf(house, messageId)
      await house.inHouse(async (trx) => {
        await sql(trx, `update message_attempt set status = 'unknown', rank = 1 where id = ?`, [attempt?.id])
        await sql(trx, `update message set status = 'sending', data = '{}' where id = ?`, [messageId])
        await sql(trx, `update message_channel set enabled = ? where kind = 'sms'`, [enabled])
      })
      expect(await house.inHouse((trx) => allowResend(trx, attempt?.id ?? '')), `${enabled}`).to.equal(enabled)
    }
  })

  it('are ended for all guests of a phone by one stop word', async () => {
    const ids = [
      await guest({ phone }, ['marketing_sms', 'marketing_whatsapp']),
      await guest({ phone }, ['marketing_sms', 'marketing_whatsapp']),
    ]
    await house.inHouse((trx) =>
      receiveMessage(trx, house.propertyId, 'sms', {
        providerId: 'one',
        from: phone,
        subject: null,
        text: ' Sair ',
        attachments: [],
        isOptOut: false,
      }),
    )
    for (const id of ids)
      for (const [purpose, decision] of [
        ['marketing_sms', 'withdrawn'],
        ['marketing_whatsapp', 'granted'],
      ])
        expect(
          await house.inHouse((trx) =>
            sqlOne(
              trx,
              `select decision from guest_consent where guest_id = ? and purpose = ? order by at desc, decision desc limit 1`,
              [id, purpose],
            ),
          ),
        ).to.deep.equal({ decision })
  })
})
