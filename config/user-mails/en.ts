import { moment } from './kinds.ts'
import type { Mail, SecurityAct, UserMailKind } from './kinds.ts'

const acts: Record<SecurityAct, string> = {
  password_changed: 'your password was changed',
  password_reset: 'a new password was set by a link that we mailed',
  email_changed: 'your e-mail address was changed',
  mfa_enabled: 'two-step sign-in was switched on',
  mfa_disabled: 'two-step sign-in was switched off',
  mfa_reset: 'an administrator removed your second factor',
  recovery_codes_renewed: 'new recovery codes were made; the old ones no longer work',
  recovery_code_used: 'a recovery code was used to sign in',
  session_reused: 'a token of your session was used twice, so the session was ended: somebody may have copied it',
  failures_over_limit: 'many sign-ins with a wrong password failed in a day',
}

export const english: Record<UserMailKind, Mail> = {
  invitation: {
    subject: ({ house }) => `You are invited to ${house}`,
    text: ({ name, house, way }) =>
      `Hello ${name},\n\nyou are invited to work with ${house} in Pousada. To accept, within 7 days:\n\n${way}\n\nIf you did not expect this, ignore it: nothing happens.`,
  },
  password_reset: {
    subject: () => 'Set a new password',
    text: ({ name, way }) =>
      `Hello ${name},\n\nsomebody asked to set a new password for your account. To do so, within 30 minutes:\n\n${way}\n\nIf it was not you, ignore this: your password stays as it is.`,
  },
  email_change: {
    subject: () => 'Confirm your new e-mail address',
    text: ({ name, way }) =>
      `Hello ${name},\n\nthis address is to become the one of your account. To confirm, within an hour:\n\n${way}\n\nIf it was not you, ignore this.`,
  },
  email_notice: {
    subject: () => 'Your e-mail address is about to change',
    text: ({ name }) =>
      `Hello ${name},\n\nsomebody who is signed in to your account asked to give it another e-mail address. It changes once that address is confirmed.\n\nIf it was you, there is nothing to do. If not, set a new password at once: this ends all sessions, and the request.`,
  },
  security_notice: {
    subject: () => 'The security of your account was changed',
    text: ({ name, act, at, address }) =>
      `Hello ${name},\n\n${act === null ? 'the password, the second factor or the e-mail address of your account was changed' : acts[act]}.\n\nWhen: ${moment('en-GB', at)}${address === null ? '' : `\nFrom: ${address}`}\n\nIf it was you, there is nothing to do. If not, set a new password at once and end all sessions.`,
  },
  key_expiring: {
    subject: ({ house }) => `An API key of ${house} expires soon`,
    text: ({ name, house, key, day }) =>
      `Hello ${name},\n\nthe API key "${key}" of ${house} expires on ${day}. Rotate it before, so that what uses it goes on working.`,
  },
  webhook_failing: {
    subject: ({ house }) => `A webhook endpoint of ${house} does not answer`,
    text: ({ name, house, host, day }) =>
      `Hello ${name},\n\nthe webhook endpoint of ${house} at ${host} has taken no event since ${day}. We go on trying. After three days without a success it is paused; what it missed can then be sent again.`,
  },
  webhook_paused: {
    subject: ({ house }) => `A webhook endpoint of ${house} was paused`,
    text: ({ name, house, host, day }) =>
      `Hello ${name},\n\nthe webhook endpoint of ${house} at ${host} has taken no event since ${day} and was paused. Once it works again, resume it; you can have what it missed sent again.`,
  },
  finance_dispute: {
    subject: ({ house, label }) => `A payment to ${house} is disputed: ${label}`,
    text: ({ name, house, label, day }) =>
      `Hello ${name},\n\na cardholder disputes a payment of ${label} to ${house}.${day === '' ? '' : ` It can be answered until ${day}; without an answer it is lost.`} You find it among the disputes.`,
  },
  finance_payout: {
    subject: ({ house, label }) => `A payout to ${house} failed: ${label}`,
    text: ({ name, house, label }) =>
      `Hello ${name},\n\nthe bank did not take a payout of ${label} to ${house}. Please check the bank account at the gateway.`,
  },
  finance_account: {
    subject: ({ house, label }) => `The gateway account ${label} of ${house} is restricted`,
    text: ({ name, house, label }) =>
      `Hello ${name},\n\nthe gateway has restricted the account ${label} of ${house}: charges or payouts are off. The account lists what the gateway wants to know.`,
  },
  issue_notice: {
    subject: ({ house, label }) => `${house}: issue ${label} needs you`,
    text: ({ name, house, label }) =>
      `Hello ${name},\n\nissue ${label} of ${house} was raised to your level. Please look at it: open issues are listed with the nearest deadline first.`,
  },
  report_ready: {
    subject: ({ house, label }) => `${house}: ${label} is ready`,
    text: ({ name, house, label, way }) =>
      `Hello ${name},\n\nthe report “${label}” of ${house} is ready. It is kept for 30 days:\n\n${way}`,
  },
  approval_waiting: {
    subject: ({ house }) => `${house}: a document waits for your approval`,
    text: ({ name, house, amount }) =>
      `Hello ${name},\n\na document of ${house}${amount === '' ? '' : ` over ${amount}`} waits for your approval.`,
  },
  pix_connection_changed: {
    subject: ({ house, key }) => `${house}: Pix of ${key}`,
    text: ({ name, house, key }) =>
      `Hello ${name},\n\nthe Pix keys or the bank connection of the account ${key} of ${house} were changed. If you did not expect this, look at the account at once, and ask who changed it.`,
  },
  transfer_attention: {
    subject: ({ house, amount }) => `${house}: a Pix of ${amount} without an answer`,
    text: ({ name, house, key, amount }) =>
      `Hello ${name},\n\nthe bank has not said for days what became of a Pix of ${amount} out of the account ${key} of ${house}. Please ask the bank, and look at the statement of the account, before you pay again.`,
  },
  bank_details_changed: {
    subject: ({ house }) => `${house}: bank details of a supplier`,
    text: ({ name, house, key }) =>
      `Hello ${name},\n\nbank details of the supplier ${key} of ${house} were proposed, or decided on. If you did not expect this, ask the supplier by a number that you know.`,
  },
  tenant_suspended: {
    subject: ({ house }) => `${house} is suspended`,
    text: ({ name, house, day }) =>
      `Hello ${name},\n\nthe use of Pousada by ${house} was suspended on ${day}. Data stay as they are. Bills can still be read and paid. Write to us to have it opened again.`,
  },
  tenant_deletion_planned: {
    subject: ({ house }) => `The data of ${house} will be deleted`,
    text: ({ name, house, day }) =>
      `Hello ${name},\n\nthe data of ${house} in Pousada will be deleted after ${day}. Until then we can take it back: write to us if this is a mistake.`,
  },
  support_session: {
    subject: ({ house }) => `Our support is looking at ${house}`,
    text: ({ name, house, day }) =>
      `Hello ${name},\n\na member of our support entered ${house} on ${day}. The session ends by itself within an hour; all that is done in it stands in your audit trail. In the settings of your organisation you can allow or forbid such sessions.`,
  },
  subscription_invoice: {
    subject: ({ house, key }) => `Invoice ${key} of ${house}`,
    text: ({ name, house, key, day, amount }) =>
      `Hello ${name},\n\ninvoice ${key} for ${house} is ready: ${amount}, due on ${day}. You find it with its lines under billing.`,
  },
  subscription_payment_failed: {
    subject: ({ key }) => `Invoice ${key} could not be charged`,
    text: ({ name, house, key, day, amount }) =>
      `Hello ${name},\n\nthe payment of invoice ${key} of ${house} failed: ${amount}, due on ${day}. Please give another means of payment under billing; we try again in the next days.`,
  },
  subscription_overdue: {
    subject: ({ key }) => `Invoice ${key} is overdue`,
    text: ({ name, house, key, day, amount }) =>
      `Hello ${name},\n\ninvoice ${key} of ${house} was due on ${day} and is not paid yet: ${amount}. Please pay it, or give another means of payment under billing.`,
  },
  add_on_price: {
    subject: ({ house }) => `A price of ${house} changes`,
    text: ({ name, house, key, day }) =>
      `Hello ${name},\n\nthe price of the add-on ${key} changes for ${house} with the first billing period that begins after ${day}. You can cancel it at any time, without penalty.`,
  },
  tenant_export: {
    subject: ({ house }) => `The data of ${house} were exported`,
    text: ({ name, house, day }) =>
      `Hello ${name},\n\nour staff asked on ${day} for an export of all data of ${house}. If you do not know why, write to us.`,
  },
}
