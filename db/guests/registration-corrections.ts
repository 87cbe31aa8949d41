import type { ReportKind } from '../../config/registration.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { changeRow } from '../lib/records.ts'
import type { GuestRegistrationRow } from '../rows.ts'
import { GuestRegistration } from './registration-form.ts'
import { reportForm } from './registration-reports.ts'

/**
 * Takes back what authorities were told of a step of stays. A report that was not sent is dropped. One that was sent is corrected by a new version of its form
 * (F3), under which the step can be told again.
 */
export const correctStays = async (
  trx: Trx,
  reservationIds: readonly string[],
  kind: Extract<ReportKind, 'check_in' | 'check_out'>,
): Promise<void> => {
  const forms = await sql<GuestRegistrationRow>(
    trx,
    `select * from guest_registration where reservation_id = any(?::uuid[]) and status <> 'cancelled' order by id for no key update`,
    [reservationIds],
  )
  const ids = forms.map((form) => form.id)
  await sql(
    trx,
    `delete from registration_report where registration_id = any(?::uuid[]) and kind = ? and status = 'queued' and sent_at is null`,
    [ids, kind],
  )
  const sent = await sql<{ registrationId: string }>(
    trx,
    `select distinct q.registration_id from registration_report q
     join guest_registration g on g.tenant_id = q.tenant_id and g.id = q.registration_id and g.form_version = q.form_version
     where q.registration_id = any(?::uuid[]) and q.kind = ?`,
    [ids, kind],
  )
  for (const form of forms.filter((one) => sent.some((each) => each.registrationId === one.id))) {
    const formVersion = form.formVersion + 1
    await changeRow(trx, GuestRegistration, form.id, { formVersion, status: 'ready' })
    await reportForm(trx, { ...form, formVersion })
  }
}
