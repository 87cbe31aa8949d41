import { randomUUID } from 'node:crypto'
import type { locationKinds } from '../../config/inventory.ts'
import { invalid, unprocessable } from '../../config/errors.ts'
import { prepared, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { refuseArchived, statusOf } from '../lib/locked-property.ts'
import { refuseStrangers } from '../lib/sets.ts'
import { lockSet, versionOfSet } from './sets.ts'

export type LocationEntry = {
  id?: string | undefined
  code: string
  name: string
  kind: (typeof locationKinds)[number]
}

/** Locations of a property. 404. */
export const readLocations = async (trx: Trx, propertyId: string) => {
  await statusOf(trx, propertyId)
  const data = await sql<LocationEntry & { id: string }>(
    trx,
    `select id, code, name, kind from inventory_location where property_id = ? and status = 'active' order by position, code, id limit 200`,
    [propertyId],
  )
  return { data, version: await versionOfSet(trx, 'locations', propertyId) }
}

export const refuseTwice = (field: string, codes: readonly string[]) => {
  const twice = codes.findIndex((code, index) => codes.indexOf(code) !== index)
  if (twice >= 0) throw invalid([{ field: `${field}.${twice}.code`, message: 'stands twice' }])
}

/** Replaces the locations of a property. 422 `in_use` for one with stock, an open count or an outlet that is left out. */
export const replaceLocations = async (
  trx: Trx,
  propertyId: string,
  entries: readonly LocationEntry[],
  expected: number | null,
): Promise<void> => {
  refuseTwice(
    'locations',
    entries.map(({ code }) => code),
  )
  await refuseArchived(trx, propertyId)
  await lockSet(trx, 'locations', propertyId, expected)
  // Moves of stock hold their locations, so that none comes into one that is archived here.
  const stored = await sql<{ id: string; code: string }>(
    trx,
    `select id, code from inventory_location where property_id = ? and status = 'active' order by id for update`,
    [propertyId],
  )
  refuseStrangers(
    'locations',
    entries,
    stored.map(({ id }) => id),
  )
  await refuseUsed(
    trx,
    stored.filter((one) => !entries.some(({ id }) => id === one.id)),
  )
  const rows = entries.map((entry, position) => ({ ...entry, id: entry.id ?? randomUUID(), position }))
  await sql(trx, `update inventory_location set status = 'archived' where property_id = ? and status = 'active'`, [
    propertyId,
  ])
  await sql(
    trx,
    `insert into inventory_location (id, property_id, code, name, kind, position)
     select l.id, ?, l.code, l.name, l.kind, l.position from jsonb_to_recordset(?::jsonb) as l (id uuid, code text, name text, kind text, position int)
     on conflict (tenant_id, id) do update set code = excluded.code, name = excluded.name, kind = excluded.kind, position = excluded.position, status = 'active'`,
    [propertyId, JSON.stringify(rows)],
  )
}

const refuseUsed = async (trx: Trx, left: readonly { id: string; code: string }[]) => {
  if (left.length === 0) return
  const used = await sql<{ id: string }>(
    trx,
    `select l.id from inventory_location l where l.id = any(?::uuid[]) and (
       exists (select from inventory_stock s where s.tenant_id = l.tenant_id and s.location_id = l.id and s.quantity > 0)
       or exists (select from inventory_count c where c.tenant_id = l.tenant_id and c.property_id = l.property_id and c.location_id = l.id and c.status = 'open')
       or exists (select from outlet o where o.tenant_id = l.tenant_id and o.property_id = l.property_id and o.location_id = l.id and o.status = 'active')
       or exists (select from outlet_price p where p.tenant_id = l.tenant_id and p.location_id = l.id and p.status = 'active')
       or exists (select from pos_order_line k join pos_order o on o.tenant_id = k.tenant_id and o.id = k.order_id and o.status = 'open'
         where k.tenant_id = l.tenant_id and k.location_id = l.id))`,
    [left.map(({ id }) => id)],
  )
  if (used.length > 0)
    throw unprocessable(
      'in_use',
      'A location with stock, an open count or an outlet stays',
      used.slice(0, 50).map(({ id }) => ({
        field: 'locations',
        message: `${left.find((one) => one.id === id)?.code ?? id} is in use`,
      })),
    )
}

export type Place = { id: string; propertyId: string; code: string; bookId: string; currency: string }

/** Holds active locations for a move of stock. 422 `reference_not_found`, with the field that names one that is not there. */
export const holdLocations = async (
  trx: Trx,
  named: readonly { id: string; field: string }[],
): Promise<Map<string, Place>> => {
  const rows = await prepared<Place>(
    trx,
    `select l.id, l.property_id, l.code, p.book_id, p.currency from inventory_location l
     join property p on p.tenant_id = l.tenant_id and p.id = l.property_id
     where l.id = any(?::uuid[]) and l.status = 'active' order by l.id for key share of l`,
    [[...new Set(named.map(({ id }) => id))]],
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  const missing = named.filter(({ id }) => !found.has(id))
  if (missing.length > 0)
    throw unprocessable(
      'reference_not_found',
      'There is no such active location',
      missing.map(({ field }) => ({ field, message: 'is no active location of the tenant' })),
    )
  return found
}

/** The property of a location, which its records are judged by; null where there is no such location. */
export const propertyOfLocation = async (trx: Trx, locationId: string): Promise<string | null> =>
  (await sqlOne<{ propertyId: string }>(trx, `select property_id from inventory_location where id = ?`, [locationId]))
    ?.propertyId ?? null
