import { nilId } from '../../config/nil-id.ts'
import { guestAccessCode, satisfactionToken } from '../../config/derived-secrets.ts'
import { settings } from '../../config/env.ts'
import { signToken } from '../../config/tokens.ts'
import { formToLink, linkInForce } from '../guests/index.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unseal } from '../lib/sealing/index.ts'
import { blot } from './rules/blotted.ts'
import type { Value } from './rules/template.ts'
import { unsubscribeUrl } from './unsubscribe-token.ts'

/** Ids in the data of a message, which codes, links and texts of their records are made of. */
type Ids = {
  guestAccessCodeId?: string
  linkOfPaymentId?: string
  satisfactionIssueId?: string
  issueCommentId?: string
  guestRegistrationId?: string
  linkFrom?: string
  linkUntil?: string
  purchaseOrderId?: string
}
export const idsIn = (data: unknown): Ids => (typeof data === 'object' && data !== null ? data : {})

/** A page of the application for guests, with a token that no server's log sees. */
const guestPage = (name: string, token: string) =>
  `${settings.appBaseUrl ?? settings.publicBaseUrl}/${name}#token=${token}`

/** The page of the gateway on which a payment can be made; null once it cannot. */
const pageOfPayment = async (trx: Trx, id: string): Promise<string | null> => {
  const row = await sqlOne<{ action: Buffer | null }>(
    trx,
    `select action from payment where id = ? and status = 'requires_action'`,
    [id],
  )
  if (!row?.action) return null
  const action = await unseal<{ type: string; url?: string }>(
    trx,
    'tenant',
    { table: 'payment', rowId: id, purpose: 'action' },
    row.action,
  )
  return action.type === 'redirect' ? (action.url ?? null) : null
}

/** The page on which a guest fills in a form; the token stands after the `#`, so no server along the way sees it. */
const pageOfForm = async (trx: Trx, id: string, from: Date, until: Date) => {
  const seconds = Math.ceil((until.getTime() - from.getTime()) / 1000)
  const token = await signToken('registration', { tenant: contextOf(trx).tenantId, registration: id }, seconds, from)
  return guestPage(`guest-registrations/${id}`, token)
}

/** The link to the form of a message's guest for its stay; null where there is none to fill in. Blotted out it makes no link. */
export const registrationLink = async (
  trx: Trx,
  { reservationId, guestId }: { reservationId: string | null; guestId: string | null },
  masked: boolean,
): Promise<Value> => {
  const id = reservationId && guestId ? await formToLink(trx, reservationId, guestId) : null
  if (id === null) return null
  if (masked) return blot
  const { validFrom, endsAt } = await linkInForce(trx, id)
  return pageOfForm(trx, id, validFrom, endsAt)
}

/** A link of the variable that opens nothing, as long as one that does; null where it has no usual length. */
export const linkLike = async (trx: Trx, path: string): Promise<string | null> => {
  if (path === 'unsubscribe.link') return unsubscribeUrl(trx, nilId, 'sms')
  return path === 'registration.link' ? pageOfForm(trx, nilId, new Date(), new Date(Date.now() + 86_400_000)) : null
}

/** Derives codes and links from ids in `data`; `masked` blots them out for everything that is stored. */
export const secretsOf = async (trx: Trx, data: unknown, masked: boolean): Promise<Record<string, Value>> => {
  const ids = idsIn(data)
  const { guestAccessCodeId, linkOfPaymentId, satisfactionIssueId, guestRegistrationId } = ids
  const { tenantId } = contextOf(trx)
  const linkOf = async (): Promise<Value> => {
    if (satisfactionIssueId !== undefined && tenantId !== null)
      return guestPage('satisfaction', satisfactionToken(tenantId, satisfactionIssueId))
    if (guestRegistrationId !== undefined)
      return pageOfForm(trx, guestRegistrationId, new Date(ids.linkFrom ?? ''), new Date(ids.linkUntil ?? ''))
    return linkOfPaymentId === undefined ? null : pageOfPayment(trx, linkOfPaymentId)
  }
  const hasLink =
    linkOfPaymentId !== undefined || satisfactionIssueId !== undefined || guestRegistrationId !== undefined
  return {
    code: guestAccessCodeId === undefined ? null : masked ? blot : guestAccessCode(guestAccessCodeId),
    ...(hasLink ? { link: masked ? blot : await linkOf() } : {}),
  }
}
