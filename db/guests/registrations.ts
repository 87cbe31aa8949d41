import { conflict, invalid, notFound } from '../../config/errors.ts'
import { guestRegistrationCompleted } from '../../config/events/guests.ts'
import type { Authority, FormField } from '../../config/registration.ts'
import type { Condition } from '../lib/conditions.ts'
import { later, prepared, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { onDays } from '../lib/days.ts'
import { emit } from '../lib/events.ts'
import { fileContent } from '../lib/files.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import { changeRow } from '../lib/records.ts'
import { renewRetentionKey, seal } from '../lib/sealing/index.ts'
import type { GuestRegistrationRow, GuestRow } from '../rows.ts'
import { refuseFalseNumber } from './documents/numbers.ts'
import { openProfile, refuseStale } from './lock.ts'
import { factOf, formKey, formPlace, GuestRegistration, knownOf, openForm, ownerOf } from './registration-form.ts'
import type { Signature } from './registration-form.ts'
import { reportForm, reportsOf, tellCancelled } from './registration-reports.ts'
import { maskNumber } from './rules/masks.ts'
import { checkProfile } from './rules/profiles.ts'
import { missingIn, personOf, requiredFields } from './rules/registration.ts'
import type { RegistrationForm } from './rules/registration.ts'
import { tellChanged } from './tell.ts'
import type { GuestChange } from './update.ts'
import { writeProfile } from './update.ts'

const unknown = { isAdult: null, isForeign: null }

/**
 * Opens a form for each named guest of stays that are confirmed or go on, where the house keeps forms (F1). One that was cancelled comes back with its
 * stay (F8). Written with the next statement.
 */
export const openForms = (trx: Trx, reservationIds: readonly string[]): void =>
  later(
    trx,
    `insert into guest_registration (reservation_guest_id, reservation_id, guest_id, property_id, missing)
     select n.id, r.id, n.guest_id, r.property_id,
       case p.settings -> 'registration' ->> 'authority' when 'open' then ?::text[] else ?::text[] end from reservation r
     join property p on p.tenant_id = r.tenant_id and p.id = r.property_id and p.settings -> 'registration' ->> 'mode' in ('warn', 'strict')
     join reservation_guest n on n.tenant_id = r.tenant_id and n.reservation_id = r.id
     where r.id = any(?::uuid[]) and r.status in ('confirmed', 'checked_in')
     on conflict (tenant_id, reservation_guest_id) do update set version = guest_registration.version + 1,
       status = case when guest_registration.missing = '{}' and guest_registration.signed_at is not null then 'ready' else 'pending' end
     where guest_registration.status = 'cancelled'`,
    [requiredFields('open', unknown), requiredFields('none', unknown), reservationIds],
  )

/** Cancels the forms of stays that came to nothing, and of guests who were taken off a stay (F7). */
export const closeForms = async (trx: Trx, reservationIds: readonly string[]): Promise<void> => {
  const ended = await prepared<GuestRegistrationRow>(
    trx,
    `update guest_registration g set status = 'cancelled', version = g.version + 1 from reservation r
     where r.tenant_id = g.tenant_id and r.id = g.reservation_id and r.id = any(?::uuid[]) and g.status <> 'cancelled'
       and (r.status in ('cancelled', 'no_show', 'expired') or not exists (
         select from reservation_guest n where n.tenant_id = g.tenant_id and n.id = g.reservation_guest_id))
     returning g.*`,
    [reservationIds],
  )
  await tellCancelled(trx, ended)
}

/** Facts beside the form that decide whether it may change. */
type House = {
  authority: Authority
  country: string | null
  stayStatus: string
  checkedOutAt: Date | null
}

const formOf = async (trx: Trx, id: string, lock = ''): Promise<GuestRegistrationRow & House> => {
  const row = await sqlOne<GuestRegistrationRow & House>(
    trx,
    `select g.*, coalesce(p.settings -> 'registration' ->> 'authority', 'none') as authority, p.address ->> 'countryCode' as country,
       r.status as stay_status, r.actual_check_out_at as checked_out_at
     from guest_registration g join reservation r on r.tenant_id = g.tenant_id and r.id = g.reservation_id
     join property p on p.tenant_id = g.tenant_id and p.id = g.property_id where g.id = ? ${lock}`,
    [id],
  )
  if (!row) throw notFound()
  return row
}

const requiredOf = (
  form: RegistrationForm,
  { authority, arrival, country }: Pick<House & GuestRegistrationRow, 'authority' | 'arrival' | 'country'>,
) => requiredFields(authority, personOf(form, arrival, country))

/** A form with what the profile adds to it, masked, and its reports. 404. */
export const readRegistration = async (trx: Trx, id: string) => {
  const row = await formOf(trx, id)
  const { form: stored, signature } = await openForm(trx, row)
  const form: RegistrationForm = { ...(await knownOf(trx, await ownerOf(trx, row.guestId))), ...stored }
  const { birthDate, document, ...open } = form
  const required = requiredOf(form, row)
  return {
    ...row,
    form: {
      ...open,
      ...(document ? { document: { ...document, number: maskNumber(document.number) } } : {}),
    },
    given: Object.keys(form) as FormField[],
    masked: [...(birthDate === undefined ? [] : ['birthDate' as const]), ...(document ? ['document' as const] : [])],
    missing: missingIn(form, required),
    required,
    signedName: signature?.name ?? null,
    hasSignatureImage: signature?.image !== undefined,
    reports: await reportsOf(trx, id),
  }
}

export type Filling = {
  form?: RegistrationForm | undefined
  signed?: { on: 'link' | 'paper' | 'tablet'; name: string; image?: string | undefined } | undefined
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

const signatureOf = async ({ name, image }: NonNullable<Filling['signed']>): Promise<Signature> => {
  if (name.trim() === '') throw invalid([{ field: 'signed.name', message: 'is empty' }])
  if (image === undefined) return { name }
  await fileContent('image/png', image, 'signed.image')
  return { name, image }
}

/**
 * Fills in or corrects a form (F2, F3), until 24 hours after the check-out. With nothing missing and a signature it is ready, and reported where the house
 * has an authority. Empty fields of the profile are filled, and none is overwritten.
 */
export const fillRegistration = async (
  trx: Trx,
  id: string,
  { form: given = {}, signed }: Filling,
  expected: number | null = null,
): Promise<void> => {
  const seen = await formOf(trx, id)
  const guest = await ownerOf(trx, seen.guestId, 'for no key update of s')
  const row = await formOf(trx, id, 'for no key update of g')
  refuseStale(row, expected)
  if (row.status === 'cancelled') throw conflict('invalid_transition', 'The form was cancelled with its stay')
  if (guest.status === 'erased') throw conflict('guest_erased', 'The personal data of this guest were erased')
  if (row.checkedOutAt && Date.now() - row.checkedOutAt.getTime() > correctableHours * 3_600_000)
    throw conflict('invalid_transition', `A form is corrected until ${correctableHours} hours after the check-out`)
  checkProfile({ birthDate: given.birthDate }, 'form.')
  if (given.document) refuseFalseNumber(given.document, 'form.document.number')
  const before = await openForm(trx, row)
  const form: RegistrationForm = { ...(await knownOf(trx, guest)), ...before.form, ...given }
  const signature = signed ? await signatureOf(signed) : before.signature
  const missing = missingIn(form, requiredOf(form, row))
  const isReady = missing.length === 0 && signature !== null
  const formVersion = row.status === 'pending' ? row.formVersion : row.formVersion + 1
  // Forms of years ago are gone with their key, and the guest has come again.
  await renewRetentionKey(trx, row.guestId)
  const version = await changeRow(trx, GuestRegistration, id, {
    sealed: await seal(trx, formKey(row.guestId), formPlace(id), { form, signature }),
    missing,
    status: isReady ? 'ready' : 'pending',
    formVersion,
    ...(signed ? { signedAt: new Date(), signedVia: signed.on } : {}),
  })
  const profile = await openProfile(trx, guest)
  await writeProfile(trx, guest, profile, emptyFields(guest, profile, form))
  if (isReady) await reportForm(trx, { ...row, formVersion })
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
  missing: FormField[]
  firstName: string
  lastName: string
  departure: string
}

/** A page of forms, the next arrival first. Nothing is opened; `missing` is as of the last time the form was filled in. */
export const listRegistrations = (trx: Trx, { scope, ...filter }: RegistrationFilter) =>
  readPage<Listed>(
    trx,
    {
      columns: 'f.*, g.first_name, g.last_name, r.departure',
      from: 'guest_registration f',
      joins: `join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
        join guest g on g.tenant_id = f.tenant_id and g.id = f.guest_id`,
      conditions: [
        ...inScope(scope, 'f.property_id'),
        ...where('f.property_id = ?', filter.propertyId),
        ...where('f.status = ?', filter.status),
        ...where('f.reservation_id = ?', filter.reservationId),
      ],
      days: onDays('f.arrival', { from: filter.arrivalFrom, to: filter.arrivalTo }),
      order: 'f.arrival, f.id',
    },
    filter,
  )
