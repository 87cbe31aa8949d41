import { unprocessable } from '../../../config/errors.ts'
import { unitTypeArchived, unitTypeRestored } from '../../../config/events/units.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import { changePortal } from '../../lib/public-version.ts'
import { changeRow } from '../../lib/records.ts'
import { refuseSold } from './change.ts'
import { readUnitType, UnitType, unitTypeLifecycle } from './read.ts'
import type { UnitTypeRecord } from './read.ts'

const settle = async (
  trx: Trx,
  type: UnitTypeRecord,
  status: UnitTypeRecord['status'],
  event: typeof unitTypeArchived,
) => {
  const version = await changeRow(trx, UnitType, type.id, { status })
  await changePortal(trx, type.propertyId)
  await emit(trx, event, {
    propertyId: type.propertyId,
    id: type.id,
    version,
    data: { unitTypeId: type.id, code: type.code },
    changed: [{ field: 'status', before: type.status, after: status }],
  })
}

/** Stops selling a type. 422 `in_use` while a night of it is taken, or an active unit is of it. The caller holds its row. */
export const archiveUnitType = async (trx: Trx, id: string): Promise<void> => {
  const type = await readUnitType(trx, id)
  const property = await lockForChange(trx, type.propertyId)
  if (!unitTypeLifecycle.isDue('archived', type.status)) return
  const units = await sql<{ name: string }>(
    trx,
    `select name from unit where unit_type_id = ? and status = 'active' order by name limit 50`,
    [id],
  )
  if (units.length > 0)
    throw unprocessable(
      'in_use',
      'Active units are of this type',
      units.map(({ name }) => ({ field: 'unit', message: name })),
    )
  await refuseSold(trx, property, id, 'reservation')
  await settle(trx, type, 'archived', unitTypeArchived)
}

/** Sells an archived type again. The caller holds its row. */
export const restoreUnitType = async (trx: Trx, id: string): Promise<void> => {
  const type = await readUnitType(trx, id)
  await lockForChange(trx, type.propertyId)
  if (unitTypeLifecycle.isDue('restored', type.status)) await settle(trx, type, 'active', unitTypeRestored)
}
