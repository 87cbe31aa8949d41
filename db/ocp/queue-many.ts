import { randomUUID } from 'node:crypto'
import { messageQueued } from '../../config/events/ocp.ts'
import { messagesDeliver } from '../../jobs/ocp.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueueAll } from '../lib/enqueue.ts'
import { emitAll } from '../lib/events.ts'
import { seal } from '../lib/sealing/index.ts'
import { factsOf, publishedTemplate, recipientPlace } from './queue.ts'
import type { MessageRequest } from './queue.ts'
import { carrierGate } from './rules/send-outcome.ts'

/** A message of many: it leaves at once, to an address that is no guest's. */
export type ManyRequest = Required<Pick<MessageRequest, 'propertyId' | 'dedupeKey' | 'recipient' | 'data' | 'plan'>>

/** Ids of messages by the gate of the first channel in their plans. */
const byGate = async (trx: Trx, ids: readonly string[]): Promise<Map<string, string[]>> => {
  const rows = await sql<{ id: string; kind: string | null; transport: string | null; channelId: string }>(
    trx,
    `select m.id, c.kind, c.transport, c.id as channel_id from message m
     left join message_channel c on c.tenant_id = m.tenant_id and c.property_id = m.property_id and c.kind = m.plan->0->>'channel'
     where m.tenant_id = ? and m.id = any(?::uuid[])`,
    [contextOf(trx).tenantId, ids],
  )
  const found = new Map<string, string[]>()
  for (const { id, ...channel } of rows) {
    const gate = carrierGate(channel)
    const there = found.get(gate)
    if (there) there.push(id)
    else found.set(gate, [id])
  }
  return found
}

/**
 * Decides messages of one template in the caller's transaction, in as many statements for a thousand as for one, as `queueMessage` decides each. Answers the
 * ids by `dedupeKey`; an occurrence that has its message already has none.
 */
export const queueMessages = async (
  trx: Trx,
  templateKey: string,
  requests: readonly ManyRequest[],
): Promise<Map<string, string>> => {
  if (requests.length === 0) return new Map()
  const template = await publishedTemplate(trx, templateKey)
  const { actor, tenantId } = contextOf(trx)
  const rows = await Promise.all(
    requests.map(async ({ propertyId, dedupeKey, recipient, data, plan }) => {
      const id = randomUUID()
      const sealed = await seal(trx, 'tenant', recipientPlace(id), recipient)
      const row = { id, property_id: propertyId, dedupe_key: dedupeKey, data, plan }
      return { ...row, recipient: `\\x${sealed.toString('hex')}` }
    }),
  )
  const made = await sql<{ id: string; dedupeKey: string }>(
    trx,
    `insert into message (id, origin, property_id, template_id, template_number, data, purpose, urgency, recipient, plan, status, dedupe_key, scheduled_for,
       expires_at, created_by)
     select m.id, 'module', m.property_id, :templateId, :number, m.data, :purpose, :urgency, m.recipient, m.plan, 'queued', m.dedupe_key, clock_timestamp(),
       clock_timestamp() + interval '1 day', cast(:createdBy as uuid)
     from jsonb_to_recordset(cast(:rows as jsonb)) as m (id uuid, property_id uuid, dedupe_key text, data jsonb, plan jsonb, recipient bytea)
     on conflict (tenant_id, dedupe_key) do nothing returning id, dedupe_key`,
    {
      templateId: template.id,
      number: template.number,
      purpose: template.purpose,
      urgency: template.urgency,
      createdBy: actor.type === 'user' ? actor.id : null,
      rows: JSON.stringify(rows),
    },
  )
  const ids = made.map(({ id }) => id)
  for (const [gate, messageIds] of await byGate(trx, ids))
    await enqueueAll(
      trx,
      messagesDeliver,
      messageIds.map((messageId) => ({ tenantId: tenantId ?? '', messageId, turn: 0 })),
      { class: template.purpose === 'marketing' ? 'bulk' : 'normal', gate },
    )
  await emitAll(trx, messageQueued, await factsOf(trx, 'queued', ids))
  return new Map(made.map(({ id, dedupeKey }) => [dedupeKey, id]))
}
