import { conflict, invalid, notFound } from '../../config/errors.ts'
import { guestRegistrationCancelled, guestRegistrationCompleted } from '../../config/events/guests.ts'
import type { Condition } from '../lib/conditions.ts'
import { later, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { model } from '../lib/models.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import { changeRow } from '../lib/records.ts'
import { seal, unsealGuests } from '../lib/sealing/index.ts'
import type { GuestRegistrationRow, GuestRow } from '../rows.ts'
import { openDocuments } from './documents/documents.ts'
import { refuseFalseNumber } from './documents/numbers.ts'
import { openProfile } from './lock.ts'
import { groupOf } from './resolve.ts'
import { maskNumber } from './rules/masks.ts'
import { checkProfile } from './rules/profiles.ts'
import { missingIn, requiredFields } from './rules/registration.ts'
import type { RegistrationForm, RequiredField } from './rules/registration.ts'
import { fullName } from './profile.ts'
import { tellChanged } from './tell.ts'
import type { GuestChange } from './update.ts'
import { writeProfile } from './update.ts'

const GuestRegistration = model('guest_registration')

type Signature = { name: string }
/** The part of a registration that the retention key of the guest seals. */
type Sealed = { form: RegistrationForm; signature: Signature | null }

const formPlace = (id: string) => ({ table: 'guest_registration', rowId: id, purpose: 'form' })
const formKey = (guestId: string) => ({ guestId, purpose: 'retention' as const })

/**
 * Opens a form for each named guest of stays that are confirmed or go on, where the house keeps forms (F1). One that was cancelled comes back with its
 * stay (F8). Written with the next statement.
 */
export const openForms = (trx: Trx, reservationIds: readonly string[]): void =>
  later(
    trx,
    `insert into guest_registration (reservation_guest_id, reservation_id, guest_id, property_id, missing)
     select n.id, r.id, n.guest_id, r.property_id, ?::text[] from reservation r
     join property p on p.tenant_id = r.tenant_id and p.id = r.property_id and p.settings -> 'registration' ->> 'mode' in ('warn', 'strict')
     join reservation_guest n on n.tenant_id = r.tenant_id and n.reservation_id = r.id
     where r.id = any(?::uuid[]) and r.status in ('confirmed', 'checked_in')
     on conflict (tenant_id, reservation_guest_id) do update set version = guest_registration.version + 1,
       status = case when guest_registration.missing = '{}' and guest_registration.signed_at is not null then 'ready' else 'pending' end
     where guest_registration.status = 'cancelled'`,
    [[...requiredFields], reservationIds],
  )

/** Cancels the forms of stays that came to nothing, and of guests who were taken off a stay (F7). */
export const closeForms = async (trx: Trx, reservationIds: readonly string[]): Promise<void> => {
  const ended = await sql<GuestRegistrationRow>(
    trx,
    `update guest_registration g set status = 'cancelled', version = g.version + 1 from reservation r
     where r.tenant_id = g.tenant_id and r.id = g.reservation_id and r.id = any(?::uuid[]) and g.status <> 'cancelled'
       and (r.status in ('cancelled', 'no_show', 'expired') or not exists (
         select from reservation_guest n where n.tenant_id = g.tenant_id and n.id = g.reservation_guest_id))
     returning g.*`,
    [reservationIds],
  )
  for (const row of ended) await emit(trx, guestRegistrationCancelled, factOf(row, row.version))
}

const factOf = (row: GuestRegistrationRow, version: number) => ({
  propertyId: row.propertyId,
  id: row.id,
  version,
  data: {
    guestRegistrationId: row.id,
    reservationId: row.reservationId,
    guestId: row.guestId,
    externalId: row.externalId,
  },
})

/** The values that the profile gives for a form's fields. */
const knownOf = async (trx: Trx, guest: GuestRow): Promise<RegistrationForm> => {
  if (guest.status === 'erased') return {}
  const profile = await openProfile(trx, guest)
  const documents = await openDocuments(trx, await groupOf(trx, guest.id))
  const document = documents.find((one) => one.status !== 'rejected' && one.words !== null)
  const { city, region, countryCode = guest.residenceCountry ?? undefined } = profile.address ?? {}
  return {
    name: fullName(guest),
    ...(document?.words
      ? { document: { kind: document.kind, countryCode: document.countryCode, number: document.words.number } }
      : {}),
    ...(profile.birthDate === null ? {} : { birthDate: profile.birthDate }),
    ...(guest.nationality === null ? {} : { nationality: guest.nationality }),
    ...(city === undefined && countryCode === undefined
      ? {}
      : {
          residence: {
            ...(city === undefined ? {} : { city }),
            ...(region === undefined ? {} : { region }),
            ...(countryCode === undefined ? {} : { countryCode }),
          },
        }),
  }
}

const openForm = async (trx: Trx, row: GuestRegistrationRow): Promise<Sealed> => {
  const [sealed] = await unsealGuests<Sealed>(trx, 'retention', [
    { guestId: row.guestId, place: formPlace(row.id), sealed: row.sealed },
  ])
  return sealed ?? { form: {}, signature: null }
}

/** The guest of a form: of a merged profile, its survivor. */
const guestOf = async (trx: Trx, guestId: string, lock = ''): Promise<GuestRow> => {
  const row = await sqlOne<GuestRow>(
    trx,
    `select s.* from guest g join guest s on s.tenant_id = g.tenant_id and s.id = coalesce(g.merged_into_id, g.id) where g.id = ? ${lock}`,
    [guestId],
  )
  if (!row) throw notFound()
  return row
}

/** A form with what the profile adds to it, masked. 404. */
export const readRegistration = async (trx: Trx, id: string) => {
  const row = await sqlOne<GuestRegistrationRow>(trx, `select * from guest_registration where id = ?`, [id])
  if (!row) throw notFound()
  const { form: stored, signature } = await openForm(trx, row)
  const form: RegistrationForm = { ...(await knownOf(trx, await guestOf(trx, row.guestId))), ...stored }
  const { birthDate, document, ...open } = form
  return {
    ...row,
    form: {
      ...open,
      ...(document ? { document: { ...document, number: maskNumber(document.number) } } : {}),
    },
    masked: [...(birthDate === undefined ? [] : ['birthDate' as const]), ...(document ? ['document' as const] : [])],
    missing: missingIn(form),
    signedName: signature?.name ?? null,
  }
}

export type Filling = {
  form?: RegistrationForm | undefined
  signed?: { on: 'paper' | 'tablet'; name: string } | undefined
}

const emptyFields = (
  guest: GuestRow,
  profile: Awaited<ReturnType<typeof openProfile>>,
  form: RegistrationForm,
): GuestChange => ({
  ...(guest.nationality === null && form.nationality ? { nationality: form.nationality } : {}),
  ...(guest.residenceCountry === null && form.residence?.countryCode
    ? { residenceCountry: form.residence.countryCode }
    : {}),
  ...(profile.birthDate === null && form.birthDate ? { birthDate: form.birthDate } : {}),
  ...(profile.address === null && form.residence ? { address: form.residence } : {}),
})

const correctableHours = 24

/**
 * Fills in or corrects a form (F2, F3), until 24 hours after the check-out. With nothing missing and a signature it is ready. Empty fields of the profile are
 * filled, and none is overwritten.
 */
export const fillRegistration = async (trx: Trx, id: string, { form: given = {}, signed }: Filling): Promise<void> => {
  const seen = await sqlOne<{ guestId: string }>(trx, `select guest_id from guest_registration where id = ?`, [id])
  if (!seen) throw notFound()
  const guest = await guestOf(trx, seen.guestId, 'for no key update of s')
  const row = await sqlOne<GuestRegistrationRow & { checkedOutAt: Date | null }>(
    trx,
    `select g.*, r.actual_check_out_at as checked_out_at from guest_registration g
     join reservation r on r.tenant_id = g.tenant_id and r.id = g.reservation_id where g.id = ? for no key update of g`,
    [id],
  )
  if (!row) throw notFound()
  if (row.status === 'cancelled') throw conflict('invalid_transition', 'The form was cancelled with its stay')
  if (guest.status === 'erased') throw conflict('guest_erased', 'The personal data of this guest were erased')
  if (row.checkedOutAt && Date.now() - row.checkedOutAt.getTime() > correctableHours * 3_600_000)
    throw conflict('invalid_transition', `A form is corrected until ${correctableHours} hours after the check-out`)
  checkProfile({ birthDate: given.birthDate }, 'form.')
  if (given.document) refuseFalseNumber(given.document, 'form.document.number')
  if (signed && signed.name.trim() === '') throw invalid([{ field: 'signed.name', message: 'is empty' }])
  const before = await openForm(trx, row)
  const form: RegistrationForm = { ...(await knownOf(trx, guest)), ...before.form, ...given }
  const signature = signed ? { name: signed.name } : before.signature
  const missing = missingIn(form)
  const isReady = missing.length === 0 && signature !== null
  const status = isReady ? 'ready' : 'pending'
  const version = await changeRow(trx, GuestRegistration, id, {
    sealed: await seal(trx, formKey(row.guestId), formPlace(id), { form, signature }),
    missing,
    status,
    formVersion: row.status === 'pending' ? row.formVersion : row.formVersion + 1,
    ...(signed ? { signedAt: new Date(), signedVia: signed.on } : {}),
  })
  const profile = await openProfile(trx, guest)
  await writeProfile(trx, guest, profile, emptyFields(guest, profile, form))
  if (isReady && row.status !== 'ready') await emit(trx, guestRegistrationCompleted, factOf(row, version))
  else await tellChanged(trx, guest, ['registration'])
}

export type RegistrationFilter = Paging & {
  propertyId?: string | undefined
  status?: GuestRegistrationRow['status'] | undefined
  reservationId?: string | undefined
  arrivalFrom?: string | undefined
  arrivalTo?: string | undefined
  scope: Condition
}

type Listed = Omit<GuestRegistrationRow, 'missing'> & {
  missing: RequiredField[]
  firstName: string
  lastName: string
  arrival: string
  departure: string
}

/** A page of forms, the next arrival first. Nothing is opened; `missing` is as of the last time the form was filled in. */
export const listRegistrations = (trx: Trx, { scope, ...filter }: RegistrationFilter) =>
  readPage<Listed>(
    trx,
    {
      columns: 'f.*, g.first_name, g.last_name, r.arrival, r.departure',
      from: `guest_registration f join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
        join guest g on g.tenant_id = f.tenant_id and g.id = f.guest_id`,
      conditions: [
        ...inScope(scope, 'f.property_id'),
        ...where('f.property_id = ?', filter.propertyId),
        ...where('f.status = ?', filter.status),
        ...where('f.reservation_id = ?', filter.reservationId),
        ...where('r.arrival >= ?::date', filter.arrivalFrom),
        ...where('r.arrival <= ?::date', filter.arrivalTo),
      ],
      order: 'r.arrival, f.id',
    },
    filter,
  )
