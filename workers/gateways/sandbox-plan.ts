/** Plans of the sandbox gateway for test tokens. Pure: instants come in and go out as milliseconds. */

export type Charge = {
  id: string
  ourId: string
  accountRef: string
  amount: number
  currency: string
  method: string
  token: string
  returnUrl: string | null
  createdAt: number
  expiresAt: number | null
  /** The moment at which the money comes; null: never. */
  paidAt: number | null
  paidAmount: number
  /** It works on it from the start, without asking the payer. */
  processes: boolean
  /** The money comes although the charge was closed. */
  comesAnyway: boolean
  cancelledAt: number | null
  mode: 'charge' | 'authorise'
  platformFee: number
  /** Taken of what was authorised. */
  captured: { at: number; amount: number; platformFee: number } | null
  /** The card was kept with it, or is charged without its owner. */
  savedMethod: string | null
  /** Of the card that is kept. */
  customer: string | null
  linkId: string | null
}

export type Refund = {
  id: string
  ourId: string
  accountRef: string
  charge: string
  amount: number
  currency: string
  createdAt: number
  succeedsAt: number | null
  failsAt: number | null
}

/** Every card of the sandbox is this one. */
export const testCard = { brand: 'visa', last4: '4242' }

export type Decline = { code: string; message: string }

const declines: Record<string, Decline> = {
  decline: { code: 'insufficient_funds', message: 'The card has not enough funds' },
  decline_expired: { code: 'expired_card', message: 'The card has expired' },
}

const known = new Set([
  'success', 'action', 'action_abandoned', 'pix_unpaid', 'pix_late', 'pix_short', 'timeout_taken', 'timeout_nothing', 'error_replayed',
  'malformed', 'duplicate_callback', 'reordered_callback', 'lost_callback', 'refund_fails', 'refund_returns', 'disputed',
]) // oxfmt-ignore

export const declineOf = (token: string): Decline | null =>
  declines[token] ?? (known.has(token) ? null : { code: 'declined', message: `${token.slice(0, 40)} is no test token` })

/** The fault of the first reply to a call. */
export const troubleOf = (token: string): 'hang_before' | 'hang_after' | 'error' | 'empty' | null => {
  switch (token) {
    case 'timeout_nothing':
      return 'hang_before'
    case 'timeout_taken':
      return 'hang_after'
    case 'error_replayed':
      return 'error'
    case 'malformed':
      return 'empty'
    default:
      return null
  }
}

/** The plan of a charge: the time and the amount of its payment. */
export const planCharge = (
  token: string,
  method: string,
  amount: number,
  now: number,
  expiresAt: number | null,
  secondMs: number,
) => {
  const soon = now + 3 * secondMs
  const plan = { paidAt: method === 'card' ? now : soon, paidAmount: amount, processes: false, comesAnyway: false } as {
    paidAt: number | null
    paidAmount: number
    processes: boolean
    comesAnyway: boolean
  }
  switch (token) {
    case 'action':
      return { ...plan, paidAt: soon }
    case 'action_abandoned':
    case 'pix_unpaid':
      return { ...plan, paidAt: null }
    case 'pix_late':
      return { ...plan, paidAt: (expiresAt ?? now) + 5 * secondMs, comesAnyway: true }
    case 'pix_short':
      return { ...plan, paidAt: soon, paidAmount: amount - 1 }
    case 'reordered_callback':
      return { ...plan, paidAt: soon, processes: true }
    default:
      return plan
  }
}

export type ChargeStatus = 'requires_action' | 'processing' | 'authorised' | 'captured' | 'cancelled'

export const chargeStatus = (charge: Charge, now: number): ChargeStatus => {
  const { paidAt, cancelledAt } = charge
  const paid = paidAt !== null && paidAt <= now && (cancelledAt === null || charge.comesAnyway || paidAt <= cancelledAt)
  if (paid && charge.mode !== 'authorise') return 'captured'
  if (charge.captured) return 'captured'
  if (cancelledAt !== null) return 'cancelled'
  if (paid) return 'authorised'
  return charge.processes ? 'processing' : 'requires_action'
}

const dayMs = 86_400_000

const actionOf = (charge: Charge) => {
  const until = new Date(charge.expiresAt ?? charge.createdAt + 30 * 60_000)
  if (charge.method === 'pix')
    return {
      type: 'pix',
      copyPaste: `00020126580014br.gov.bcb.pix0136${charge.ourId}5204000053039865802BR6304SBOX`,
      expiresAt: until.toISOString(),
    }
  if (charge.method === 'boleto') {
    const digits = charge.id.replace(/\D/g, '').padEnd(20, '7').slice(0, 20)
    return {
      type: 'boleto',
      digitableLine: `00190.00009 ${digits.slice(0, 5)}.${digits.slice(5, 11)} ${digits.slice(11, 16)}.${digits.slice(0, 6)} 1 ${String(charge.amount).padStart(14, '0')}`,
      url: `https://gateway.sandbox.example/boletos/${charge.id}`,
      dueDate: new Date(until.getTime() - 2 * dayMs).toISOString().slice(0, 10),
    }
  }
  return { type: 'redirect', url: `https://gateway.sandbox.example/authenticate/${charge.id}` }
}

/** A charge as the gateway's API shows it. */
export const showCharge = (charge: Charge, now: number) => {
  const status = chargeStatus(charge, now)
  const captured = status === 'captured' ? (charge.captured?.amount ?? charge.paidAmount) : 0
  const authorised =
    charge.mode === 'authorise' && (status === 'authorised' || captured > 0) ? charge.paidAmount : captured
  return {
    object: 'charge',
    id: charge.id,
    ourId: charge.ourId,
    status,
    amount: charge.amount,
    currency: charge.currency,
    authorisedAmount: authorised,
    capturedAmount: captured,
    authorisationExpiresAt: status === 'authorised' ? new Date(charge.createdAt + 7 * dayMs).toISOString() : null,
    savedMethod: authorised > 0 || captured > 0 ? charge.savedMethod : null,
    customer: authorised > 0 || captured > 0 ? charge.customer : null,
    card: charge.method === 'card' ? testCard : null,
    action: status === 'requires_action' ? actionOf(charge) : null,
    failure: null,
  }
}

export const planRefund = (token: string, now: number, secondMs: number) => {
  if (token === 'refund_fails') return { succeedsAt: null, failsAt: now + 3 * secondMs }
  return { succeedsAt: now, failsAt: token === 'refund_returns' ? now + 6 * secondMs : null }
}

export const refundStatus = (refund: Refund, now: number): 'processing' | 'succeeded' | 'failed' => {
  if (refund.failsAt !== null && refund.failsAt <= now) return 'failed'
  return refund.succeedsAt !== null && refund.succeedsAt <= now ? 'succeeded' : 'processing'
}

export const showRefund = (refund: Refund, now: number) => {
  const status = refundStatus(refund, now)
  return {
    object: 'refund',
    id: refund.id,
    ourId: refund.ourId,
    charge: refund.charge,
    status,
    amount: refund.amount,
    currency: refund.currency,
    failure: status === 'failed' ? { code: 'other', message: 'The bank returned the money' } : null,
  }
}

export type Due = { type: string; at: number; copies: number }

/** Callbacks that a charge will cause, unless it is closed before. */
export const chargeCallbacks = (charge: Charge, now: number, secondMs: number): Due[] => {
  if (charge.token === 'lost_callback') return []
  const copies = charge.token === 'duplicate_callback' ? 5 : 1
  const status = chargeStatus(charge, now)
  const opening =
    status === 'captured' || status === 'authorised' ? [] : [{ type: `charge.${status}`, at: now, copies }]
  if (charge.paidAt === null) return opening
  const captured = { type: 'charge.captured', at: charge.paidAt, copies }
  if (charge.token === 'reordered_callback')
    return [captured, { type: 'charge.processing', at: charge.paidAt + secondMs, copies }]
  return [...opening, captured]
}

export const refundCallbacks = (refund: Refund): Due[] =>
  [
    { type: 'refund.succeeded', at: refund.succeedsAt, copies: 1 },
    { type: 'refund.failed', at: refund.failsAt, copies: 1 },
  ].filter((due): due is Due => due.at !== null)

export type Dispute = {
  id: string
  accountRef: string
  charge: string
  ourId: string
  amount: number
  currency: string
  openedAt: number
  respondBy: number
  response: 'contest' | 'accept' | null
  decidedAt: number | null
  wins: boolean
}

/** A dispute is opened three seconds after the money came, and is to be answered within a week. */
export const planDispute = (charge: Charge, id: string, secondMs: number): Dispute => {
  const openedAt = (charge.paidAt ?? charge.createdAt) + 3 * secondMs
  return {
    id,
    accountRef: charge.accountRef,
    charge: charge.id,
    ourId: charge.ourId,
    amount: charge.paidAmount,
    currency: charge.currency,
    openedAt,
    respondBy: openedAt + 7 * dayMs,
    response: null,
    decidedAt: openedAt + 7 * dayMs,
    wins: false,
  }
}

export const showDispute = (dispute: Dispute, now: number) => {
  const isDecided = dispute.decidedAt !== null && dispute.decidedAt <= now
  const open = dispute.response === null ? 'needs_response' : 'under_review'
  return {
    object: 'dispute',
    id: dispute.id,
    charge: dispute.charge,
    ourId: dispute.ourId,
    amount: dispute.amount,
    currency: dispute.currency,
    reason: 'fraudulent',
    phase: 'dispute',
    status: isDecided ? (dispute.wins ? 'won' : 'lost') : open,
    responseDueAt: new Date(dispute.respondBy).toISOString(),
    openedAt: new Date(dispute.openedAt).toISOString(),
  }
}

/** Fees of the sandbox, half-up, which it never gives back. */
export const feeOf = (method: string, amount: number): number => {
  if (method === 'boleto') return 349
  const [rate, fixed] = method === 'pix' ? [99, 0] : [399, 39]
  return Math.floor((amount * rate + 5_000) / 10_000) + fixed
}
export const disputeFee = 5_500

/** The platform's fee given back with a part of a charge, so that all parts sum to the whole. */
export const feeGivenBack = (platformFee: number, captured: number, before: number, amount: number): number => {
  const upTo = (part: number) =>
    Number((2n * BigInt(platformFee) * BigInt(part) + BigInt(captured)) / (2n * BigInt(captured)))
  return upTo(before + amount) - upTo(before)
}
