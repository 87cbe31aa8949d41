import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { settings } from '../../config/env.ts'
import { startMailbox } from '../../scripts/services/mailbox.ts'
import type { Mailbox, ReceivedMail } from '../../scripts/services/mailbox.ts'
import { closeMail, sendMail } from '../../workers/providers/smtp.ts'

describe('the mail server of an embedded start', () => {
  const unset = settings.smtpUrl
  let mailbox: Mailbox
  const file = join(mkdtempSync(join(tmpdir(), 'pousada-mail-')), 'mail.jsonl')
  const letter = {
    to: 'Ana@Example.com',
    toName: 'Ana "A" Souza',
    fromName: 'Pousada do Sol',
    replyTo: null,
    subject: 'Olá, açúcar',
    text: 'Até já.\n',
    html: '<p>x</p>',
    messageId: '<1@x>',
    isAutomatic: true,
  }
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${mailbox.httpPort}${path}`)).text()

  beforeEach(async () => {
    mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file })
    settings.smtpUrl = `smtp://127.0.0.1:${mailbox.smtpPort}`
  })
  afterEach(async () => {
    closeMail()
    await mailbox.stop()
    settings.smtpUrl = unset
  })

  after(() => rmSync(dirname(file), { recursive: true, force: true }))

  it('keeps what it takes, shows it by recipient and on a page, and finds it again', async () => {
    expect((await sendMail(letter, AbortSignal.timeout(5_000))).kind).to.equal('accepted')
    const list = JSON.parse(await read('/messages?to=ana@example.com')) as ReceivedMail[]
    expect(list).to.have.length(1)
    expect(list[0]).to.include({ subject: 'Olá, açúcar', messageId: '<1@x>', from: 'no-reply@pousada.example' })
    expect(list[0]?.text.trim()).to.equal('Até já.')
    expect(await read('/')).to.contain('Olá, açúcar')
    expect(await read(`/messages/${list[0]?.id}`)).to.contain('Até já.')
    expect(JSON.parse(await read('/messages?to=other@example.com'))).to.deep.equal([])
    closeMail()
    await mailbox.stop()
    mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file })
    expect(JSON.parse(await read('/messages'))).to.deep.equal(list)
  })

  it('shows nothing to a page that reaches it under another name', async () => {
    const status = await new Promise((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port: mailbox.httpPort,
          path: '/messages',
          headers: { host: 'evil.example' },
          agent: false,
        },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
      asked.on('error', reject)
      asked.end()
    })
    expect(status).to.equal(403)
  })
})
