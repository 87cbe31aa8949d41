import type { MailedTokenPurpose } from '../derived-secrets.ts'

/** Acts about which the owner of an account is told. */
export type SecurityAct =
  | 'password_changed'
  | 'password_reset'
  | 'email_changed'
  | 'mfa_enabled'
  | 'mfa_disabled'
  | 'mfa_reset'
  | 'recovery_codes_renewed'
  | 'recovery_code_used'
  | 'session_reused'
  | 'failures_over_limit'

export type Words = {
  name: string
  house: string
  way: string
  /** Name of an expiring API key, and the day. */
  key: string
  day: string
  /** Host of a webhook endpoint. */
  host: string
  /** Sum of a dispute or payout, name of a gateway account, or number of an issue. */
  label: string
  /** The act that a security notice is about; null in mails of earlier releases. */
  act: SecurityAct | null
  at: Date
  /** Address of the client; null where it is not told. */
  address: string | null
  /** An amount of money with its currency. */
  amount: string
}
/** A mail of a kind in one language, made of the words of its occasion. */
export type Mail = { subject: (words: Words) => string; text: (words: Words) => string }

/** Built-in mails to staff. `token` kinds refer to a OneTimeToken; the worker derives the token from its id. */
export const userMailKinds = {
  invitation: { token: 'invitation' },
  password_reset: { token: 'password_reset' },
  email_change: { token: 'email_change' },
  email_notice: { token: null },
  security_notice: { token: null },
  key_expiring: { token: null },
  webhook_failing: { token: null },
  webhook_paused: { token: null },
  finance_dispute: { token: null },
  finance_payout: { token: null },
  finance_account: { token: null },
  issue_notice: { token: null },
  report_ready: { token: null },
  approval_waiting: { token: null },
  bank_details_changed: { token: null },
  pix_connection_changed: { token: null },
  transfer_attention: { token: null },
  tenant_suspended: { token: null },
  tenant_deletion_planned: { token: null },
  support_session: { token: null },
  subscription_invoice: { token: null },
  subscription_payment_failed: { token: null },
  subscription_overdue: { token: null },
  add_on_price: { token: null },
  tenant_export: { token: null },
} as const satisfies Record<string, { token: MailedTokenPurpose | null }>

export type UserMailKind = keyof typeof userMailKinds

/** The instant in a language, in UTC: users have no time zone. */
export const moment = (locale: string, at: Date): string =>
  `${new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(at)} (UTC)`
