import { randomUUID } from 'node:crypto'
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { listPage, mailPage } from './mailbox-pages.ts'

export type ReceivedMail = {
  id: string
  receivedAt: string
  /** Envelope recipients. */
  to: string[]
  from: string
  subject: string
  messageId: string
  text: string
  /** As it came; null for a mail that is plain text. */
  html: string | null
  /** In the order in which they came. */
  headers: { name: string; value: string }[]
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
      return [whole(JSON.parse(line) as Kept)]
    } catch {
      return []
    }
  })
}

type Kept = Pick<ReceivedMail, 'id'> & Partial<ReceivedMail>

/** A mail of an earlier start may lack what is kept today. */
const whole = (mail: Kept): ReceivedMail => ({
  receivedAt: '',
  to: [],
  from: '',
  subject: '',
  messageId: '',
  text: '',
  html: null,
  headers: [],
  ...mail,
})

const ownPages = `default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'self'`
/** The HTML of a mail runs nothing and loads nothing; its pictures may be within it. */
const foreignHtml = `sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:`

const answer = (response: ServerResponse, status: number, type: string, body: string, policy = ownPages) =>
  response
    .writeHead(status, {
      'content-type': `${type}; charset=utf-8`,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    .end(body)

const isOwnHost = (host: string | undefined) => /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '')

const matches = (mail: ReceivedMail, q: string) =>
  [mail.subject, mail.from, mail.text, ...mail.to].some((text) => text.toLowerCase().includes(q.toLowerCase()))

const chosen = (mails: readonly ReceivedMail[], { searchParams }: URL): ReceivedMail[] => {
  const to = searchParams.get('to')?.toLowerCase()
  const q = searchParams.get('q') ?? ''
  return mails.filter((mail) => (to === undefined || mail.to.includes(to)) && (q === '' || matches(mail, q)))
}

type Box = { mails: ReceivedMail[]; remove: (id: string | null) => void }

/** Forgets one mail, or all of them. A browser sends a form from a page of ours; a script sends DELETE. */
const forget = ({ mails, remove }: Box, request: IncomingMessage, response: ServerResponse, path: string) => {
  const { origin } = request.headers
  if (origin !== undefined && (!URL.canParse(origin) || !isOwnHost(new URL(origin).host)))
    return answer(response, 403, 'text/plain', 'from its own pages only')
  const [, id = null] = /^\/messages(?:\/([^/]+))?$/.exec(path) ?? []
  if (!path.startsWith('/messages') || (id !== null && !mails.some((mail) => mail.id === id)))
    return answer(response, 404, 'text/plain', 'no such mail')
  remove(id)
  if (request.method === 'DELETE') return response.writeHead(204).end()
  return response.writeHead(303, { location: '/' }).end()
}

const show = (box: Box, request: IncomingMessage, response: ServerResponse) => {
  // A page elsewhere must not read this through a name of its own.
  if (!isOwnHost(request.headers.host)) return answer(response, 403, 'text/plain', 'loopback only')
  request.resume()
  const { mails } = box
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  if (request.method === 'DELETE') return forget(box, request, response, url.pathname)
  if (request.method === 'POST' && url.pathname.endsWith('/delete'))
    return forget(box, request, response, url.pathname.slice(0, -'/delete'.length))
  if (request.method !== 'GET') return answer(response, 405, 'text/plain', 'GET, or DELETE of messages')
  if (url.pathname === '/')
    return answer(
      response,
      200,
      'text/html',
      listPage(chosen(mails, url), url.searchParams.get('q') ?? '', mails.length),
    )
  if (url.pathname === '/messages') return answer(response, 200, 'application/json', JSON.stringify(chosen(mails, url)))
  const [, id, part] = /^\/messages\/([^/]+)(\/html)?$/.exec(url.pathname) ?? []
  const found = mails.find((mail) => mail.id === id)
  if (!found || (part !== undefined && found.html === null)) return answer(response, 404, 'text/plain', 'no such mail')
  return part === undefined
    ? answer(response, 200, 'text/html', mailPage(found))
    : answer(response, 200, 'text/html', found.html ?? '', foreignHtml)
}

const listen = (server: Server, port: number) =>
  new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

/**
 * An SMTP server on loopback that takes every mail, keeps the last thousand in `file`, and shows them over HTTP: pages to
 * read, search and delete, and `/messages` as JSON, oldest first, with `to` and `q`.
 */
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
  const write = () => {
    if (file === null) return
    writeFileSync(file, mails.map((mail) => `${JSON.stringify(mail)}\n`).join(''), { mode: 0o600 })
    chmodSync(file, 0o600)
  }
  write()
  const remove = (id: string | null) => {
    if (id === null) mails.splice(0)
    else
      mails.splice(
        mails.findIndex((mail) => mail.id === id),
        1,
      )
    write()
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
      html: parsed.html ?? null,
      headers: parsed.headers.map(({ key, originalKey, value }) => ({ name: originalKey ?? key, value })),
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
  const http = createServer((request, response) => void show({ mails, remove }, request, response))
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
