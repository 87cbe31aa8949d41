import { randomUUID } from 'node:crypto'
import { conflict, notFound, unprocessable } from '../../config/errors.ts'
import type { Amenity, BedKind, UnitAttribute } from '../../config/amenities.ts'
import type { LocalText } from '../../config/local-text.ts'
import { todayIn } from '../../config/time.ts'
import { sql, sqlOne } from '../connection.ts'
import type { Trx } from '../connection.ts'
import { emit } from '../events.ts'
import { changePortal } from '../properties/portal.ts'
import type { PoolShare } from './availability.ts'
import { moveInventory } from './inventory.ts'
import { extendNights, nightsFrom } from './nights.ts'

export type NewUnitType = {
  id?: string
  propertyId: string
  code: string
  name: LocalText
  description?: LocalText
  kind: 'private' | 'shared' | 'entire'
  baseOccupancy: number
  maxAdults: number
  maxChildren: number
  maxOccupancy: number
  beds?: { kind: BedKind; count: number }[]
  sizeM2?: number | null
  amenities?: Amenity[]
  position?: number
  bookable?: boolean
  /** Without it the type gets a pool of its own. */
  pools?: PoolShare[]
}

/** A pool with its nights up to the horizon. */
export const createPool = async (
  trx: Trx,
  pool: { id?: string; propertyId: string; name: string; kind?: 'unit' | 'extra' },
): Promise<string> => {
  const id = pool.id ?? randomUUID()
  await sql(trx, `insert into unit_pool (id, property_id, name, kind) values (?, ?, ?, ?)`, [
    id,
    pool.propertyId,
    pool.name,
    pool.kind ?? 'unit',
  ])
  await extendNights(trx, [id])
  await emit(trx, {
    type: 'unit_pool.created',
    propertyId: pool.propertyId,
    entity: { type: 'unit_pool', id, version: 1 },
    data: { unitPoolId: id },
  })
  return id
}

export const createUnitType = async (trx: Trx, type: NewUnitType): Promise<{ id: string; pools: PoolShare[] }> => {
  const id = type.id ?? randomUUID()
  if (!(type.baseOccupancy <= type.maxAdults && type.maxAdults <= type.maxOccupancy))
    throw unprocessable('occupancy_invalid', 'Base occupancy, adults and occupancy must rise', [
      { field: 'maxOccupancy', message: 'must not be below maxAdults' },
    ])
  await sql(
    trx,
    `insert into unit_type (id, property_id, code, name, description, kind, base_occupancy, max_adults, max_children, max_occupancy, beds,
       size_m2, amenities, position, bookable)
     values (?, ?, ?, ?::jsonb, ?::jsonb, ?, ?, ?, ?, ?, ?::jsonb, ?, ?::text[], ?, ?)`,
    [
      id,
      type.propertyId,
      type.code,
      JSON.stringify(type.name),
      JSON.stringify(type.description ?? {}),
      type.kind,
      type.baseOccupancy,
      type.maxAdults,
      type.maxChildren,
      type.maxOccupancy,
      JSON.stringify(type.beds ?? []),
      type.sizeM2 ?? null,
      type.amenities ?? [],
      type.position ?? 0,
      type.bookable ?? true,
    ],
  )
  const pools = type.pools ?? [
    { poolId: await createPool(trx, { propertyId: type.propertyId, name: type.code }), quantity: 1 },
  ]
  await sql(
    trx,
    `insert into unit_type_pool (unit_type_id, unit_pool_id, quantity) select ?, pool_id, quantity from unnest(?::uuid[], ?::int[]) as p (pool_id, quantity)`,
    [id, pools.map((pool) => pool.poolId), pools.map((pool) => pool.quantity)],
  )
  await changePortal(trx, type.propertyId)
  await emit(trx, {
    type: 'unit_type.created',
    propertyId: type.propertyId,
    entity: { type: 'unit_type', id, version: 1 },
    data: { unitTypeId: id, code: type.code },
  })
  return { id, pools }
}

export type NewUnits = {
  propertyId: string
  unitTypeId: string
  /** One of the type's pools; needed where it has several. */
  unitPoolId?: string
  names: string[]
  floor?: number
  building?: string
  attributes?: UnitAttribute[]
  /** Default: the business date, or today. */
  activeFrom?: string
  condition?: 'dirty' | 'clean' | 'inspected'
}

type TypePlace = { businessDate: string | null; timezone: string; now: Date; poolIds: string[] }

/** Adds 1 to 200 units, or none, to the capacity of their pool's nights. 409 names each name that is taken. */
export const createUnits = async (trx: Trx, units: NewUnits): Promise<{ id: string; name: string }[]> => {
  const place = await sqlOne<TypePlace>(
    trx,
    `select p.business_date, p.timezone, now() as now,
       (select array_agg(s.unit_pool_id order by s.unit_pool_id) from unit_type_pool s where s.tenant_id = t.tenant_id and s.unit_type_id = t.id) as pool_ids
     from unit_type t join property p on p.tenant_id = t.tenant_id and p.id = t.property_id
     where t.id = ? and t.property_id = ? and t.status = 'active'`,
    [units.unitTypeId, units.propertyId],
  )
  if (!place) throw notFound()
  const poolId = units.unitPoolId ?? (place.poolIds.length === 1 ? place.poolIds[0] : undefined)
  if (poolId === undefined || !place.poolIds.includes(poolId))
    throw unprocessable('unit_type_mismatch', 'The type is served by other pools', [
      { field: 'unitPoolId', message: 'must be one of the type’s pools' },
    ])
  await refuseDuplicates(trx, units)
  const activeFrom = units.activeFrom ?? place.businessDate ?? todayIn(place.timezone, place.now)
  await sql(trx, `select id from unit_pool where id = ? for no key update`, [poolId])
  const made = await sql<{ id: string; name: string }>(
    trx,
    `insert into unit (property_id, name, building, floor, position, unit_type_id, unit_pool_id, attributes, active_from, condition)
     select ?, n.name, ?, ?, n.position, ?, ?, ?::text[], ?, ? from unnest(?::text[]) with ordinality as n (name, position) returning id, name`,
    [
      units.propertyId,
      units.building ?? null,
      units.floor ?? null,
      units.unitTypeId,
      poolId,
      units.attributes ?? [],
      activeFrom,
      units.condition ?? 'dirty',
      units.names,
    ],
  )
  const nights = await nightsFrom(trx, poolId, activeFrom, null)
  await moveInventory(
    trx,
    nights.map((night) => ({ poolId, night, capacity: made.length })),
  )
  for (const unit of made)
    await emit(trx, {
      type: 'unit.created',
      propertyId: units.propertyId,
      entity: { type: 'unit', id: unit.id, version: 1 },
      data: { unitId: unit.id, unitTypeId: units.unitTypeId },
    })
  return made
}

const refuseDuplicates = async (trx: Trx, { propertyId, names }: NewUnits) => {
  const known = await sql<{ name: string }>(
    trx,
    `select name from unit where property_id = ? and status = 'active' and name = any(?::text[])`,
    [propertyId, names],
  )
  const taken = new Set(known.map((row) => row.name))
  const errors = names.flatMap((name, index) =>
    taken.has(name) || names.indexOf(name) !== index ? [{ field: `names.${index}`, message: `${name} is taken` }] : [],
  )
  if (errors.length > 0) throw conflict('duplicate_name', 'Each unit has a name of its own', errors)
}
