import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import { startTwilioPeer } from '../support/twilio-peer.ts'
import type { PeerText } from '../support/twilio-peer.ts'

/** A line of the carrier's own log: a text that it has taken. */
export type Text = Pick<PeerText, 'sid' | 'to' | 'body' | 'contentVariables'> & { receivedAt: string }

type Webhooks = { getExpectedTwilioSignature: (token: string, url: string, form: Record<string, string>) => string }
let webhooks: Webhooks | null = null

/** The signature that Twilio gives a form, by its own SDK. */
export const signTwilio = (token: string, url: string, form: Record<string, string>): string =>
  (webhooks ??= createRequire(import.meta.url)(
    'twilio/lib/webhooks/webhooks.js',
  ) as Webhooks).getExpectedTwilioSignature(token, url, form)

/** A text that begins so is taken, and nothing is ever told of it. */
export const silence = 'silent'

/** Each text is told of by one of these: as it should be, several times, in another order, or against what was told before. */
const courses = [
  ['sent', 'delivered'],
  ['delivered', 'sent', 'delivered'],
  ['delivered', 'undelivered', 'queued'],
  ['delivered', 'read', 'delivered'],
] as const
const patienceMs = 30_000

/** A carrier of texts with a log of its own. Its reports come several times and in any order, the first of them before the sender has an answer. */
export const startCarrier = async (logFile: string, authToken: string, apis: () => readonly string[]) => {
  const ended = new AbortController()
  const tell = async ({ sid, statusCallback }: PeerText, MessageStatus: string) => {
    const form = { MessageSid: sid, MessageStatus }
    const end = Date.now() + patienceMs
    for (let tries = 0; Date.now() < end && !ended.signal.aborted; tries += 1) {
      const reply = await fetch(
        `${apis()[tries % apis().length]}${statusCallback.slice(new URL(statusCallback).origin.length)}`,
        {
          method: 'POST',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            'x-twilio-signature': signTwilio(authToken, statusCallback, form),
          },
          body: new URLSearchParams(form).toString(),
          signal: AbortSignal.any([ended.signal, AbortSignal.timeout(10_000)]),
        },
      ).catch(() => null)
      await reply?.arrayBuffer().catch(() => null)
      if (reply?.status === 200) return
      await wait(300)
    }
  }
  let count = 0
  const peer = await startTwilioPeer({
    authToken,
    onText: (text) => {
      const { sid, to, body, contentVariables } = text
      const line: Text = { sid, to, body, contentVariables, receivedAt: new Date().toISOString() }
      appendFileSync(logFile, `${JSON.stringify(line)}\n`)
      if (body.startsWith(silence)) return
      const course = courses[count % courses.length] ?? []
      count += 1
      void (async () => {
        for (const status of course) await tell(text, status)
      })()
    },
  })
  return {
    baseUrl: peer.baseUrl,
    accountSid: peer.accountSid,
    stop: async () => {
      ended.abort()
      await peer.stop()
    },
  }
}
