import { settings } from '../../config/env.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { chargeStatus, declineOf, showCharge, showDispute, testCard } from './sandbox-plan.ts'
import type { Charge, Dispute } from './sandbox-plan.ts'
import { bookAt, makeCharge, makeMethod } from './sandbox-charges.ts'
import type { ChargeRequest, Method } from './sandbox-charges.ts'
import { announce, get, insert, missing, ofOurs, once, reference, refused } from './sandbox-store.ts'
import type { Answer } from './sandbox-store.ts'

/** Accounts, saved methods, pages and disputes of the sandbox gateway. */

type Account = {
  id: string
  accountRef: string
  ourId: string
  token: string
  createdAt: number
  closedAt: number | null
}

/** An account that was not opened here, as tests and demo data have them, is active. */
const showAccount = (id: string, account: Account | null, available: number) => {
  const now = Date.now()
  const isActive =
    !account || (account.token !== 'restricted' && now >= account.createdAt + 2 * settings.sandboxSecondMs)
  const capability = isActive ? 'active' : account?.token === 'restricted' ? 'inactive' : 'pending'
  return {
    object: 'account',
    id,
    ourId: account?.ourId ?? null,
    detailsSubmitted: isActive || account?.token === 'restricted',
    chargesEnabled: isActive,
    payoutsEnabled: isActive,
    capabilities: { card: capability, pix: capability, boleto: capability },
    requirements: isActive ? [] : [{ code: 'owner.document', dueAt: null }],
    balance: { available, pending: 0 },
    closed: account ? account.closedAt !== null : false,
  }
}

/** A payout and what it pays out come to nothing together, so that what no payout has is the balance. */
const availableOf = async (trx: PlatformTrx, accountRef: string): Promise<number> => {
  const [row] = await sql<{ sum: number }>(
    trx,
    `select coalesce(sum((state->>'net')::bigint), 0)::bigint as sum from sandbox_object
     where kind = 'transaction' and account_ref = ? and state->>'payout' is null`,
    [accountRef],
  )
  return row?.sum ?? 0
}

export const createAccount = (key: string, request: { ourId: string; token: string }): Promise<Answer> =>
  once('platform', key, request, async (trx) => {
    if (request.token === 'refused') {
      const answer = refused('account_refused', 'The gateway does not open this account')
      return { first: answer, kept: answer }
    }
    const id = reference('sbx')
    const account: Account = {
      id,
      accountRef: id,
      ourId: request.ourId,
      token: request.token,
      createdAt: Date.now(),
      closedAt: null,
    }
    await insert(trx, 'account', account, account)
    await announce(trx, 'account', account, [
      { type: 'account.updated', at: account.createdAt + 2 * settings.sandboxSecondMs, copies: 1 },
    ])
    const answer: Answer = { status: 201, body: showAccount(id, account, 0) }
    return { first: answer, kept: answer }
  })

export const readAccount = (accountRef: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const account = await get<Account>(trx, 'account', accountRef, accountRef)
    if (!account && !accountRef.startsWith('sbx_')) return missing
    return { status: 200, body: showAccount(accountRef, account, await availableOf(trx, accountRef)) }
  })

export const findAccounts = (ourId: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const rows = await sql<{ state: Account }>(
      trx,
      `select state from sandbox_object where kind = 'account' and our_id = ?`,
      [ourId],
    )
    return { status: 200, body: { data: rows.map(({ state }) => showAccount(state.id, state, 0)) } }
  })

export const makeOnboarding = (accountRef: string): Answer => ({
  status: 201,
  body: {
    object: 'onboarding',
    account: accountRef,
    url: `https://gateway.sandbox.example/onboarding/${accountRef}`,
    expiresAt: new Date(Date.now() + 300 * settings.sandboxSecondMs).toISOString(),
  },
})

export const endAccount = (accountRef: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const account = await get<Account>(trx, 'account', accountRef, accountRef, 'for update')
    if (account)
      await sql(trx, `update sandbox_object set state = ?::jsonb where id = ?`, [
        JSON.stringify({ ...account, closedAt: account.closedAt ?? Date.now() }),
        accountRef,
      ])
    return { status: 200, body: { ...showAccount(accountRef, account, 0), closed: true } }
  })

const showMethod = (method: Method) => {
  const now = Date.now()
  const isActive = method.activeAt !== null && method.activeAt <= now
  return {
    object: 'method',
    id: method.id,
    ourId: method.ourId,
    customer: method.customer,
    status: method.detachedAt !== null ? 'detached' : isActive ? 'active' : 'pending',
    card: isActive
      ? {
          ...testCard,
          expMonth: 12,
          expYear: new Date(now).getUTCFullYear() + 3,
          fingerprint: 'sandbox4242',
        }
      : null,
    action: isActive ? null : { type: 'redirect', url: `https://gateway.sandbox.example/cards/${method.id}` },
  }
}

export const createMethod = (
  accountRef: string,
  key: string,
  request: { ourId: string; customer: string | null; token: string },
): Promise<Answer> =>
  once(accountRef, key, request, async (trx) => {
    const decline = declineOf(request.token)
    const answer: Answer = decline
      ? refused(decline.code, decline.message)
      : { status: 201, body: showMethod(await makeMethod(trx, accountRef, request)) }
    return { first: answer, kept: answer }
  })

export const readMethod = (accountRef: string, id: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const method = await get<Method>(trx, 'method', accountRef, id)
    return method ? { status: 200, body: showMethod(method) } : missing
  })

export const findMethods = (accountRef: string, ourId: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const rows = await ofOurs<Method>(trx, 'method', accountRef, ourId)
    return { status: 200, body: { data: rows.map(({ state }) => showMethod(state)) } }
  })

export const endMethod = (accountRef: string, id: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const method = await get<Method>(trx, 'method', accountRef, id, 'for update')
    if (!method) return missing
    const gone = { ...method, detachedAt: method.detachedAt ?? Date.now() }
    await sql(trx, `update sandbox_object set state = ?::jsonb where id = ?`, [JSON.stringify(gone), id])
    return { status: 200, body: showMethod(gone) }
  })

type Link = {
  id: string
  accountRef: string
  ourId: string
  chargeId: string
  amount: number
  currency: string
  closedAt: number | null
}

const showLink = (link: Link, charge: Charge, now: number) => {
  const isPaid = chargeStatus(charge, now) === 'captured'
  return {
    object: 'link',
    id: link.id,
    ourId: link.ourId,
    amount: link.amount,
    currency: link.currency,
    status: isPaid ? 'paid' : link.closedAt !== null ? 'closed' : 'open',
    url: `https://gateway.sandbox.example/pay/${link.id}`,
    charge: isPaid ? showCharge(charge, now) : null,
  }
}

export const createLink = (accountRef: string, key: string, request: ChargeRequest): Promise<Answer> =>
  once(accountRef, key, request, async (trx) => {
    const id = reference('pl')
    const charge = await makeCharge(trx, accountRef, { ...request, linkId: id }, request.token)
    const { ourId, amount, currency } = request
    const link: Link = { id, accountRef, ourId, chargeId: charge.id, amount, currency, closedAt: null }
    await insert(trx, 'link', link, link)
    const answer: Answer = { status: 201, body: showLink(link, charge, Date.now()) }
    return { first: answer, kept: answer }
  })

const linkWith = async (trx: PlatformTrx, accountRef: string, id: string, close: boolean): Promise<Answer> => {
  const link = await get<Link>(trx, 'link', accountRef, id, close ? 'for update' : '')
  const charge = link && (await get<Charge>(trx, 'charge', accountRef, link.chargeId, close ? 'for update' : ''))
  if (!link || !charge) return missing
  const now = Date.now()
  if (!close || link.closedAt !== null || chargeStatus(charge, now) === 'captured')
    return { status: 200, body: showLink(link, charge, now) }
  const closed = { ...link, closedAt: now }
  const ended = { ...charge, cancelledAt: now }
  for (const object of [closed, ended])
    await sql(trx, `update sandbox_object set state = ?::jsonb where id = ?`, [JSON.stringify(object), object.id])
  return { status: 200, body: showLink(closed, ended, now) }
}

export const readLink = (accountRef: string, id: string) => inPlatform((trx) => linkWith(trx, accountRef, id, false))
export const closeLink = (accountRef: string, id: string) => inPlatform((trx) => linkWith(trx, accountRef, id, true))

export const findLinks = (accountRef: string, ourId: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const rows = await ofOurs<Link>(trx, 'link', accountRef, ourId)
    const shown = await Promise.all(rows.map(({ state }) => linkWith(trx, accountRef, state.id, false)))
    return { status: 200, body: { data: shown.map((answer) => answer.body) } }
  })

export const readDispute = (accountRef: string, id: string): Promise<Answer> =>
  inPlatform(async (trx) => {
    const dispute = await get<Dispute>(trx, 'dispute', accountRef, id)
    const isOpen = dispute !== null && dispute.openedAt <= Date.now()
    return isOpen ? { status: 200, body: showDispute(dispute, Date.now()) } : missing
  })

/** Takes the answer to a dispute, once: evidence that says `win` wins in three seconds, any other loses, and accepting loses at once. */
export const answerDispute = (
  accountRef: string,
  id: string,
  request: { action: 'contest' | 'accept'; evidence: Record<string, string> },
): Promise<Answer> =>
  inPlatform(async (trx) => {
    const dispute = await get<Dispute>(trx, 'dispute', accountRef, id, 'for update')
    const now = Date.now()
    if (!dispute || dispute.openedAt > now) return missing
    if (dispute.response !== null) return { status: 200, body: showDispute(dispute, now) }
    if (dispute.respondBy <= now) return refused('overdue', 'The time to answer is over')
    const isContested = request.action === 'contest'
    const wins = isContested && Object.values(request.evidence).some((text) => /win/i.test(text))
    const decidedAt = isContested ? now + 3 * settings.sandboxSecondMs : now
    const answered: Dispute = { ...dispute, response: request.action, wins, decidedAt }
    await sql(trx, `update sandbox_object set state = ?::jsonb where id = ?`, [JSON.stringify(answered), id])
    await announce(trx, 'dispute', answered, [{ type: 'dispute.closed', at: decidedAt, copies: 1 }])
    await bookAt(trx, accountRef, decidedAt)
    return { status: 200, body: showDispute(answered, now) }
  })
