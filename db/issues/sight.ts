import { notFound } from '../../config/errors.ts'
import { contextOf } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Part } from '../lib/paging.ts'
import type { IssueRow } from '../rows.ts'

/** Roles that see the issues of their team, those that they opened, and those assigned to them. */
const teamRoles = new Set(['housekeeper', 'maintenance', 'finance'])
/** Roles that never see complaints. */
const withoutComplaints = new Set(['housekeeper', 'maintenance'])

/** The role of the caller; null for an API key. */
export type Role = string | null

/** The issues that a role sees (auth.md, roles). */
export const inSight = (trx: Trx, role: Role): Part[] => {
  const me = contextOf(trx).actor.id
  if (role === 'stock') return [{ text: `i.created_by ->> 'id' = ?`, values: [me] }]
  if (role === null || !teamRoles.has(role)) return []
  return [
    { text: `(i.team = ? or i.assignee_id = ? or i.created_by ->> 'id' = ?)`, values: [role, me, me] },
    ...(withoutComplaints.has(role) ? [{ text: `i.kind <> 'complaint'`, values: [] }] : []),
  ]
}

type Seen = Pick<IssueRow, 'team' | 'assigneeId' | 'kind'> & { createdBy: { id: string | null } }

const sees = (trx: Trx, role: Role, { team, assigneeId, kind, createdBy }: Seen): boolean => {
  const me = contextOf(trx).actor.id
  if (role === 'stock') return createdBy.id === me
  if (role === null || !teamRoles.has(role)) return true
  if (withoutComplaints.has(role) && kind === 'complaint') return false
  return team === role || (me !== null && (assigneeId === me || createdBy.id === me))
}

/** An issue that the role may not know of is answered as unknown. */
export const requireSight = (trx: Trx, role: Role, issue: Seen): void => {
  if (!sees(trx, role, issue)) throw notFound()
}
