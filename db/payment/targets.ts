import { unprocessable } from '../../config/errors.ts'
import type { PaymentTarget, TargetType } from './target.ts'

const targets = new Map<TargetType, PaymentTarget>()

/** Says how records of these types are paid for. The modules that own them import payments, so `registerModules` calls this. */
export const registerTargets = (given: Partial<Record<TargetType, PaymentTarget>>) => {
  for (const [type, target] of Object.entries(given)) targets.set(type as TargetType, target)
}

/** The target that speaks for records of a type; 422 `target_closed` where no module takes payments for it. */
export const targetOf = (type: TargetType): PaymentTarget => {
  if (targets.size === 0) throw new Error('registerModules() has not been called in this process')
  const target = targets.get(type)
  if (!target) throw unprocessable('target_closed', `Nothing can be paid for a ${type}`)
  return target
}

/** The document that a posting line of the target carries (config/financial-postings.tsv, @target). */
export const targetDocument = (type: TargetType, id: string): Record<string, string> => {
  const names: Record<TargetType, string> = {
    booking: 'booking',
    reservation: 'folio',
    folio: 'folio',
    pos_order: 'order',
    receivable: 'receipt',
  }
  return { [names[type]]: id }
}
