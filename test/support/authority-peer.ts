import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { standIn } from '../../config/outgoing-address.ts'

export type AuthorityMood = 'accepts' | 'rejects' | 'forgets_once' | 'fails_once'
export type Heard = {
  path: string
  key: string
  body: { requestId: string; registrationId?: string; form?: Record<string, unknown> }
}

/** An authority that speaks the open contract, at https://authority.example. `forgets_once` accepts, and closes the connection; `fails_once` does nothing, and says so. */
export const startAuthority = async (secret: string) => {
  const heard: Heard[] = []
  const answers = new Map<string, object>()
  const peer = { mood: 'accepts' as AuthorityMood, heard, answers, stop: () => Promise.resolve() }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8')
      const [, at = '', given = ''] =
        /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers['x-pousada-signature'])) ?? []
      if (createHmac('sha256', secret).update(`${at}.${body}`).digest('hex') !== given) {
        response.writeHead(401).end('{}')
        return
      }
      const key = String(request.headers['idempotency-key'])
      heard.push({ path: request.url ?? '', key, body: JSON.parse(body) as Heard['body'] })
      const { mood } = peer
      if (mood === 'fails_once' || mood === 'forgets_once') peer.mood = 'accepts'
      if (mood === 'fails_once') {
        response.writeHead(500).end('{}')
        return
      }
      const answer =
        answers.get(key) ??
        (mood === 'rejects'
          ? { status: 'rejected', reason: 'the document is not known' }
          : { status: 'accepted', registrationId: `A-${answers.size + 1}` })
      answers.set(key, answer)
      if (mood === 'forgets_once') request.socket.destroy()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const forget = standIn({ host: 'authority.example', port: (server.address() as AddressInfo).port })
  peer.stop = () => {
    forget()
    server.closeAllConnections()
    return new Promise((done) => server.close(() => done()))
  }
  return peer
}
