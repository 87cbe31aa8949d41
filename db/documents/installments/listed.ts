import type { Condition } from '../../lib/conditions.ts'
import { contextOf } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { asksForColumns, countedLists } from '../../lib/counts.ts'
import { wholeMonths } from '../../lib/days.ts'
import { allOf, inScope, keptTotal, numberOf, where } from '../../lib/paging.ts'
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
 * The number of documents `p` of `dueWithin` under other conditions, as it is kept by months: of those that fall due in whole months once, and of others that do
 * in a month that a day cuts. Null where more is asked than the house, the book, the state and the kind.
 */
export const totalDue = (
  trx: Trx,
  { document }: Pick<Side, 'document'>,
  { dueFrom, dueTo }: Pick<InstallmentsAsked, 'dueFrom' | 'dueTo'>,
  conditions: readonly Part[],
): Part | null => {
  const given = allOf(conditions)
  const counted = ['tenant_id', ...countedLists[document]]
  if ((dueFrom ?? dueTo) === undefined || !asksForColumns('p', counted, given)) return null
  const { from, to } = wholeMonths({ from: dueFrom, to: dueTo })
  const firstIn =
    from === undefined
      ? [{ text: 'p.month is null', values: [] }]
      : where('(p.month is null or p.month < ?::date)', from)
  const kept = allOf([given, ...where('p.day >= ?::date', from), ...where('p.day < ?::date', to), ...firstIn])
  const { tenantId } = contextOf(trx)
  const installments = `from ${document}_installment i where i.tenant_id = ? and i.amount > 0`
  const whole = allOf([...where('i.due_on >= ?::date', from), ...where('i.due_on < ?::date', to)])
  const asked = [...where('i.due_on >= ?::date', dueFrom), ...where('i.due_on <= ?::date', dueTo)]
  const cuts = [where('i.due_on < ?::date', from), where('i.due_on >= ?::date', to)]
    .filter((cut) => cut.length > 0)
    .map((cut) => allOf([...asked, ...cut]))
  const cut = {
    text: `p.id in (${cuts.map(({ text }) => `select i.${document}_id ${installments} and ${text}`).join(' union ')})`,
    values: cuts.flatMap(({ values }) => [tenantId, ...values]),
  }
  const others = numberOf({ text: `${document} p`, values: [] }, [
    given,
    cut,
    {
      text: `not exists (select ${installments} and i.${document}_id = p.id and ${whole.text})`,
      values: [tenantId, ...whole.values],
    },
  ])
  return {
    text: `select (select coalesce(sum(p.n), 0)::bigint from list_count p where p.list = '${document}_due' and ${kept.text}) + (${others.text}) as total`,
    values: [...kept.values, ...others.values],
  }
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
