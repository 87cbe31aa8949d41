import { invalid } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { judgeLines, refuseProblems } from '../../financial/index.ts'
import { always } from '../../lib/conditions.ts'
import type { Trx } from '../../lib/connection.ts'
import type { MatchRule } from '../rules/match-rules.ts'
import { plainWords } from '../rules/statement-text.ts'

const formOf = ({ when }: MatchRule, index: number): FieldError[] => {
  const at = `matchRules.${index}.when`
  const { amountFrom = 0, amountTo } = when
  return [
    ...when.textContains.flatMap((word, place) =>
      plainWords(word) === ''
        ? [{ field: `${at}.textContains.${place}`, message: 'has no letter from A to Z and no digit' }]
        : [],
    ),
    ...(amountTo !== undefined && amountTo < amountFrom
      ? [{ field: `${at}.amountTo`, message: 'must not be less than amountFrom' }]
      : []),
  ]
}

/**
 * Refuses rules that fit every line or none, and those that name what they cannot book on: an account of another book, a control account, a cost centre that is
 * switched off. 400; 422 `account_not_usable`, `reference_not_found`.
 */
export const checkMatchRules = async (
  trx: Trx,
  { bookId, propertyId }: { bookId: string; propertyId: string | null },
  rules: readonly MatchRule[] = [],
): Promise<void> => {
  if (rules.length === 0) return
  const wrong = rules.flatMap(formOf)
  if (wrong.length > 0) throw invalid(wrong)
  const lines = rules.map(({ then }) => ({
    accountId: then.accountId,
    debit: 1,
    costCenterId: then.costCenterId ?? null,
    propertyId,
  }))
  const { problems } = await judgeLines(trx, bookId, lines, always)
  refuseProblems(
    problems.map((one) => ({ ...one, field: one.field.replace(/^lines\.(\d+)\./, 'matchRules.$1.then.') })),
  )
}
