import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { fitsBlotted, queueMessage } from '../../db/ocp/index.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, deliverAll, messagesOf } from '../support/messages.ts'
import { useTwilio } from '../support/twilio.ts'

const minute = 60_000

describe('a text of unknown outcome that is looked for at Twilio', () => {
  const world = useDatabase()
  const twilio = useTwilio()
  let house: House

  beforeEach(async () => {
    await world.database.admin.raw('delete from jobs; delete from provider_gate')
    house = await makeHouse({ deposit: null })
    await house.inHouse((trx) => sql(trx, `update message_channel set enabled = true`))
  })
  const queue = () =>
    house.inHouse((trx) =>
      queueMessage(trx, {
        propertyId: house.propertyId,
        templateKey: 'registration-link',
        dedupeKey: randomUUID(),
        recipient: { name: 'Ana', phone: '+5524999990000' },
        plan: [{ channel: 'sms', waitMinutes: 30 }],
      }),
    )

  it('is not taken for another one of the same words, which has its own: it is sent', async () => {
    await queue()
    await deliverAll()
    twilio.peer.behave('502 html')
    await queue()
    await deliverAll()
    twilio.peer.behave('accept')
    await deliverAll(3 * minute)
    expect(twilio.peer.texts).to.have.length(2)
    const attempts = await attemptsOf(house)
    expect(attempts.map(({ status }) => status)).to.deep.equal(['sent', 'sent'])
    expect(attempts.map(({ providerId }) => providerId)).to.have.members(twilio.peer.texts.map(({ sid }) => sid))
  })

  it('is known by the words that left, though they would be others by now: it is not sent again', async () => {
    twilio.peer.behave('reset after taking')
    await queue()
    await deliverAll()
    expect(twilio.peer.texts[0]?.body).to.contain('House')
    await house.inHouse((trx) =>
      sql(trx, `update property set name = name || ' da Serra' where id = ?`, [house.propertyId]),
    )
    twilio.peer.behave('accept')
    await deliverAll(3 * minute)
    expect(twilio.peer.texts).to.have.length(1)
    expect((await attemptsOf(house))[0]).to.include({ status: 'sent', providerId: twilio.peer.texts[0]?.sid })
  })

  it('stands in the state that it has there, once, though no report of it ever came', async () => {
    const found = async (status: string, errorCode: number | null) => {
      house = await makeHouse({ deposit: null })
      await house.inHouse((trx) => sql(trx, `update message_channel set enabled = true`))
      twilio.peer.behave('reset after taking')
      twilio.peer.texts.splice(0)
      await queue()
      await deliverAll()
      const [text] = twilio.peer.texts
      Object.assign(text ?? {}, { status, errorCode })
      twilio.peer.behave('accept')
      await deliverAll(3 * minute)
      await deliverAll(60 * minute)
      const [message] = await messagesOf(house)
      const attempts = await attemptsOf(house)
      const told = await house.inHouse((trx) =>
        sql<{ type: string }>(trx, `select type from event where type like 'message.%' order by occurred_at, id`),
      )
      return {
        texts: twilio.peer.texts.length,
        attempts: attempts.map((one) => `${one.status} ${one.errorCode}`),
        message: `${message?.status} ${message?.reason}`,
        told: told.map(({ type }) => type.slice('message.'.length)),
      }
    }
    expect(await found('undelivered', 30_003)).to.deep.equal({
      texts: 1,
      attempts: ['failed twilio_30003'],
      message: 'failed twilio_30003',
      told: ['queued', 'sent', 'failed'],
    })
    expect(await found('failed', 30_006)).to.deep.include({ attempts: ['failed twilio_30006'] })
    const suppressed = await house.inHouse((trx) => sql(trx, `select cause, kind from suppression`))
    expect(suppressed).to.deep.equal([{ cause: 'invalid', kind: 'sms' }])
    expect(await found('delivered', null)).to.deep.equal({
      texts: 1,
      attempts: ['delivered null'],
      message: 'delivered null',
      told: ['queued', 'sent', 'delivered'],
    })
    expect(await found('sent', null)).to.deep.include({ attempts: ['sent null'], texts: 1 })
  })

  it('is known by its words around codes and links, which are not kept', () => {
    for (const text of ['Stop: https://x/1 now', 'Stop:  now', 'Stop: a now b now'])
      expect(fitsBlotted('Stop: ••• now', text), text).to.equal(true)
    for (const text of ['Stop: now', 'Stop: x', 'x Stop: 1 now', 'Stop: 1 now.'])
      expect(fitsBlotted('Stop: ••• now', text), text).to.equal(false)
    expect(fitsBlotted('a ••• b ••• c', 'a 1 b 2 c')).to.equal(true)
    expect(fitsBlotted('a ••• b ••• c', 'a 1 c')).to.equal(false)
    expect(fitsBlotted('a', 'a ')).to.equal(false)
  })
})
