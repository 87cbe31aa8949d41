import { randomUUID } from 'node:crypto'
import { invalid, notFound, unprocessable } from '../../config/errors.ts'
import { guestBlocked, guestUnblocked } from '../../config/events/guests.ts'
import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, prepared, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { changeRow, insertRow } from '../lib/records.ts'
import { seal, unsealGuests } from '../lib/sealing/index.ts'
import type { GuestBlockRow } from '../rows.ts'
import { presentDay } from '../units/index.ts'
import { dayOf } from './day.ts'
import { lockGuest, refuseStale } from './lock.ts'
import { GuestBlock } from './models.ts'
import { profileKey } from './profile.ts'
import { isOfGuest } from './resolve.ts'

const blockPlace = (id: string) => ({ table: 'guest_block', rowId: id, purpose: 'reason' })

export type NewBlock = {
  level: 'warn' | 'refuse'
  reason: string
  propertyId?: string | null | undefined
  startsOn?: string | undefined
  endsOn?: string | null | undefined
}

/**
 * Puts a guest on the blocklist (B1), with the documents of all profiles of the guest, so that a new profile with one of them is found. Blocks that
 * are over are lifted; 422 `already_blocked` where one stands for the same property.
 */
export const blockGuest = async (
  trx: Trx,
  guestId: string,
  block: NewBlock,
  expected: number | null = null,
): Promise<string> => {
  const { level, reason, propertyId = null, endsOn = null } = block
  const { id: of } = await lockGuest(trx, guestId, expected)
  const today = await dayOf(trx, propertyId)
  const startsOn = block.startsOn ?? today
  if (endsOn !== null && endsOn < startsOn) throw invalid([{ field: 'endsOn', message: 'is before startsOn' }])
  if (endsOn !== null && endsOn < today) throw invalid([{ field: 'endsOn', message: 'is over' }])
  const by = contextOf(trx).actor.id
  await sql(
    trx,
    `update guest_block set lifted_at = now(), lifted_by = coalesce(?::uuid, created_by), lift_reason = 'over', version = version + 1
     where ${isOfGuest('guest_id')} and lifted_at is null and ends_on < ?::date`,
    [by, of, today],
  )
  const standing = await sqlOne<{ id: string }>(
    trx,
    `select id from guest_block where ${isOfGuest('guest_id')} and lifted_at is null and property_id is not distinct from ?::uuid`,
    [of, propertyId],
  )
  if (standing)
    throw unprocessable('already_blocked', 'The guest is on the blocklist of this property; lift that block first', [
      { field: 'propertyId', message: `block ${standing.id} stands` },
    ])
  const documents = await sql<{ numberIndex: Buffer }>(
    trx,
    `select distinct d.number_index from guest_document d join guest g on g.tenant_id = d.tenant_id and g.id = d.guest_id
     where (g.id = ? or g.merged_into_id = ?) and d.status <> 'rejected'`,
    [of, of],
  )
  const id = randomUUID()
  if (by === null) throw new Error('a block has an author')
  await insertRow(trx, GuestBlock, {
    id,
    guestId: of,
    level,
    propertyId,
    startsOn,
    endsOn,
    sealed: await seal(trx, profileKey(of), blockPlace(id), { reason }),
    documentIndexes: documents.map((row) => row.numberIndex),
    createdBy: by,
  })
  await emit(trx, guestBlocked, { propertyId, id, version: 1, data: { guestId: of, guestBlockId: id, level } })
  return id
}

/** Facts of a block by which a role may change it. */
export const readBlockFacts = async (trx: Trx, guestId: string, blockId: string): Promise<GuestBlockRow> => {
  const row = await sqlOne<GuestBlockRow>(
    trx,
    `select b.* from guest_block b join guest g on g.tenant_id = b.tenant_id and g.id = b.guest_id
     where b.id = ? and (g.id = ? or g.merged_into_id = ?)`,
    [blockId, guestId, guestId],
  )
  if (!row) throw notFound()
  return row
}

/** Takes a guest off the blocklist (B2). A block that was lifted stays as it is. */
export const liftBlock = async (
  trx: Trx,
  blockId: string,
  reason: string,
  expected: number | null = null,
): Promise<void> => {
  const row = await sqlOne<GuestBlockRow>(trx, `select * from guest_block where id = ? for no key update`, [blockId])
  if (!row) throw notFound()
  refuseStale(row, expected)
  if (row.liftedAt) return
  const version = await changeRow(trx, GuestBlock, blockId, {
    liftedAt: new Date(),
    liftedBy: contextOf(trx).actor.id ?? row.createdBy,
    liftReason: reason,
  })
  await emit(trx, guestUnblocked, {
    propertyId: row.propertyId,
    id: blockId,
    version,
    data: { guestId: row.guestId, guestBlockId: blockId, level: row.level },
  })
}

type Shown = GuestBlockRow & { inForce: boolean }

/** Blocks of guests in the houses that the caller is for, newest first; reasons for callers who may see them alone (R17). */
export const listBlocks = async (
  trx: Trx,
  guestIds: readonly string[],
  { scope, seesReason }: { scope: Condition; seesReason: boolean },
) => {
  const rows = await prepared<Shown>(
    trx,
    `select b.*, b.lifted_at is null and exists (select from property y where y.tenant_id = b.tenant_id
         and (b.property_id is null or b.property_id = y.id) and b.starts_on <= ${presentDay('y')}
         and (b.ends_on is null or b.ends_on >= ${presentDay('y')})) as in_force
     from guest_block b where b.guest_id = any(?::uuid[]) and (b.property_id is null or ?) order by b.created_at desc, b.id`,
    [guestIds, whereOf(scope, { propertyId: 'b.property_id' })],
  )
  const reasons = seesReason
    ? await unsealGuests<{ reason: string }>(
        trx,
        'profile',
        rows.map((row) => ({ guestId: row.guestId, place: blockPlace(row.id), sealed: row.sealed })),
      )
    : []
  return rows.map((row, index) => ({
    id: row.id,
    guestId: row.guestId,
    level: row.level,
    propertyId: row.propertyId,
    startsOn: row.startsOn,
    endsOn: row.endsOn,
    inForce: row.inForce,
    reason: reasons[index]?.reason ?? null,
    createdBy: seesReason ? row.createdBy : null,
    createdAt: row.createdAt,
    liftedAt: row.liftedAt,
    liftReason: seesReason ? row.liftReason : null,
    version: row.version,
  }))
}
