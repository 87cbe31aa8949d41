import { conflict, notFound, unprocessable } from '../../config/errors.ts'
import {
  guestRegistrationAccepted,
  guestRegistrationCancelled,
  guestRegistrationRejected,
} from '../../config/events/guests.ts'
import type { ReportKind } from '../../config/registration.ts'
import { reportKinds } from '../../config/registration.ts'
import { reportRegistration } from '../../jobs/guests.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { changeRow } from '../lib/records.ts'
import type { GuestRegistrationRow, RegistrationReportRow } from '../rows.ts'
import { authoritySecret } from './authority.ts'
import { refuseStale } from './lock.ts'
import { GuestRegistration, factOf, knownOf, openForm, ownerOf } from './registration-form.ts'
import type { RegistrationForm } from './rules/registration.ts'

const ask = async (trx: Trx, report: { id: string } | undefined): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (report && tenantId) await enqueue(trx, reportRegistration, { tenantId, registrationReportId: report.id })
}

/** Asks for the first report of a form that was not sent yet, once those before it were accepted (R29). */
const reportNext = async (trx: Trx, registrationId: string): Promise<void> => {
  const [next] = await sql<{ id: string }>(
    trx,
    `select q.id from registration_report q where q.registration_id = ? and q.status = 'queued'
     order by array_position(?::text[], q.kind), q.form_version limit 1`,
    [registrationId, reportKinds],
  )
  await ask(trx, next)
}

const queueReport = (trx: Trx, registrationId: string, kind: ReportKind, formVersion: number) =>
  sql<{ id: string }>(
    trx,
    `insert into registration_report (registration_id, kind, form_version) values (?, ?, ?) on conflict do nothing returning id`,
    [registrationId, kind, formVersion],
  )

/** Reports a form that is complete to the authority of its house, if it has one (F2, F3). The caller holds its row. */
export const reportForm = async (
  trx: Trx,
  row: Pick<GuestRegistrationRow, 'id' | 'propertyId' | 'formVersion'>,
): Promise<boolean> => {
  const house = await sqlOne<{ authority: string | null }>(
    trx,
    `select settings -> 'registration' ->> 'authority' as authority from property where id = ?`,
    [row.propertyId],
  )
  if ((house?.authority ?? 'none') === 'none') return false
  const [report] = await queueReport(trx, row.id, 'registration', row.formVersion)
  await ask(trx, report)
  return true
}

/** Reports a step of stays for the forms of their guests, in houses with an authority (F6). */
export const reportStays = async (trx: Trx, reservationIds: readonly string[], kind: ReportKind): Promise<void> => {
  const rows = await sql<{ id: string; registrationId: string; status: string }>(
    trx,
    `insert into registration_report (registration_id, kind, form_version)
     select g.id, ?, g.form_version from guest_registration g
     where g.reservation_id = any(?::uuid[]) and g.status <> 'cancelled' on conflict do nothing
     returning id, registration_id, (select f.status from guest_registration f
       where f.tenant_id = registration_report.tenant_id and f.id = registration_report.registration_id) as status`,
    [kind, reservationIds],
  )
  for (const { registrationId } of rows.filter((row) => row.status === 'accepted'))
    await reportNext(trx, registrationId)
}

/** Ends the links of stays whose guests are here (R30). */
export const endLinks = (trx: Trx, reservationIds: readonly string[]) =>
  sql(
    trx,
    `update guest_registration set link_valid_from = date_trunc('second', clock_timestamp()) + interval '1 second', version = version + 1
     where reservation_id = any(?::uuid[]) and link_valid_from is not null`,
    [reservationIds],
  )

/** Tells of forms that came to nothing, and takes back what an authority has accepted of them (F7). */
export const tellCancelled = async (trx: Trx, ended: readonly GuestRegistrationRow[]): Promise<void> => {
  for (const row of ended) {
    await emit(trx, guestRegistrationCancelled, factOf(row, row.version))
    if (row.externalId !== null) {
      const [report] = await queueReport(trx, row.id, 'cancellation', row.formVersion)
      await ask(trx, report)
    }
  }
}

const lockForm = (trx: Trx, id: string) =>
  sqlOne<GuestRegistrationRow>(trx, `select * from guest_registration where id = ? for no key update`, [id])

/**
 * Reports a form again, or for the first time (F4). 422 `registration_incomplete`, `authority_not_set`; 409 `invalid_transition` for one that was cancelled.
 * One that is on its way, or was accepted, stays as it is.
 */
export const submitRegistration = async (trx: Trx, id: string, expected: number | null = null): Promise<void> => {
  const row = await lockForm(trx, id)
  if (!row) throw notFound()
  refuseStale(row, expected)
  if (row.status === 'cancelled') throw conflict('invalid_transition', 'The form was cancelled with its stay')
  if (row.status === 'submitted' || row.status === 'accepted') return
  if (row.missing.length > 0 || row.signedAt === null)
    throw unprocessable('registration_incomplete', 'The form is not complete', [
      ...row.missing.map((field) => ({ field: `form.${field}`, message: 'is missing' })),
      ...(row.signedAt === null ? [{ field: 'signed', message: 'is missing' }] : []),
    ])
  // What was refused is another report, even where the form is the same.
  const formVersion = row.status === 'rejected' ? row.formVersion + 1 : row.formVersion
  if (!(await reportForm(trx, { ...row, formVersion })))
    throw unprocessable('authority_not_set', 'The house reports its guests to no authority', [
      { field: 'settings.registration.authority', message: 'is none' },
    ])
  await changeRow(trx, GuestRegistration, id, { formVersion, status: 'submitted' })
}

/** A call that an authority is to get. `requestId` is that of the report: a repetition is told by it. */
export type AuthorityCall = {
  kind: ReportKind
  url: string
  secret: string
  requestId: string
  externalId: string | null
  form: RegistrationForm
  signature: { name: string; at: Date } | null
  stay: { number: string; arrival: string; departure: string; checkedInAt: Date | null; checkedOutAt: Date | null }
}

type Due = RegistrationReportRow & { form: GuestRegistrationRow }

const lockReport = async (trx: Trx, reportId: string): Promise<Due | null> => {
  const seen = await sqlOne<{ registrationId: string }>(
    trx,
    `select registration_id from registration_report where id = ?`,
    [reportId],
  )
  const form = seen && (await lockForm(trx, seen.registrationId))
  const report =
    form &&
    (await sqlOne<RegistrationReportRow>(trx, `select * from registration_report where id = ? for update`, [reportId]))
  return report ? { ...report, form } : null
}

const settle = (trx: Trx, id: string, status: string, error: string | null = null, externalId: string | null = null) =>
  sql(
    trx,
    `update registration_report set status = ?, error = ?, external_id = coalesce(?, external_id), answered_at = now(), version = version + 1 where id = ?`,
    [status, error, externalId, id],
  )

/** Tells whether the authority is still to hear that an earlier registration was cancelled, by the id that a new one would replace. */
const isTakenBack = async (trx: Trx, registrationId: string): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select id from registration_report where registration_id = ? and kind = 'cancellation' and status in ('queued', 'unknown') limit 1`,
    [registrationId],
  )) !== null

/** Tells whether a report may go now: the form for its present version, a step of the stay once all before it was accepted (R29). */
const isDue = async (trx: Trx, { kind, form, formVersion, id }: Due): Promise<boolean> => {
  if (kind === 'registration') {
    if (formVersion === form.formVersion && form.status !== 'cancelled') return !(await isTakenBack(trx, form.id))
    await settle(trx, id, 'superseded')
    await reportNext(trx, form.id)
    return false
  }
  if (kind === 'cancellation') return form.externalId !== null
  if (form.status !== 'accepted') return false
  const before = await sqlOne(
    trx,
    `select id from registration_report where registration_id = ? and status in ('queued', 'unknown', 'rejected')
       and array_position(?::text[], kind) < array_position(?::text[], ?::text) limit 1`,
    [form.id, reportKinds, reportKinds, kind],
  )
  return before === null
}

/** The call of a report that is due; null where there is nothing to tell, or not yet. */
export const beginReport = async (trx: Trx, reportId: string): Promise<AuthorityCall | null> => {
  const due = await lockReport(trx, reportId)
  if (!due || !['queued', 'unknown'].includes(due.status) || !(await isDue(trx, due))) return null
  const { form: row } = due
  const stay = await sqlOne<AuthorityCall['stay'] & { authority: string | null; url: string | null }>(
    trx,
    `select b.number || '-' || r.position as number, r.arrival, r.departure, r.actual_check_in_at as checked_in_at, r.actual_check_out_at as checked_out_at,
       p.settings -> 'registration' ->> 'authority' as authority, p.settings -> 'registration' ->> 'endpointUrl' as url
     from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
     join property p on p.tenant_id = r.tenant_id and p.id = r.property_id where r.id = ?`,
    [row.reservationId],
  )
  const secret = await authoritySecret(trx, row.propertyId)
  if (stay?.authority !== 'open' || stay.url === null || secret === null) {
    await settle(trx, reportId, 'rejected', 'authority_not_set')
    return null
  }
  const { form, signature } = await openForm(trx, row)
  if (due.kind === 'registration' && row.status !== 'submitted')
    await changeRow(trx, GuestRegistration, row.id, { status: 'submitted' })
  await sql(trx, `update registration_report set sent_at = coalesce(sent_at, now()), status = 'unknown' where id = ?`, [
    reportId,
  ])
  const { authority: _a, url, ...rest } = stay
  return {
    kind: due.kind,
    url,
    secret,
    requestId: due.requestId,
    externalId: row.externalId,
    form: { ...(await knownOf(trx, await ownerOf(trx, row.guestId))), ...form },
    signature: signature && row.signedAt ? { name: signature.name, at: row.signedAt } : null,
    stay: rest,
  }
}

/** The answer of an authority. `reason` of a refusal is shown to the desk. */
export type AuthorityAnswer = { accepted: true; externalId: string | null } | { accepted: false; reason: string }

/** Keeps what an authority has answered (F5), and asks for the report that waited for it. */
export const recordAnswer = async (trx: Trx, reportId: string, answer: AuthorityAnswer): Promise<void> => {
  const due = await lockReport(trx, reportId)
  if (!due || due.status === 'accepted' || due.status === 'rejected') return
  const { form, kind } = due
  if (answer.accepted) await settle(trx, reportId, 'accepted', null, answer.externalId)
  else await settle(trx, reportId, 'rejected', answer.reason)
  // A form that was corrected or cancelled while the authority looked at it: what it has is told with the next report.
  if (kind === 'registration') {
    const isPresent = form.status === 'submitted' && due.formVersion === form.formVersion
    const externalId = answer.accepted ? (answer.externalId ?? due.requestId) : form.externalId
    const version = await changeRow(trx, GuestRegistration, form.id, {
      externalId,
      ...(isPresent
        ? { status: answer.accepted ? 'accepted' : 'rejected', rejectReason: answer.accepted ? null : answer.reason }
        : {}),
    })
    const event = answer.accepted ? guestRegistrationAccepted : guestRegistrationRejected
    if (isPresent) await emit(trx, event, factOf({ ...form, externalId }, version))
    else if (form.status === 'cancelled' && answer.accepted)
      await ask(trx, (await queueReport(trx, form.id, 'cancellation', form.formVersion))[0])
  }
  // The stay has come back meanwhile: the registration that follows has an id of its own.
  if (kind === 'cancellation' && answer.accepted && form.status !== 'cancelled')
    await changeRow(trx, GuestRegistration, form.id, { externalId: null })
  if (answer.accepted || kind === 'cancellation') await reportNext(trx, form.id)
}

/** Reports of a form, in the order in which they were asked for. */
export const reportsOf = (trx: Trx, registrationId: string) =>
  sql<
    Pick<
      RegistrationReportRow,
      'id' | 'kind' | 'formVersion' | 'status' | 'externalId' | 'error' | 'sentAt' | 'answeredAt'
    >
  >(
    trx,
    `select id, kind, form_version, status, external_id, error, sent_at, answered_at from registration_report
     where registration_id = ? order by created_at, id limit 200`,
    [registrationId],
  )
