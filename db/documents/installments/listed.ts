import type { Condition } from '../../lib/conditions.ts'
import { contextOf } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { allOf, inScope, keptTotal, where } from '../../lib/paging.ts'
import type { Part } from '../../lib/paging.ts'
import type { Side } from './side.ts'

export type InstallmentsAsked = {
  dueFrom?: string | undefined
  dueTo?: string | undefined
  overdue?: boolean | undefined
  open?: boolean | undefined
  propertyId?: string | undefined
  bookId?: string | undefined
  scope: Condition
}

/** SQL: the day of the book `b`. */
export const bookToday = `cast(now() at time zone b.time_zone as date)`

/** That a document `p` has an installment that falls due from one day to another. */
export const dueWithin = (
  { document }: Pick<Side, 'document'>,
  { dueFrom, dueTo }: Pick<InstallmentsAsked, 'dueFrom' | 'dueTo'>,
): Part[] => {
  const days = [...where('i.due_on >= ?', dueFrom), ...where('i.due_on <= ?', dueTo)]
  const { text, values } = allOf(days)
  const installments = `select from ${document}_installment i where i.tenant_id = p.tenant_id and i.${document}_id = p.id and i.amount > 0`
  return days.length === 0 ? [] : [{ text: `exists (${installments} and ${text})`, values }]
}

/**
 * The conditions of a schedule of installments `i` of documents `p` in their books `b`, and the number of those, as it is kept; null where more is asked than the
 * house, the book and whether something is open. `more` are conditions of one side alone.
 */
export const listedInstallments = (
  trx: Trx,
  { document }: Pick<Side, 'document'>,
  { open, overdue, dueFrom, dueTo, propertyId, bookId, scope }: InstallmentsAsked,
  more: readonly Part[],
): { conditions: Part[]; total: Part | null } => {
  const ofHouse = [
    ...inScope(scope, { propertyId: 'p.property_id', createdBy: 'p.created_by' }),
    ...where('p.property_id = ?', propertyId),
    ...where('p.book_id = ?', bookId),
  ]
  const others = [
    // Of installments that are settled none is overdue.
    ...(overdue === undefined || (open === false && !overdue)
      ? []
      : [{ text: `${overdue ? '' : 'not '}(i.open > 0 and i.due_on < ${bookToday})`, values: [] }]),
    ...where('i.due_on >= ?', dueFrom),
    ...where('i.due_on <= ?', dueTo),
    ...more,
  ]
  const kept = [
    ...where('p.tenant_id = ?', contextOf(trx).tenantId),
    ...ofHouse,
    ...where('p.status = ?', open ? 'open' : 'settled'),
  ]
  return {
    conditions: [
      ...ofHouse,
      ...(open === undefined ? [] : [{ text: open ? 'i.open > 0' : 'i.open = 0', values: [] }]),
      ...others,
    ],
    total:
      open === undefined || others.length > 0
        ? null
        : keptTotal(
            { list: `${document}_installment`, as: 'p', columns: ['tenant_id', 'property_id', 'book_id', 'status'] },
            kept,
          ),
  }
}
