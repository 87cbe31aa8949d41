import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { paymentMethodDetached } from '../../../config/events/payment.ts'
import { detachMethod, startMethod } from '../../../jobs/payment.ts'
import { defaultBook } from '../../financial/index.ts'
import { isOfGuest, resolveGuest } from '../../guests/index.ts'
import { later, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { equal, matching, pageOf } from '../../lib/lists.ts'
import { changeRow, findRow } from '../../lib/records.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import type { GatewayAccountRow, PaymentMethodRow } from '../../rows.ts'
import { gateOf, gateOfAccount } from '../accounts.ts'
import { checkReturnUrl } from '../gateway-accounts/commands.ts'
import { PaymentMethod } from '../models.ts'
import type { Action, Failure } from '../payments/snapshot.ts'
import { liveStatuses } from '../rules/states.ts'
import { emitMethod, insertMethod, lockMethod, methodActionPlace } from './save.ts'

export type MethodRecord = Omit<PaymentMethodRow, 'action' | 'failure'> & {
  action: Action | null
  failure: Failure | null
  consent: { at: Date; textVersion: string }
}

const shown = (method: PaymentMethodRow, action: Action | null): MethodRecord => ({
  ...method,
  action,
  failure: method.failure as Failure | null,
  consent: { at: method.consentAt, textVersion: method.consentTextVersion },
})

/** A saved method with the step that it waits for; 404. */
export const readMethod = async (trx: Trx, id: string): Promise<MethodRecord> => {
  const method = await findRow(trx, PaymentMethod, id)
  if (!method) throw notFound()
  const action =
    method.status === 'pending' && method.action
      ? await unseal<Action>(trx, 'tenant', methodActionPlace(id), method.action)
      : null
  return shown(method, action)
}

const page = pageOf(PaymentMethod, {
  order: ['createdAt desc', 'id'],
  filters: {
    guestId: matching<string>(isOfGuest('guest_id')),
    customerId: equal('customerId'),
    status: equal('status'),
  },
  scope: { propertyId: null },
})

type Filter = Omit<Parameters<typeof page>[1], 'guestId' | 'customerId' | 'status'> & {
  guestId?: string | undefined
  customerId?: string | undefined
  status?: string | undefined
}

/** Saved methods of one guest or customer, newest first; 400 without either. */
export const listMethods = async (trx: Trx, filter: Filter) => {
  if ((filter.guestId === undefined) === (filter.customerId === undefined))
    throw invalid([{ field: 'guestId', message: 'either guestId or customerId is required' }])
  const { total, rows } = await page(trx, filter)
  return { total, rows: rows.map((row) => shown(row, null)) }
}

export type NewMethod = {
  gatewayAccountId?: string | undefined
  guestId?: string | undefined
  customerId?: string | undefined
  consentTextVersion: string
  cardToken?: string | undefined
  returnUrl?: string | undefined
}

/** Data for the gateway beside the columns, kept sealed until the method is known. */
export type MethodSubmission = { cardToken: string | null; returnUrl: string | null }
export const methodSubmissionPlace = (id: string) => ({ table: 'payment_method', rowId: id, purpose: 'submission' })

const cardAccount = async (trx: Trx, gatewayAccountId: string | undefined): Promise<GatewayAccountRow> => {
  const bookId = gatewayAccountId === undefined ? ((await defaultBook(trx))?.id ?? null) : null
  const account = await sqlOne<GatewayAccountRow>(
    trx,
    `select * from gateway_account where id = :id or (cast(:id as uuid) is null and book_id = :bookId and is_default) for key share`,
    { id: gatewayAccountId ?? null, bookId },
  )
  if (!account) {
    if (gatewayAccountId) throw notFound('There is no such gateway account')
    throw unprocessable('gateway_account_not_ready', 'There is no default gateway account')
  }
  if (account.status !== 'active' && !(account.status === 'restricted' && account.chargesEnabled))
    throw unprocessable('gateway_account_not_ready', 'The gateway account cannot take payments yet')
  if ((account.capabilities as Record<string, string>)['card'] !== 'active')
    throw unprocessable('method_unavailable', 'The gateway account does not take cards')
  return account
}

/** An active customer whom a request names. 422 `reference_not_found`. */
const customerFor = async (trx: Trx, customerId: string): Promise<string> => {
  const customer = await sqlOne<{ id: string }>(
    trx,
    `select id from customer where id = ? and status = 'active' for key share`,
    [customerId],
  )
  if (!customer)
    throw unprocessable('reference_not_found', 'There is no such customer', [
      { field: 'customerId', message: 'is no active customer' },
    ])
  return customer.id
}

/** Begins to save a card of a guest or customer, with their consent, at the gateway. 400 without exactly one owner; 409 `guest_erased`. */
export const setUpMethod = async (trx: Trx, wanted: NewMethod, addressHash: Buffer | null): Promise<string> => {
  const { customerId } = wanted
  if ((wanted.guestId === undefined) === (customerId === undefined))
    throw invalid([{ field: 'guestId', message: 'either guestId or customerId is required' }])
  // Guests are locked before accounts, and another one is stored for a merged profile.
  const guestId = wanted.guestId === undefined ? undefined : await resolveGuest(trx, wanted.guestId)
  const account = await cardAccount(trx, wanted.gatewayAccountId)
  if (wanted.returnUrl !== undefined) await checkReturnUrl(trx, account.bookId, wanted.returnUrl)
  const owner = guestId === undefined ? { customerId: await customerFor(trx, customerId ?? '') } : { guestId }
  const id = randomUUID()
  const submission: MethodSubmission = { cardToken: wanted.cardToken ?? null, returnUrl: wanted.returnUrl ?? null }
  const consent = { textVersion: wanted.consentTextVersion, addressHash }
  const sealed = await seal(trx, 'tenant', methodSubmissionPlace(id), submission)
  const method = await insertMethod(trx, account.id, owner, consent, { id, submission: sealed })
  await changeRow(trx, PaymentMethod, id, { nextReadAt: new Date(Date.now() + 120_000) })
  const payload = { tenantId: method.tenantId, paymentMethodId: id }
  await enqueue(trx, startMethod, payload, { gate: gateOf(account) })
  return id
}

/** Forgets a saved method here and at the gateway. 409 while a payment by it is on its way, or while it is being saved. */
export const forgetMethod = async (trx: Trx, id: string): Promise<MethodRecord> => {
  const method = await lockMethod(trx, id)
  if (!method) throw notFound()
  if (method.status === 'detached') return shown(method, null)
  if (method.status === 'pending') throw conflict('invalid_transition', 'The method is still being saved')
  const live = await sqlOne(trx, `select id from payment where payment_method_id = ? and status = any(?) limit 1`, [
    id,
    liveStatuses,
  ])
  if (live) throw conflict('invalid_transition', 'A payment by this method is on its way')
  const version = await changeRow(trx, PaymentMethod, id, { status: 'detached', nextReadAt: null, submission: null })
  if (method.externalId !== null)
    await enqueue(
      trx,
      detachMethod,
      { tenantId: method.tenantId, paymentMethodId: id },
      { gate: await gateOfAccount(trx, method.gatewayAccountId) },
    )
  const changed = { ...method, status: 'detached' as const, version }
  await emitMethod(trx, paymentMethodDetached, changed)
  return shown(changed, null)
}

/** Cards whose last month is over pay for nothing any more. */
export const expireMethods = (trx: Trx, ids: readonly string[]) =>
  sql(
    trx,
    `update payment_method set status = 'expired', version = version + 1 where id = any(?) and status = 'active'`,
    [ids],
  )

/** Methods that were saved for a booking belong to its booker once that is a guest of the house. */
export const giveMethods = (trx: Trx, bookingId: string, guestId: string): void =>
  later(trx, `update payment_method set guest_id = ?, booking_id = null, version = version + 1 where booking_id = ?`, [
    guestId,
    bookingId,
  ])
