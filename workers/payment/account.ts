import {
  accountCall,
  accountKey,
  accountUnheard,
  applyAccountSnapshot,
  applyOnboardingLink,
  failAccount,
  notFoundAfterMs,
  repeatForMs,
} from '../../db/payment/index.ts'
import type { AccountCall, AccountSnapshot, OnboardingLink } from '../../db/payment/index.ts'
import { closeAccount, onboardingLink, openAccount, readAccount } from '../../jobs/payment.ts'
import type { GatewayAccountOpening } from '../gateways/gateway.ts'
import { gatewayJob, unheard } from '../lib/gateway-job.ts'
import type { Answer, Applying, Asking, Outcome } from '../lib/gateway-job.ts'
import { adapterFor, failureOf } from './outcome.ts'

type OfAccount = { tenantId: string; gatewayAccountId: string }

const asked = ({ account }: AccountCall): GatewayAccountOpening => ({
  id: account.id,
  externalId: account.externalId,
  country: account.country,
  currency: account.currency,
  label: account.label,
  testToken: account.testToken,
  createdAt: account.createdAt,
})

const ofAccount: Applying<OfAccount, AccountSnapshot> = {
  known: (trx, { gatewayAccountId }, snapshot) => applyAccountSnapshot(trx, gatewayAccountId, snapshot),
  refused: (trx, { gatewayAccountId }, refusal) => failAccount(trx, gatewayAccountId, failureOf(refusal)),
  unknown: (trx, { gatewayAccountId }) => accountUnheard(trx, gatewayAccountId),
}

const open = (asking: Asking, call: AccountCall): Promise<Outcome<AccountSnapshot>> => {
  const { provider, id } = call.account
  const key = accountKey(id)
  return asking.act({ provider, operation: 'open_account', key }, () =>
    adapterFor(asking, provider).openAccount(asked(call), key, asking.signal),
  )
}

/** Tells whether an account is opened rather than read. */
const isToOpen = ({ account, now }: AccountCall): boolean =>
  account.externalId === null && now.getTime() - account.createdAt.getTime() < repeatForMs

/** Reads an account. One without a reference is opened again under its key, and looked for in the list once the key is old. */
const pursue = async (asking: Asking, call: AccountCall): Promise<Answer<OfAccount, AccountSnapshot>> => {
  const { account, now, attempt } = call
  if (isToOpen(call)) return open(asking, call)
  const { provider } = account
  const outcome = unheard(
    await asking.read({ provider, operation: 'read_account' }, () =>
      adapterFor(asking, provider).readAccount(asked(call), asking.signal),
    ),
  )
  if (outcome.kind !== 'known') return outcome
  if (outcome.snapshot) return { kind: 'known', snapshot: outcome.snapshot }
  const isSure = account.externalId !== null || now.getTime() - (attempt?.startedAt.getTime() ?? 0) > notFoundAfterMs
  if (!isSure) return { kind: 'unknown', code: 'not_found' }
  const gone = { code: 'not_found_at_gateway', message: 'The gateway has no such account' } as const
  return { kind: 'write', write: (trx) => failAccount(trx, account.id, gone) }
}

export const accountProcessors = [
  gatewayJob(openAccount, {
    load: async (trx, { gatewayAccountId }) => {
      const call = await accountCall(trx, gatewayAccountId)
      return call?.account.status === 'opening' ? call : null
    },
    // It may have waited for days, or be brought back by an operator: its key is forgotten then, and the account is looked for.
    ask: pursue,
    apply: ofAccount,
    isScheduled: false,
  }),
  gatewayJob(readAccount, {
    load: async (trx, { gatewayAccountId }) => {
      const call = await accountCall(trx, gatewayAccountId)
      return call?.account.status === 'disconnected' ? null : call
    },
    ask: pursue,
    apply: ofAccount,
    isScheduled: true,
    ends: async (trx, { gatewayAccountId }) => {
      const call = await accountCall(trx, gatewayAccountId)
      return call !== null && (call.attempt !== null || !isToOpen(call))
    },
  }),
  gatewayJob<typeof onboardingLink.payload, AccountCall, OnboardingLink>(onboardingLink, {
    load: async (trx, { gatewayAccountId }) => {
      const call = await accountCall(trx, gatewayAccountId)
      return call?.account.onboardingStatus === 'requested' && call.account.externalId !== null ? call : null
    },
    ask: async (asking, { account }) => {
      const { provider, externalId, id, onboardingRequests, onboardingReturnUrl } = account
      const key = `${accountKey(id)}-link-${onboardingRequests}`
      const outcome = await asking.act({ provider, operation: 'onboarding_link', key }, () =>
        adapterFor(asking, provider).onboardingLink(externalId ?? '', onboardingReturnUrl ?? '', key, asking.signal),
      )
      const apply = (link: OnboardingLink | null) =>
        ({
          kind: 'write',
          write: (trx) => applyOnboardingLink(trx, id, onboardingRequests, link),
        }) as const satisfies Answer<OfAccount, OnboardingLink>
      // A page may be asked for again at any time, so one whose answer was lost needs no record.
      return outcome.kind === 'known' ? apply(outcome.snapshot) : outcome.kind === 'not_sent' ? outcome : apply(null)
    },
    apply: {
      known: () => Promise.resolve(),
      refused: () => Promise.resolve(),
      unknown: () => Promise.resolve(),
    },
    isScheduled: false,
  }),
  gatewayJob<typeof closeAccount.payload, AccountCall, true>(closeAccount, {
    load: async (trx, { gatewayAccountId }) => {
      const call = await accountCall(trx, gatewayAccountId)
      return call?.account.externalId ? call : null
    },
    ask: (asking, { account: { provider, externalId, id } }) =>
      asking.act({ provider, operation: 'close_account', key: `${accountKey(id)}-close` }, () =>
        adapterFor(asking, provider).closeAccount(externalId ?? '', `${accountKey(id)}-close`, asking.signal),
      ),
    apply: {
      known: () => Promise.resolve(),
      refused: () => Promise.resolve(),
      unknown: () => Promise.reject(new Error('the gateway did not say whether the account is closed')),
    },
    isScheduled: false,
  }),
]
