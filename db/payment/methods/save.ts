import { randomUUID } from 'node:crypto'
import { paymentMethodFailed, paymentMethodSaved } from '../../../config/events/payment.ts'
import { readMethod } from '../../../jobs/payment.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { nextReadAt } from '../../lib/due.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { changeRow, insertRow } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import type { PaymentMethodRow, PaymentRow } from '../../rows.ts'
import { gateOfAccount } from '../accounts.ts'
import { PaymentMethod } from '../models.ts'
import type { Action, Failure, PaymentSnapshot } from '../payments/snapshot.ts'
import { hasEnded } from '../rules/states.ts'

export type MethodOwner = { guestId: string } | { customerId: string } | { bookingId: string }

export type Consent = { textVersion: string; addressHash: Buffer | null }

/** A method that waits for its gateway. A customer of the same owner at the same account is used again. */
export const insertMethod = async (
  trx: Trx,
  gatewayAccountId: string,
  owner: MethodOwner,
  consent: Consent,
  more: { id?: string; submission?: Buffer | null } = {},
): Promise<PaymentMethodRow> => {
  const [column, ownerId] =
    'guestId' in owner
      ? ['guest_id', owner.guestId]
      : 'customerId' in owner
        ? ['customer_id', owner.customerId]
        : ['booking_id', owner.bookingId]
  const before = await sqlOne<{ externalCustomerId: string }>(
    trx,
    `select external_customer_id from payment_method where gateway_account_id = ? and ?? = ? and external_customer_id is not null limit 1`,
    [gatewayAccountId, column, ownerId],
  )
  return insertRow(trx, PaymentMethod, {
    id: more.id ?? randomUUID(),
    gatewayAccountId,
    ...owner,
    externalCustomerId: before?.externalCustomerId ?? null,
    consentTextVersion: consent.textVersion,
    consentAddressHash: consent.addressHash,
    submission: more.submission ?? null,
  })
}

/** A gateway's statement about a saved method; never a number, a name on the card or a security code. */
export type MethodSnapshot = {
  status: 'pending' | 'active' | 'failed' | 'detached'
  externalId: string | null
  /** The gateway's id of the step that saves it. */
  setupId: string | null
  externalCustomerId: string | null
  card: { brand: string; last4: string; expMonth: number; expYear: number; fingerprint: string | null } | null
  action: Action | null
  failure: Failure | null
}

export const methodActionPlace = (id: string) => ({ table: 'payment_method', rowId: id, purpose: 'action' })

export const emitMethod = (
  trx: Trx,
  event: typeof paymentMethodSaved,
  { id, version, guestId, customerId, brand }: PaymentMethodRow,
) =>
  emit(trx, event, {
    propertyId: null,
    id,
    version,
    data: { paymentMethodId: id, guestId, customerId, brand: brand?.replace(/[\s@]+/g, '_') ?? null },
  })

const second = 1_000
const waits = [30, 120, 300, 900]
const longestMs = 24 * 60 * 60 * second

export const lockMethod = (trx: Trx, id: string): Promise<PaymentMethodRow | null> =>
  sqlOne<PaymentMethodRow>(trx, `select * from payment_method where id = ? for no key update`, [id])

/** The only writer of what a gateway says of a saved method. What is not pending changes no more, but for the facts of its card. */
export const applyMethodSnapshot = async (trx: Trx, id: string, snapshot: MethodSnapshot): Promise<void> => {
  const method = await lockMethod(trx, id)
  if (!method || method.status !== 'pending') return
  const { status, externalId, externalCustomerId, setupId, card, action, failure } = snapshot
  const isOld = Date.now() - method.createdAt.getTime() > longestMs
  const becomes = status === 'detached' || (status === 'pending' && isOld) ? 'failed' : status
  const isActive = becomes === 'active' && card !== null && externalId !== null
  const known = {
    externalCustomerId: method.externalCustomerId ?? externalCustomerId,
    setupId: method.setupId ?? setupId,
  }
  if (becomes === 'pending' || (becomes === 'active' && !isActive)) {
    const wait = (waits[Math.min(method.readCount, waits.length - 1)] ?? 900) * second
    await changeRow(trx, PaymentMethod, id, {
      ...known,
      ...(action ? { action: await seal(trx, 'tenant', methodActionPlace(id), action) } : {}),
      failure: failure ?? (method.failure as Failure | null),
      nextReadAt: nextReadAt(wait),
      readCount: method.readCount + 1,
    })
    return
  }
  const version = await changeRow(trx, PaymentMethod, id, {
    ...known,
    status: becomes,
    ...(isActive ? { externalId, ...card } : {}),
    action: null,
    submission: null,
    failure: isActive ? null : (failure ?? { code: 'other', message: 'The method was not saved' }),
    nextReadAt: null,
    readCount: 0,
  })
  const changed = { ...method, ...(isActive ? card : {}), status: becomes, version }
  await emitMethod(trx, isActive ? paymentMethodSaved : paymentMethodFailed, changed)
}

/** The gateway did not say: it is asked again later. */
export const methodUnheard = async (trx: Trx, id: string): Promise<void> => {
  const method = await lockMethod(trx, id)
  if (!method || method.status !== 'pending') return
  const nothing = { externalId: null, setupId: null, externalCustomerId: null, card: null, action: null, failure: null }
  await applyMethodSnapshot(trx, id, { status: 'pending', ...nothing })
}

/** Takes a payment's news of the method that it was to save. The card is read next, or the method fails if the payment ended without it. */
export const saveMethodOf = async (trx: Trx, payment: PaymentRow, snapshot: PaymentSnapshot): Promise<void> => {
  const { paymentMethodId: id, tenantId } = payment
  if (id === null) return
  if (snapshot.savedMethodRef) {
    const [waiting] = await sql<PaymentMethodRow>(
      trx,
      `update payment_method set external_id = ?, next_read_at = now() + interval '1 minute'
       where id = ? and status = 'pending' and external_id is null returning *`,
      [snapshot.savedMethodRef, id],
    )
    if (waiting)
      await enqueue(
        trx,
        readMethod,
        { tenantId, paymentMethodId: id },
        { gate: await gateOfAccount(trx, payment.gatewayAccountId) },
      )
    return
  }
  if (!hasEnded(payment.status) && payment.status !== 'captured') return
  const [lost] = await sql<PaymentMethodRow>(
    trx,
    `update payment_method set status = 'failed', failure = ?::jsonb, next_read_at = null, version = version + 1
     where id = ? and status = 'pending' and external_id is null and setup_id is null and submission is null returning *`,
    [JSON.stringify({ code: 'other', message: 'The payment did not save it' }), id],
  )
  if (lost) await emitMethod(trx, paymentMethodFailed, lost)
}
