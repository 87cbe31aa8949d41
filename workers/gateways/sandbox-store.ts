import { createHash, randomBytes } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { inPlatform, prepared, sql, sqlOne } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { chargeStatus } from './sandbox-plan.ts'
import type { Charge, Due } from './sandbox-plan.ts'

export type CallbackObject = 'charge' | 'refund' | 'account' | 'method' | 'dispute' | 'payout'

/** The sandbox gateway's own record, in its one table: what it answers, it has committed. */
export type Answer = { status: number; body: unknown; hang?: boolean }

export const refused = (code: string, message: string): Answer => ({ status: 402, body: { error: { code, message } } })
export const missing: Answer = {
  status: 404,
  body: { error: { code: 'not_found', message: 'There is no such object' } },
}
export const reference = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`

export const insert = (
  trx: PlatformTrx,
  kind: string,
  object: { id: string; accountRef: string; ourId: string | null },
  state: unknown,
  dueAt: Date | null = null,
) =>
  sql(
    trx,
    `insert into sandbox_object (id, kind, account_ref, our_id, state, due_at) values (?, ?, ?, ?, ?::jsonb, ?)`,
    [object.id, kind, object.accountRef, object.ourId, JSON.stringify(state), dueAt],
  )

export const get = async <T>(
  trx: PlatformTrx,
  kind: string,
  accountRef: string,
  id: string,
  lock = '',
): Promise<T | null> =>
  (
    await sqlOne<{ state: T }>(
      trx,
      `select state from sandbox_object where id = ? and kind = ? and account_ref = ? ${lock}`,
      [id, kind, accountRef],
    )
  )?.state ?? null

export const ofOurs = <T>(trx: PlatformTrx, kind: string, accountRef: string, ourId: string) =>
  sql<{ state: T }>(trx, `select state from sandbox_object where kind = ? and account_ref = ? and our_id = ?`, [
    kind,
    accountRef,
    ourId,
  ])

export const announce = async (
  trx: PlatformTrx,
  object: CallbackObject,
  { id, accountRef, ourId }: { id: string; accountRef: string; ourId: string | null },
  due: readonly Due[],
) => {
  for (const { type, at, copies } of due)
    await insert(
      trx,
      'callback',
      { id: reference('evt'), accountRef, ourId: null },
      { type, object, ref: id, ourId, copies, attempts: 0 },
      new Date(at),
    )
}

/**
 * A repeated key gets the first answer again; of two at once, the second waits for the first. Another
 * request under the key is refused.
 */
export const once = async (
  accountRef: string,
  key: string,
  request: unknown,
  work: (trx: PlatformTrx) => Promise<{ first: Answer; kept: Answer }>,
): Promise<Answer> => {
  const id = `key ${accountRef} ${key}`
  const hash = createHash('sha256').update(JSON.stringify(request)).digest('hex')
  return inPlatform(async (trx) => {
    const [mine] = await sql(
      trx,
      `insert into sandbox_object (id, kind, account_ref, state) values (?, 'key', ?, '{}') on conflict (id) do nothing returning id`,
      [id, accountRef],
    )
    if (!mine) {
      const kept = await get<{ hash: string; answer: Answer }>(trx, 'key', accountRef, id)
      return kept?.hash === hash
        ? kept.answer
        : { status: 409, body: { error: { code: 'key_reused', message: 'The key belongs to another request' } } }
    }
    const { first, kept } = await work(trx)
    await sql(trx, `update sandbox_object set state = ?::jsonb where id = ?`, [
      JSON.stringify({ hash, answer: kept }),
      id,
    ])
    return first
  })
}

export type CallbackDue = {
  id: string
  accountRef: string
  state: { type: string; object: CallbackObject; ref: string; ourId: string | null; copies: number; attempts: number }
}

/** Callbacks that are due, lent to this process for half a minute. */
export const takeCallbacks = (): Promise<CallbackDue[]> =>
  inPlatform((trx) =>
    prepared<CallbackDue>(
      trx,
      `update sandbox_object set due_at = clock_timestamp() + interval '30 seconds'
       where id in (select id from sandbox_object where due_at <= statement_timestamp() and kind = 'callback' order by due_at limit 50 for update skip locked)
       returning id, account_ref, state`,
    ),
  )

/** Tells whether the event has really come about; a charge that was closed is not announced as paid. */
export const cameAbout = ({ accountRef, state }: CallbackDue): Promise<boolean> =>
  inPlatform(async (trx) => {
    const now = Date.now()
    if (state.object !== 'charge') return Boolean(await get(trx, state.object, accountRef, state.ref))
    const charge = await get<Charge>(trx, 'charge', accountRef, state.ref)
    return charge !== null && (state.type !== 'charge.captured' || chargeStatus(charge, now) === 'captured')
  })

/** Notes a delivery: done, or to be tried again, twenty times in all. */
export const endCallback = ({ id, state }: CallbackDue, delivered: boolean): Promise<unknown> =>
  inPlatform((trx) =>
    sql(trx, `update sandbox_object set state = ?::jsonb, due_at = ? where id = ?`, [
      JSON.stringify({ ...state, attempts: state.attempts + 1 }),
      delivered || state.attempts >= 20 ? null : new Date(Date.now() + 5 * settings.sandboxSecondMs),
      id,
    ]),
  )
