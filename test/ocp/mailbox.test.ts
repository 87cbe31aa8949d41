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
    fromAddress: null,
    account: null,
    channelId: '',
    unsubscribeUrl: null,
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

  it('shows the HTML of a mail where it can do nothing, and its headers', async () => {
    await sendMail({ ...letter, html: '<p onclick="x()">Até <b>já</b></p>' }, AbortSignal.timeout(5_000))
    const [mail] = (JSON.parse(await read('/messages')) as ReceivedMail[]).slice(-1)
    const page = await read(`/messages/${mail?.id}`)
    expect(page).to.contain(`<iframe title="HTML part" sandbox src="/messages/${mail?.id}/html">`)
    expect(page).to.contain('Auto-Submitted').and.to.contain('auto-generated')
    const part = await fetch(`http://127.0.0.1:${mailbox.httpPort}/messages/${mail?.id}/html`)
    expect(await part.text()).to.contain('<b>já</b>')
    expect(part.headers.get('content-security-policy')).to.match(/^sandbox; default-src 'none'/)
  })

  it('finds a mail by a word of it, and shows new ones by itself', async () => {
    await sendMail({ ...letter, subject: 'Something else', text: 'A hammock' }, AbortSignal.timeout(5_000))
    expect(JSON.parse(await read('/messages?q=HAMMOCK'))).to.have.length(1)
    expect(await read('/?q=hammock'))
      .to.contain('Something else')
      .and.not.to.contain('Olá, açúcar')
    expect(await read('/?q=hammock'), 'a search stays as it is').not.to.contain('http-equiv="refresh"')
    expect(await read('/')).to.contain('http-equiv="refresh"')
    expect(await read('/?q=%3Cscript%3E')).not.to.contain('<script>')
  })

  it('deletes one mail, or all, for its own pages and scripts alone, and they do not come back', async () => {
    const at = (path: string) => `http://127.0.0.1:${mailbox.httpPort}${path}`
    const all = () => read('/messages').then((text) => JSON.parse(text) as ReceivedMail[])
    await sendMail(letter, AbortSignal.timeout(5_000))
    await sendMail({ ...letter, messageId: '<2@x>' }, AbortSignal.timeout(5_000))
    const before = await all()
    const one = before.at(-1)?.id ?? ''
    const foreign = await fetch(at('/messages/delete'), { method: 'POST', headers: { origin: 'https://evil.example' } })
    expect([foreign.status, (await all()).length]).to.deep.equal([403, before.length])
    expect((await fetch(at('/messages/nothing'), { method: 'DELETE' })).status).to.equal(404)
    expect((await fetch(at(`/messages/${one}`), { method: 'DELETE' })).status).to.equal(204)
    expect((await all()).map((mail) => mail.id)).to.deep.equal(before.slice(0, -1).map((mail) => mail.id))
    const form = await fetch(at('/messages/delete'), { method: 'POST', redirect: 'manual' })
    expect([form.status, form.headers.get('location'), await all()]).to.deep.equal([303, '/', []])
    closeMail()
    await mailbox.stop()
    mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file })
    expect(await all()).to.deep.equal([])
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
