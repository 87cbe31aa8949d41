import { randomUUID } from 'node:crypto'
import { overtaken, unprocessable } from '../../../config/errors.ts'
import { groupCreated } from '../../../config/events/groups.ts'
import { mostStayNights } from '../../../config/limits.ts'
import { daysBetween } from '../../../config/time.ts'
import { businessDay } from '../../financial/index.ts'
import { nameFirms } from '../../guests/index.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { insertRow } from '../../lib/records.ts'
import { BookingGroup } from '../models.ts'
import { bookingNumber } from '../rules/number.ts'
import { factOf, nightsWanted, refuseTypes, writeNights } from './allotment.ts'
import type { Allotment } from './allotment.ts'
import { releaseOf, sealContact } from './fields.ts'
import type { GivenContact, Release } from './fields.ts'

export type NewGroup = {
  propertyId: string
  code: string
  name: string
  arrival: string
  departure: string
  ratePlanId: string
  companyId?: string | null | undefined
  contact?: GivenContact | null | undefined
  release?: Release | undefined
  routing?: { categories: readonly string[] } | undefined
  notes?: string | undefined
  allotment?: { nights: readonly Allotment[] } | undefined
}

/** 422 for a plan that the property does not sell. */
export const refusePlan = async (trx: Trx, propertyId: string, ratePlanId: string) => {
  const plan = await sqlOne(trx, `select id from rate_plan where id = ? and property_id = ? and status = 'active'`, [
    ratePlanId,
    propertyId,
  ])
  if (!plan)
    throw unprocessable('reference_not_found', 'The property does not have this rate plan', [
      { field: 'ratePlanId', message: 'does not exist' },
    ])
}

const isNumberTaken = (error: unknown) =>
  error instanceof Error && 'constraint' in error && error.constraint === 'booking_group_number'

/** Makes a group as an inquiry (G1): nothing is taken from sale. Answers its id. 409 `duplicate_code`; 422 `date_out_of_range` before the business day. */
export const createGroup = async (trx: Trx, given: NewGroup): Promise<string> => {
  const { propertyId, code, name, arrival, departure, ratePlanId } = given
  const today = await businessDay(trx, propertyId)
  await refuseArchived(trx, propertyId)
  await refusePlan(trx, propertyId, ratePlanId)
  if (departure <= arrival)
    throw unprocessable('rule_violated', 'A group leaves after it arrives', [
      { field: 'departure', message: 'must be after arrival' },
    ])
  if (arrival < today)
    throw unprocessable('date_out_of_range', 'A group does not arrive in the past', [
      { field: 'arrival', message: `must not be before ${today}` },
    ])
  if (daysBetween(arrival, departure) > mostStayNights)
    throw unprocessable('rule_violated', `A group has at most ${mostStayNights} nights`, [
      { field: 'departure', message: `must be within ${mostStayNights} days after arrival` },
    ])
  await nameFirms(trx, [{ field: 'companyId', id: given.companyId }])
  const wanted = nightsWanted({ arrival, departure }, given.allotment?.nights ?? [])
  await refuseTypes(
    trx,
    propertyId,
    wanted.map((one) => one.unitTypeId),
  )
  const id = randomUUID()
  const made = await insertRow(trx, BookingGroup, {
    id,
    propertyId,
    code,
    number: bookingNumber(),
    name,
    arrival,
    departure,
    ratePlanId,
    companyId: given.companyId,
    ...releaseOf(given.release ?? { type: 'none' }),
    routing: [...(given.routing?.categories ?? ['room'])],
    notes: given.notes ?? '',
    sealed: given.contact ? await sealContact(trx, id, given.contact) : null,
  }).catch((error: unknown) => {
    throw isNumberTaken(error) ? overtaken() : error
  })
  await writeNights(
    trx,
    made.id,
    wanted.map((one) => ({ ...one, pickedUp: 0, released: false })),
  )
  await emit(trx, groupCreated, factOf(made))
  return made.id
}
