/** The words for Pix. */
export const pixKeyTypes = ['cpf', 'cnpj', 'email', 'phone', 'random'] as const
export type PixKeyType = (typeof pixKeyTypes)[number]
export const pixChargeKinds = ['static', 'immediate', 'due_date'] as const
export type PixChargeKind = (typeof pixChargeKinds)[number]
export const pixChargeStatuses = ['creating', 'active', 'paid', 'expired', 'cancelling', 'cancelled', 'failed'] as const
export type PixChargeStatus = (typeof pixChargeStatuses)[number]
export const pixTargetTypes = ['booking', 'reservation', 'folio', 'receivable'] as const
export type PixTargetType = (typeof pixTargetTypes)[number]
export const pixConnectionStatuses = ['connecting', 'active', 'failing'] as const

/** An ability of a bank connection. */
export type PixAbility = 'charge' | 'return' | 'send'
/**
 * Banks by their code, with what they can do. `gate` is the provider of their calls; where a code stands for many banks, each connection has an `address`. `bcb` is
 * every bank that speaks the standard of the Central Bank, which sends no money.
 */
export const pixProviders = {
  sandbox: { gate: 'sandbox_pix', abilities: ['charge', 'return', 'send'], address: false },
  bcb: { gate: 'bcb_pix', abilities: ['charge', 'return'], address: true },
} as const satisfies Record<string, { gate: string; abilities: readonly PixAbility[]; address: boolean }>
export type PixProvider = keyof typeof pixProviders
export const pixProviderNames = Object.keys(pixProviders) as PixProvider[]
