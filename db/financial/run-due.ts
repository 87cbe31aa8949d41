import type { Trx } from '../lib/connection.ts'
import { dueAccruals, runAccrual } from './accruals.ts'
import { dueReversals, reverseDue } from './due.ts'
import { duesBetween } from './rules/schedule.ts'
import { dueTemplates, runTemplate } from './templates.ts'

type InTrx = <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
type Step = (trx: Trx) => Promise<unknown>
type Finder = (trx: Trx, bookId: string, date: string) => Promise<Step[]>

const finders: Finder[] = [
  async (trx, bookId, date) =>
    (await dueTemplates(trx, bookId, date)).flatMap(({ id, nextOn, schedule }) =>
      duesBetween(schedule, nextOn, date).map((): Step => (inside) => runTemplate(inside, id, date)),
    ),
  async (trx, bookId, date) =>
    (await dueAccruals(trx, bookId, date)).map(
      ({ id }): Step =>
        (inside) =>
          runAccrual(inside, id, date),
    ),
  async (trx, bookId, date) =>
    (await dueReversals(trx, bookId, date)).map(
      ({ id }): Step =>
        (inside) =>
          reverseDue(inside, id),
    ),
]

/**
 * Posts what is due in a book up to a day, each thing in a transaction of its own, once. One that fails leaves the others as they are done, and ends the job
 * with its error; the next one begins with what is left.
 */
export const runDue = async (bookId: string, date: string, effect: InTrx, signal: AbortSignal): Promise<void> => {
  const failed: unknown[] = []
  for (const find of finders)
    for (const step of await effect((trx) => find(trx, bookId, date))) {
      if (signal.aborted) return
      await effect(step).catch((error: unknown) => failed.push(error))
    }
  if (failed.length > 0) throw failed[0]
}
