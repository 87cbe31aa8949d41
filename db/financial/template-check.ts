import { largestBooking } from '../../config/cash.ts'
import { invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import type { Condition } from '../lib/conditions.ts'
import type { Trx } from '../lib/connection.ts'
import { judgeLines, refuseProblems } from './line-check.ts'
import type { DraftLine } from './line-check.ts'
import type { BookFacts } from './manual-entries.ts'
import { placeOf, problemOfDate } from './post.ts'
import { dueFrom } from './rules/schedule.ts'
import type { Schedule } from './rules/schedule.ts'
import { canBalance, filled } from './rules/template-lines.ts'
import type { TemplateLine, TemplateVariable } from './rules/template-lines.ts'

export type GivenTemplate = {
  bookId?: string | undefined
  name: string
  journalId?: string | null | undefined
  description: string
  variables?: readonly TemplateVariable[] | undefined
  lines: readonly TemplateLine[]
  schedule?: Schedule | null | undefined
}

/** The lines of an entry with the values of the variables. 400 for one that is too large; 422 `template_not_balanced` for a rest below 0. */
export const fill = (lines: readonly TemplateLine[], values: Readonly<Record<string, number>>): DraftLine[] => {
  const entry = filled(lines, values)
  if (!entry)
    throw unprocessable('template_not_balanced', 'The rest would be below 0', [{ field: 'lines', message: 'no rest' }])
  if (entry.some(({ debit = 0, credit = 0 }) => Math.max(debit, credit) > largestBooking))
    throw invalid([{ field: 'lines', message: `come to more than ${largestBooking} in a line` }])
  return entry
}

type Body = { variables: readonly TemplateVariable[]; lines: readonly TemplateLine[]; schedule: Schedule | null }

/**
 * 400 for unknown or doubled variables, or a scheduled one without default; 422 for lines that cannot balance, in one that recurs with its defaults, or that a
 * book does not take, and where a schedule begins in no open period.
 */
export const judgeTemplate = async (
  trx: Trx,
  book: BookFacts,
  { variables, lines, schedule }: Body,
  { scope, begins }: { scope: Condition; begins: boolean },
) => {
  const names = variables.map(({ name }) => name)
  const errors: FieldError[] = [
    ...names.flatMap((name, index) =>
      names.indexOf(name) === index ? [] : [{ field: `variables.${index}.name`, message: 'stands twice' }],
    ),
    ...lines.flatMap(({ amount }, index) =>
      typeof amount === 'object' && !names.includes(amount.variable)
        ? [{ field: `lines.${index}.amount.variable`, message: 'is no variable of the template' }]
        : [],
    ),
    ...variables.flatMap((one, index) =>
      schedule && one.default === undefined
        ? [{ field: `variables.${index}.default`, message: 'is required for an entry that recurs' }]
        : [],
    ),
    ...(schedule && dueFrom(schedule, schedule.firstOn) === null
      ? [{ field: 'schedule.endsOn', message: 'ends before the first date' }]
      : []),
  ]
  if (errors.length > 0) throw invalid(errors)
  if (!canBalance(lines))
    throw unprocessable('template_not_balanced', 'Fixed amounts balance, or exactly one line takes the rest', [
      { field: 'lines', message: 'cannot balance' },
    ])
  if (schedule) fill(lines, Object.fromEntries(variables.map((one) => [one.name, one.default ?? 0])))
  const asGiven = lines.map(({ accountId, side, propertyId, costCenterId, memo }) => ({
    accountId,
    [side]: 1,
    propertyId: propertyId ?? null,
    costCenterId: costCenterId ?? null,
    memo: memo ?? '',
  }))
  refuseProblems((await judgeLines(trx, book.id, asGiven, scope)).problems)
  if (!schedule || !begins) return
  const at = { bookId: book.id, postingDate: schedule.firstOn, kind: 'standard' as const }
  const problem = problemOfDate(await placeOf(trx, at), at)
  if (problem)
    throw unprocessable(problem.code, problem.message, [{ field: 'schedule.firstOn', message: schedule.firstOn }])
}
