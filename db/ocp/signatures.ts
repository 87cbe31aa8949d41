import { createRequire } from 'node:module'
import { Webhook } from 'standardwebhooks'
import { settings } from '../../config/env.ts'
import type { Credentials } from './channel-accounts.ts'

type Twilio = {
  validateRequest: (token: string, signature: string, url: string, params: Record<string, string>) => boolean
}
const load = createRequire(import.meta.url)
let made: Twilio | null = null
/** Twilio's own check, from its SDK; loaded with the first callback. */
const twilio = (): Twilio => (made ??= load('twilio/lib/webhooks/webhooks.js') as Twilio)

/** Tells whether Twilio signed a form that it sent to this address: with the account of the service, or with the channel's own. */
export const isTwilios = (
  { signature, path, form }: { signature: string; path: string; form: Record<string, string> },
  own: Credentials | null,
): boolean =>
  [own?.authToken, settings.twilio.authToken].some(
    (token) => token && twilio().validateRequest(token, signature, `${settings.publicBaseUrl}${path}`, form),
  )

/** Tells whether a holder of the channel's inbound secret signed this body, within five minutes (Standard Webhooks). */
export const isSignedWith = (secret: string | undefined, header: (name: string) => string, body: Buffer): boolean => {
  if (!secret) return false
  try {
    new Webhook(secret).verify(body.toString('utf8'), {
      'webhook-id': header('webhook-id'),
      'webhook-timestamp': header('webhook-timestamp'),
      'webhook-signature': header('webhook-signature'),
    })
    return true
  } catch {
    return false
  }
}
