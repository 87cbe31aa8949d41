import type { FeatureKey } from './features.ts'
import type { Meter } from './meters.ts'

export const addOnBillingTypes = ['FREE', 'FLAT_MONTHLY', 'METERED', 'TIERED'] as const
export type AddOnBillingType = (typeof addOnBillingTypes)[number]

/** `upTo` null = without end; unit prices are decimal texts of minor units, with up to six places. */
export type PriceTier = { upTo: number | null; unitPrice: string }
/** The price in one currency: what it holds follows from the billing type. */
export type AddOnPrice = { amount?: number; unitPrice?: string; tiers?: PriceTier[] }

type ShippedAddOn = {
  key: string
  feature: FeatureKey
  name: Record<string, string>
  description: Record<string, string>
  billingType: AddOnBillingType
  meter?: Meter
  prices: Record<string, AddOnPrice>
}

const currencies = ['BRL', 'USD', 'EUR'] as const
const inEach = (price: (index: number) => AddOnPrice): Record<string, AddOnPrice> =>
  Object.fromEntries(currencies.map((currency, index) => [currency, price(index)]))
const words = (en: string, portuguese: string) => ({ en, 'pt-BR': portuguese })

type Sold = Pick<ShippedAddOn, 'name' | 'description'>

/** The key is the feature's, with hyphens. */
const addOn = (
  feature: FeatureKey,
  { name, description }: Sold,
  sold: Pick<ShippedAddOn, 'billingType' | 'meter' | 'prices'>,
): ShippedAddOn => ({ key: feature.replaceAll('_', '-'), feature, name, description, ...sold })

/** `amounts` are a month's, in minor units of each currency. */
const monthly = (feature: FeatureKey, sold: Sold, amounts: [number, number, number]): ShippedAddOn =>
  addOn(feature, sold, { billingType: 'FLAT_MONTHLY', prices: inEach((index) => ({ amount: amounts[index] ?? 0 })) })

/** Add-ons that are on sale from the first start. Later ones, and later prices, are rows. */
export const shippedAddOns: readonly ShippedAddOn[] = [
  monthly(
    'pos',
    {
      name: words('Inventory and point of sale', 'Estoque e ponto de venda'),
      description: words('Stock, recipes, outlets and orders', 'Estoque, receitas, pontos de venda e pedidos'),
    },
    [9_900, 1_900, 1_900],
  ),
  monthly(
    'suppliers',
    {
      name: words('Suppliers', 'Fornecedores'),
      description: words('Suppliers and purchase orders', 'Fornecedores e pedidos de compra'),
    },
    [4_900, 900, 900],
  ),
  addOn(
    'api_read',
    {
      name: words('API, reading', 'API, leitura'),
      description: words('API keys that read, by the request', 'Chaves de API que leem, por requisição'),
    },
    {
      billingType: 'METERED',
      meter: 'api.requests',
      prices: inEach((index) => ({ unitPrice: ['0.05', '0.01', '0.01'][index] ?? '0' })),
    },
  ),
  monthly(
    'api_write',
    {
      name: words('API, reading and writing', 'API, leitura e escrita'),
      description: words('API keys that read and write', 'Chaves de API que leem e escrevem'),
    },
    [14_900, 2_900, 2_900],
  ),
  monthly(
    'financial_overview',
    {
      name: words('Financial overview', 'Visão financeira'),
      description: words('Reports over all properties and books', 'Relatórios de todas as propriedades e livros'),
    },
    [19_900, 3_900, 3_900],
  ),
  monthly(
    'sla',
    {
      name: words('Service level', 'Nível de serviço'),
      description: words('Support and availability under contract', 'Suporte e disponibilidade sob contrato'),
    },
    [49_900, 9_900, 9_900],
  ),
  addOn(
    'channels',
    {
      name: words('Channels', 'Canais'),
      description: words(
        'Channel managers and travel agencies, by the booking',
        'Gestores de canais e agências, por reserva',
      ),
    },
    {
      billingType: 'TIERED',
      meter: 'channels.bookings',
      prices: inEach((index) => ({
        tiers: [
          { upTo: 20, unitPrice: '0' },
          { upTo: 200, unitPrice: ['150', '30', '30'][index] ?? '0' },
          { upTo: null, unitPrice: ['90', '18', '18'][index] ?? '0' },
        ],
      })),
    },
  ),
  addOn(
    'webhooks',
    {
      name: words('Webhooks', 'Webhooks'),
      description: words('Events delivered to your addresses', 'Eventos entregues aos seus endereços'),
    },
    { billingType: 'FREE', prices: inEach(() => ({})) },
  ),
]
