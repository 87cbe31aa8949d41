import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/connection.ts'
import { queueMessage } from '../../db/ocp/index.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { attemptsOf, deliverAll, messagesOf, useMailPeer } from '../support/messages.ts'

const tenMinutes = 10 * 60_000

describe('messages by e-mail, with a peer that fails', () => {
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
