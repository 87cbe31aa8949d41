import { resolvePlatformCallback } from './admin/index.ts'
import { registerChecklist, registerControl } from './financial/index.ts'
import { erasureBlockersWith, registerCompanyUses } from './guests/index.ts'
import {
  paymentChecklist,
  paymentControls,
  paymentErasureBlockers,
  registerPlatformCallback,
  registerTargets,
} from './payment/index.ts'
import { companyUses, erasureBlockers, paymentTargets, reapHolds, reservationControls } from './reservations/index.ts'
import { registerReaper } from './units/index.ts'

/**
 * Gives lower modules what they call in higher ones, which they may not import. Each process calls it once, at its start; commands that
 * need a registration fail without it.
 */
export const registerModules = () => {
  registerReaper(reapHolds)
  registerTargets(paymentTargets)
  registerPlatformCallback((trx, callback) => resolvePlatformCallback(trx as never, callback))
  erasureBlockersWith(erasureBlockers)
  registerCompanyUses(companyUses)
  erasureBlockersWith(paymentErasureBlockers)
  for (const control of [...paymentControls, ...reservationControls]) registerControl(control)
  registerChecklist(paymentChecklist)
}
