import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { listGates } from '../../db/jobs/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { attemptsOf, deliverAll, messagesOf, useMailHouse } from '../support/messages.ts'
import { saysNoMailbox } from '../../workers/providers/no-mailbox.ts'

const tenMinutes = 10 * 60_000

describe('messages by e-mail, with a peer that fails', () => {
  const mail = useMailHouse()

  it('451: is tried again under the same Message-ID, and arrives', async () => {
    mail.peer.behave('451')
    const id = await mail.queue()
    const { drain } = await import('../support/drain.ts')
    await drain({ kinds: ['messages.deliver'], deliveries: 1 })
    expect((await messagesOf(mail.house))[0]?.status).to.equal('queued')
    mail.peer.behave('accept')
    await mail.house.inHouse((trx) =>
      sql(trx, `update jobs set status = 'pending', run_at = now() where kind = 'messages.deliver'`),
    )
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
    expect(mail.peer.mails[0]?.messageId).to.contain(`${id}.2@`)
    expect((await attemptsOf(mail.house)).map((one) => `${one.status} ${one.errorCode ?? ''}`)).to.deep.equal([
      'failed smtp_451',
      'sent ',
    ])
    expect((await messagesOf(mail.house))[0]?.status).to.equal('sent')
  })

  it('451 for ever: ends as failed and not as forgotten', async () => {
    mail.peer.behave('451')
    await mail.queue()
    await deliverAll(86_400_000)
    const [message] = await messagesOf(mail.house)
    expect(message).to.include({ status: 'failed', reason: 'smtp_451' })
  })

  it('550 of the mail: is not tried again', async () => {
    mail.peer.behave('550')
    await mail.queue()
    await deliverAll(86_400_000)
    expect((await messagesOf(mail.house))[0]).to.include({ status: 'failed', reason: 'smtp_550' })
    expect(await attemptsOf(mail.house)).to.have.length(1)
    expect(await mail.house.inHouse((trx) => sql(trx, `select id from suppression`))).to.deep.equal([])
  })

  it('530: waits until our login is right, without using up a try', async () => {
    mail.peer.behave('530 login')
    await mail.queue()
    for (let tries = 0; tries < 8; tries += 1) {
      await deliverAll()
      await mail.database.admin.raw(
        `update jobs set run_at = now() where kind = 'messages.deliver'; update provider_gate set closed_until = now()`,
      )
    }
    expect((await messagesOf(mail.house))[0]?.status).to.equal('queued')
    const [gate] = await inPlatform((trx) => listGates(trx))
    expect(gate).to.include({ gate: 'smtp', state: 'closed', reason: 'credentials_refused' })
    mail.peer.behave('accept')
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
    await mail.database.admin.raw(`delete from provider_gate`)
  })

  it('550 of the mailbox: nothing more goes there', async () => {
    mail.peer.behave('550 recipient')
    await mail.queue()
    await deliverAll()
    mail.peer.behave('accept')
    await mail.queue()
    await deliverAll()
    expect((await messagesOf(mail.house)).map((one) => `${one.status} ${one.reason}`)).to.deep.equal([
      'failed smtp_550',
      'suppressed recipient_suppressed',
    ])
    expect((await attemptsOf(mail.house))[0]?.status).to.equal('bounced')
    expect(mail.peer.mails).to.deep.equal([])
  })

  it('550 of a server that takes no mail of ours: what comes next goes there', async () => {
    mail.peer.behave('550 relay')
    await mail.queue()
    await deliverAll()
    mail.peer.behave('accept')
    await mail.queue()
    await deliverAll()
    expect((await messagesOf(mail.house)).map((one) => `${one.status} ${one.reason}`)).to.deep.equal([
      'failed smtp_550',
      'sent null',
    ])
    expect(await mail.house.inHouse((trx) => sql(trx, `select id from suppression`))).to.deep.equal([])
  })

  it('550 without a code: its words tell a mailbox that is not there from a mail that is not wanted', () => {
    const dead = [
      '550 5.1.1 <a@b.example>: no such mailbox', '550 5.1.10 null MX', '550 No such user here', '550 <spam@b.example>: user unknown', '553 unknown recipient',
      '550-The email account that you tried to reach\n550 does not exist', '550 5.1.0 mailbox not found', '554 invalid recipient', '550 Usuário inexistente',
    ] // oxfmt-ignore
    const refused = [
      '550 5.7.1 not wanted here', '550 5.1.8 sender rejected', '550 5.1.7 bad sender address', '550 relaying denied', '551 user not local; please try elsewhere',
      '550 greylisted, try again later', '550 blocked: user unknown to our reputation service', '550 rejected as spam', '550 <unknown.user@b.example> refused',
      '550 Requested action not taken', '554 policy: no such user for your IP', '552 mailbox full', '450 no such user', '550 5.2.2 no such user',
    ] // oxfmt-ignore
    const saysDead = (reply: string) => saysNoMailbox(Number(reply.slice(0, 3)), reply)
    expect(dead.filter((reply) => !saysDead(reply))).to.deep.equal([])
    expect(refused.filter(saysDead)).to.deep.equal([])
  })

  it('closes after DATA: is unknown, left alone for ten minutes, then sent once more under the same Message-ID', async () => {
    mail.peer.behave('close after data')
    await mail.queue()
    await deliverAll()
    expect((await messagesOf(mail.house))[0]?.status).to.equal('sending')
    expect((await attemptsOf(mail.house)).map((one) => one.status)).to.deep.equal(['unknown'])
    await deliverAll(tenMinutes - 60_000)
    expect(mail.peer.mails, 'the pool did not send it again by itself').to.have.length(1)
    mail.peer.behave('accept')
    await deliverAll(tenMinutes + 1_000)
    expect(mail.peer.mails).to.have.length(2)
    expect(new Set(mail.peer.mails.map((one) => one.messageId)).size).to.equal(1)
    expect((await attemptsOf(mail.house)).map((one) => one.status)).to.deep.equal(['sent'])
    expect((await messagesOf(mail.house))[0]?.status).to.equal('sent')
  })

  it('stays silent: a mail has failed after its second try, a code after its first', async () => {
    mail.peer.behave('close after data')
    await mail.queue()
    await mail.queue({ templateKey: 'booking-access-code', data: { guestAccessCodeId: randomUUID() } })
    await deliverAll(86_400_000)
    expect((await messagesOf(mail.house)).map((one) => `${one.status} ${one.reason}`)).to.deep.equal(
      Array(2).fill('failed outcome_unknown'),
    )
    expect(mail.peer.mails.filter((one) => /c[óo]d/i.test(one.subject))).to.have.length(1)
    expect(mail.peer.mails).to.have.length(3)
  })

  it('is not there: is not sent, and sent when it is', async () => {
    const { settings } = await import('../../config/env.ts')
    const url = settings.smtpUrl
    settings.smtpUrl = 'smtp://127.0.0.1:9'
    await mail.queue()
    const { drain } = await import('../support/drain.ts')
    await drain({ kinds: ['messages.deliver'], deliveries: 1 })
    expect((await attemptsOf(mail.house)).map((one) => `${one.status} ${one.errorCode}`)).to.deep.equal([
      'failed ECONNREFUSED',
    ])
    settings.smtpUrl = url
    await mail.house.inHouse((trx) =>
      sql(trx, `update jobs set status = 'pending', run_at = now() where kind = 'messages.deliver'`),
    )
    await deliverAll()
    expect(mail.peer.mails).to.have.length(1)
  })

  it('a start that died after the call: one attempt, and the second mail is the first one again', async () => {
    const id = await mail.queue()
    const { decideSending } = await import('../../db/ocp/sending.ts')
    const decision = await mail.house.inHouse((trx) => decideSending(trx, id ?? '', 0))
    if (!('send' in decision)) throw new Error('it was not to be sent')
    const { sendMail } = await import('../../workers/providers/smtp.ts')
    expect((await sendMail({ ...decision.send, isAutomatic: true }, AbortSignal.timeout(5_000))).kind).to.equal(
      'accepted',
    )
    // The process is gone before it writes; the job is started again.
    await deliverAll()
    expect((await attemptsOf(mail.house)).map((one) => one.status)).to.deep.equal(['unknown'])
    await deliverAll(tenMinutes + 1_000)
    expect(mail.peer.mails.map((one) => one.messageId)).to.deep.equal(Array(2).fill(decision.send.messageId))
    expect((await attemptsOf(mail.house)).map((one) => one.status)).to.deep.equal(['sent'])
  })
})
