import { randomBytes } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { inPlatform, sql, sqlOne } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'

/** The sandbox bank's own record, beside that of the sandbox gateway: what it answers, it has committed. */
export type Answer = { status: number; body: unknown; hang?: boolean }

type Charge = {
  txid: string
  kind: 'immediate' | 'due_date'
  amount: number
  payer: { name: string; document: string } | null
  text: string
  expiresAt: string | null
  status: 'active' | 'closed'
  location: string
}
type Pix = {
  endToEndId: string
  txid: string | null
  amount: number
  at: string
  payerName: string
  payerDocument: string
  text: string | null
  returns: { code: string; amount: number; status: 'done'; byBank: boolean }[]
}
type Sent = {
  status: 'done' | 'failed'
  endToEndId: string | null
  fee: number
  on: string
  failure?: object
  amount: number
}

/** A text of a request; empty where it says none. */
export const textIn = (body: Record<string, unknown>, name: string): string => {
  const value = body[name]
  return typeof value === 'string' ? value : ''
}

const second = () => settings.sandboxSecondMs
const missing: Answer = { status: 200, body: { missing: true } }
const refuse = (code: string, message: string): Answer => ({ status: 422, body: { error: { code, message } } })

const put = (trx: PlatformTrx, kind: string, id: string, account: string, state: unknown, dueAt: Date | null = null) =>
  sql(
    trx,
    `insert into sandbox_object (id, kind, account_ref, our_id, state, due_at) values (?, ?, ?, ?, ?::jsonb, ?)
     on conflict (id) do nothing returning id`,
    [`${account} ${kind} ${id}`, kind, account, id, JSON.stringify(state), dueAt],
  )
const get = async <T>(trx: PlatformTrx, kind: string, id: string, account: string, lock = ''): Promise<T | null> =>
  (
    await sqlOne<{ state: T }>(trx, `select state from sandbox_object where id = ? ${lock}`, [
      `${account} ${kind} ${id}`,
    ])
  )?.state ?? null
const set = (trx: PlatformTrx, kind: string, id: string, account: string, state: unknown) =>
  sql(trx, `update sandbox_object set state = ?::jsonb where id = ?`, [
    JSON.stringify(state),
    `${account} ${kind} ${id}`,
  ])

const numbers = () =>
  BigInt(`0x${randomBytes(8).toString('hex')}`)
    .toString(36)
    .toUpperCase()
    .padStart(11, '0')
    .slice(-11)
const newEndToEnd = (at: Date) => `E00000000${at.toISOString().replaceAll(/\D/g, '').slice(0, 12)}${numbers()}`

/** Money that will have come at that moment, and the call that tells of it. */
const comes = async (
  trx: PlatformTrx,
  account: string,
  charge: Pick<Charge, 'txid' | 'payer'>,
  { amount, at, calls, isReturned }: { amount: number; at: Date; calls: boolean; isReturned: boolean },
): Promise<string> => {
  const endToEndId = newEndToEnd(at)
  const pix: Pix = {
    endToEndId,
    txid: charge.txid,
    amount,
    at: at.toISOString(),
    payerName: charge.payer?.name ?? 'Maria Pagadora',
    payerDocument: charge.payer?.document ?? '52998224725',
    text: null,
    returns: isReturned ? [{ code: `D${endToEndId.slice(1)}`, amount, status: 'done', byBank: true }] : [],
  }
  await put(trx, 'pix', endToEndId, account, pix)
  if (calls) await put(trx, 'pix_callback', endToEndId, account, { endToEndId, txid: charge.txid, attempts: 0 }, at)
  return endToEndId
}

/** Plays the text of a charge. Without a word that it knows nothing is paid. */
const play = async (trx: PlatformTrx, account: string, charge: Charge): Promise<void> => {
  const words = new Set(charge.text.split(/\W+/))
  const soon = new Date(Date.now() + second())
  const given = { amount: charge.amount, at: soon, calls: true, isReturned: false }
  if (words.has('pays')) await comes(trx, account, charge, given)
  if (words.has('pays_twice')) {
    await comes(trx, account, charge, given)
    await comes(trx, account, charge, { ...given, at: new Date(soon.getTime() + 1) })
  }
  if (words.has('pays_other_amount')) await comes(trx, account, charge, { ...given, amount: charge.amount + 100 })
  if (words.has('callback_lost')) await comes(trx, account, charge, { ...given, calls: false })
  if (words.has('bank_return')) await comes(trx, account, charge, { ...given, isReturned: true })
  if (words.has('pays_late'))
    await comes(trx, account, charge, {
      ...given,
      at: new Date((charge.expiresAt ? Date.parse(charge.expiresAt) : Date.now()) + second()),
    })
}

const paidFor = async (trx: PlatformTrx, account: string, txid: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(
      trx,
      `select our_id as id from sandbox_object where account_ref = ? and kind = 'pix' and state ->> 'txid' = ? and (state ->> 'at')::timestamptz <= clock_timestamp()
       order by 1`,
      [account, txid],
    )
  ).map(({ id }) => id)

const shown = async (trx: PlatformTrx, account: string, charge: Charge): Promise<Answer> => {
  const endToEndIds = await paidFor(trx, account, charge.txid)
  const isOver = charge.expiresAt !== null && Date.parse(charge.expiresAt) <= Date.now()
  const status = endToEndIds.length > 0 ? 'paid' : charge.status === 'closed' || isOver ? 'closed' : 'active'
  return { status: 200, body: { status, location: charge.location, endToEndIds } }
}

export const register = (account: string, url: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    await put(trx, 'pix_hook', 'hook', account, { url })
    await set(trx, 'pix_hook', 'hook', account, { url })
    return { status: 200, body: { registered: true } }
  })

/** Makes a charge under its txid; the same again answers the first. */
export const makeCharge = (account: string, txid: string, body: Record<string, unknown>): Promise<Answer> =>
  inPlatform(async (trx) => {
    const text = textIn(body, 'text')
    if (text.split(/\W+/).includes('charge_refused')) return refuse('charge_refused', 'The sandbox was asked to refuse')
    const charge: Charge = {
      txid,
      kind: body['kind'] === 'due_date' ? 'due_date' : 'immediate',
      amount: Number(body['amount']),
      payer: (body['payer'] as Charge['payer']) ?? null,
      text,
      expiresAt: typeof body['expiresAt'] === 'string' ? body['expiresAt'] : null,
      status: 'active',
      location: `pix.sandbox.example/v2/${txid}`,
    }
    const [made] = await put(trx, 'pix_charge', txid, account, charge)
    if (made) await play(trx, account, charge)
    const stored = await get<Charge>(trx, 'pix_charge', txid, account)
    return stored ? shown(trx, account, stored) : missing
  })

export const readCharge = (account: string, txid: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const charge = await get<Charge>(trx, 'pix_charge', txid, account)
    return charge ? shown(trx, account, charge) : missing
  })

export const closeCharge = (account: string, txid: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const charge = await get<Charge>(trx, 'pix_charge', txid, account, 'for update')
    if (!charge) return missing
    if ((await paidFor(trx, account, txid)).length === 0) {
      charge.status = 'closed'
      await set(trx, 'pix_charge', txid, account, charge)
      // Nobody pays what is closed.
      await sql(
        trx,
        `delete from sandbox_object where account_ref = ? and kind in ('pix', 'pix_callback') and state ->> 'txid' = ?`,
        [account, txid],
      )
    }
    return shown(trx, account, charge)
  })

const hasCome = ({ at }: Pix) => Date.parse(at) <= Date.now()

export const readPix = (account: string, endToEndId: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const pix = await get<Pix>(trx, 'pix', endToEndId, account)
    return pix && hasCome(pix) ? { status: 200, body: pix } : missing
  })

const perPage = 100

export const listPix = (account: string, from: string, to: string, page: number): Promise<Answer> =>
  inPlatform(async (trx) => {
    const rows = await sql<{ state: Pix }>(
      trx,
      `select state from sandbox_object where account_ref = ? and kind = 'pix' and (state ->> 'at')::timestamptz between ?::timestamptz and least(?::timestamptz, clock_timestamp())
       order by state ->> 'at', id limit ? offset ?`,
      [account, from, to, perPage + 1, perPage * page],
    )
    return {
      status: 200,
      body: { pix: rows.slice(0, perPage).map(({ state }) => state), more: rows.length > perPage },
    }
  })

/** Returns a part under a code of ours, once; never more than came. */
export const returnPix = (account: string, endToEndId: string, code: string, amount: number): Promise<Answer> =>
  inPlatform(async (trx) => {
    const pix = await get<Pix>(trx, 'pix', endToEndId, account, 'for update')
    if (!pix || !hasCome(pix)) return refuse('pix_unknown', 'There is no such Pix')
    if (!pix.returns.some((one) => one.code === code)) {
      const gone = pix.returns.reduce((sum, one) => sum + one.amount, 0)
      if (gone + amount > pix.amount) return refuse('return_exceeds', 'Less than that is left')
      pix.returns.push({ code, amount, status: 'done', byBank: false })
      await set(trx, 'pix', endToEndId, account, pix)
    }
    return { status: 200, body: { status: 'done' } }
  })

export const readReturn = (account: string, endToEndId: string, code: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const pix = await get<Pix>(trx, 'pix', endToEndId, account)
    return { status: 200, body: { status: pix?.returns.some((one) => one.code === code) ? 'done' : 'pending' } }
  })

/** Sends money under a key of ours, once. Words of the text say what becomes of it, and whether the answer is lost. */
export const send = (account: string, key: string, body: Record<string, unknown>): Promise<Answer> =>
  inPlatform(async (trx) => {
    const words = new Set(textIn(body, 'text').split(/\W+/))
    if (words.has('send_refused')) return refuse('payee_unknown', 'There is no such payee')
    const on = new Date().toISOString().slice(0, 10)
    const fails = words.has('send_unknown_failed')
    const sent: Sent = {
      amount: Number(body['amount']),
      status: fails ? 'failed' : 'done',
      endToEndId: fails ? null : newEndToEnd(new Date()),
      fee: words.has('send_fee') ? 190 : 0,
      on,
      ...(fails ? { failure: { code: 'insufficient_funds', message: 'The account holds less' } } : {}),
    }
    await put(trx, 'pix_sent', key, account, sent)
    const stored = await get<Sent>(trx, 'pix_sent', key, account)
    return { status: 200, body: stored, hang: words.has('send_unknown_paid') || fails }
  })

export const readSent = (account: string, key: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const sent = await get<Sent>(trx, 'pix_sent', key, account)
    return { status: 200, body: sent ?? { status: 'pending' } }
  })

export type CallDue = {
  id: string
  accountRef: string
  state: { endToEndId: string; txid: string | null; attempts: number }
}

/** Calls that are due, lent to this process for half a minute, with the address that the house has registered. */
export const takeCalls = (): Promise<(CallDue & { url: string | null })[]> =>
  inPlatform((trx) =>
    sql<CallDue & { url: string | null }>(
      trx,
      `with taken as (update sandbox_object set due_at = clock_timestamp() + interval '30 seconds'
         where id in (select id from sandbox_object where due_at <= statement_timestamp() and kind = 'pix_callback' order by due_at limit 50 for update skip locked)
         returning id, account_ref, state)
       select t.*, (select h.state ->> 'url' from sandbox_object h where h.kind = 'pix_hook' and h.account_ref = t.account_ref) as url from taken t`,
    ),
  )

/** Notes a call: heard, or to be tried again, twenty times in all. */
export const endCall = ({ id, state }: CallDue, heard: boolean): Promise<unknown> =>
  inPlatform((trx) =>
    sql(trx, `update sandbox_object set state = ?::jsonb, due_at = ? where id = ?`, [
      JSON.stringify({ ...state, attempts: state.attempts + 1 }),
      heard || state.attempts >= 20 ? null : new Date(Date.now() + 5 * second()),
      id,
    ]),
  )
