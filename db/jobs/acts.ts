import { sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'
import type { Paging } from '../lib/paging.ts'

export type Act = {
  at: Date
  actorType: string
  actorId: string | null
  /** Of the operator, where the account still stands. */
  email: string | null
  action: string
  subjectType: string
  subjectId: string | null
  reason: string | null
  changes: { field: string; before?: unknown; after?: unknown }[]
}

/** Acts of operators in the platform's trail, the latest first. One row more than `limit` says that another page follows. */
export const listActs = (trx: PlatformTrx, { page, limit }: Paging): Promise<Act[]> =>
  sql<Act>(
    trx,
    `select e.at, e.actor_type, e.actor_id, u.email, e.action, e.subject_type, e.subject_id, e.reason, e.changes
     from audit_entry e left join app_user u on u.id = e.actor_id
     where e.chain = 'platform' and e.actor_type = 'superuser' order by e.at desc, e.id limit :most offset :offset`,
    { most: limit + 1, offset: (page - 1) * limit },
  )
