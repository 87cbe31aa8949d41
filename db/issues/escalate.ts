import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { mailUser } from '../ocp/index.ts'
import { note, tell, writeIssue } from './state.ts'
import type { Held } from './state.ts'

/** The role that an issue of a level is with. */
export const levelRoles = [null, 'manager', 'admin', 'owner'] as const

/** Active users with the level's role for the property; with none, those of the next level (R5). */
const usersOf = async (trx: Trx, propertyId: string, level: number): Promise<string[]> => {
  for (const role of levelRoles.slice(level)) {
    const users = await sql<{ userId: string }>(
      trx,
      `select m.user_id from membership m where m.role = ? and m.status = 'active' and (m.all_properties or exists (
         select from membership_property p where p.tenant_id = m.tenant_id and p.membership_id = m.id and p.property_id = ?)) order by m.user_id`,
      [role, propertyId],
    )
    if (users.length > 0) return users.map((user) => user.userId)
  }
  return []
}

const roleOf = async (trx: Trx, userId: string): Promise<string | null> =>
  (await sqlOne<{ role: string | null }>(trx, `select role from membership where user_id = ?`, [userId]))?.role ?? null

/**
 * Raises a locked issue by some levels, at most to the owner, and mails each level that it passes through. An assignee who is not of the level is taken off.
 * At the owner it stays as it is.
 */
export const escalateBy = async (trx: Trx, held: Held, levels: number, reason: string | null): Promise<Held> => {
  let issue = held
  for (let step = 0; step < levels && issue.escalation < 3; step += 1) {
    const escalation = issue.escalation + 1
    const keeps = issue.assigneeId === null || (await roleOf(trx, issue.assigneeId)) === levelRoles[escalation]
    issue = await writeIssue(trx, issue, { escalation, ...(keeps ? {} : { assigneeId: null }) })
    const entry = await note(trx, issue.id, { command: 'escalate', from: issue.status, to: issue.status, reason })
    await tell(trx, 'escalated', issue)
    await mailLevel(trx, issue, entry)
  }
  return issue
}

const mailLevel = async (trx: Trx, issue: Held, entry: string): Promise<void> => {
  const users = await usersOf(trx, issue.propertyId, issue.escalation)
  if (users.length === 0) return
  await sql(
    trx,
    `insert into issue_notice (id, tenant_id, number, property_name, category_name, priority, level, due_at)
     select ?, p.tenant_id, ?, p.name, coalesce(c.name ->> 'en', (select n.value from jsonb_each_text(c.name) n limit 1), c.code), ?, ?, ?::timestamptz from property p
     join issue_category c on c.tenant_id = p.tenant_id and c.id = ? where p.id = ?`,
    [
      entry,
      issue.number,
      issue.priority,
      issue.escalation,
      issue.nextDueAt?.toISOString() ?? null,
      issue.categoryId,
      issue.propertyId,
    ],
  )
  for (const userId of users) await mailUser(trx, userId, 'issue_notice', entry)
}
