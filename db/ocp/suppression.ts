import { randomUUID } from 'node:crypto'
import { suppressionAdded } from '../../config/events/ocp.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { blindIndex, seal } from '../lib/sealing/index.ts'
import type { ChannelKind } from './rules/contents.ts'

/** Addresses are found by index: e-mail and phone have different ones, SMS and WhatsApp share the number's. */
export const addressIndex = (trx: Trx, kind: ChannelKind, address: string): Buffer =>
  blindIndex(trx, kind === 'email' ? 'email' : 'phone', address)

/** The strictest suppression in force against an address on a channel. */
export const suppressionOf = async (trx: Trx, kind: ChannelKind, index: Buffer): Promise<'all' | 'marketing' | null> =>
  (
    await sqlOne<{ scope: 'all' | 'marketing' }>(
      trx,
      `select scope from suppression where kind = ? and address_index = ? and lifted_at is null`,
      [kind, index],
    )
  )?.scope ?? null

type Addition = {
  kind: ChannelKind
  address: string
  scope: 'all' | 'marketing'
  cause: 'hard_bounce' | 'complaint' | 'stop' | 'unsubscribe' | 'invalid' | 'manual'
  messageId: string | null
}

/** Nothing more goes to the address on this channel. One that is in force already is only ever made stricter. */
export const suppress = async (trx: Trx, { kind, address, scope, cause, messageId }: Addition): Promise<void> => {
  const id = randomUUID()
  const rows = await sql<{ id: string }>(
    trx,
    `insert into suppression (id, kind, address_index, address, scope, cause, message_id) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant_id, kind, address_index) where lifted_at is null do update set scope = 'all'
       where suppression.scope = 'marketing' and excluded.scope = 'all'
     returning id`,
    [
      id,
      kind,
      addressIndex(trx, kind, address),
      await seal(trx, 'tenant', { table: 'suppression', rowId: id, purpose: 'address' }, address),
      scope,
      cause,
      messageId,
    ],
  )
  if (rows[0]?.id === id)
    await emit(trx, suppressionAdded, {
      propertyId: null,
      id,
      version: null,
      data: { suppressionId: id, kind, scope, cause },
    })
}
