import { settings } from '../../config/env.ts'
import { inPlatform, prepared, sql } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { chargeStatus, disputeFee, feeGivenBack, feeOf, refundStatus } from './sandbox-plan.ts'
import type { Charge, Dispute, Refund } from './sandbox-plan.ts'
import { announce, insert, reference } from './sandbox-store.ts'
import type { Answer } from './sandbox-store.ts'

/** The books of the sandbox gateway: what moved the balance of each account, and what was paid out. */

export type Transaction = {
  id: string
  accountRef: string
  ourId: null
  kind: string
  gross: number
  fee: number
  platformFee: number
  net: number
  currency: string
  at: number
  source: { object: string; id: string } | null
  payout: string | null
}

export type Payout = { id: string; accountRef: string; ourId: null; amount: number; currency: string; at: number }

type Booking = Pick<Transaction, 'kind' | 'gross' | 'currency' | 'at'> & {
  id: string
  fee?: number
  platformFee?: number
  source: { object: string; id: string }
}

/** The instant of its booking is that of its writing, so that a list by time is only ever added to. */
const book = async (trx: PlatformTrx, accountRef: string, { fee = 0, platformFee = 0, ...booking }: Booking) => {
  const transaction: Transaction = {
    accountRef,
    ourId: null,
    payout: null,
    fee,
    platformFee,
    ...booking,
    net: booking.gross - fee - platformFee,
  }
  await sql(
    trx,
    `insert into sandbox_object (id, kind, account_ref, state, created_at) values (?, 'transaction', ?, ?::jsonb, clock_timestamp()) on conflict (id) do nothing`,
    [transaction.id, accountRef, JSON.stringify(transaction)],
  )
}

const objects = async <T>(trx: PlatformTrx, accountRef: string, kind: string): Promise<T[]> =>
  (
    await sql<{ state: T }>(
      trx,
      `select state from sandbox_object where kind in ('charge', 'refund', 'dispute') and kind = ? and account_ref = ? and state->'booked' is null
       order by created_at, id`,
      [kind, accountRef],
    )
  ).map((row) => row.state)

const finish = (trx: PlatformTrx, id: string) =>
  sql(trx, `update sandbox_object set state = state || '{"booked": true}' where id = ?`, [id])

const bookCharges = async (trx: PlatformTrx, accountRef: string, now: number) => {
  for (const charge of await objects<Charge>(trx, accountRef, 'charge')) {
    if (chargeStatus(charge, now) !== 'captured') continue
    const gross = charge.captured?.amount ?? charge.paidAmount
    await book(trx, accountRef, {
      id: `txn_${charge.id}`,
      kind: 'charge',
      gross,
      fee: feeOf(charge.method, gross),
      platformFee: charge.captured?.platformFee ?? charge.platformFee ?? 0,
      currency: charge.currency,
      at: charge.captured?.at ?? charge.paidAt ?? now,
      source: { object: 'charge', id: charge.id },
    })
    await finish(trx, charge.id)
  }
}

const bookRefunds = async (trx: PlatformTrx, accountRef: string, now: number) => {
  for (const refund of await objects<Refund>(trx, accountRef, 'refund')) {
    const status = refundStatus(refund, now)
    if (status === 'processing') continue
    const source = { object: 'refund', id: refund.id }
    const { amount, currency } = refund
    const [row] = await sql<{ state: Charge; before: number }>(
      trx,
      `select c.state, coalesce((select sum(-(t.state->>'gross')::bigint) from sandbox_object r join sandbox_object t
           on t.id = 'txn_' || r.id and t.kind = 'transaction' where r.kind = 'refund' and r.account_ref = c.account_ref
           and r.state->>'charge' = c.id), 0)::bigint as before
       from sandbox_object c where c.id = ?`,
      [refund.charge],
    )
    if (refund.succeedsAt !== null && refund.succeedsAt <= now) {
      const charge = row?.state
      await book(trx, accountRef, {
        id: `txn_${refund.id}`,
        kind: 'refund',
        gross: -amount,
        currency,
        at: refund.succeedsAt,
        source,
      })
      const captured = charge?.captured?.amount ?? charge?.paidAmount ?? amount
      const fee = charge?.captured?.platformFee ?? charge?.platformFee ?? 0
      const isBooked = await sql(trx, `select from sandbox_object where id = ?`, [`txn_${refund.id}_fee`])
      const back = isBooked.length > 0 ? 0 : feeGivenBack(fee, captured, row?.before ?? 0, amount)
      if (back > 0)
        await book(trx, accountRef, {
          id: `txn_${refund.id}_fee`,
          kind: 'platform_fee_refund',
          gross: back,
          currency,
          at: refund.succeedsAt,
          source,
        })
      if (status === 'failed')
        await book(trx, accountRef, {
          id: `txn_${refund.id}_back`,
          kind: 'refund_failure',
          gross: amount,
          currency,
          at: refund.failsAt ?? now,
          source,
        })
    }
    if (status === 'failed' || refund.failsAt === null) await finish(trx, refund.id)
  }
}

const bookDisputes = async (trx: PlatformTrx, accountRef: string, now: number) => {
  for (const dispute of await objects<Dispute>(trx, accountRef, 'dispute')) {
    if (dispute.openedAt > now) continue
    const { amount, currency } = dispute
    const source = { object: 'dispute', id: dispute.id }
    const at = dispute.openedAt
    await book(trx, accountRef, {
      id: `txn_${dispute.id}`,
      kind: 'dispute',
      gross: -amount,
      fee: disputeFee,
      currency,
      at,
      source,
    })
    const isDecided = dispute.decidedAt !== null && dispute.decidedAt <= now
    if (!isDecided) continue
    if (dispute.wins)
      await book(trx, accountRef, {
        id: `txn_${dispute.id}_won`,
        kind: 'dispute_reversal',
        gross: amount,
        currency,
        at: dispute.decidedAt ?? now,
        source,
      })
    await finish(trx, dispute.id)
  }
}

/** Pays out all that was not paid out, a minute after the oldest of it, where it sums to more than nothing. Answers when to look again. */
const payOut = async (trx: PlatformTrx, accountRef: string, now: number): Promise<number | null> => {
  const rows = (
    await sql<{ state: Transaction }>(
      trx,
      `select state from sandbox_object where kind = 'transaction' and account_ref = ? and state->>'payout' is null order by created_at, id`,
      [accountRef],
    )
  ).map((row) => row.state)
  const [oldest] = rows
  if (!oldest) return null
  const due = Math.min(...rows.map((row) => row.at)) + 60 * settings.sandboxSecondMs
  const amount = rows.reduce((total, row) => total + row.net, 0)
  if (due > now) return due
  if (amount <= 0) return null
  const id = reference('po')
  const payout: Payout = { id, accountRef, ourId: null, amount, currency: oldest.currency, at: now }
  await insert(trx, 'payout', payout, payout)
  await sql(
    trx,
    `update sandbox_object set state = jsonb_set(state, '{payout}', to_jsonb(?::text)) where kind = 'transaction' and account_ref = ? and state->>'payout' is null`,
    [id, accountRef],
  )
  await book(trx, accountRef, {
    id: `txn_${id}`,
    kind: 'payout',
    gross: -amount,
    currency: oldest.currency,
    at: now,
    source: { object: 'payout', id },
  })
  await sql(trx, `update sandbox_object set state = jsonb_set(state, '{payout}', to_jsonb(?::text)) where id = ?`, [
    id,
    `txn_${id}`,
  ])
  await announce(trx, 'payout', payout, [{ type: 'payout.paid', at: now, copies: 1 }])
  return null
}

/** Brings the books of an account up to date; one at a time. */
const settle = async (trx: PlatformTrx, accountRef: string): Promise<void> => {
  await sql(
    trx,
    `insert into sandbox_object (id, kind, account_ref, state) values (?, 'account', ?, '{}') on conflict (id) do update set account_ref = excluded.account_ref`,
    [`books ${accountRef}`, accountRef],
  )
  const now = Date.now()
  await bookCharges(trx, accountRef, now)
  await bookRefunds(trx, accountRef, now)
  await bookDisputes(trx, accountRef, now)
  const next = await payOut(trx, accountRef, now)
  await sql(
    trx,
    `update sandbox_object set due_at = case when due_at > clock_timestamp() then least(due_at, ?::timestamptz) else ?::timestamptz end where id = ?`,
    [next === null ? null : new Date(next), next === null ? null : new Date(next), `books ${accountRef}`],
  )
}

/** Settles the accounts whose hour has come. */
export const settleDue = (): Promise<void> =>
  inPlatform(async (trx) => {
    const due = await prepared<{ accountRef: string }>(
      trx,
      `select account_ref from sandbox_object where kind = 'account' and due_at <= statement_timestamp() order by id limit 20 for update skip locked`,
    )
    for (const { accountRef } of due) await settle(trx, accountRef)
  })

const most = 500

const list = async (
  accountRef: string,
  kind: 'transaction' | 'payout',
  { since, cursor }: { since: string | null; cursor: string | null },
  show: (state: never) => unknown,
): Promise<Answer> =>
  inPlatform(async (trx) => {
    await settle(trx, accountRef)
    const rows = await sql<{ state: unknown }>(
      trx,
      `select o.state from sandbox_object o where o.kind = :kind and o.account_ref = :accountRef
         and (cast(:since as timestamptz) is null or o.created_at >= :since)
         and (cast(:cursor as text) is null or (o.created_at, o.id) > (select c.created_at, c.id from sandbox_object c where c.id = :cursor))
       order by o.created_at, o.id limit :most`,
      { kind, accountRef, since, cursor, most: most + 1 },
    )
    return {
      status: 200,
      body: { data: rows.slice(0, most).map((row) => show(row.state as never)), hasMore: rows.length > most },
    }
  })

const showTransaction = ({ id, kind, gross, fee, platformFee, net, currency, at, source, payout }: Transaction) => ({
  object: 'transaction', id, kind, gross, fee, platformFee, net, currency, source, payout,
  occurredAt: new Date(at).toISOString(), availableAt: new Date(at).toISOString(),
}) // oxfmt-ignore

export const listTransactions = (accountRef: string, since: string | null, cursor: string | null) =>
  list(accountRef, 'transaction', { since, cursor }, showTransaction)

export const listPayouts = (accountRef: string) =>
  list(accountRef, 'payout', { since: null, cursor: null }, ({ id, amount, currency, at }: Payout) => ({
    object: 'payout',
    id,
    amount,
    currency,
    status: 'paid',
    arrivesOn: new Date(at).toISOString().slice(0, 10),
    createdAt: new Date(at).toISOString(),
    complete: true,
    failure: null,
  }))

/** The transactions that a payout pays out; its own is not among them. */
export const listPaidOut = (accountRef: string, payout: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const rows = await sql<{ id: string }>(
      trx,
      `select id from sandbox_object where kind = 'transaction' and account_ref = ? and state->>'payout' = ? and state->>'kind' <> 'payout' order by created_at, id`,
      [accountRef, payout],
    )
    return { status: 200, body: { data: rows.map((row) => row.id) } }
  })
