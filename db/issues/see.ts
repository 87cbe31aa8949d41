import type { Trx } from '../lib/connection.ts'
import { readRow } from '../lib/records.ts'
import { Issue } from './models.ts'
import { readIssue } from './read.ts'
import type { IssueDetail } from './read.ts'
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

/** As `readIssue`, for a role; an issue that it may not know of is 404. */
export const readIssueInSight = async (trx: Trx, id: string, role: Role): Promise<IssueDetail> => {
  const issue = await readIssue(trx, id)
  requireSight(trx, role, issue)
  return issue
}
