import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { folioOpened } from '../../../config/events/folios.ts'
import { nameFirms, resolveGuests } from '../../guests/index.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import type { FolioRow } from '../../rows.ts'
import { lockGroup } from '../group/lock.ts'
import { lockStay } from '../lock.ts'
import { bookingNumber } from '../rules/number.ts'
import { factOf } from './open.ts'

export type NewFolio = {
  propertyId: string
  kind: 'guest' | 'company' | 'group' | 'house'
  reservationId?: string | undefined
  groupId?: string | undefined
  payerGuestId?: string | undefined
  payerCompanyId?: string | undefined
  label?: string | undefined
}

type Payers = { payerGuestId?: string | null | undefined; payerCompanyId?: string | null | undefined }
type Place = { number: string; reservationId: string | null; groupId: string | null; stage: FolioRow['stage'] }

/** A further folio of a stay. The numbers of a stay's folios count up from its primary one. */
const ofStay = async (trx: Trx, reservationId: string, propertyId: string): Promise<Place> => {
  const { booking, stay } = await lockStay(trx, reservationId).catch((error: unknown) => {
    throw unknownOwner(error, 'reservationId')
  })
  if (booking.propertyId !== propertyId) throw unknownOwner(notFound(), 'reservationId')
  if (stay.status !== 'confirmed' && stay.status !== 'checked_in')
    throw conflict('invalid_transition', `A stay that is ${stay.status.replace('_', ' ')} gets no further folio`, [
      { field: 'reservationId', message: 'must be confirmed or checked in' },
    ])
  const counted = await sqlOne<{ count: number }>(
    trx,
    `select count(*)::int as count from folio where reservation_id = ?`,
    [reservationId],
  )
  return {
    number: `${booking.number}-${stay.position}-${(counted?.count ?? 0) + 1}`,
    reservationId,
    groupId: null,
    stage: stay.status === 'confirmed' ? 'deposit' : 'guest',
  }
}

/** A further folio of a confirmed group, which waits in the stage of its master folio. */
const ofGroup = async (trx: Trx, groupId: string, propertyId: string): Promise<Place> => {
  const { group } = await lockGroup(trx, groupId).catch((error: unknown) => {
    throw unknownOwner(error, 'groupId')
  })
  if (group.propertyId !== propertyId) throw unknownOwner(notFound(), 'groupId')
  if (group.status !== 'confirmed')
    throw conflict('invalid_transition', 'A group gets further folios while it is confirmed', [
      { field: 'groupId', message: 'must be confirmed' },
    ])
  const own = await sqlOne<{ count: number; stage: FolioRow['stage'] }>(
    trx,
    `select count(*)::int as count, coalesce(max(stage) filter (where id = ?), 'deposit') as stage from folio where group_id = ?`,
    [group.masterFolioId, groupId],
  )
  return {
    number: `${group.number}-${(own?.count ?? 0) + 1}`,
    reservationId: null,
    groupId,
    stage: own?.stage ?? 'deposit',
  }
}

const unknownOwner = (error: unknown, field: 'reservationId' | 'groupId') =>
  error instanceof Error && 'code' in error && error.code === 'not_found'
    ? unprocessable(
        'reference_not_found',
        `The property does not have this ${field === 'groupId' ? 'group' : 'reservation'}`,
        [{ field, message: 'does not exist' }],
      )
    : error

/** One guest or one firm pays a folio. */
export const refuseTwoPayers = ({ payerGuestId, payerCompanyId }: Payers): void => {
  if (payerGuestId && payerCompanyId)
    throw invalid([{ field: 'payerCompanyId', message: 'is not sent beside payerGuestId' }])
}

const ofHouse = async (trx: Trx, propertyId: string): Promise<Place> => {
  await refuseArchived(trx, propertyId)
  return { number: `H${bookingNumber()}-1`, reservationId: null, groupId: null, stage: 'guest' }
}

/** A house folio belongs to neither stay nor group, one of kind group to a group, and any other to one of them. */
const refuseOwner = ({ kind, reservationId, groupId }: NewFolio): void => {
  const errors = [
    ...(reservationId !== undefined && (kind === 'house' || kind === 'group')
      ? [{ field: 'reservationId', message: `is not for a ${kind} folio` }]
      : []),
    ...(groupId !== undefined && kind === 'house' ? [{ field: 'groupId', message: 'is not for a house folio' }] : []),
    ...(groupId === undefined && kind === 'group' ? [{ field: 'groupId', message: 'is required for this kind' }] : []),
    ...(kind !== 'house' && kind !== 'group' && (reservationId === undefined) === (groupId === undefined)
      ? [{ field: 'reservationId', message: 'is required for this kind, or groupId in its place' }]
      : []),
  ]
  if (errors.length > 0) throw invalid(errors)
}

const placeOf = (trx: Trx, { propertyId, reservationId, groupId }: NewFolio): Promise<Place> => {
  if (reservationId !== undefined) return ofStay(trx, reservationId, propertyId)
  return groupId === undefined ? ofHouse(trx, propertyId) : ofGroup(trx, groupId, propertyId)
}

/** Opens a further folio (F1): of a stay or a group, for a guest or a company that pays a part of it, or of the house. Answers its id. */
export const openFolio = async (trx: Trx, given: NewFolio) => {
  const { propertyId, kind, payerGuestId, payerCompanyId, label } = given
  refuseTwoPayers(given)
  refuseOwner(given)
  const place = await placeOf(trx, given)
  const payers = await resolveGuests(trx, payerGuestId === undefined ? [] : [payerGuestId], 'payerGuestId')
  await nameFirms(trx, [{ field: 'payerCompanyId', id: payerCompanyId }])
  const made = await sqlOne<FolioRow>(
    trx,
    `insert into folio (property_id, number, kind, reservation_id, group_id, payer_guest_id, payer_company_id, label, stage, currency)
     select p.id, ?, ?, ?, ?, ?, ?, ?, ?, p.currency from property p where p.id = ? returning *`,
    [
      place.number,
      kind,
      place.reservationId,
      place.groupId,
      payerGuestId === undefined ? null : (payers.get(payerGuestId) ?? null),
      payerCompanyId ?? null,
      label ?? '',
      place.stage,
      propertyId,
    ],
  )
  if (!made) throw notFound()
  await emit(trx, folioOpened, factOf(made))
  return made.id
}
