import fc from 'fast-check'
import { putJobs } from '../admin/support.ts'
import type { World } from '../support/world.ts'
import type { Known } from './inputs.ts'

/** A dead job to replay and one to discard, and a queue that nothing of the fuzz waits for. */
export const ofOperators = async (
  world: World,
): Promise<{ known: Known; examples: Record<string, unknown[]>; jobId: string }> => {
  const [again, over] = await putJobs(world, 2, { queue: 'reports', kind: 'reports.nothing' })
  return {
    jobId: over ?? '',
    known: { queue: fc.constant('reports'), jobIds: fc.constantFrom([again], [over]) },
    examples: {
      'jobs.replay': [
        { reason: 'mended', filter: { queue: 'reports' }, limit: 10, dryRun: true },
        { reason: 'mended', jobIds: [again], perMinute: 60 },
      ],
      'jobs.discard': [{ jobIds: [over], reason: 'obsolete' }],
      'queues.pause': [{ reason: 'the fuzz' }],
      'queues.resume': [{}, { reason: 'over' }],
    },
  }
}
