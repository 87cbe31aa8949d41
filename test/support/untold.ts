import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import type { Reply } from './client.ts'

/** Callers whose writes are those of a tenant: others read its events. */
export const tellsTenant: ReadonlySet<string> = new Set(['tenant', 'guest', 'property'])

/** Rows that are written beside a record, and are none of the tenant's: what is to be done, and what is counted. */
const noRecord = new Set(['jobs', 'usage_event'])

/** Routes that change a record without an event: the contract has none for it. One that tells of its change does not stand here. */
export const withoutEvent: Readonly<Record<string, string>> = {
  'channelConnections.activate': 'channel.connected or channel.failed follows, once the channel has answered',
  'channelConnections.create': 'a connection is told of when it begins to work',
  'channelConnections.sync': 'what is asked for is pushed and pulled; the connection is what it was',
  'housekeeping.setConditions': 'the condition that the unit has already, set again: a note, or the time of the look',
  'housekeepingSheets.create': 'a draft is told of when it is published',
  'housekeepingTasks.update': 'an attendant is told of; note, rank and time of a task are not',
  'public.createPayment': 'the first event of a payment is what the gateway has answered',
  'tenant.update': 'tenants are told of when they are suspended, and when they end',
}

export type Untold = {
  look: (routeId: string, reply: Pick<Reply, 'headers'>, tables: readonly string[]) => Promise<void>
  /** Of the routes that were looked at: those that changed a record, and never told of it. */
  routes: () => string[]
}

export const findUntold = (admin: Knex): Untold => {
  const silent = new Set<string>()
  return {
    look: async (routeId, { headers }, tables) => {
      const records = tables.filter((name) => !noRecord.has(name))
      if (records.length === 0) return
      const told = await sql(admin, `select 1 from event where request_id = ? limit 1`, [headers['x-request-id']])
      if (told.length === 0) silent.add(routeId)
    },
    routes: () => [...silent].sort(),
  }
}
