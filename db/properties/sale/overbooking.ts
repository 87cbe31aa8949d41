import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { overbookingLimitChanged } from '../../../config/events/rates.ts'
import { addDays, daysIn } from '../../../config/time.ts'
import { audit } from '../../lib/audit.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { setOversell, unitPoolOf } from '../../units/index.ts'
import { readProperty } from './catalogue.ts'
import { refuseDates } from '../rates/rate-cells.ts'
import { weekDayOf } from '../rules/rate-items.ts'

export type OverbookingChange = {
  propertyId: string
  unitPoolId: string
  from: string
  /** Included. */
  to: string
  /** Monday is 1; all of them when left out. */
  weekDays?: number[] | undefined
  /** 0 takes it back. */
  quantity: number
  reason: string
}

/**
 * Plans how much more than there is may be sold. Never fails for what is sold already: that is forced, until it is released. Like a
 * booking it touches no row of the property.
 */
export const setOverbooking = async (trx: Trx, change: OverbookingChange): Promise<void> => {
  const { propertyId, unitPoolId, from, to, weekDays, quantity, reason } = change
  if (to < from) throw invalid([{ field: 'to', message: 'must not be before from' }])
  const property = await readProperty(trx, propertyId)
  if (!property) throw notFound('There is no such property')
  if (property.status === 'archived') throw conflict('invalid_transition', 'The property is archived')
  if (!(await unitPoolOf(trx, propertyId, unitPoolId)))
    throw unprocessable('reference_not_found', 'The property has no such pool of units', [
      { field: 'unitPoolId', message: 'is no pool of units of this property' },
    ])
  await refuseDates(trx, propertyId, [from, to])
  const nights = daysIn(from, addDays(to, 1)).filter((night) => !weekDays || weekDays.includes(weekDayOf(night)))
  const changed = await setOversell(trx, unitPoolId, nights, quantity)
  const what = { unitPoolId, from, to, ...(weekDays ? { weekDays } : {}), quantity }
  await audit(trx, {
    action: 'overbooking_limit.override',
    subjectType: 'OverbookingLimit',
    subjectId: unitPoolId,
    reason,
    changes: [{ field: 'limit', after: what }],
  })
  if (changed === 0) return
  await emit(trx, overbookingLimitChanged, {
    propertyId,
    id: unitPoolId,
    version: null,
    data: { unitPoolId, from, to, quantity },
  })
}
