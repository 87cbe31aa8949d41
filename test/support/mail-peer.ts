import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import PostalMime from 'postal-mime'

/** The peer's answer to the end of a mail, or to a recipient. */
export type MailBehaviour =
  | 'accept'
  | '451'
  | '550'
  | '550 recipient'
  | '550 relay'
  | '421 greeting'
  | '530 login'
  | 'hang after data'
  | 'close after data'
  | 'accept and close'

export type PeerMail = {
  from: string
  recipients: string[]
  source: string
  messageId: string
  subject: string
  text: string
  to: string[]
}

export type MailPeer = {
  url: string
  /** Mails that the peer took, whether or not it said so. */
  mails: PeerMail[]
  behave: (behaviour: MailBehaviour) => void
  stop: () => Promise<void>
}

/** An SMTP server on loopback that speaks just enough, and answers as it is told: what a well-kept library would never do. */
export const startMailPeer = async (): Promise<MailPeer> => {
  let behaviour: MailBehaviour = 'accept'
  const mails: PeerMail[] = []
  const sockets = new Set<Socket>()

  const keep = async (from: string, recipients: string[], source: string) => {
    const parsed = await PostalMime.parse(source)
    mails.push({
      from,
      recipients,
      source,
      messageId: parsed.messageId ?? '',
      subject: parsed.subject ?? '',
      text: parsed.text ?? '',
      to: (parsed.to ?? []).map((one) => one.address ?? ''),
    })
  }

  const converse = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    const say = (line: string) => void socket.write(`${line}\r\n`)
    let from = ''
    let recipients: string[] = []
    let data: string | null = null
    let rest = ''

    const endOfData = async (source: string) => {
      const taken = behaviour
      if (taken === '451') return say('451 4.3.0 try again later')
      if (taken === '550') return say(`550 5.7.1 not wanted here: ${recipients.join()}`)
      await keep(from, recipients, source)
      if (taken === 'hang after data') return
      if (taken === 'close after data') return void socket.destroy()
      say(`250 2.0.0 taken for ${recipients.join()}`)
      if (taken === 'accept and close') socket.end()
    }
    const command = (line: string) => {
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'EHLO' || verb === 'HELO') return say('250 peer.example')
      if (verb === 'MAIL') {
        from = /<([^>]*)>/.exec(line)?.[1] ?? ''
        recipients = []
        if (behaviour === '530 login') return say('530 5.7.0 authentication required')
        return say('250 2.1.0 ok')
      }
      if (verb === 'RCPT') {
        if (behaviour === '550 recipient') return say(`550 5.1.1 ${/<([^>]*)>/.exec(line)?.[0]}: no such mailbox`)
        if (behaviour === '550 relay') return say('550 relaying denied')
        recipients.push(/<([^>]*)>/.exec(line)?.[1] ?? '')
        return say('250 2.1.5 ok')
      }
      if (verb === 'DATA') {
        data = ''
        return say('354 go on')
      }
      if (verb === 'QUIT') return void socket.end('221 bye\r\n')
      return say('250 ok')
    }
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => {
      rest += part
      for (let at = rest.indexOf('\r\n'); at >= 0; at = rest.indexOf('\r\n')) {
        const line = rest.slice(0, at)
        rest = rest.slice(at + 2)
        if (data === null) command(line)
        else if (line === '.') {
          const source = data
          data = null
          void endOfData(source)
        } else data += `${line.startsWith('..') ? line.slice(1) : line}\r\n`
      }
    })
    if (behaviour === '421 greeting') return void socket.end('421 4.3.2 closed for the night\r\n')
    say('220 peer.example')
  }

  const server = createServer(converse)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    behave: (next) => {
      behaviour = next
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
