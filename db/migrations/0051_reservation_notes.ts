import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

/** Notes of the desk about a stay, each with the staff who may read it and the moment to tell it, if any. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'reservation_note',
    `reservation_id uuid not null,
     audience text not null,
     alert text not null default 'none',
     sealed bytea not null,
     created_by jsonb not null,
     created_at timestamptz not null default now(),
     constraint reservation_note_audience check (audience in ('all', 'front_desk', 'housekeeping', 'billing', 'relations')),
     constraint reservation_note_alert check (alert in ('none', 'booking', 'check_in', 'check_out')),
     foreign key (tenant_id, reservation_id) references reservation (tenant_id, id)`,
    { grant: 'select, insert, delete' },
  )
  await knex.raw(
    `create index reservation_note_reservation on reservation_note (tenant_id, reservation_id, created_at)`,
  )
}
