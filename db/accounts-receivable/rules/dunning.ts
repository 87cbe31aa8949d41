import { invalid } from '../../../config/errors.ts'
import type { DunningStep } from '../../../config/dunning.ts'
import { daysBetween } from '../../../config/time.ts'

/** Refuses steps that do not go up: of two levels the higher one comes later. 400. */
export const checkSteps = (steps: readonly DunningStep[]): void => {
  const wrong = steps.findIndex((step, index) => {
    const before = steps[index - 1]
    return before !== undefined && (step.level <= before.level || step.days <= before.days)
  })
  if (wrong >= 0)
    throw invalid([
      { field: `dunning.steps.${wrong}`, message: 'needs a higher level and more days than the one before' },
    ])
}

/**
 * The step of which an installment is to be reminded: the highest that it has reached, unless that or a higher one was noticed. Lower ones are skipped for
 * good (R16).
 */
export const stepOf = (
  steps: readonly DunningStep[],
  { dueOn, noticed }: { dueOn: string; noticed: number | null },
  runOn: string,
): DunningStep | null => {
  const late = daysBetween(dueOn, runOn)
  const reached = steps.filter(({ days }) => days <= late).at(-1)
  return reached && reached.level > (noticed ?? 0) ? reached : null
}
