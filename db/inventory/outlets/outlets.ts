import { randomUUID } from 'node:crypto'
import { notFound, unprocessable } from '../../../config/errors.ts'
import { outletChanged } from '../../../config/events/inventory.ts'
import type { outletKinds } from '../../../config/inventory.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import { refuseArchived, statusOf } from '../../lib/locked-property.ts'
import { refuseStrangers } from '../../lib/sets.ts'
import { holdLocations, refuseTwice } from '../locations.ts'
import { refuseElsewhere } from '../movements/record.ts'
import { lockSet, versionOfSet } from '../sets.ts'

export type OutletEntry = {
  id?: string | undefined
  code: string
  name: string
  kind: (typeof outletKinds)[number]
  /** Stock that its sales take from, unless a price names another. */
  locationId: string
  roomCharge: boolean
  /** Basis points. */
  serviceChargeRate: number
}
export type OutletRecord = Required<Omit<OutletEntry, 'id'>> & { id: string; propertyId: string }

const columns = `id, property_id, code, name, kind, location_id, room_charge, service_charge_rate`

/** Outlets of a property. 404. */
export const readOutlets = async (trx: Trx, propertyId: string) => {
  await statusOf(trx, propertyId)
  const data = await sql<OutletRecord>(
    trx,
    `select ${columns} from outlet where property_id = ? and status = 'active' order by position, code, id limit 100`,
    [propertyId],
  )
  return { data, version: await versionOfSet(trx, 'outlets', propertyId) }
}

/** An active outlet. 404. */
export const outletOf = async (trx: Trx, id: string): Promise<OutletRecord> => {
  const row = await sqlOne<OutletRecord>(trx, `select ${columns} from outlet where id = ? and status = 'active'`, [id])
  if (!row) throw notFound()
  return row
}

const refuseOpen = async (trx: Trx, left: readonly { id: string; code: string }[]): Promise<void> => {
  if (left.length === 0) return
  const used = await sql<{ outletId: string }>(
    trx,
    `select distinct outlet_id from pos_order where outlet_id = any(?::uuid[]) and status = 'open'`,
    [left.map(({ id }) => id)],
  )
  if (used.length > 0)
    throw unprocessable(
      'in_use',
      'An outlet with open orders stays',
      used.map(({ outletId }) => ({
        field: 'outlets',
        message: `${left.find((one) => one.id === outletId)?.code ?? outletId} has open orders`,
      })),
    )
}

const isSame = (a: OutletRecord, b: OutletEntry): boolean =>
  (['code', 'name', 'kind', 'locationId', 'roomCharge', 'serviceChargeRate'] as const).every(
    (field) => a[field] === b[field],
  )

/** Replaces the outlets of a property. 422 `in_use` for one with open orders that is left out; its prices go with it. */
export const replaceOutlets = async (
  trx: Trx,
  propertyId: string,
  entries: readonly OutletEntry[],
  expected: number | null,
): Promise<void> => {
  refuseTwice(
    'outlets',
    entries.map(({ code }) => code),
  )
  await refuseArchived(trx, propertyId)
  await lockSet(trx, 'outlets', propertyId, expected)
  // Orders hold their outlet, so that none is opened in one that is archived here.
  const stored = await sql<OutletRecord>(
    trx,
    `select ${columns} from outlet where property_id = ? and status = 'active' order by id for update`,
    [propertyId],
  )
  refuseStrangers(
    'outlets',
    entries,
    stored.map(({ id }) => id),
  )
  const places = await holdLocations(
    trx,
    entries.map(({ locationId }, index) => ({ id: locationId, field: `outlets.${index}.locationId` })),
  )
  entries.forEach(({ locationId }, index) => {
    const place = places.get(locationId)
    if (place) refuseElsewhere(place, propertyId, `outlets.${index}.locationId`)
  })
  const left = stored.filter((one) => !entries.some(({ id }) => id === one.id))
  await refuseOpen(trx, left)
  const rows = entries.map((entry, position) => ({ ...entry, id: entry.id ?? randomUUID(), position }))
  await sql(trx, `update outlet set status = 'archived' where property_id = ? and status = 'active'`, [propertyId])
  await sql(trx, `update outlet_price set status = 'archived' where outlet_id = any(?::uuid[]) and status = 'active'`, [
    left.map(({ id }) => id),
  ])
  await sql(
    trx,
    `insert into outlet (id, property_id, code, name, kind, location_id, room_charge, service_charge_rate, position)
     select o.id, ?, o.code, o.name, o.kind, o."locationId", o."roomCharge", o."serviceChargeRate", o.position
     from jsonb_to_recordset(?::jsonb) as o (id uuid, code text, name text, kind text, "locationId" uuid, "roomCharge" boolean, "serviceChargeRate" int, position int)
     on conflict (tenant_id, id) do update set code = excluded.code, name = excluded.name, kind = excluded.kind, location_id = excluded.location_id,
       room_charge = excluded.room_charge, service_charge_rate = excluded.service_charge_rate, position = excluded.position, status = 'active'`,
    [propertyId, JSON.stringify(rows)],
  )
  const changed = rows.filter((row) => {
    const before = stored.find(({ id }) => id === row.id)
    return !before || !isSame(before, row)
  })
  await emitAll(
    trx,
    outletChanged,
    [...changed, ...left].map(({ id }) => ({ propertyId, id, version: null, data: { outletId: id } })),
  )
}
