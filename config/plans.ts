import type { FeatureKey } from './features.ts'

export const plans = ['Starter', 'Professional', 'Enterprise'] as const
export type Plan = (typeof plans)[number]

type BillingType = 'FREE' | 'METERED' | 'TIERED'
/** `upTo` null = without end; unit prices are decimal texts of minor units. */
type Tier = { upTo: number | null; unitPrice: string }
type PlanFeature = { key: FeatureKey; billingType: BillingType; meters?: Record<string, Record<string, Tier[]>> }

const free = (...keys: FeatureKey[]): PlanFeature[] => keys.map((key) => ({ key, billingType: 'FREE' }))

const priced = (tiers: (currency: string) => Tier[]): Record<string, Tier[]> =>
  Object.fromEntries(['BRL', 'USD', 'EUR'].map((currency) => [currency, tiers(currency)]))

const messages = (freeEmails: number, freePhone: number): PlanFeature => ({
  key: 'ocp',
  billingType: 'TIERED',
  meters: {
    'messages.email': priced((currency) => [
      { upTo: freeEmails, unitPrice: '0' },
      { upTo: null, unitPrice: currency === 'BRL' ? '2' : '0.4' },
    ]),
    'messages.phone': priced((currency) => [
      { upTo: freePhone, unitPrice: '0' },
      { upTo: 1_000, unitPrice: currency === 'BRL' ? '45' : '9' },
      { upTo: null, unitPrice: currency === 'BRL' ? '39' : '8' },
    ]),
  },
})

const basic = free('core', 'financial', 'portal', 'payments')
const professional = free('pos', 'suppliers', 'api_read')

/** The first version of each plan. Later ones are rows of `plan_version`; prices are minor units a month. */
export const firstPlanVersions: Record<
  Plan,
  { features: PlanFeature[]; prices: Record<string, number>; platformFeeRate: number }
> = {
  Starter: {
    features: [...basic, messages(2_000, 100)],
    prices: { BRL: 9_900, USD: 1_900, EUR: 1_900 },
    platformFeeRate: 0,
  },
  Professional: {
    features: [...basic, messages(2_000, 100), ...professional],
    prices: { BRL: 29_900, USD: 5_900, EUR: 5_900 },
    platformFeeRate: 0,
  },
  Enterprise: {
    features: [...basic, messages(2_000, 100), ...professional, ...free('api_write', 'financial_overview', 'sla')],
    prices: { BRL: 89_900, USD: 17_900, EUR: 17_900 },
    platformFeeRate: 0,
  },
}
