import { randomUUID } from 'node:crypto'
import { settings } from '../../../config/env.ts'
import { conflict, invalid, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import { gatewayAccountChanged, gatewayAccountDisconnected } from '../../../config/events/payment.ts'
import { closeAccount, onboardingLink, openAccount } from '../../../jobs/payment.ts'
import { defaultBook } from '../../financial/index.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit, sentFields } from '../../lib/events.ts'
import { readPage, where, inScope } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import { changeRow, expression, insertRow } from '../../lib/records.ts'
import { unseal } from '../../lib/sealing/index.ts'
import type { GatewayAccountRow } from '../../rows.ts'
import { gateOf } from '../accounts.ts'
import { GatewayAccount } from '../models.ts'
import { liveStatuses } from '../rules/states.ts'
import { emitAccount, onboardingPlace } from './snapshot.ts'
import type { Balance, Capability, Requirement } from './snapshot.ts'

const disconnectedOrFailed = ['disconnected', 'failed']

/** Tells whether this installation can talk to the gateway. */
export const isConfigured = (provider: string): boolean =>
  provider === 'sandbox'
    ? settings.sandboxGateway
    : provider === 'stripe' && settings.stripe.secretKey !== null && settings.stripe.publishableKey !== null

export type AccountRecord = Omit<GatewayAccountRow, 'capabilities' | 'requirements' | 'balance' | 'failure'> & {
  capabilities: Record<string, Capability>
  requirements: Requirement[]
  balance: (Balance & { asOf: string }) | null
  failure: { code: string; message: string } | null
  onboarding: { status: 'none' | 'requested' | 'ready' | 'failed'; url: string | null; expiresAt: Date | null }
}

const shown = (account: GatewayAccountRow, url: string | null): AccountRecord => {
  const isReady = account.onboardingStatus === 'ready'
  const isOver = isReady && account.onboardingExpiresAt !== null && account.onboardingExpiresAt.getTime() <= Date.now()
  return {
    ...account,
    capabilities: account.capabilities as AccountRecord['capabilities'],
    requirements: account.requirements as Requirement[],
    balance: account.balance as AccountRecord['balance'],
    failure: account.failure as AccountRecord['failure'],
    onboarding: isOver
      ? { status: 'none', url: null, expiresAt: null }
      : { status: account.onboardingStatus, url, expiresAt: account.onboardingExpiresAt },
  }
}

/** An account with the page that its owner is asked to go to; 404. */
export const readAccount = async (trx: Trx, id: string): Promise<AccountRecord> => {
  const account = await sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [id])
  if (!account) throw notFound()
  const url = account.onboardingUrl
    ? await unseal<string>(trx, 'tenant', onboardingPlace(id), account.onboardingUrl)
    : null
  return shown(account, url)
}

type Filter = Paging & {
  status?: string | undefined
  provider?: string | undefined
  propertyId?: string | undefined
  scope: Condition
}

/** A page of accounts, those in use first. The page of the gateway is told by a single read alone. */
export const listAccounts = async (
  trx: Trx,
  { status, provider, propertyId, scope, ...paging }: Filter,
): Promise<Page<AccountRecord>> => {
  const { total, rows } = await readPage<GatewayAccountRow>(
    trx,
    {
      columns: 'a.*',
      from: 'gateway_account a',
      conditions: [
        ...inScope(scope, { propertyId: null }),
        ...where('a.status = ?', status),
        ...where('a.provider = ?', provider),
        ...where(
          `exists (select from property p where p.tenant_id = a.tenant_id and p.book_id = a.book_id and p.id = ?
             and (cardinality(a.property_ids) = 0 or p.id = any(a.property_ids)))`,
          propertyId,
        ),
      ],
      order: `a.status in ('disconnected', 'failed'), a.is_default desc, a.created_at, a.id`,
    },
    paging,
  )
  return { total, rows: rows.map((account) => shown(account, null)) }
}

const checkProperties = async (trx: Trx, bookId: string, propertyIds: readonly string[]) => {
  if (propertyIds.length === 0) return
  const [row] = await sql<{ found: number }>(
    trx,
    `select count(*)::int as found from property where id = any(?) and book_id = ?`,
    [propertyIds, bookId],
  )
  if (row?.found !== new Set(propertyIds).size)
    throw unprocessable('reference_not_found', 'Not all properties are of the book of the account', [
      { field: 'propertyIds', message: 'must be properties of the book' },
    ])
}

/** The share of the platform that the plan of the tenant sets, in basis points. */
const platformFeeRate = async (trx: Trx): Promise<number> =>
  (
    await sqlOne<{ rate: number }>(
      trx,
      `select v.platform_fee_rate as rate from subscription s join plan_version v on v.id = s.plan_version_id where s.tenant_id = ?`,
      [contextOf(trx).tenantId],
    )
  )?.rate ?? 0

export type NewAccount = {
  provider: 'stripe' | 'sandbox'
  label: string
  bookId?: string | undefined
  country: string
  currency: string
  propertyIds?: string[] | undefined
  testToken?: string | undefined
}

const jobOf = (account: Pick<GatewayAccountRow, 'tenantId' | 'id' | 'provider'>) =>
  [{ tenantId: account.tenantId, gatewayAccountId: account.id }, { gate: gateOf(account) }] as const

/** Asks a worker to open an account at the gateway. 422 provider_not_configured, currency_mismatch, reference_not_found. */
export const openGatewayAccount = async (trx: Trx, wanted: NewAccount): Promise<string> => {
  const { provider, label, country, currency, propertyIds = [], testToken } = wanted
  if (!isConfigured(provider))
    throw unprocessable('provider_not_configured', `This installation is not connected to ${provider}`)
  if (testToken !== undefined && provider !== 'sandbox')
    throw invalid([{ field: 'testToken', message: 'is for the sandbox alone' }])
  const book = wanted.bookId
    ? await sqlOne<{ id: string; currency: string }>(trx, `select id, currency from book where id = ?`, [wanted.bookId])
    : await defaultBook(trx)
  if (!book)
    throw unprocessable('reference_not_found', 'There is no such book', [{ field: 'bookId', message: 'is not known' }])
  if (book.currency !== currency)
    throw unprocessable('currency_mismatch', `The book is kept in ${book.currency}`, [
      { field: 'currency', message: `must be ${book.currency}` },
    ])
  const bookId = book.id
  await checkProperties(trx, bookId, propertyIds)
  const account = await insertRow(trx, GatewayAccount, {
    id: randomUUID(),
    provider,
    label,
    bookId,
    country,
    currency,
    propertyIds,
    testToken: testToken ?? null,
    platformFeeRate: await platformFeeRate(trx),
    nextReadAt: expression(`now() + interval '2 minutes'`),
  })
  await enqueue(trx, openAccount, ...jobOf(account))
  return account.id
}

const locked = async (
  trx: Trx,
  id: string,
  expected: number | null,
  lock = 'for no key update',
): Promise<GatewayAccountRow> => {
  const account = await sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ? ${lock}`, [id])
  if (!account) throw notFound()
  if (expected !== null && account.version !== expected) throw versionConflict(account.version)
  return account
}

const refuseEnded = ({ status }: GatewayAccountRow, what: string) => {
  if (disconnectedOrFailed.includes(status))
    throw conflict('invalid_transition', `An account that is ${status} cannot be ${what}`)
}

export type AccountChange = {
  label?: string | undefined
  propertyIds?: string[] | undefined
  isDefault?: boolean | undefined
}

/** Changes label, properties or default. A new default takes the place of the one before. */
export const changeAccount = async (
  trx: Trx,
  id: string,
  change: AccountChange,
  expected: number | null = null,
): Promise<void> => {
  const account = await locked(trx, id, expected)
  refuseEnded(account, 'changed')
  if (change.propertyIds) await checkProperties(trx, account.bookId, change.propertyIds)
  if (change.isDefault) {
    const others = await sql<GatewayAccountRow>(
      trx,
      `update gateway_account set is_default = false, version = version + 1
       where book_id = ? and is_default and id <> ? returning *`,
      [account.bookId, id],
    )
    for (const other of others) await emitAccount(trx, gatewayAccountChanged, other)
  }
  const version = await changeRow(trx, GatewayAccount, id, change)
  const { provider, status, currency } = account
  if (version === account.version) return
  await emit(trx, gatewayAccountChanged, {
    propertyId: null,
    id,
    version,
    data: { gatewayAccountId: id, provider, status, currency },
    changed: sentFields(change, account),
  })
}

const hosts = async (trx: Trx, bookId: string): Promise<string[]> => {
  const rows = await sql<{ host: string }>(
    trx,
    `select distinct h.host from property p cross join lateral jsonb_array_elements_text(coalesce(p.settings->'portal'->'returnHosts', '[]')) h (host)
     where p.book_id = ?`,
    [bookId],
  )
  return [...settings.consoleHosts, ...rows.map((row) => row.host)]
}

/** Refuses an address that neither a property of the book nor this installation has listed: 422 return_url_not_allowed. */
export const checkReturnUrl = async (trx: Trx, bookId: string, returnUrl: string): Promise<void> => {
  const address = URL.canParse(returnUrl) ? new URL(returnUrl) : null
  const isPlain = address?.protocol === 'https:' && address.username === '' && address.password === ''
  if (!isPlain || !(await hosts(trx, bookId)).includes(address.host))
    throw unprocessable('return_url_not_allowed', 'Nobody can be sent back there', [
      { field: 'returnUrl', message: 'must be https, with a host that is listed' },
    ])
}

/** Asks the gateway for a page on which its owner tells what it wants to know; the last one asked for is the one that counts. */
export const requestOnboarding = async (
  trx: Trx,
  id: string,
  returnUrl: string,
  expected: number | null = null,
): Promise<void> => {
  const account = await locked(trx, id, expected)
  refuseEnded(account, 'onboarded')
  if (account.externalId === null) throw conflict('invalid_transition', 'The account is still being opened')
  await checkReturnUrl(trx, account.bookId, returnUrl)
  const version = await changeRow(trx, GatewayAccount, id, {
    onboardingStatus: 'requested',
    onboardingUrl: null,
    onboardingExpiresAt: null,
    onboardingReturnUrl: returnUrl,
    onboardingRequests: account.onboardingRequests + 1,
  })
  await enqueue(trx, onboardingLink, ...jobOf(account))
  await emitAccount(trx, gatewayAccountChanged, { ...account, version })
}

/**
 * Ends an account. It must have no money on its way (R31): 422 account_has_live_money. Payments that are just being made hold
 * the account by its key, so the lock waits for them.
 */
export const disconnectAccount = async (trx: Trx, id: string, expected: number | null = null): Promise<void> => {
  const account = await locked(trx, id, expected, 'for update')
  if (account.status === 'disconnected') return
  if (account.status === 'opening') throw conflict('invalid_transition', 'The account is still being opened')
  const [live] = await sql<{ what: string }>(
    trx,
    `select 'payment' as what from payment where gateway_account_id = :id and status = any(:statuses)
     union all select 'refund' from refund where gateway_account_id = :id and via = 'gateway' and status not in ('succeeded', 'failed')
     union all select 'dispute' from dispute where gateway_account_id = :id and status not in ('won', 'lost')
     union all select 'payout' from payout where gateway_account_id = :id and status in ('pending', 'in_transit') limit 1`,
    { id, statuses: liveStatuses },
  )
  if (live)
    throw unprocessable('account_has_live_money', `A ${live.what} of the account is still on its way`, [
      { field: 'gatewayAccountId', message: `has a ${live.what} without an end` },
    ])
  const version = await changeRow(trx, GatewayAccount, id, {
    status: 'disconnected',
    endedAt: expression('now()'),
    isDefault: false,
    onboardingStatus: 'none',
    onboardingUrl: null,
    onboardingExpiresAt: null,
    nextReadAt: null,
  })
  if (account.externalId !== null) await enqueue(trx, closeAccount, ...jobOf(account))
  await emitAccount(trx, gatewayAccountDisconnected, { ...account, status: 'disconnected', version })
}
