import { randomUUID } from 'node:crypto'
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export type ReceivedMail = {
  id: string
  receivedAt: string
  /** Envelope recipients. */
  to: string[]
  from: string
  subject: string
  messageId: string
  text: string
}

export type Mailbox = { smtpPort: number; httpPort: number; stop: () => Promise<void> }

const mostKept = 1_000
const mostBytes = 5_000_000

const load = (file: string | null): ReceivedMail[] => {
  if (file === null || !existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  // A line cut short by a crash is the last one.
  return lines.slice(-mostKept).flatMap((line) => {
    try {
      return [JSON.parse(line) as ReceivedMail]
    } catch {
      return []
    }
  })
}

const escape = (text: string) =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? one)
const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;font:inherit}li{margin:.5rem 0}small{color:#555}'
const page = (title: string, body: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title><style>${style}</style><h1>${escape(title)}</h1>${body}</html>`

const listPage = (mails: readonly ReceivedMail[]) =>
  page(
    'Mail of this development service',
    mails.length === 0
      ? '<p>Nothing yet.</p>'
      : `<ul>${mails
          .toReversed()
          .map(
            (mail) =>
              `<li><a href="/messages/${mail.id}">${escape(mail.subject)}</a><br><small>${escape(mail.to.join(', '))}, ${escape(mail.receivedAt)}</small></li>`,
          )
          .join('')}</ul>`,
  )
const mailPage = (mail: ReceivedMail) =>
  page(
    mail.subject,
    `<p><small>from ${escape(mail.from)} to ${escape(mail.to.join(', '))}, ${escape(mail.receivedAt)}</small></p><pre>${escape(mail.text)}</pre><p><a href="/">all mail</a></p>`,
  )

const answer = (response: ServerResponse, status: number, type: string, body: string) =>
  response
    .writeHead(status, {
      'content-type': `${type}; charset=utf-8`,
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    .end(body)

const show = (mails: readonly ReceivedMail[], request: IncomingMessage, response: ServerResponse) => {
  // A page elsewhere must not read this through a name of its own.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? ''))
    return answer(response, 403, 'text/plain', 'loopback only')
  if (request.method !== 'GET') return answer(response, 405, 'text/plain', 'GET only')
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  if (url.pathname === '/') return answer(response, 200, 'text/html', listPage(mails))
  if (url.pathname === '/messages') {
    const to = url.searchParams.get('to')?.toLowerCase()
    return answer(
      response,
      200,
      'application/json',
      JSON.stringify(to === undefined ? mails : mails.filter((mail) => mail.to.includes(to))),
    )
  }
  const found = mails.find((mail) => url.pathname === `/messages/${mail.id}`)
  return found
    ? answer(response, 200, 'text/html', mailPage(found))
    : answer(response, 404, 'text/plain', 'no such mail')
}

const listen = (server: Server, port: number) =>
  new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

/** An SMTP server on loopback that takes every mail, keeps the last thousand in `file`, and shows them over HTTP: oldest first. */
export const startMailbox = async ({
  smtpPort,
  httpPort,
  file,
}: {
  smtpPort: number
  httpPort: number
  file: string | null
}): Promise<Mailbox> => {
  const mails = load(file)
  if (file !== null) {
    writeFileSync(file, mails.map((mail) => `${JSON.stringify(mail)}\n`).join(''), { mode: 0o600 })
    chmodSync(file, 0o600)
  }
  const keep = async (source: Buffer, to: string[]) => {
    const parsed = await PostalMime.parse(source)
    const mail: ReceivedMail = {
      id: randomUUID(),
      receivedAt: new Date().toISOString(),
      to,
      from: parsed.from?.address ?? '',
      subject: parsed.subject ?? '',
      messageId: parsed.messageId ?? '',
      text: parsed.text ?? '',
    }
    mails.push(mail)
    if (mails.length > mostKept) mails.shift()
    if (file !== null) appendFileSync(file, `${JSON.stringify(mail)}\n`)
  }
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    size: mostBytes,
    onData: (stream, session, done) => {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map((recipient) => recipient.address.toLowerCase())
        const end = async () => {
          try {
            await keep(Buffer.concat(parts), to)
            done(null)
          } catch (error) {
            done(error instanceof Error ? error : new Error(String(error)))
          }
        }
        void end()
      })
    },
  })
  smtp.on('error', () => {})
  const http = createServer((request, response) => void show(mails, request, response))
  const [smtpListens, httpListens] = [await listen(smtp.server, smtpPort), await listen(http, httpPort)]
  return {
    smtpPort: smtpListens,
    httpPort: httpListens,
    stop: async () => {
      http.closeAllConnections()
      await Promise.all([
        new Promise<void>((resolve) => smtp.close(() => resolve())),
        new Promise<void>((resolve) => http.close(() => resolve())),
      ])
    },
  }
}
