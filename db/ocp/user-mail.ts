import { randomUUID } from 'node:crypto'
import { mailedToken } from '../../config/derived-secrets.ts'
import type { MailedTokenPurpose } from '../../config/derived-secrets.ts'
import { settings } from '../../config/env.ts'
import { userMailKinds } from '../../config/user-mails/kinds.ts'
import type { SecurityAct, UserMailKind } from '../../config/user-mails/kinds.ts'
import { writeUserMail } from '../../config/user-mails/write.ts'
import { messagesSendUserMail } from '../../jobs/ocp.ts'
import { contextOf, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'

/**
 * Asks for a mail to a member of staff, in the caller's transaction: one per kind, reference and user. The reference of an
 * invitation, a reset or a change of address is the OneTimeToken's id; no token is stored or queued.
 */
export const mailUser = async (trx: AnyTrx, userId: string, kind: UserMailKind, referenceId: string): Promise<void> => {
  const made = await sqlOne<{ id: string }>(
    trx,
    `insert into user_mail (user_id, kind, reference_id) values (?, ?, ?) on conflict (kind, reference_id, user_id) do nothing returning id`,
    [userId, kind, referenceId],
  )
  if (made) await enqueue(trx, messagesSendUserMail, { userMailId: made.id }, { class: 'urgent', gate: 'smtp' })
}

/** Acts of another person, or of the house: their address is not told. */
const ofOthers: ReadonlySet<SecurityAct> = new Set(['mfa_reset'])

/**
 * Mails a user about an act that concerns the security of their account, with its time and the address that it came from. `referenceId` is what the notice
 * is about, so that it is sent once; of a changed address the token, since the notice goes to the former address.
 */
export const noticeUser = async (
  trx: AnyTrx,
  userId: string,
  act: SecurityAct,
  referenceId: string = randomUUID(),
): Promise<void> => {
  const made = await sqlOne<{ id: string }>(
    trx,
    `insert into user_mail (user_id, kind, reference_id, act, address) values (?, 'security_notice', ?, ?, ?)
     on conflict (kind, reference_id, user_id) do nothing returning id`,
    [userId, referenceId, act, ofOthers.has(act) ? null : contextOf(trx).address],
  )
  if (made) await enqueue(trx, messagesSendUserMail, { userMailId: made.id }, { class: 'urgent', gate: 'smtp' })
}

type Facts = {
  act: SecurityAct | null
  address: string | null
  createdAt: Date
  kind: UserMailKind
  referenceId: string
  email: string
  name: string
  locale: string
  tokenIsGood: boolean
  newEmail: string | null
  oldEmail: string | null
  house: string | null
  key: string | null
  day: string | null
  host: string | null
  label: string | null
  amount: string | null
  reportOf: string | null
}

export type UserMail = { to: string; toName: string; subject: string; text: string }

/** The endpoint that takes each token. */
const endpoints: Partial<Record<MailedTokenPurpose, string>> = {
  invitation: '/api/auth/invitations/accept',
  password_reset: '/api/auth/password/reset',
  email_change: '/api/auth/email/confirm',
}

/** The address at which a token is entered: in the application, where there is one, else the endpoint that takes it, with the token to send. Never from a request's headers. */
const wayFor = (purpose: MailedTokenPurpose, token: string) =>
  settings.appBaseUrl
    ? `${settings.appBaseUrl}/${purpose.replace('_', '-')}#token=${token}`
    : `POST ${settings.publicBaseUrl}${endpoints[purpose] ?? ''}\n\n${token}`

/** The address at which a file is fetched: in the application, where there is one, else the endpoint that answers it. Both ask for a sign-in. */
const wayToRun = (tenantId: string, reportRunId: string) =>
  settings.appBaseUrl
    ? `${settings.appBaseUrl}/tenants/${tenantId}/reports/runs/${reportRunId}`
    : `GET ${settings.publicBaseUrl}/api/tenants/${tenantId}/reports/runs/${reportRunId}/file`

/** A mail to staff as it is sent now; null where it was sent, or its token has ended. */
export const readUserMail = async (trx: PlatformTrx, userMailId: string): Promise<UserMail | null> => {
  const facts = await preparedOne<Facts>(
    trx,
    `select m.kind, m.act, m.address, m.created_at, m.reference_id, u.email, u.name, u.locale, coalesce(t.used_at is null and t.expires_at > now(), false) as token_is_good,
       t.data->>'email' as new_email, t.data->>'before' as old_email, coalesce(i.property_name, h.name, n.house) as house, coalesce(w.key_name, n.key) as key,
       x.host, coalesce(f.label, i.number || ' (' || i.category_name || ')', r.name) as label, r.tenant_id as report_of, n.money as amount,
       coalesce(coalesce(w.expires_at::date, x.since::date, f.day, n.day), case when n.id is not null then m.created_at::date end)::text as day
     from user_mail m join app_user u on u.id = m.user_id
     left join one_time_token t on t.id = m.reference_id left join api_key_warning w on w.id = m.reference_id
     left join webhook_warning x on x.id = m.reference_id left join finance_notice f on f.id = m.reference_id
     left join notice n on n.id = m.reference_id left join issue_notice i on i.id = m.reference_id left join report_notice r on r.id = m.reference_id
     left join tenant h on h.id = coalesce(t.tenant_id, w.tenant_id, x.tenant_id, f.tenant_id, n.tenant_id, r.tenant_id)
     where m.id = ? and m.status = 'queued'`,
    [userMailId],
  )
  if (!facts) return null
  const purpose = userMailKinds[facts.kind].token
  if (purpose && !facts.tokenIsGood) return null
  const words = {
    name: facts.name,
    house: facts.house ?? 'Pousada',
    key: facts.key ?? '',
    day: facts.day ?? '',
    host: facts.host ?? '',
    label: facts.label ?? '',
    act: facts.act,
    at: facts.createdAt,
    address: facts.address,
    amount: facts.amount ?? '',
    way: purpose
      ? wayFor(purpose, mailedToken(purpose, facts.referenceId))
      : facts.reportOf === null
        ? ''
        : wayToRun(facts.reportOf, facts.referenceId),
  }
  // A notice of a changed address goes to the former address.
  const to = facts.kind === 'email_change' ? facts.newEmail : (facts.oldEmail ?? facts.email)
  return to === null ? null : { to, toName: facts.name, ...writeUserMail(facts.kind, facts.locale, words) }
}

export const endUserMail = async (trx: PlatformTrx, userMailId: string, status: 'sent' | 'failed'): Promise<void> => {
  await sql(
    trx,
    `update user_mail set status = ?, sent_at = case when ? = 'sent' then now() end where id = ? and status = 'queued'`,
    [status, status, userMailId],
  )
}
