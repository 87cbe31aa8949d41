import { expect } from 'chai'
import { createGuest } from '../../db/guests/index.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import {
  cancelCampaign,
  createCampaign,
  decideSending,
  expandCampaign,
  launchCampaign,
  retryMessage,
} from '../../db/ocp/index.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, deliverAll, messagesOf, useMailPeer } from '../support/messages.ts'
import { until } from '../support/until.ts'
import { makeTemplate } from './records.ts'

class Died extends Error {}

describe('a campaign', function () {
  this.timeout(120_000)
  const world = useDatabase()
  const mail = useMailPeer()
  let house: House
  beforeEach(async () => {
    await world.database.admin.raw('delete from jobs')
    house = await makeHouse({ deposit: null })
    await house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00"}}'::jsonb`,
      ),
    )
  })

  const reasons = async () =>
    (await messagesOf(house)).map((one) => `${one.status} ${one.reason ?? ''}`.trim()).toSorted()
  const willing = (address: string) =>
    house.inHouse(async (trx) => {
      const guest = { firstName: 'Ana', lastName: 'Souza', source: 'staff', language: 'en', email: address }
      const guestId = await createGuest(trx, guest as never)
      await sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_email', 'granted', 'desk', 'v1', '{"type": "system"}')`,
        [guestId],
      )
      return guestId
    })
  const launch = () =>
    house.inHouse(async (trx) => {
      const campaignId = await createCampaign(trx, {
        propertyId: house.propertyId,
        name: 'Winter',
        templateId: await makeTemplate(trx, { marketing: true }),
        plan: [{ channel: 'email', waitMinutes: 30 }],
        segment: { languages: ['en'] },
      })
      await launchCampaign(trx, campaignId, undefined)
      return campaignId
    })
  const expand = () => drain({ kinds: ['messages.expand-campaign'] })
  /** As it stands while its guests are still being gone through. */
  const reopen = () =>
    world.database.admin.raw(
      `update campaign set status = 'running', cursor = null, ended_at = null, expanded_at = null`,
    )
  const has = (features: string) =>
    world.database.admin.raw(`update tenant set features = ${features} where id = ?`, [house.tenantId])
  const statusOf = (campaignId: string) =>
    house.inHouse((trx) =>
      sqlOne(trx, `select status, ended_at is not null as ended from campaign where id = ?`, [campaignId]),
    )

  it('writes to an address once, though two profiles have it', async () => {
    await willing('both@example.com')
    await willing('both@example.com')
    await launch()
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
    expect(await reasons()).to.deep.equal(['sent', 'suppressed already_sent'])
  })

  it('that is cancelled sends nothing from then on, also what was just being decided', async () => {
    await willing('one@example.com')
    const campaignId = await launch()
    await expand()
    await reopen()
    const [message] = await messagesOf(house)
    let deciding: Promise<unknown> = Promise.resolve()
    await house.inHouse(async (trx) => {
      await sql(trx, `select id from campaign where id = ? for no key update`, [campaignId])
      await cancelCampaign(trx, campaignId)
      deciding = house.inHouse((own) => decideSending(own, message?.id ?? '', message?.turn ?? 0))
      await until(
        async () =>
          ((
            await sqlOne<{ count: number }>(
              world.database.admin,
              `select count(*) as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
            )
          )?.count ?? 0) > 0,
        { withinMs: 20_000, what: 'the decision waits' },
      )
    })
    expect(await deciding).to.deep.equal({ done: 'campaign_cancelled' })
    expect(await attemptsOf(house)).to.deep.equal([])
  })

  it('whose feature ends is cancelled, and does not go on when the feature is back', async () => {
    await willing('early@example.com')
    const campaignId = await launch()
    await has(`array_remove(features, 'ocp')`)
    await deliverAll()
    await has(`features || '{ocp}'`)
    await deliverAll()
    expect(await statusOf(campaignId)).to.deep.equal({ status: 'cancelled', ended: true })
    expect([await reasons(), mail.peer.mails.length]).to.deep.equal([[], 0])
  })

  it('whose feature ends midway sends no more of what it has made, and makes no more', async () => {
    await willing('first@example.com')
    const campaignId = await launch()
    await deliverAll()
    await willing('second@example.com')
    await reopen()
    await house.inHouse((trx) => expandCampaign(trx, campaignId))
    await willing('third@example.com')
    await reopen()
    await has(`array_remove(features, 'ocp')`)
    await world.database.admin.raw(`update jobs set run_at = now() where kind = 'messages.expand-campaign'`)
    await house.inHouse((trx) => expandCampaign(trx, campaignId))
    await deliverAll()
    await has(`features || '{ocp}'`)
    await deliverAll()
    expect(await statusOf(campaignId)).to.deep.equal({ status: 'cancelled', ended: true })
    const [sent, other, ...more] = await reasons()
    expect(other).to.equal('sent')
    expect(sent).to.be.oneOf(['cancelled campaign_cancelled', 'expired feature_not_enabled'])
    expect(more).to.deep.equal([])
    expect(mail.peer.mails.map(({ to }) => to.join(','))).to.deep.equal(['first@example.com'])
  })

  it('that dies at a batch goes on where the last one was committed, and writes to each guest once', async () => {
    for (const name of ['a', 'b', 'c']) await willing(`${name}@example.com`)
    const campaignId = await launch()
    const dying = house.inHouse(async (trx) => {
      await expandCampaign(trx, campaignId)
      throw new Died()
    })
    await dying.catch((error: unknown) => expect(error).to.be.instanceOf(Died))
    expect(await messagesOf(house)).to.deep.equal([])
    await house.inHouse((trx) => expandCampaign(trx, campaignId))
    // The end of the job was not written: it comes once more, and finds the cursor where it was, or anew.
    for (const cursor of ['cursor', 'null']) {
      await world.database.admin.raw(`update campaign set status = 'running', ended_at = null, cursor = ${cursor}`)
      await house.inHouse((trx) => expandCampaign(trx, campaignId))
      await deliverAll()
    }
    expect(await reasons()).to.deep.equal(['sent', 'sent', 'sent'])
    expect(mail.peer.mails).to.have.length(3)
    expect(await statusOf(campaignId)).to.deep.equal({ status: 'completed', ended: true })
  })

  it('sends nothing to a guest who was erased after it was launched', async () => {
    const [kept, erased] = [await willing('kept@example.com'), await willing('erased@example.com')]
    await launch()
    await expand()
    await world.database.admin.raw(
      `update guest set status = 'erased', erased_at = now(), sealed = null, email_index = null, phone_index = null, phone_tail_index = null,
         birth_index = null, name_index = null where id = ?`,
      [erased],
    )
    await deliverAll()
    expect(mail.peer.mails.map(({ to }) => to.join(','))).to.deep.equal(['kept@example.com'])
    const ended = (await messagesOf(house)).map(({ guestId, status }) => [guestId, status])
    expect(ended).to.deep.include.members([
      [kept, 'sent'],
      [erased, 'suppressed'],
    ])
  })

  it('is sent again where it failed, while it goes on and its cause is gone, and never where it may have arrived', async () => {
    const guestId = await willing('again@example.com')
    mail.peer.behave('550')
    const campaignId = await launch()
    await deliverAll()
    const [message] = await messagesOf(house)
    expect(message).to.include({ status: 'failed', reason: 'smtp_550' })
    const retry = () => house.inHouse((trx) => retryMessage(trx, message?.id ?? '', undefined))
    const refused = () =>
      retry().then(
        () => null,
        (error: { code: string; errors: { message: string }[] }) => `${error.code} ${error.errors[0]?.message}`,
      )
    const consent = (decision: string) =>
      house.inHouse((trx) =>
        sql(
          trx,
          `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, 'marketing_email', ?, 'desk', 'v1', '{"type": "system"}')`,
          [guestId, decision],
        ),
      )
    await consent('withdrawn')
    expect(await refused()).to.equal('recipient_suppressed consent_missing')
    await consent('granted')
    mail.peer.behave('accept')
    await retry()
    await deliverAll()
    expect((await messagesOf(house))[0]).to.include({ status: 'sent', campaignId })
    expect(mail.peer.mails.map(({ to }) => to.join(','))).to.deep.equal(['again@example.com'])
    await retry().catch(() => null)
    expect(mail.peer.mails).to.have.length(1)
    const set = (text: string) => house.inHouse((trx) => sql(trx, text))
    await set(`update message set status = 'failed', reason = 'outcome_unknown'`)
    expect(await refused()).to.equal('invalid_transition outcome_unknown')
    await set(`update message set reason = 'smtp_550'`)
    await set(`update campaign set status = 'cancelled', ended_at = now()`)
    expect(await refused()).to.equal('invalid_transition is cancelled')
  })
})
