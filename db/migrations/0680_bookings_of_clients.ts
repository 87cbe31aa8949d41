import type { Knex } from 'knex'

/** Mails of bookings of one client of the portal are counted by its address. */
export const up = (knex: Knex) =>
  knex.raw(
    `create index booking_client on booking (tenant_id, address_hash) where source = 'portal' and address_hash is not null`,
  )
