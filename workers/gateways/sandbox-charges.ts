import { settings } from '../../config/env.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import {
  chargeCallbacks,
  chargeStatus,
  declineOf,
  planCharge,
  planDispute,
  planRefund,
  refundCallbacks,
  refundStatus,
  showCharge,
  showRefund,
  troubleOf,
} from './sandbox-plan.ts'
import type { Charge, Refund } from './sandbox-plan.ts'
import { announce, get, insert, missing, ofOurs, once, reference, refused } from './sandbox-store.ts'
import type { Answer } from './sandbox-store.ts'

export type ChargeRequest = {
  ourId: string
  amount: number
  currency: string
  method: string
  token: string
  returnUrl: string | null
  expiresAt: string | null
  installments?: number
  mode?: 'charge' | 'authorise'
  platformFee?: number
  /** Charges a card that was saved before. */
  savedMethod?: string | null
  /** Whose card it is: a saved one is charged with its customer alone. */
  customer?: string | null
  /** Keeps the card. */
  save?: boolean
  linkId?: string | null
}

/** A charge with what follows from it: its card that is kept, its callbacks, its dispute, and the hour of its booking. */
export const makeCharge = async (trx: PlatformTrx, accountRef: string, request: ChargeRequest, token: string) => {
  const now = Date.now()
  const secondMs = settings.sandboxSecondMs
  const { ourId, amount, currency, method, returnUrl, save, savedMethod, customer = null } = request
  const expiresAt = request.expiresAt === null ? null : Date.parse(request.expiresAt)
  const id = reference('ch')
  const kept = save ? await makeMethod(trx, accountRef, { ourId: `saved-${ourId}`, customer, token }) : null
  const charge: Charge = {
    id,
    accountRef,
    ourId,
    amount,
    currency,
    method,
    token,
    returnUrl,
    createdAt: now,
    expiresAt,
    cancelledAt: null,
    mode: request.mode ?? 'charge',
    platformFee: request.platformFee ?? 0,
    captured: null,
    savedMethod: savedMethod ?? kept?.id ?? null,
    customer: kept?.customer ?? customer,
    linkId: request.linkId ?? null,
    ...planCharge(token, method, amount, now, expiresAt, secondMs),
    ...(request.linkId ? { paidAt: linkPaidAt(token, now, expiresAt, secondMs) } : {}),
  }
  await insert(trx, 'charge', charge, charge)
  await announce(trx, 'charge', charge, chargeCallbacks(charge, now, secondMs))
  if (token === 'disputed' && charge.paidAt !== null) {
    const dispute = planDispute(charge, `dp_${id.slice(3)}`, secondMs)
    await insert(trx, 'dispute', dispute, dispute)
    await announce(trx, 'dispute', dispute, [{ type: 'dispute.created', at: dispute.openedAt, copies: 1 }])
  }
  if (charge.paidAt !== null) await bookAt(trx, accountRef, charge.paidAt)
  return charge
}

/** A page is paid three seconds after it was made, unless its token says otherwise. */
const linkPaidAt = (token: string, now: number, expiresAt: number | null, secondMs: number) => {
  const { paidAt } = planCharge(token, 'pix', 0, now, expiresAt, secondMs)
  return declineOf(token) ? null : paidAt
}

/** The books of an account are brought up to date soon after. */
export const bookAt = (trx: PlatformTrx, accountRef: string, at: number) =>
  sql(
    trx,
    `insert into sandbox_object (id, kind, account_ref, state, due_at) values (?, 'account', ?, '{}', ?)
     on conflict (id) do update set due_at = least(sandbox_object.due_at, excluded.due_at)`,
    [`books ${accountRef}`, accountRef, new Date(at)],
  )

export const createCharge = (accountRef: string, key: string, request: ChargeRequest): Promise<Answer> => {
  if (troubleOf(request.token) === 'hang_before') return Promise.resolve({ status: 0, body: null, hang: true })
  return once(accountRef, key, request, async (trx) => {
    const saved = request.savedMethod ? await get<Method>(trx, 'method', accountRef, request.savedMethod) : null
    if (request.savedMethod && (!saved || saved.detachedAt !== null)) return { first: missing, kept: missing }
    if (saved && saved.customer !== request.customer) {
      const answer = refused('customer_missing', 'A saved card is charged with its customer')
      return { first: answer, kept: answer }
    }
    const token = saved?.token ?? request.token
    const trouble = troubleOf(token)
    const decline = declineOf(token)
    if (decline) {
      const answer = refused(decline.code, decline.message)
      return { first: answer, kept: answer }
    }
    const charge = await makeCharge(trx, accountRef, request, token)
    const answer: Answer = { status: 201, body: showCharge(charge, Date.now()) }
    if (trouble === 'hang_after') return { first: { ...answer, hang: true }, kept: answer }
    if (trouble === 'error') {
      const failed: Answer = {
        status: 500,
        body: { error: { code: 'internal_error', message: 'Something went wrong' } },
      }
      return { first: failed, kept: failed }
    }
    if (trouble === 'empty') return { first: { status: 200, body: {} }, kept: { status: 200, body: {} } }
    return { first: answer, kept: answer }
  })
}

/** Takes what was authorised, once; a repeated call answers the charge. */
export const captureCharge = (
  accountRef: string,
  id: string,
  { amount, platformFee }: { amount: number; platformFee: number },
): Promise<Answer> =>
  inPlatform(async (trx) => {
    const charge = await get<Charge>(trx, 'charge', accountRef, id, 'for update')
    if (!charge) return missing
    const now = Date.now()
    if (chargeStatus(charge, now) === 'captured') return { status: 200, body: showCharge(charge, now) }
    if (chargeStatus(charge, now) !== 'authorised' || amount > charge.paidAmount)
      return refused('not_capturable', 'The charge cannot be captured so')
    const taken = { ...charge, captured: { at: now, amount, platformFee } }
    await sql(trx, `update sandbox_object set state = ?::jsonb where id = ?`, [JSON.stringify(taken), id])
    if (charge.token !== 'lost_callback')
      await announce(trx, 'charge', taken, [{ type: 'charge.captured', at: now, copies: 1 }])
    await bookAt(trx, accountRef, now)
    return { status: 200, body: showCharge(taken, now) }
  })

export type Method = {
  id: string
  accountRef: string
  ourId: string
  customer: string
  token: string
  activeAt: number | null
  detachedAt: number | null
}

/** A card that is kept: a Visa 4242, which charges as the token that it was saved with. */
export const makeMethod = async (
  trx: PlatformTrx,
  accountRef: string,
  { ourId, customer, token }: { ourId: string; customer: string | null; token: string },
): Promise<Method> => {
  const now = Date.now()
  const activeAt = token === 'action_abandoned' ? null : token === 'action' ? now + 3 * settings.sandboxSecondMs : now
  const method: Method = {
    id: reference('pm'),
    accountRef,
    ourId,
    customer: customer ?? reference('cus'),
    token,
    activeAt,
    detachedAt: null,
  }
  await insert(trx, 'method', method, method)
  if (activeAt !== null && activeAt > now)
    await announce(trx, 'method', method, [{ type: 'method.active', at: activeAt, copies: 1 }])
  return method
}

export const readCharge = (accountRef: string, id: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const charge = await get<Charge>(trx, 'charge', accountRef, id)
    return charge ? { status: 200, body: showCharge(charge, Date.now()) } : missing
  })

export const findCharges = (accountRef: string, ourId: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const rows = await ofOurs<Charge>(trx, 'charge', accountRef, ourId)
    return { status: 200, body: { data: rows.map(({ state }) => showCharge(state, Date.now())) } }
  })

/** Closes what is not paid; of what is paid it answers that. */
export const cancelCharge = (accountRef: string, id: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const charge = await get<Charge>(trx, 'charge', accountRef, id, 'for update')
    if (!charge) return missing
    const now = Date.now()
    if (chargeStatus(charge, now) === 'captured' || charge.cancelledAt !== null)
      return { status: 200, body: showCharge(charge, now) }
    const closed = { ...charge, cancelledAt: now }
    await sql(trx, `update sandbox_object set state = ?::jsonb where id = ?`, [JSON.stringify(closed), id])
    if (charge.token !== 'lost_callback')
      await announce(trx, 'charge', closed, [{ type: 'charge.cancelled', at: now, copies: 1 }])
    return { status: 200, body: showCharge(closed, now) }
  })

export type RefundRequest = { ourId: string; charge: string; amount: number; currency: string }

export const createRefund = (accountRef: string, key: string, request: RefundRequest): Promise<Answer> =>
  once(accountRef, key, request, async (trx) => {
    const charge = await get<Charge>(trx, 'charge', accountRef, request.charge, 'for update')
    if (!charge) return { first: missing, kept: missing }
    const now = Date.now()
    const before = await sql<{ state: Refund }>(
      trx,
      `select state from sandbox_object where kind = 'refund' and account_ref = ? and state->>'charge' = ?`,
      [accountRef, charge.id],
    )
    const used = before
      .filter(({ state }) => refundStatus(state, now) !== 'failed')
      .reduce((sum, { state }) => sum + state.amount, 0)
    if (
      chargeStatus(charge, now) !== 'captured' ||
      used + request.amount > (charge.captured?.amount ?? charge.paidAmount) ||
      request.currency !== charge.currency
    ) {
      const answer = refused('amount_exceeds_charge', 'The charge does not hold so much')
      return { first: answer, kept: answer }
    }
    const { ourId, amount, currency } = request
    const plan = planRefund(charge.token, now, settings.sandboxSecondMs)
    const refund: Refund = {
      id: reference('re'),
      accountRef,
      ourId,
      charge: charge.id,
      amount,
      currency,
      createdAt: now,
      ...plan,
    }
    await insert(trx, 'refund', refund, refund)
    await bookAt(trx, accountRef, now)
    if (refund.failsAt !== null) await bookAt(trx, accountRef, refund.failsAt)
    if (charge.token !== 'lost_callback') await announce(trx, 'refund', refund, refundCallbacks(refund))
    const answer: Answer = { status: 201, body: showRefund(refund, now) }
    return { first: answer, kept: answer }
  })

export const findRefunds = (accountRef: string, ourId: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const rows = await ofOurs<Refund>(trx, 'refund', accountRef, ourId)
    return { status: 200, body: { data: rows.map(({ state }) => showRefund(state, Date.now())) } }
  })
