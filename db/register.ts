import { registerTargets } from './payment/targets.ts'
import { reapHolds } from './reservations/expire.ts'
import { paymentTargets } from './reservations/payment-target.ts'
import { registerReaper } from './units/inventory.ts'

/**
 * Gives lower modules what they call in higher ones, which they may not import. Each process calls it once, at its start; commands that
 * need a registration fail without it.
 */
export const registerModules = () => {
  registerReaper(reapHolds)
  registerTargets(paymentTargets)
}
