import { audit } from '../lib/audit.ts'
import { inTenant, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unseal } from '../lib/sealing/index.ts'
import { holdGuest, withdrawConsent } from './consent.ts'
import { readReader } from './reader.ts'
import { attemptPlace } from './sending.ts'
import { addressIndex, suppress } from './suppression.ts'
import { readUnsubscribeToken } from './unsubscribe-token.ts'
import type { Unsubscribing } from './unsubscribe-token.ts'

const years = 2

type Sent = {
  guestId: string | null
  reservationId: string | null
  paymentId: string | null
  recipient: Buffer | null
  locale: string | null
  property: string
}

const messageOf = (trx: Trx, messageId: string): Promise<Sent | null> =>
  sqlOne<Sent>(
    trx,
    `select m.guest_id, m.reservation_id, m.payment_id, m.recipient, m.locale, p.name as property from message m
     join property p on p.tenant_id = m.tenant_id and p.id = m.property_id
     where m.id = ? and m.created_at > now() - make_interval(years => ${years})`,
    [messageId],
  )

/** The address that the message went to, or would have: as it was sent, by its index where the address is erased, else the guest's own. */
const addressOf = async (trx: Trx, message: Sent, { messageId, kind }: Unsubscribing) => {
  const attempt = await sqlOne<{ id: string; recipient: Buffer | null; recipientIndex: Buffer }>(
    trx,
    `select id, recipient, recipient_index from message_attempt where message_id = ? and kind = ? order by created_at desc limit 1`,
    [messageId, kind],
  )
  if (attempt?.recipient) {
    const address = await unseal<string>(trx, 'tenant', attemptPlace(attempt.id, 'recipient'), attempt.recipient)
    return { address, index: attempt.recipientIndex }
  }
  // An erased guest leaves an index of zeros.
  if (attempt?.recipientIndex.some((byte) => byte !== 0)) return { address: null, index: attempt.recipientIndex }
  const reader = await readReader(trx, { id: messageId, ...message })
  const address = (kind === 'email' ? reader?.email : reader?.phone) ?? null
  return address === null ? null : { address, index: addressIndex(trx, kind, address) }
}

export type UnsubscribePage = { property: string; locale: string | null }

/** The text of the page behind a link; null for a token that is invalid or too old. Changes nothing. */
export const readUnsubscribe = async (token: string): Promise<UnsubscribePage | null> => {
  const named = readUnsubscribeToken(token)
  const message = named && (await inTenant(named.tenantId, (trx) => messageOf(trx, named.messageId)))
  return message ? { property: message.property, locale: message.locale } : null
}

/** Ends marketing to one address by one channel, with the guest's consent; again changes nothing. Also while the feature is off. */
export const unsubscribe = async (token: string, requestId: string): Promise<UnsubscribePage | null> => {
  const named = readUnsubscribeToken(token)
  if (!named) return null
  return inTenant(
    named.tenantId,
    async (trx) => {
      const message = await messageOf(trx, named.messageId)
      if (!message) return null
      const guestId = await holdGuest(trx, message.guestId)
      const found = await addressOf(trx, message, named)
      const suppressionId = found
        ? await suppress(trx, {
            kind: named.kind,
            ...found,
            scope: 'marketing',
            cause: 'unsubscribe',
            messageId: named.messageId,
          })
        : null
      await audit(trx, { action: 'suppression.unsubscribe', subjectType: 'suppression', subjectId: suppressionId })
      await withdrawConsent(trx, guestId, named.kind, 'link')
      return { property: message.property, locale: message.locale }
    },
    { requestId, actor: { type: 'guest', id: null } },
  )
}
