import { ApiError } from '../../../config/errors.ts'
import { profilesOf } from '../../guests/index.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PaymentMethodRow } from '../../rows.ts'
import { accountFor } from '../accounts.ts'
import { expiryOf } from '../rules/states.ts'
import type { Method } from '../rules/states.ts'
import { createPayment } from './create.ts'

/** The person whom a link is sent to. */
export type LinkReader = { name: string; email: string; language: string }

type Collection = {
  reservationId: string
  propertyId: string
  currency: string
  /** Minor units, more than 0. */
  amount: number
  description: string
}

export type Collected = { paymentId: string; way: 'charged' | 'link' } | null

/** Saved cards of the booking or of its guests that can be charged now, the newest first. */
const chargeable = (
  trx: Trx,
  { propertyId, currency }: Pick<Collection, 'propertyId' | 'currency'>,
  { bookingId, guestIds }: { bookingId: string; guestIds: readonly string[] },
) =>
  sql<PaymentMethodRow>(
    trx,
    `select m.* from payment_method m join gateway_account a on a.tenant_id = m.tenant_id and a.id = m.gateway_account_id
     join property p on p.tenant_id = a.tenant_id and p.book_id = a.book_id and p.id = :propertyId
     where m.status = 'active' and (m.booking_id = :bookingId or m.guest_id = any(:guestIds::uuid[])) and a.currency = :currency
       and (a.status = 'active' or a.status = 'restricted' and a.charges_enabled) and a.capabilities->>'card' = 'active'
       and (cardinality(a.property_ids) = 0 or p.id = any(a.property_ids))
     order by m.created_at desc, m.id limit 5`,
    { propertyId, currency, bookingId, guestIds },
  )

/** Null where the payment may not be made as things stand: there is no account, or nothing to pay. */
const orNull = async <T>(work: () => Promise<T>): Promise<T | null> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/** Charges a saved card without its owner. Null where there is none that can be charged. The target is locked, and has no live payment. */
export const chargeSaved = async (
  trx: Trx,
  { reservationId, ...collection }: Collection,
  payers: { bookingId: string; guestIds: readonly string[] },
): Promise<Collected> => {
  const guestIds = await profilesOf(trx, payers.guestIds)
  const [saved] = await chargeable(trx, collection, { ...payers, guestIds })
  if (!saved) return null
  const made = await orNull(() =>
    createPayment(trx, {
      ...collection,
      channel: 'automatic',
      method: 'card',
      targetType: 'reservation',
      targetId: reservationId,
      gatewayAccountId: saved.gatewayAccountId,
      paymentMethodId: saved.id,
      expiresAt: expiryOf('card', new Date()),
    }),
  )
  return made && { paymentId: made.payment.id, way: 'charged' }
}

const linkLastsMs = 72 * 60 * 60_000

/** Has a payment link made, and sent by e-mail once it is ready. Null where the property has no account that takes cards. */
export const sendLinkFor = async (
  trx: Trx,
  { reservationId, ...collection }: Collection,
  reader: LinkReader,
): Promise<Collected> => {
  const made = await orNull(async () => {
    const account = await accountFor(trx, { ...collection, method: 'card' })
    const capabilities = account.capabilities as Record<string, string>
    const linkMethods: Method[] = capabilities['pix'] === 'active' ? ['card', 'pix'] : ['card']
    return createPayment(trx, {
      ...collection,
      channel: 'link',
      method: 'card',
      targetType: 'reservation',
      targetId: reservationId,
      gatewayAccountId: account.id,
      linkMethods,
      send: { channel: 'email', to: reader.email, name: reader.name, language: reader.language },
      expiresAt: new Date(Date.now() + linkLastsMs),
    })
  })
  return made && { paymentId: made.payment.id, way: 'link' }
}
