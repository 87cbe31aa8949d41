import { unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { rolePermissions } from '../../config/roles.ts'
import { resolveGuests } from '../guests/index.ts'
import { sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

export type Links = {
  guestId?: string | null | undefined
  reservationId?: string | null | undefined
  unitId?: string | null | undefined
  housekeepingTaskId?: string | null | undefined
  paymentId?: string | null | undefined
  conversationId?: string | null | undefined
}

const tableOf = {
  reservationId: 'reservation',
  unitId: 'unit',
  housekeepingTaskId: 'housekeeping_task',
  paymentId: 'payment',
  conversationId: 'conversation',
} as const

/**
 * Refuses links to records of other properties: 422 `link_mismatch`. Answers the links, with the guest who stands for a merged one; a reservation names its
 * first guest where no other is given.
 */
export const checkLinks = async (trx: Trx, propertyId: string, links: Links): Promise<Links> => {
  const errors: FieldError[] = []
  for (const [field, table] of Object.entries(tableOf)) {
    const id = links[field as keyof typeof tableOf]
    if (!id) continue
    const found = await sqlOne(trx, `select 1 from ?? where id = ? and property_id = ?`, [table, id, propertyId])
    if (!found) errors.push({ field, message: `is no ${table.replaceAll('_', ' ')} of the property` })
  }
  if (errors.length > 0)
    throw unprocessable('link_mismatch', 'An issue is linked to records of its own property alone', errors)
  if (links.guestId) {
    const guestId = (await resolveGuests(trx, [links.guestId])).get(links.guestId) ?? links.guestId
    return { ...links, guestId }
  }
  if (!links.reservationId || links.guestId === null) return links
  const stay = await sqlOne<{ primaryGuestId: string | null }>(
    trx,
    `select primary_guest_id from reservation where id = ?`,
    [links.reservationId],
  )
  return stay?.primaryGuestId ? { ...links, guestId: stay.primaryGuestId } : links
}

type Member = {
  role: string | null
  permissions: { subject: string; actions: string[] }[] | null
}

/** Refuses an assignee who is no active member with access to the property, or whose role does not read issues (R8). */
export const checkAssignee = async (trx: Trx, propertyId: string, userId: string): Promise<void> => {
  const member = await sqlOne<Member>(
    trx,
    `select m.role, r.permissions from membership m left join role r on r.id = m.role_id
     where m.user_id = ? and m.status = 'active' and (m.all_properties or exists (
       select from membership_property p where p.tenant_id = m.tenant_id and p.membership_id = m.id and p.property_id = ?)) for share of m`,
    [userId, propertyId],
  )
  const reads =
    member !== null &&
    (member.permissions
      ? member.permissions.some(({ subject, actions }) => subject === 'Issue' && actions.includes('read'))
      : (rolePermissions[member.role as keyof typeof rolePermissions] ?? []).some(
          ({ subject, action }) => subject === 'Issue' && action === 'read',
        ))
  if (!reads)
    throw unprocessable('assignee_not_allowed', 'This person cannot take the issue', [
      { field: 'assigneeId', message: 'must be an active user who reads issues of the property' },
    ])
}
