import type { Trx } from '../lib/connection.ts'
import { readRow } from '../lib/records.ts'
import { Issue } from './models.ts'
import { requireSight } from './sight.ts'
import type { Role } from './sight.ts'
import { lockIssue } from './state.ts'
import type { IssueRecord } from './state.ts'

/** The property of an issue that the role sees; 404 for others. `lock` keeps it until the commit. */
export const requireIssueSight = async (
  trx: Trx,
  id: string,
  { role, lock = false }: { role: Role; lock?: boolean },
): Promise<Pick<IssueRecord, 'id' | 'propertyId' | 'status'>> => {
  const issue = lock ? await lockIssue(trx, id) : ((await readRow(trx, Issue, id)) as IssueRecord)
  requireSight(trx, role, issue)
  return issue
}
