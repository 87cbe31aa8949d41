import { unprocessable } from '../../config/errors.ts'
import type { PaymentTarget, TargetType } from './target.ts'

const targets = new Map<TargetType, PaymentTarget>()

/** The module that owns records of a type says how they are paid for, when it is loaded: it calls payments itself. */
export const registerTargets = (given: Partial<Record<TargetType, PaymentTarget>>) => {
  for (const [type, target] of Object.entries(given)) targets.set(type as TargetType, target)
}

/** Who speaks for the records of a type. */
export const targetOf = (type: TargetType): PaymentTarget => {
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
