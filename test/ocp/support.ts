import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { createGuest } from '../../db/guests/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { useOwner } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import { useMailPeer } from '../support/messages.ts'
import { useTwilio } from '../support/twilio.ts'

const { getExpectedTwilioSignature } = createRequire(import.meta.url)('twilio/lib/webhooks/webhooks.js') as {
  getExpectedTwilioSignature: (token: string, url: string, params: Record<string, string>) => string
}

export const said = ({ status, body }: Reply) => [status, body.code]
export const good = ({ status, body }: Reply, wanted = 200) => {
  expect(status, JSON.stringify(body)).to.equal(wanted)
  return body
}

export const contents = [
  { channel: 'email', locale: 'en', subject: 'Hello', text: 'Dear {{guest.firstName | default:"guest"}}' },
]
export const newTemplate = (more: object = {}) => ({
  key: `k-${randomUUID().slice(0, 8)}`,
  name: 'A template',
  purpose: 'service',
  urgency: 'normal',
  context: 'reservation',
  contents,
  ...more,
})

/** A new house in each test, whose owner writes over HTTP, with a mail server and a Twilio that hear it. It has no quiet hours. */
export const useWritingHouse = () => {
  const mail = useMailPeer()
  const twilio = useTwilio()
  const own = useOwner({ units: 4 }, { anew: true, more: () => ({}) })
  const send = (method: string, path: string, body: unknown = {}) => own.owner.send(method, `ocp/${path}`, body)
  const get = (path: string) => own.owner.get(`ocp/${path}`)
  const guestWith = (more: object) =>
    own.house.inHouse((trx) =>
      createGuest(trx, { firstName: 'Ana', lastName: 'Souza', source: 'staff', language: 'en', ...more } as never),
    )
  const grant = (guestId: string, purpose = 'marketing_email') =>
    own.house.inHouse((trx) =>
      sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by) values (?, ?, 'granted', 'desk', 'v1', '{"type": "system"}')`,
        [guestId, purpose],
      ),
    )
  /** A Twilio callback to a channel, signed as Twilio does. */
  const twilioSays = async (
    kind: 'sms' | 'whatsapp',
    form: Record<string, string>,
    { token = twilio.peer.authToken, signed = (url: string) => url } = {},
  ) => {
    const { callbackUrl } = good(await get(`channels?kind=${kind}&propertyId=${own.house.propertyId}`)).data[0] as {
      callbackUrl: string
    }
    const path = callbackUrl.slice(settings.publicBaseUrl.length)
    return own.world.request('POST', path, {
      raw: new URLSearchParams(form).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': getExpectedTwilioSignature(token, signed(callbackUrl), form),
      },
    })
  }
  const enable = () => own.house.inHouse((trx) => sql(trx, `update message_channel set enabled = true`))
  const noQuiet = () =>
    own.house.inHouse((trx) =>
      sql(
        trx,
        `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00"}}'::jsonb`,
      ),
    )

  beforeEach(noQuiet)

  return {
    own,
    mail,
    send,
    get,
    guestWith,
    grant,
    twilioSays,
    enable,
    get peer() {
      return twilio.peer
    },
  }
}
