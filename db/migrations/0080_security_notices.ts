import type { Knex } from 'knex'

/** A notice about an account's security says what was done, and from which address. Mails of an earlier release have neither. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table user_mail add act text, add address text,
    add constraint user_mail_act check (act is null or (kind = 'security_notice' and act in ('password_changed', 'password_reset', 'email_changed',
      'mfa_enabled', 'mfa_disabled', 'mfa_reset', 'recovery_codes_renewed', 'recovery_code_used', 'session_reused', 'failures_over_limit')))`)
}
