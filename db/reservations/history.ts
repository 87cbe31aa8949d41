import { prepared } from '../lib/connection.ts'
import type { Actor, Trx } from '../lib/connection.ts'
import { readPage } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import type { ReservationEventRow } from '../rows.ts'
import type { ReservationStatus } from './rules/states.ts'

type Entry = Pick<
  ReservationEventRow,
  'id' | 'transition' | 'command' | 'reason' | 'businessDate' | 'at' | 'requestId'
> & {
  from: ReservationStatus | null
  to: ReservationStatus
  changes: { field: string; before: unknown; after: unknown }[]
  override: { rules: string[]; reason: string } | null
  actor: Actor
}

/** Property of a reservation; null where there is none. */
export const propertyOfReservation = async (trx: Trx, id: string): Promise<string | null> =>
  (await prepared<{ propertyId: string }>(trx, `select property_id from reservation where id = ?`, [id]))[0]
    ?.propertyId ?? null

/** The moves of a reservation with their actors, newest first. */
export const listHistory = (trx: Trx, reservationId: string, paging: Paging) =>
  readPage<Entry>(
    trx,
    {
      columns: `e.id, e.transition, e.command, e."from", e."to", e.changes, e.reason, e.override, e.actor, e.business_date, e.at, e.request_id`,
      from: 'reservation_event e',
      conditions: [{ text: 'e.reservation_id = ?', values: [reservationId] }],
      order: 'e.at desc, e.id desc',
    },
    paging,
  )
