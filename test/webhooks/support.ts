import { expect } from 'chai'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { standIn } from '../../config/outgoing-address.ts'
import { promoCodeCreated } from '../../config/events/properties.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { emit } from '../../db/lib/events.ts'
import { deliverEvents, pingEndpoint, replayEvents, sequenceEvents } from '../../jobs/webhooks.ts'
import { createEndpoint } from '../../db/webhooks/index.ts'
import type { House } from '../support/factories.ts'
import { drain } from '../support/drain.ts'
import type { Drained } from '../support/drain.ts'

export type Heard = { headers: IncomingHttpHeaders; body: string; at: number; path: string }
type Answering = (response: ServerResponse, heard: Heard) => void

export const hookHost = 'hooks.example'

/** A receiver of webhooks on loopback, under the name `hooks.example`, that answers as a test says and verifies what it hears. */
export const useReceiver = () => {
  const heard: Heard[] = []
  let answer: Answering = (response) => void response.writeHead(204).end()
  let server: Server
  let takeBack: () => void
  before(async () => {
    server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const one = {
          headers: request.headers,
          body: Buffer.concat(parts).toString('utf8'),
          at: Date.now(),
          path: request.url ?? '',
        }
        heard.push(one)
        answer(response, one)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    takeBack = standIn({ host: hookHost, port: (server.address() as AddressInfo).port })
  })
  after(() => {
    takeBack()
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    heard.splice(0)
    answer = (response) => void response.writeHead(204).end()
  })
  return {
    heard,
    /** Without pings. */
    events: () => heard.filter(({ body }) => !body.includes('"webhook.ping"')),
    answers: (next: Answering) => {
      answer = next
    },
    sends: (status: number, headers: Record<string, string> = {}, body = '') => {
      answer = (response) => void response.writeHead(status, headers).end(body)
    },
    url: (path = '/') => `https://${hookHost}${path}`,
  }
}

/** The body of a request, as the package of Standard Webhooks verifies it. Throws where that package refuses it. */
export const verified = (secret: string, { headers, body }: Heard): Record<string, unknown> =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as Record<string, unknown>

const kinds = [deliverEvents, pingEndpoint, replayEvents, sequenceEvents].map(({ name }) => name)

/** Numbers what is committed, and runs the jobs of webhooks that are due, or fall due within `aheadMs`. */
export const flow = async ({ aheadMs = 0 }: { aheadMs?: number } = {}): Promise<Drained[]> => {
  await inPlatform((trx) => enqueue(trx, sequenceEvents, {}))
  return drain({ kinds, aheadMs })
}

let count = 0
/** Raises an event of a promo code, another one each time unless `id` says which. */
export const raise = (
  trx: Trx,
  propertyId: string | null = null,
  { id, version = 1 }: { id?: string; version?: number } = {},
): Promise<string> => {
  count += 1
  const promoCodeId = id ?? `7b0c2f6e-5d1a-4c3e-9f28-${String(count).padStart(12, '0')}`
  return emit(trx, promoCodeCreated, {
    propertyId,
    id: promoCodeId,
    version,
    data: { promoCodeId, code: `C${count}` },
  })
}
export const raiseIn = (tenantId: string, times = 1, propertyId: string | null = null): Promise<string[]> =>
  inTenant(tenantId, async (trx) => {
    const ids: string[] = []
    for (let index = 0; index < times; index += 1) ids.push(await raise(trx, propertyId))
    return ids
  })

/** No plan has webhooks: they are granted. */
export const grantWebhooks = (tenantId: string) =>
  inPlatform((trx) => grantEntitlement(trx, { tenantId, key: 'webhooks', reason: 'no plan has it' }))

/** Gates that failures of a test have closed do not keep the next one. */
export const openGates = () => inPlatform((trx) => sql(trx, `delete from provider_gate`))

export const expectGapless = (sequences: readonly number[]) =>
  expect(sequences).to.deep.equal(Array.from({ length: sequences.length }, (_, index) => (sequences[0] ?? 1) + index))

/** An endpoint of a house, and a delivery to it. */
export const makeDelivery = (house: Pick<House, 'inHouse' | 'propertyId'>) =>
  house.inHouse(async (trx) => {
    const { id: webhookEndpointId } = await createEndpoint(trx, {
      url: `https://${hookHost}/`,
      types: ['promo_code.*'],
      subjects: ['PromoCode'],
    })
    await raise(trx, house.propertyId)
    const [delivery] = await sql<{ id: string }>(
      trx,
      `insert into webhook_delivery (webhook_endpoint_id, event_id, event_at, sequence, type)
       select ?, id, date_trunc('milliseconds', occurred_at), 1, type from event where type = 'promo_code.created' limit 1 returning id`,
      [webhookEndpointId],
    )
    return { webhookEndpointId, webhookDeliveryId: delivery?.id ?? '' }
  })
