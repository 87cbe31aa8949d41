import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerOptions } from 'smtp-server'
import { settings } from '../../config/env.ts'
import { standIn } from '../../config/outgoing-address.ts'
import { closeMail, sendMail } from '../../workers/providers/smtp.ts'
import type { Mail } from '../../workers/providers/smtp.ts'
import { certificate, privateKey } from './certificate.ts'

type Taken = { connection: string; secure: boolean; user: unknown; to: string[] }

describe('a mail server of a tenant’s own', function () {
  this.timeout(30_000)
  const ends: (() => unknown)[] = []
  const caBefore = settings.smtpCa
  beforeEach(() => {
    settings.smtpCa = certificate
  })
  afterEach(async () => {
    settings.smtpCa = caBefore
    closeMail()
    for (const end of ends.splice(0)) await end()
  })

  /** A server of a library that others keep, as `mail.example` and under further names; it tells what it took and which logins it heard. */
  const open = async (names: readonly string[], options: SMTPServerOptions = {}) => {
    const taken: Taken[] = []
    const logins: boolean[] = []
    const server = new SMTPServer({
      key: privateKey,
      cert: certificate,
      authMethods: ['PLAIN', 'LOGIN'],
      onAuth: ({ username, password }, session, done) => {
        logins.push(session.secure)
        return password === 'right' ? done(null, { user: username }) : done(new Error('Invalid login'))
      },
      onData: (stream, session, done) => {
        stream.resume()
        stream.on('end', () => {
          const to = session.envelope.rcptTo.map(({ address }) => address)
          taken.push({ connection: session.id, secure: session.secure, user: session.user, to })
          // Long enough for those that are sent together to need more than one connection.
          setTimeout(done, 20)
        })
      },
      ...options,
    })
    server.on('error', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.server.address() as AddressInfo
    const takeBack = names.map((host) => standIn({ host, port }))
    ends.push(() => new Promise<void>((resolve) => server.close(() => resolve())), ...takeBack)
    return { taken, logins }
  }
  const mailTo = (
    to: string,
    given: { host?: string; port?: 465 | 587; channelId?: string; password?: string } = {},
  ): Mail => {
    const { host = 'mail.example', port = 587, channelId = 'one', password = 'right' } = given
    return {
      to,
      toName: 'Ana',
      fromName: 'Sol',
      fromAddress: 'hello@sol.example',
      replyTo: null,
      subject: 'Hello',
      text: 'Hello',
      html: null,
      messageId: `<${to}>`,
      account: { smtp: { host, port, user: 'sol', password } },
      channelId,
      unsubscribeUrl: null,
      isAutomatic: true,
    }
  }
  const send = (mail: Mail) => sendMail(mail, AbortSignal.timeout(20_000))
  const many = (count: number, given: object = {}) =>
    Promise.all(Array.from({ length: count }, (_, index) => send(mailTo(`guest-${index}@example.com`, given))))

  it('is asked for TLS and a login, and its few connections serve all mails of its channel alone', async () => {
    const { taken, logins } = await open(['mail.example'])
    const outcomes = [...(await many(30)), ...(await many(30)), ...(await many(2, { channelId: 'two' }))]
    expect(new Set(outcomes.map(({ kind }) => kind))).to.deep.equal(new Set(['accepted']))
    expect(taken).to.have.length(62)
    expect(new Set(taken.map(({ secure, user }) => `${secure} ${String(user)}`))).to.deep.equal(new Set(['true sol']))
    expect(taken.every(({ to }) => to.length === 1)).to.equal(true)
    const connections = (from: Taken[]) => new Set(from.map(({ connection }) => connection))
    const [one, two] = [connections(taken.slice(0, 60)), connections(taken.slice(60))]
    expect(one.size).to.be.within(2, 5)
    expect([...two].filter((connection) => one.has(connection))).to.deep.equal([])
    expect(logins).to.deep.equal(Array(one.size + two.size).fill(true))
  })

  it('may want TLS from the first byte', async () => {
    const { taken } = await open(['mail.example'], { secure: true })
    expect((await send(mailTo('ana@example.com', { port: 465 }))).kind).to.equal('accepted')
    expect(taken.map(({ secure }) => secure)).to.deep.equal([true])
  })

  for (const port of [587, 465] as const)
    it(`gets no mail and no password on port ${port} with a certificate of another name, or of an authority that is not known`, async () => {
      const { taken, logins } = await open(['other.example', 'mail.example'], { secure: port === 465 })
      const wrong = await send(mailTo('ana@example.com', { host: 'other.example', port }))
      settings.smtpCa = null
      const unknown = await send(mailTo('ana@example.com', { port, channelId: 'two' }))
      expect([wrong.kind, unknown.kind], JSON.stringify([wrong, unknown])).to.deep.equal(['not_sent', 'not_sent'])
      expect([taken, logins]).to.deep.equal([[], []])
    })

  it('gets no mail and no password where it speaks no TLS', async () => {
    const { taken, logins } = await open(['mail.example'], { disabledCommands: ['STARTTLS'], allowInsecureAuth: true })
    for (const port of [587, 465] as const) {
      const outcome = await send(mailTo('ana@example.com', { port }))
      expect(outcome.kind, JSON.stringify(outcome)).to.equal('not_sent')
    }
    expect([taken, logins]).to.deep.equal([[], []])
  })

  it('that refuses the login has our credentials to blame, not the mail', async () => {
    const { taken } = await open(['mail.example'])
    const outcome = await send(mailTo('ana@example.com', { password: 'wrong' }))
    expect(outcome).to.include({ kind: 'not_sent', code: 'credentials_refused' })
    expect(taken).to.deep.equal([])
  })
})
