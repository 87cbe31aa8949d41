import fc from 'fast-check'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { putJobs } from '../admin/support.ts'
import { makeTenant, makeUser } from '../auth/support.ts'
import type { World } from '../support/world.ts'
import type { Known } from './inputs.ts'

/** A dead job to replay and one to discard, and a queue that nothing of the fuzz waits for. */
export const ofOperators = async (
  world: World,
): Promise<{ known: Known; examples: Record<string, unknown[]>; jobId: string }> => {
  const [again, over] = await putJobs(world, 2, { queue: 'reports', kind: 'reports.nothing' })
  const leaving = await makeTenant('Starter', 'Pousada das Ondas')
  const { userId } = await makeUser({})
  const [session] = await inPlatform((trx) =>
    sql<{ id: string }>(
      trx,
      `insert into support_session (tenant_id, superuser_id, mode, reason, expires_at) values (?, ?, 'read', 'for the fuzz alone', now() + interval '1 hour')
       returning id`,
      [leaving, userId],
    ),
  )
  return {
    jobId: over ?? '',
    known: {
      'superuser.tenants.delete id': fc.constant(leaving),
      'superuser.users.lock userId': fc.constant(userId),
      'superuser.users.unlock userId': fc.constant(userId),
      supportSessionId: fc.constant(session?.id ?? ''),
      plan: fc.constantFrom('Starter', 'Professional', 'Enterprise'),
      queue: fc.constant('reports'),
      jobIds: fc.constantFrom([again], [over]),
    },
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
