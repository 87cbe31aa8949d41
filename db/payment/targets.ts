import { unprocessable } from '../../config/errors.ts'
import { bookingTarget, folioTarget, reservationTarget } from '../reservations/targets.ts'
import type { PaymentTarget, TargetType } from './target.ts'

/** Who speaks for the records of a type. Looked up late: these modules call payments too. */
export const targetOf = (type: TargetType): PaymentTarget => {
  switch (type) {
    case 'booking':
      return bookingTarget
    case 'reservation':
      return reservationTarget
    case 'folio':
      return folioTarget
    default:
      throw unprocessable('target_closed', `Nothing can be paid for a ${type} yet`)
  }
}

/** The document that a posting line of the target carries (config/financial-postings.tsv, @target). */
export const targetDocument = (type: TargetType, id: string): Record<string, string> => {
  const names: Record<TargetType, string> = { booking: 'booking', reservation: 'folio', folio: 'folio', pos_order: 'order', receivable: 'receipt' }
  return { [names[type]]: id }
}
