import { settings } from '../../config/env.ts'
import type { Gateway } from './gateway.ts'
import { sandbox } from './sandbox.ts'
import { stripe } from './stripe/index.ts'

/** The adapter of a provider; null where this installation has none. */
export const gatewayOf = (provider: string): Gateway | null => {
  if (provider === 'sandbox') return settings.sandboxGateway ? sandbox : null
  return provider === 'stripe' && settings.stripe.secretKey !== null ? stripe : null
}
