import { groupChanged } from '../../../config/events/groups.ts'
import { nameFirms } from '../../guests/index.ts'
import type { Trx } from '../../lib/connection.ts'
import { sqlOne } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import { changeRow, fieldsOf } from '../../lib/records.ts'
import type { BookingGroupRow } from '../../rows.ts'
import { BookingGroup } from '../models.ts'
import { groupLifecycle } from '../rules/groups.ts'
import { factOf } from './allotment.ts'
import { refusePlan } from './create.ts'
import { releaseOf, sealContact } from './fields.ts'
import type { GivenContact, Release } from './fields.ts'
import { lockGroup } from './lock.ts'

export type GroupChange = {
  name?: string | undefined
  companyId?: string | null | undefined
  contact?: GivenContact | null | undefined
  ratePlanId?: string | undefined
  release?: Release | undefined
  routing?: { categories: readonly string[] } | undefined
  notes?: string | undefined
}

/** Changes a group. Another plan or price counts for rooms that are picked up from now on; routing counts for all that is charged from now on. */
export const changeGroup = async (
  trx: Trx,
  id: string,
  change: GroupChange,
  expected: number | null,
): Promise<void> => {
  const { group } = await lockGroup(trx, id, expected)
  groupLifecycle.allow('changed', group.status)
  if (change.ratePlanId !== undefined) await refusePlan(trx, group.propertyId, change.ratePlanId)
  await nameFirms(trx, [{ field: 'companyId', id: change.companyId }])
  const { contact, release, routing, ...plain } = change
  const columns = {
    ...plain,
    ...(contact === undefined ? {} : { sealed: contact && (await sealContact(trx, id, contact)) }),
    ...(release === undefined ? {} : releaseOf(release)),
    ...(routing === undefined ? {} : { routing: [...routing.categories] }),
  }
  if (fieldsOf(columns).length === 0) return
  await changeRow(trx, BookingGroup, id, columns)
  const now = await sqlOne<BookingGroupRow>(trx, `select * from booking_group where id = ?`, [id])
  if (!now) return
  const told = sentFields({ ...plain, ...(contact === undefined ? {} : { contact: null }) }, group)
  const others = [...(release ? ['release'] : []), ...(routing ? ['routing'] : [])]
  await emit(trx, groupChanged, {
    ...factOf(now),
    changed: [...told, ...others.map((field) => ({ field, before: null, after: null }))],
  })
}
