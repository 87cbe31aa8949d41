import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { folioOpened } from '../../../config/events/folios.ts'
import { nameFirms, resolveGuests } from '../../guests/index.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import type { FolioRow } from '../../rows.ts'
import { lockStay } from '../lock.ts'
import { bookingNumber } from '../rules/number.ts'
import { factOf } from './open.ts'

export type NewFolio = {
  propertyId: string
  kind: 'guest' | 'company' | 'house'
  reservationId?: string | undefined
  payerGuestId?: string | undefined
  payerCompanyId?: string | undefined
  label?: string | undefined
}

type Payers = { payerGuestId?: string | null | undefined; payerCompanyId?: string | null | undefined }
type Place = { number: string; reservationId: string | null; stage: FolioRow['stage'] }

/** A further folio of a stay. The numbers of a stay's folios count up from its primary one. */
const ofStay = async (trx: Trx, reservationId: string, propertyId: string): Promise<Place> => {
  const { booking, stay } = await lockStay(trx, reservationId).catch((error: unknown) => {
    throw unknownStay(error)
  })
  if (booking.propertyId !== propertyId) throw unknownStay(notFound())
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
    stage: stay.status === 'confirmed' ? 'deposit' : 'guest',
  }
}

const unknownStay = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'not_found'
    ? unprocessable('reference_not_found', 'The property does not have this reservation', [
        { field: 'reservationId', message: 'does not exist' },
      ])
    : error

/** One guest or one firm pays a folio. */
export const refuseTwoPayers = ({ payerGuestId, payerCompanyId }: Payers): void => {
  if (payerGuestId && payerCompanyId)
    throw invalid([{ field: 'payerCompanyId', message: 'is not sent beside payerGuestId' }])
}

const ofHouse = async (trx: Trx, propertyId: string): Promise<Place> => {
  await refuseArchived(trx, propertyId)
  return { number: `H${bookingNumber()}-1`, reservationId: null, stage: 'guest' }
}

/** Opens a further folio (F1): of a stay, for a guest or a company that pays a part of it, or of the house. Answers its id. */
export const openFolio = async (trx: Trx, given: NewFolio) => {
  const { propertyId, kind, reservationId, payerGuestId, payerCompanyId, label } = given
  refuseTwoPayers(given)
  if ((kind === 'house') === (reservationId !== undefined))
    throw invalid([
      { field: 'reservationId', message: kind === 'house' ? 'is not for a house folio' : 'is required for this kind' },
    ])
  const place =
    reservationId === undefined ? await ofHouse(trx, propertyId) : await ofStay(trx, reservationId, propertyId)
  const payers = await resolveGuests(trx, payerGuestId === undefined ? [] : [payerGuestId], 'payerGuestId')
  await nameFirms(trx, [{ field: 'payerCompanyId', id: payerCompanyId }])
  const made = await sqlOne<FolioRow>(
    trx,
    `insert into folio (property_id, number, kind, reservation_id, payer_guest_id, payer_company_id, label, stage, currency)
     select p.id, ?, ?, ?, ?, ?, ?, ?, p.currency from property p where p.id = ? returning *`,
    [
      place.number,
      kind,
      place.reservationId,
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
