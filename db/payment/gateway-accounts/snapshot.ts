import {
  gatewayAccountChanged,
  gatewayAccountDisconnected,
  gatewayAccountOpened,
} from '../../../config/events/payment.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { nextReadAt } from '../../lib/due.ts'
import { emit } from '../../lib/events.ts'
import { changeRow, expression } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import type { GatewayAccountRow } from '../../rows.ts'
import { openException } from '../exceptions.ts'
import { GatewayAccount } from '../models.ts'
import { tellFinance } from '../notices.ts'
import type { Failure } from '../payments/snapshot.ts'

export type Capability = 'inactive' | 'pending' | 'active'
export type Requirement = { code: string; dueAt: string | null }
export type Balance = { available: number; pending: number }

/** A gateway's statement about an account. */
export type AccountSnapshot = {
  externalId: string
  /** True if the owner has given what the gateway asks for. */
  detailsSubmitted: boolean
  chargesEnabled: boolean
  payoutsEnabled: boolean
  capabilities: Record<'card' | 'pix' | 'boleto', Capability>
  requirements: Requirement[]
  balance: Balance | null
}

const minute = 60_000
const day = 24 * 60 * minute

/** Active takes charges and pays out; restricted has sent its details and lacks one of these. */
const statusOf = ({ chargesEnabled, payoutsEnabled, detailsSubmitted }: AccountSnapshot) =>
  chargesEnabled && payoutsEnabled ? 'active' : detailsSubmitted ? 'restricted' : 'onboarding'

const readAfterMs = (status: string, reads: number) =>
  status === 'onboarding' || status === 'opening' ? (reads < 3 ? minute / 4 : 5 * minute) : day

export const readAccountRow = (trx: Trx, id: string): Promise<GatewayAccountRow | null> =>
  sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [id])

/** Nothing else is locked while an account is. */
const lockAccount = (trx: Trx, id: string): Promise<GatewayAccountRow | null> =>
  sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ? for no key update`, [id])

export const emitAccount = (trx: Trx, event: typeof gatewayAccountOpened, account: GatewayAccountRow) => {
  const { id, provider, status, currency, version } = account
  return emit(trx, event, { propertyId: null, id, version, data: { gatewayAccountId: id, provider, status, currency } })
}

const isSame = (account: GatewayAccountRow, snapshot: AccountSnapshot, status: string) =>
  account.status === status &&
  account.chargesEnabled === snapshot.chargesEnabled &&
  account.payoutsEnabled === snapshot.payoutsEnabled &&
  (['card', 'pix', 'boleto'] as const).every(
    (method) => (account.capabilities as Record<string, string>)[method] === snapshot.capabilities[method],
  ) &&
  JSON.stringify(account.requirements) === JSON.stringify(snapshot.requirements)

/** The only writer of what a gateway says of an account. One that was ended here stays ended. */
export const applyAccountSnapshot = async (trx: Trx, id: string, snapshot: AccountSnapshot): Promise<void> => {
  const account = await lockAccount(trx, id)
  if (!account || account.status === 'disconnected' || account.status === 'failed') return
  const status = statusOf(snapshot)
  const unchanged = isSame(account, snapshot, status)
  const { externalId, chargesEnabled, payoutsEnabled, capabilities, requirements, balance } = snapshot
  const isUrlOver = account.onboardingExpiresAt !== null && account.onboardingExpiresAt.getTime() <= Date.now()
  const reads = unchanged ? account.readCount + 1 : 0
  const change = {
    externalId: account.externalId ?? externalId,
    status,
    chargesEnabled,
    payoutsEnabled,
    capabilities,
    requirements,
    balance: balance && { ...balance, asOf: new Date().toISOString() },
    nextReadAt: nextReadAt(readAfterMs(status, reads)),
    nextImportAt: account.nextImportAt ?? new Date(),
    readCount: reads,
    failure: null,
    ...(isUrlOver ? { onboardingStatus: 'none' as const, onboardingUrl: null, onboardingExpiresAt: null } : {}),
  } as const
  const version = await changeRow(trx, GatewayAccount, id, change)
  if (unchanged) return
  const event = account.status === 'opening' ? gatewayAccountOpened : gatewayAccountChanged
  await emitAccount(trx, event, { ...account, status, version })
  if (status === 'restricted' && account.status !== 'restricted')
    await tellFinance(trx, { kind: 'finance_account', subjectId: id, label: account.label })
}

/** The gateway refuses to open the account, or does not know it any more. */
export const failAccount = async (trx: Trx, id: string, failure: Failure): Promise<void> => {
  const account = await lockAccount(trx, id)
  if (!account) return
  if (account.status !== 'opening') {
    await changeRow(trx, GatewayAccount, id, { nextReadAt: nextReadAt(day), readCount: account.readCount + 1 })
    if (account.status !== 'disconnected')
      await openException(
        trx,
        'account_gone',
        { type: 'gateway_account', id, propertyId: null, currency: account.currency, gatewayAccountId: id },
        0,
      )
    return
  }
  const version = await changeRow(trx, GatewayAccount, id, {
    status: 'failed',
    failure,
    isDefault: false,
    nextReadAt: null,
    nextImportAt: null,
  })
  await emitAccount(trx, gatewayAccountChanged, { ...account, status: 'failed', version })
}

/** The gateway did not say: it is asked again later. */
export const accountUnheard = async (trx: Trx, id: string): Promise<void> => {
  const account = await lockAccount(trx, id)
  if (!account || account.status === 'disconnected' || account.status === 'failed') return
  const wait = account.status === 'opening' ? Math.min(2 ** account.readCount * 10_000, 60 * minute) : 15 * minute
  await changeRow(trx, GatewayAccount, id, { nextReadAt: nextReadAt(wait), readCount: account.readCount + 1 })
}

/** The owner has withdrawn the connection at the gateway. */
export const accountWithdrawn = async (trx: Trx, id: string): Promise<void> => {
  const account = await lockAccount(trx, id)
  if (!account || account.status === 'disconnected' || account.status === 'failed') return
  const version = await changeRow(trx, GatewayAccount, id, {
    status: 'disconnected',
    endedAt: expression('now()'),
    isDefault: false,
    chargesEnabled: false,
    nextReadAt: null,
  })
  await emitAccount(trx, gatewayAccountDisconnected, { ...account, status: 'disconnected', version })
  await openException(
    trx,
    'account_gone',
    { type: 'gateway_account', id, propertyId: null, currency: account.currency, gatewayAccountId: id },
    0,
  )
}

export const onboardingPlace = (id: string) => ({ table: 'gateway_account', rowId: id, purpose: 'onboarding_url' })

export type OnboardingLink = { url: string; expiresAt: Date }

/** Keeps the page of the gateway that was asked for; an answer to an older request changes nothing. */
export const applyOnboardingLink = async (
  trx: Trx,
  id: string,
  request: number,
  link: OnboardingLink | null,
): Promise<void> => {
  const account = await lockAccount(trx, id)
  if (!account || account.onboardingRequests !== request || account.status === 'disconnected') return
  const version = await changeRow(trx, GatewayAccount, id, {
    onboardingStatus: link ? 'ready' : 'failed',
    onboardingUrl: link ? await seal(trx, 'tenant', onboardingPlace(id), link.url) : null,
    onboardingExpiresAt: link?.expiresAt ?? null,
    nextReadAt: link ? nextReadAt(minute / 4) : account.nextReadAt,
    readCount: 0,
  })
  await emitAccount(trx, gatewayAccountChanged, { ...account, version })
}
