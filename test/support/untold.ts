import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import type { Reply } from './client.ts'

/** Callers whose writes are those of a tenant: others read its events. */
export const tellsTenant: ReadonlySet<string> = new Set(['tenant', 'guest', 'property'])

/** Rows that are written beside a record, and are none of the tenant's: what is to be done, and what is counted. */
const noRecord = new Set(['jobs', 'usage_event'])

/** Routes that change a record and never tell of it: the contract has no event for it. One that tells does not stand here. */
const never: Readonly<Record<string, string>> = {
  'apiKeys.update':
    'a key is told of when it is made, exchanged, ended, and about to expire; the audit trail has the rest',
  'channelConnections.activate': 'channel.connected or channel.failed follows, once the channel has answered',
  'channelConnections.create': 'a connection is told of when it begins to work',
  'channelConnections.update': 'how a connection is set up is nobody else’s',
  'housekeepingSheets.create': 'a draft is told of when it is published',
  'tenant.update': 'tenants are told of when they are suspended, and when they end',
}

/** Routes with an event for a part of what they change. */
const partly: Readonly<Record<string, string>> = {
  'channelConnections.sync': 'what is asked for is pushed and pulled; the connection is what it was',
  'housekeeping.setConditions': 'the condition that the unit has already, set again: a note, or the time of the look',
  'housekeepingTasks.update': 'an attendant is told of; note, rank and time of a task are not',
  'policies.update': 'new rules are told of; a new name is not',
  'public.createPayment': 'the first event of a payment is what the gateway has answered',
}

export type Untold = {
  look: (routeId: string, reply: Pick<Reply, 'headers'>, tables: readonly string[]) => Promise<void>
  /** Of the routes that were looked at: those that ought to have told and did not, or told though they are listed as silent. */
  wrong: () => string[]
}

export const findUntold = (admin: Knex): Untold => {
  const wrong = new Set<string>()
  return {
    look: async (routeId, { headers }, tables) => {
      const records = tables.filter((name) => !noRecord.has(name))
      if (records.length === 0) return
      const events = await sql(admin, `select 1 from event where request_id = ? limit 1`, [headers['x-request-id']])
      if (events.length > 0 && routeId in never) wrong.add(`${routeId} tells of its change: it is listed as silent`)
      if (events.length === 0 && !(routeId in never) && !(routeId in partly))
        wrong.add(`${routeId} wrote ${records.join(', ')} without an event`)
    },
    wrong: () => [...wrong].sort(),
  }
}
