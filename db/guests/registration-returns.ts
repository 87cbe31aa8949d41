import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { changeRow } from '../lib/records.ts'
import type { GuestRegistrationRow, RegistrationReportRow } from '../rows.ts'
import { GuestRegistration } from './registration-form.ts'
import { reportForm } from './registration-reports.ts'

/**
 * Tells authorities of stays that come back, whose forms are open again (F8). Where the cancellation was not sent, it is dropped, and the form is what it was.
 * Where it was, the form is another one, which is reported anew once the cancellation is answered.
 */
export const returnForms = async (trx: Trx, reservationIds: readonly string[]): Promise<void> => {
  const forms = await sql<GuestRegistrationRow>(
    trx,
    `select * from guest_registration where reservation_id = any(?::uuid[]) and status in ('pending', 'ready') order by id for no key update`,
    [reservationIds],
  )
  const ids = forms.map((form) => form.id)
  await sql(
    trx,
    `delete from registration_report where registration_id = any(?::uuid[]) and kind = 'cancellation' and status = 'queued' and sent_at is null`,
    [ids],
  )
  const reports = await sql<Pick<RegistrationReportRow, 'registrationId' | 'kind' | 'status'>>(
    trx,
    `select q.registration_id, q.kind, q.status from registration_report q join guest_registration g on g.tenant_id = q.tenant_id and g.id = q.registration_id
       and g.form_version = q.form_version where q.registration_id = any(?::uuid[])`,
    [ids],
  )
  for (const form of forms) {
    const of = (kind: RegistrationReportRow['kind']) =>
      reports.find((one) => one.registrationId === form.id && one.kind === kind)
    await returnForm(trx, form, { told: of('registration')?.status, taken: of('cancellation')?.status })
  }
}

type Heard = Record<'told' | 'taken', RegistrationReportRow['status'] | undefined>

/** `told` and `taken`: how far the reports of its registration and of its cancellation have come; undefined where there is none. */
const returnForm = async (trx: Trx, form: GuestRegistrationRow, { told, taken }: Heard): Promise<void> => {
  const stands = taken === undefined
  if (stands && (told === undefined || told === 'queued')) return
  if (stands && (told === 'accepted' || told === 'unknown')) {
    await changeRow(trx, GuestRegistration, form.id, { status: told === 'accepted' ? 'accepted' : 'submitted' })
    return
  }
  const formVersion = form.formVersion + 1
  await changeRow(trx, GuestRegistration, form.id, {
    formVersion,
    externalId: taken === 'accepted' ? null : form.externalId,
  })
  if (form.status === 'ready') await reportForm(trx, { ...form, formVersion })
}
