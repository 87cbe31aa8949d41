import type { Trx } from '../lib/connection.ts'
import { escalateBy } from './escalate.ts'
import { missedBy } from './rules/clocks.ts'
import { note, tell, writeIssue } from './state.ts'
import type { Held } from './state.ts'

/**
 * Notes the deadlines of a locked issue that have passed, each once, and escalates it by one for each; a resolution still missing once more at 150 and 200 % of
 * its target (R5). The sweep does so, and each command before it moves a clock: a target missed before the sweep still counts as missed.
 */
export const noteMissed = async (trx: Trx, held: Held): Promise<Held> => {
  const missed = missedBy(held, held.now, held.clock)
  if (missed.escalations === 0) return held
  const issue = await writeIssue(trx, held, {
    ...(missed.firstResponse ? { firstResponseBreachedAt: held.now } : {}),
    ...(missed.resolution ? { resolutionBreachedAt: held.now } : {}),
    overdueSteps: missed.overdueSteps,
  })
  for (const clock of [
    ...(missed.firstResponse ? (['first_response'] as const) : []),
    ...(missed.resolution ? (['resolution'] as const) : []),
  ]) {
    await note(trx, issue.id, { command: 'miss_deadline', from: issue.status, to: issue.status, changes: [clock] })
    await tell(trx, 'sla_breached', issue, { clock })
  }
  return escalateBy(trx, issue, missed.escalations, null)
}
