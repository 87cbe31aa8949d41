import { mailedToken, mailedTokenId } from '../../config/derived-secrets.ts'
import type { MailedTokenPurpose } from '../../config/derived-secrets.ts'
import { unauthenticated } from '../../config/errors.ts'
import { oneTimeTokenSeconds } from '../../config/limits.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx } from '../lib/connection.ts'

export type OneTimeToken = {
  id: string
  userId: string
  tenantId: string | null
  data: Record<string, unknown>
  expiresAt: Date
}
/** `token` is derived from the row, for replies that show it; mails derive it themselves. */
export type NewOneTimeToken = { id: string; token: string; expiresAt: Date }

type Whose = { userId: string; tenantId?: string | null; data?: Record<string, unknown> }

export const tokenInvalid = () =>
  unauthenticated('token_invalid', 'The token is not known, was used, or has expired; ask for a new one')

/** Ends what is open of these purposes for a user (an invitation: in one tenant): their tokens are dead from the commit on. */
export const endTokens = async (
  trx: AnyTrx,
  purposes: readonly MailedTokenPurpose[],
  userId: string,
  tenantId: string | null = null,
): Promise<void> => {
  await sql(
    trx,
    `update one_time_token set used_at = now() where purpose = any(?) and user_id = ? and tenant_id is not distinct from ?::uuid and used_at is null`,
    [purposes, userId, tenantId],
  )
}

/** Ends a user's open invitations of all tenants: they were mailed to an address that the user has left. */
export const endInvitations = async (trx: AnyTrx, userId: string): Promise<void> => {
  await sql(
    trx,
    `update one_time_token set used_at = now() where purpose = 'invitation' and user_id = ? and used_at is null`,
    [userId],
  )
}

/**
 * A new token; the old one of the same purpose and user (an invitation: and tenant) ends. Of second factors there may be several, one per
 * sign-in that is under way. Locks the user, so that of two at once the later one stays.
 */
export const createToken = async (
  trx: AnyTrx,
  purpose: MailedTokenPurpose,
  { userId, tenantId = null, data = {} }: Whose,
): Promise<NewOneTimeToken> => {
  if (purpose !== 'mfa') {
    await sql(trx, `select 1 from app_user where id = ? for no key update`, [userId])
    await endTokens(trx, [purpose], userId, tenantId)
  }
  const row = await sqlOne<{ id: string; expiresAt: Date }>(
    trx,
    `insert into one_time_token (purpose, user_id, tenant_id, data, expires_at) values (?, ?, ?, ?::jsonb, now() + make_interval(secs => ?))
     returning id, expires_at`,
    [purpose, userId, tenantId, JSON.stringify(data), oneTimeTokenSeconds[purpose]],
  )
  if (!row) throw new Error('a token was not made')
  return { id: row.id, token: mailedToken(purpose, row.id), expiresAt: row.expiresAt }
}

const columns = `id, user_id, tenant_id, data, expires_at`

/** The row that a token stands for while it is good; 401 `token_invalid` where it was not made here, was used, or has expired. */
export const readToken = async (trx: AnyTrx, purpose: MailedTokenPurpose, token: string): Promise<OneTimeToken> => {
  const id = mailedTokenId(purpose, token)
  const row =
    id === null
      ? null
      : await sqlOne<OneTimeToken>(
          trx,
          `select ${columns} from one_time_token where id = ? and purpose = ? and used_at is null and expires_at > now()`,
          [id, purpose],
        )
  if (!row) throw tokenInvalid()
  return row
}

/**
 * Uses a token up, in the transaction of what it is for: of two at once one has it, and the other 401 `token_invalid`. Locks the user before it, as a
 * new token does.
 */
export const takeToken = async (trx: AnyTrx, purpose: MailedTokenPurpose, token: string): Promise<OneTimeToken> => {
  const { id, userId } = await readToken(trx, purpose, token)
  await sql(trx, `select 1 from app_user where id = ? for no key update`, [userId])
  const row = await sqlOne<OneTimeToken>(
    trx,
    `update one_time_token set used_at = now() where id = ? and used_at is null and expires_at > now() returning ${columns}`,
    [id],
  )
  if (!row) throw tokenInvalid()
  return row
}
