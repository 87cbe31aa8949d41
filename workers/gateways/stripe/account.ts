import type Stripe from 'stripe'
import type { AccountSnapshot } from '../../../db/payment/index.ts'
import type { Gateway, GatewayAccountOpening } from '../gateway.ts'
import { fromStripe } from './amounts.ts'
import { call, findIn, keyed, on, orNothing, since } from './client.ts'

const capabilityOf = (value: string | undefined) => (value === 'active' || value === 'pending' ? value : 'inactive')

const accountOf =
  (asked: GatewayAccountOpening) =>
  (account: Stripe.Account): { snapshot: AccountSnapshot; reference: string } | null => {
    if (account.object !== 'account' || typeof account.id !== 'string' || !account.id.startsWith('acct_')) return null
    if (asked.externalId !== null && asked.externalId !== account.id) return null
    if (asked.externalId === null && account.metadata?.['gatewayAccountId'] !== asked.id) return null
    const due = account.requirements?.current_deadline
    return {
      reference: account.id,
      snapshot: {
        externalId: account.id,
        detailsSubmitted: account.details_submitted === true,
        chargesEnabled: account.charges_enabled === true,
        payoutsEnabled: account.payouts_enabled === true,
        capabilities: {
          card: capabilityOf(account.capabilities?.card_payments),
          pix: capabilityOf(account.capabilities?.pix_payments),
          boleto: capabilityOf(account.capabilities?.boleto_payments),
        },
        requirements: (account.requirements?.currently_due ?? []).slice(0, 200).map((code) => ({
          code: code.slice(0, 200),
          dueAt: typeof due === 'number' ? new Date(due * 1_000).toISOString() : null,
        })),
        balance: null,
      },
    }
  }

const requested = { requested: true }

const sum = (amounts: readonly Stripe.Balance.Available[] | undefined, currency: string) =>
  (amounts ?? [])
    .filter((one) => one.currency === currency)
    .reduce((total, one) => total + fromStripe(one.amount, currency), 0)

export const accounts: Pick<Gateway, 'openAccount' | 'readAccount' | 'onboardingLink' | 'closeAccount'> = {
  openAccount: (account, key, signal) =>
    call(
      signal,
      (stripe) =>
        stripe.accounts.create(
          {
            country: account.country,
            default_currency: account.currency.toLowerCase(),
            controller: {
              fees: { payer: 'account' },
              losses: { payments: 'stripe' },
              requirement_collection: 'stripe',
              stripe_dashboard: { type: 'full' },
            },
            capabilities: {
              card_payments: requested,
              transfers: requested,
              ...(account.country === 'BR' ? { pix_payments: requested, boleto_payments: requested } : {}),
            },
            metadata: { gatewayAccountId: account.id },
          },
          keyed(null, key),
        ),
      accountOf(account),
    ),
  readAccount: async (account, signal) => {
    const { externalId } = account
    if (externalId === null)
      return findIn(
        signal,
        (stripe, after) =>
          stripe.accounts.list({
            created: since(account.createdAt),
            limit: 100,
            ...(after ? { starting_after: after } : {}),
          }),
        (one) => one.metadata?.['gatewayAccountId'] === account.id,
        accountOf(account),
      )
    const read = orNothing(await call(signal, (stripe) => stripe.accounts.retrieve(externalId), accountOf(account)))
    if (read.kind !== 'known' || read.snapshot === null) return read
    const currency = account.currency.toLowerCase()
    const balance = await call(
      signal,
      (stripe) => stripe.balance.retrieve({}, on(externalId)),
      (given) =>
        given.object === 'balance'
          ? { snapshot: { available: sum(given.available, currency), pending: sum(given.pending, currency) } }
          : null,
    )
    return { ...read, snapshot: { ...read.snapshot, balance: balance.kind === 'known' ? balance.snapshot : null } }
  },
  onboardingLink: (ref, returnUrl, key, signal) =>
    call(
      signal,
      (stripe) =>
        stripe.accountLinks.create(
          { account: ref, type: 'account_onboarding', refresh_url: returnUrl, return_url: returnUrl },
          keyed(null, key),
        ),
      (link) =>
        link.object === 'account_link' && typeof link.url === 'string'
          ? { snapshot: { url: link.url, expiresAt: new Date(link.expires_at * 1_000) } }
          : null,
    ),
  // An account with a full dashboard is its owner's: it is left alone, and its owner withdraws the connection there.
  closeAccount: () => Promise.resolve({ kind: 'known', snapshot: true }),
}
