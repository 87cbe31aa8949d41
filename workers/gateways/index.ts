import { settings } from '../../config/env.ts'
import type { Gateway } from './gateway.ts'
import { sandbox } from './sandbox.ts'

/** The adapter of a provider; null where this installation has none. */
export const gatewayOf = (provider: string): Gateway | null =>
  provider === 'sandbox' && settings.sandboxGateway ? sandbox : null
