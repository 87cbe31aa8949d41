import { Count, Day, List, Nullable, Obj, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const RateRange = Obj({ ratePlanId: Nullable(Uuid), unitTypeId: Nullable(Uuid), from: Day, to: Day })

const ratePlan = {
  entity: 'rate_plan',
  subject: 'RatePlan',
  data: Obj({ ratePlanId: Uuid, code: Code, parentId: Nullable(Uuid) }),
} as const
export const ratePlanCreated = event({ type: 'rate_plan.created', ...ratePlan })
export const ratePlanChanged = event({ type: 'rate_plan.changed', ...ratePlan })
export const ratePlanArchived = event({ type: 'rate_plan.archived', ...ratePlan })
export const ratePlanRestored = event({ type: 'rate_plan.restored', ...ratePlan })

/** Beyond these a change names none of its ranges: the event would be too long. */
export const mostRanges = 40

const rateChange = {
  entity: 'rate_change',
  subject: 'RateCalendar',
  data: Obj({ rateChangeId: Nullable(Uuid), ranges: Nullable(List(RateRange, { max: mostRanges })) }),
} as const
export const ratesChanged = event({ type: 'rates.changed', ...rateChange, entity: 'property' })
export const rateChangeFailed = event({ type: 'rate_change.failed', ...rateChange })

export const availabilityChanged = event({
  type: 'availability.changed',
  entity: 'unit_pool',
  subject: 'Availability',
  data: Obj({ unitTypeIds: List(Uuid, { max: 100 }), from: Day, to: Day }),
})

export const overbookingLimitChanged = event({
  type: 'overbooking_limit.changed',
  entity: 'unit_pool',
  subject: 'OverbookingLimit',
  data: Obj({ unitPoolId: Uuid, from: Day, to: Day, quantity: Count }),
})

export const ratesEvents: Event[] = [
  ratePlanCreated,
  ratePlanChanged,
  ratePlanArchived,
  ratePlanRestored,
  ratesChanged,
  rateChangeFailed,
  availabilityChanged,
  overbookingLimitChanged,
]
