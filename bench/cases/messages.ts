import { randomBytes, randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import { settings } from '../../config/env.ts'
import { reservationConfirmed } from '../../config/events/reservations.ts'
import { createGuests } from '../../db/guests/index.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { emit } from '../../db/lib/events.ts'
import { createCampaign, launchCampaign } from '../../db/ocp/index.ts'
import { callbackPath, callbackToken } from '../../db/ocp/channel-accounts.ts'
import { confirmBooking } from '../../db/reservations/index.ts'
import { channelOf, makeTemplate } from '../../test/ocp/records.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { House } from '../../test/support/factories.ts'
import { makeHold, readBooking } from '../../test/support/stay.ts'
import type { Bench } from '../bench.ts'
import { startChild } from '../child.ts'
import { toldUse, totalOf, usedEach, watchProcessors } from '../cpu.ts'
import { startApi } from '../processes/start.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const perSecond = sized(100, 30)
const seconds = sized(30, 6)
const stays = sized(300, 40)
const audience = sized(50_000, 2_000)
const callbacksPerSecond = sized(100, 50)

/** A mail server that takes everything, of a library that others keep. */
const startSink = async () => {
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _session, done) => {
      stream.on('end', () => done())
      stream.resume()
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { url: `smtp://127.0.0.1:${port}`, stop: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}

const person = { firstName: 'Ana', lastName: 'Souza' }

type Told = { id: string; version: number; data: Record<string, unknown> }

/** A house that writes at all hours and to everybody, with confirmed stays, and the event of each. */
const prepare = async (): Promise<{ house: House; told: Told[] }> => {
  const house = await makeHouse({ units: stays, deposit: null, settings: { portal: { holdShare: 10_000 } } })
  await house.inHouse((trx) =>
    sql(
      trx,
      `update property set settings = settings || '{"messages": {"quietFrom": "00:00", "quietUntil": "00:00", "perGuestDaily": 20, "marketingPer30Days": 15}}'::jsonb`,
    ),
  )
  await house.inHouse((trx) => sql(trx, `update message_channel set enabled = true, daily_cap = 100000`))
  const told: Told[] = []
  for (let one = 0; one < stays; one += 1) {
    const bookingId = await makeHold(house, {
      from: 5,
      nights: 1,
      address: randomUUID(),
      // Messages to one number come one after the other.
      words: { booker: { ...person, email: `stay-${one}@example.com`, phone: `+55249${90_000_000 + one}` } },
    })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    const { rooms } = await readBooking(house, bookingId)
    const event = await house.inHouse((trx) =>
      sqlOne<{ entity: { id: string; version: number }; data: Record<string, unknown> }>(
        trx,
        `select entity, data from event where type = 'reservation.confirmed' and entity ->> 'id' = ?`,
        [rooms[0]?.id],
      ),
    )
    if (event) told.push({ ...event.entity, data: event.data })
  }
  return { house, told }
}

/** Seconds from each event to the acceptance of its mail, events at a rate. */
const confirmations = async (
  { house, told }: Awaited<ReturnType<typeof prepare>>,
  rate: number = perSecond,
): Promise<number[]> => {
  const committed = new Map<string, number>()
  const sent: Promise<void>[] = []
  const began = Date.now()
  for (let index = 0; index < rate * seconds; index += 1) {
    await wait(Math.max(0, began + (index * 1_000) / rate - Date.now()))
    const { id, version, data } = told[index % told.length] as Told
    const fact = { propertyId: house.propertyId, id, version, data: data as never }
    sent.push(
      house
        .inHouse((trx) => emit(trx, reservationConfirmed, fact))
        .then((eventId) => void committed.set(eventId, Date.now())),
    )
  }
  await Promise.all(sent)
  const accepted = new Map<string, number>()
  for (let left = 240; left > 0 && accepted.size < committed.size; left -= 1) {
    await wait(500)
    const rows = await house.inHouse((trx) =>
      sql<{ eventId: string; sentAt: Date }>(
        trx,
        `select right(dedupe_key, 36) as event_id, sent_at from message where right(dedupe_key, 36) = any(?::text[]) and sent_at is not null`,
        [[...committed.keys()].filter((id) => !accepted.has(id))],
      ),
    )
    for (const { eventId, sentAt } of rows) accepted.set(eventId, sentAt.getTime())
  }
  return [...committed].map(([id, at]) => Math.max(0, (accepted.get(id) ?? Number.POSITIVE_INFINITY) - at) / 1_000)
}

/** Guests who agreed to mail, and a campaign to all of them. */
const launch = async (house: House): Promise<void> => {
  for (let done = 0; done < audience; done += 500)
    await house.inHouse(async (trx) => {
      const guests = Array.from({ length: Math.min(500, audience - done) }, (_, one) => ({
        firstName: 'Ana',
        lastName: `Souza ${done + one}`,
        source: 'staff' as const,
        language: 'en',
        tags: ['bench'],
        email: `guest-${done + one}@example.com`,
      }))
      const ids = await createGuests(trx, guests, { allowDuplicate: true })
      await sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by)
         select id, 'marketing_email', 'granted', 'desk', 'v1', '{"type": "system"}' from unnest(?::uuid[]) id`,
        [ids],
      )
    })
  await house.inHouse(async (trx) => {
    const campaignId = await createCampaign(trx, {
      propertyId: house.propertyId,
      name: 'Bench',
      templateId: await makeTemplate(trx, { marketing: true }),
      plan: [{ channel: 'email', waitMinutes: 30 }],
      segment: { tags: ['bench'] },
    })
    await launchCampaign(trx, campaignId, undefined)
  })
}

type Signing = { getExpectedTwilioSignature: (token: string, url: string, form: Record<string, string>) => string }

/** Milliseconds to the acknowledgement of each report, sent at a rate whatever the answers. */
const callbacks = async (baseUrl: string, house: House, authToken: string): Promise<number[]> => {
  const { getExpectedTwilioSignature } = createRequire(import.meta.url)('twilio/lib/webhooks/webhooks.js') as Signing
  const path = callbackPath(callbackToken(await channelOf(house, 'sms')))
  const times: number[] = []
  const send = async () => {
    const form = { MessageSid: `SM${randomBytes(16).toString('hex')}`, MessageStatus: 'delivered' }
    const from = performance.now()
    const reply = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      body: new URLSearchParams(form).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': getExpectedTwilioSignature(authToken, `${settings.publicBaseUrl}${path}`, form),
      },
    })
    await reply.arrayBuffer()
    if (reply.status !== 200) throw new Error(`a callback was answered ${reply.status}`)
    times.push(performance.now() - from)
  }
  const sent: Promise<void>[] = []
  const began = Date.now()
  for (let index = 0; index < callbacksPerSecond * seconds; index += 1) {
    await wait(Math.max(0, began + (index * 1_000) / callbacksPerSecond - Date.now()))
    sent.push(send())
  }
  await Promise.all(sent)
  return times
}

/** From an event to the acceptance of its mail, alone and beside a campaign of the same tenant; and callbacks. */
export const bench: Bench = async () => {
  const sink = await startSink()
  const authToken = randomBytes(16).toString('hex')
  Object.assign(settings, { smtpUrl: sink.url })
  const account = {
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TWILIO_AUTH_TOKEN: authToken,
    TWILIO_FROM: '+15005550006',
  }
  Object.assign(process.env, { SMTP_URL: sink.url, PUBLIC_BASE_URL: settings.publicBaseUrl }, account)
  const world = await prepare()
  const children = [
    await startChild('service', 'relay'),
    await startChild('service', 'worker', { queues: { messages: 20, inventory: 2, maintenance: 2 } }),
  ]
  try {
    await confirmations(world)
    const half = await confirmations(world, perSecond / 2)
    const watched = await watchProcessors({ relay: children[0]?.pid ?? 0, worker: children[1]?.pid ?? 0 })
    const [before, began] = [watched(), Date.now()]
    const alone = await confirmations(world)
    const [used, tookMs] = [usedEach(before, watched(), alone.length), Date.now() - began]
    await launch(world.house)
    await wait(2_000)
    const beside = await confirmations(world, perSecond / 2)
    const gone = await inTenant(world.house.tenantId, (trx) =>
      sqlOne<{ made: number; sent: number }>(
        trx,
        `select count(*) as made, count(*) filter (where sent_at is not null) as sent from message where campaign_id is not null`,
      ),
    )
    for (const child of children.splice(0)) await child.stop()
    const api = await startApi()
    await callbacks(api.baseUrl, world.house, authToken)
    const acknowledged = await callbacks(api.baseUrl, world.house, authToken)
    await api.stop()
    const at = `at ${perSecond} a second`
    return {
      results: [
        judge(
          { name: `event to accepted mail ${at}, p95`, unit: 's', ours: percentile(alone, 0.95), reference: null },
          { most: 3 },
        ),
        judge(
          {
            name: `event to accepted mail at ${perSecond / 2} a second, p95`,
            unit: 's',
            ours: percentile(half, 0.95),
            reference: null,
          },
          { most: 3 },
        ),
        judge(
          {
            name: `event to accepted mail at ${perSecond / 2} a second beside a campaign of ${audience.toLocaleString('en')}, p99`,
            unit: 's',
            ours: percentile(beside, 0.99),
            reference: percentile(half, 0.99),
          },
          { most: 5 },
        ),
        judge(
          {
            name: `a report acknowledged at ${callbacksPerSecond} a second, p99`,
            unit: 'ms',
            ours: percentile(acknowledged, 0.99),
            reference: null,
          },
          { most: 50 },
        ),
      ],
      notes: [
        'Events of confirmed stays, each with its message by e-mail to a server on loopback that takes everything; one relay, one worker of 20 places, no api beside them.',
        `Milliseconds of a processor for each of these ${alone.length} messages: ${toldUse(used)}; together ${totalOf(used).toFixed(1)}, so that two processors send ${Math.round(2_000 / totalOf(used))} a second. All had left after ${(tookMs / 1_000).toFixed(0)} s.`,
        `Reference of the third row: the same without the campaign. Meanwhile the campaign made ${gone?.made ?? 0} of its messages and sent ${gone?.sent ?? 0}: 600 leave a minute.`,
        'Reports: forms with Twilio’s signature, of messages that nobody knows; one api, compiled; its client is on the same machine.',
      ],
    }
  } finally {
    for (const child of children) await child.stop()
    await sink.stop()
  }
}
