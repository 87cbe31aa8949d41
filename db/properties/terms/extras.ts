import { randomUUID } from 'node:crypto'
import { notFound, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { extraArchived, extraChanged, extraCreated } from '../../../config/events/properties.ts'
import type { LocalText } from '../../../config/local-text.ts'
import type { ExtraBasis } from '../../../config/quote.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import { model } from '../../lib/models.ts'
import { changeRow, fieldsOf, insertRow } from '../../lib/records.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Paging } from '../../lib/paging.ts'
import type { ExtraRow } from '../../rows.ts'
import { moveInventory, nightsFrom, insertPool, presentDayOf } from '../../units/index.ts'
import { lockForChange, requireTexts } from '../../lib/locked-property.ts'
import type { LockedProperty } from '../../lib/locked-property.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { changePortal } from '../../lib/public-version.ts'

const extraLifecycle = archivable('An extra')

export type NewExtra = {
  id?: string
  propertyId: string
  code: string
  name: LocalText
  description?: LocalText
  category:
    | 'early_check_in'
    | 'late_check_out'
    | 'cleaning'
    | 'meal'
    | 'transport'
    | 'parking'
    | 'pet'
    | 'bed'
    | 'activity'
    | 'other'
  revenueGroup: 'rooms' | 'food' | 'beverage' | 'laundry' | 'spa' | 'parking' | 'tours' | 'other'
  amount: number
  basis: ExtraBasis
  mandatory?: boolean
  bookableOnline?: boolean
  unitTypeIds?: string[]
  maxQuantity?: number
  cutoffHours?: number
  dailyLimit?: number | null
}

type ExtraRecord = Omit<ExtraRow, 'tenantId' | 'name' | 'description'> & { name: LocalText; description: LocalText }

const Extra = model<'extra', Pick<ExtraRecord, 'name' | 'description'>>('extra')

const columns = `id, property_id, code, name, description, category, revenue_group, amount, basis, mandatory, bookable_online, unit_type_ids,
  max_quantity, cutoff_hours, daily_limit, pool_id, status, version, created_at, updated_at`

type Filter = Paging & {
  propertyId?: string | undefined
  category?: string | undefined
  status?: string | undefined
  /** The records that the caller's role is for. */
  scope: Condition
}

export const listExtras = (trx: Trx, { propertyId, category, status = 'active', scope, ...paging }: Filter) =>
  readPage<ExtraRecord>(
    trx,
    {
      columns,
      from: 'extra',
      conditions: [
        ...inScope(scope, 'property_id'),
        ...where('property_id = ?', propertyId),
        ...where('category = ?', category),
        ...where('status = ?', status),
      ],
      order: 'code, id',
    },
    paging,
  )

export const readExtra = async (trx: Trx, id: string): Promise<ExtraRecord> => {
  const row = await sqlOne<ExtraRecord>(trx, `select ${columns} from extra where id = ?`, [id])
  if (!row) throw notFound()
  return row
}

/** 404 that names the unit types that are not of this property, or not sold any more. */
export const refuseUnitTypes = async (trx: Trx, propertyId: string, ids: readonly string[] | undefined) => {
  if (!ids || ids.length === 0) return
  const known = await sql<{ id: string }>(
    trx,
    `select id from unit_type where property_id = ? and status = 'active' and id = any(?::uuid[])`,
    [propertyId, ids],
  )
  const found = new Set(known.map((row) => row.id))
  const errors: FieldError[] = ids.flatMap((id, index) =>
    found.has(id) ? [] : [{ field: `unitTypeIds.${index}`, message: 'is no active unit type of this property' }],
  )
  if (errors.length > 0) throw unprocessable('reference_not_found', 'A unit type is not sold here', errors)
}

/** Validates an extra before it is created or changed. */
export const judgeExtra = async (
  trx: Trx,
  property: LockedProperty,
  extra: Partial<Pick<NewExtra, 'name' | 'description' | 'unitTypeIds'>>,
) => {
  requireTexts(property, { name: extra.name, description: extra.description })
  await refuseUnitTypes(trx, property.id, extra.unitTypeIds)
}

/** Counters of the days of one limited extra. Their name is not shown, and does not use the code, which may be given to another extra. */
const createExtraPool = (trx: Trx, propertyId: string) =>
  insertPool(trx, { propertyId, name: `extra ${randomUUID()}`, kind: 'extra' })

/** An extra with a daily limit gets a pool of counters of its own. */
export const createExtra = async (trx: Trx, extra: NewExtra): Promise<string> => {
  const id = extra.id ?? randomUUID()
  await judgeExtra(trx, await lockForChange(trx, extra.propertyId), extra)
  await changePortal(trx, extra.propertyId)
  const dailyLimit = extra.dailyLimit ?? null
  const poolId = dailyLimit === null ? null : await createExtraPool(trx, extra.propertyId)
  await insertRow(trx, Extra, { ...extra, id, poolId })
  if (poolId !== null && dailyLimit !== null) {
    const nights = await nightsFrom(trx, poolId, '1970-01-01', null)
    await moveInventory(
      trx,
      nights.map((night) => ({ poolId, night, capacity: dailyLimit })),
    )
  }
  await emit(trx, extraCreated, {
    propertyId: extra.propertyId,
    id,
    version: 1,
    data: { extraId: id, code: extra.code, category: extra.category },
  })
  return id
}

export type ExtraChange = { [Field in Exclude<keyof NewExtra, 'id' | 'propertyId'>]?: NewExtra[Field] | undefined }

/** Tells whether stays that are not over have ordered it: their days are on the counters, or on none. Waits for orders under way. */
const isOrdered = async (trx: Trx, id: string) => {
  await sql(trx, `select 1 from extra where id = ? for update`, [id])
  const row = await sqlOne(
    trx,
    `select 1 from reservation_extra e join reservation r on r.tenant_id = e.tenant_id and r.id = e.reservation_id
     where e.extra_id = ? and e.status = 'active' and r.status in ('held', 'confirmed', 'checked_in') limit 1`,
    [id],
  )
  return row !== null
}

/** The pool of a new limit, with the capacity of its nights moved; null where none is left. 409 `sold_out` below what is ordered. */
const limitTo = async (trx: Trx, property: LockedProperty, extra: ExtraRecord, limit: number | null) => {
  if (limit === extra.dailyLimit) return extra.poolId
  if ((limit === null || extra.dailyLimit === null) && (await isOrdered(trx, extra.id)))
    throw unprocessable('in_use', 'Stays that are not over have ordered this extra', [
      { field: 'dailyLimit', message: 'is set or taken away only while no stay has ordered it' },
    ])
  // The pool of a limit that ended stays behind: its past nights are history.
  if (limit === null) return null
  const poolId = extra.poolId ?? (await createExtraPool(trx, property.id))
  const from = extra.poolId === null ? '1970-01-01' : presentDayOf(property)
  const delta = limit - (extra.dailyLimit ?? 0)
  await sql(trx, `select id from unit_pool where id = ? for no key update`, [poolId])
  await moveInventory(
    trx,
    (await nightsFrom(trx, poolId, from, null)).map((night) => ({ poolId, night, capacity: delta })),
  )
  return poolId
}

/** Changes an extra; stays that have ordered it keep what they were told. The caller holds its row. */
export const changeExtra = async (trx: Trx, id: string, change: ExtraChange): Promise<void> => {
  const extra = await readExtra(trx, id)
  const property = await lockForChange(trx, extra.propertyId)
  extraLifecycle.allow('changed', extra.status)
  if (fieldsOf(change).length === 0) return
  await judgeExtra(trx, property, {
    name: change.name ?? {},
    description: change.description ?? {},
    unitTypeIds: change.unitTypeIds ?? [],
  })
  const poolId = change.dailyLimit === undefined ? undefined : await limitTo(trx, property, extra, change.dailyLimit)
  const version = await changeRow(trx, Extra, id, { ...change, poolId })
  await changePortal(trx, extra.propertyId)
  await emit(trx, extraChanged, {
    propertyId: extra.propertyId,
    id,
    version,
    data: { extraId: id, code: extra.code, category: change.category ?? extra.category },
    changed: sentFields(change, extra),
  })
}

/** Stops selling an extra. 422 `in_use` names the active plans that include it. The caller holds its row. */
export const archiveExtra = async (trx: Trx, id: string): Promise<void> => {
  const extra = await readExtra(trx, id)
  await lockForChange(trx, extra.propertyId)
  if (!extraLifecycle.isDue('archived', extra.status)) return
  const plans = await sql<{ code: string }>(
    trx,
    `select code from rate_plan where property_id = ? and status = 'active' and included_extras @> ?::jsonb order by code limit 50`,
    [extra.propertyId, JSON.stringify([{ extraId: id }])],
  )
  if (plans.length > 0)
    throw unprocessable(
      'in_use',
      'Active rate plans include this extra',
      plans.map(({ code }) => ({ field: 'ratePlan', message: code })),
    )
  const version = await changeRow(trx, Extra, id, { status: 'archived' })
  await changePortal(trx, extra.propertyId)
  await emit(trx, extraArchived, {
    propertyId: extra.propertyId,
    id,
    version,
    data: { extraId: id, code: extra.code, category: extra.category },
    changed: [{ field: 'status', before: extra.status, after: 'archived' }],
  })
}
