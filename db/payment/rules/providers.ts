import type { Method } from './states.ts'

export const gatewayProviders = ['stripe', 'sandbox'] as const
export type GatewayProvider = (typeof gatewayProviders)[number]

type Abilities = {
  /** A card can be charged in several parts. */
  installments: boolean
  /** Methods whose money the gateway can send back. */
  refundable: readonly Method[]
}

/** Differences between gateways that rules must know before any call: nothing here is asked of the gateway. */
export const abilities: Readonly<Record<GatewayProvider, Abilities>> = {
  stripe: { installments: false, refundable: ['card', 'pix'] },
  sandbox: { installments: true, refundable: ['card', 'pix', 'boleto'] },
}

export const abilitiesOf = (provider: string): Abilities =>
  abilities[gatewayProviders.find((one) => one === provider) ?? 'stripe']
