import { invalid, notFound, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { daysBetween } from '../../config/time.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { catalogueOf, countParty, fits, readProperty } from '../properties/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import { presentDayOf } from '../units/index.ts'

export type Contact = { name: string; email?: string | undefined; phone?: string | undefined }

export type Wish = {
  guestId?: string | null | undefined
  contact?: Contact | null | undefined
  arrival: string
  departure: string
  flexibleDays?: number | undefined
  rooms?: number | undefined
  /** Empty is any. */
  unitTypeIds?: string[] | undefined
  ratePlanId?: string | null | undefined
  adults: number
  childrenAges?: number[] | undefined
  /** 1 comes first. */
  priority?: number | undefined
  note?: string | undefined
}

/** 422 `occupancy_exceeded` where no type that would do takes the party of a room. */
const refuseCrowd = async (trx: Trx, property: SaleProperty, wish: Wish): Promise<void> => {
  const { adults, childrenAges = [], unitTypeIds = [] } = wish
  const catalogue = await catalogueOf(trx, property)
  const party = countParty(catalogue, { adults, childrenAges })
  const types = catalogue.unitTypes.filter(({ id }) => unitTypeIds.length === 0 || unitTypeIds.includes(id))
  if (types.length > 0 && !types.some((type) => fits(type, party)))
    throw unprocessable('occupancy_exceeded', 'The party does not fit the room', [
      { field: 'adults', message: `fits at most ${Math.max(...types.map((type) => type.maxOccupancy))} guests` },
    ])
}

/** Refuses a request that could never be met. 400 for its dates and its person, 422 for records that the property does not have, and for a party that
 * none of its types takes. */
export const judgeWish = async (trx: Trx, propertyId: string, wish: Wish): Promise<void> => {
  const property = await readProperty(trx, propertyId)
  if (!property) throw notFound()
  const nights = daysBetween(wish.arrival, wish.departure)
  const isOne = (wish.guestId ?? null) !== null || (wish.contact ?? null) !== null
  const errors: FieldError[] = [
    ...(nights < 1 || nights > 366 ? [{ field: 'departure', message: 'must be 1 to 366 nights after arrival' }] : []),
    ...(wish.arrival < presentDayOf(property)
      ? [{ field: 'arrival', message: `must not be before ${presentDayOf(property)}` }]
      : []),
    ...(isOne ? [] : [{ field: 'contact', message: 'is needed where no guestId is given' }]),
  ]
  if (errors.length > 0) throw invalid(errors)
  const [known] = await sql<{ types: string[]; plans: string[] }>(
    trx,
    `select array(select id::text from unit_type where property_id = :propertyId and status = 'active' and id = any(cast(:types as uuid[]))) as types,
       array(select id::text from rate_plan where property_id = :propertyId and status = 'active' and id = :plan) as plans`,
    { propertyId, types: wish.unitTypeIds ?? [], plan: wish.ratePlanId ?? null },
  )
  const strangers = [
    ...(wish.unitTypeIds ?? []).flatMap((id, index) =>
      known?.types.includes(id) ? [] : [{ field: `unitTypeIds.${index}`, message: 'is not sold here' }],
    ),
    ...(wish.ratePlanId && known?.plans.length === 0 ? [{ field: 'ratePlanId', message: 'is not sold here' }] : []),
  ]
  if (strangers.length > 0) throw unprocessable('reference_not_found', 'The property does not sell this', strangers)
  await refuseCrowd(trx, property, wish)
}
