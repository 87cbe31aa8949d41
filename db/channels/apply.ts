import { ApiError, conflict, recoveryOf, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { ChannelRevision } from '../../config/channels.ts'
import {
  channelBookingApplied,
  channelBookingFailed,
  channelBookingMappingNeeded,
} from '../../config/events/channels.ts'
import { compile } from '../../config/validator.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { fromDatabase, isMomentary } from '../lib/errors.ts'
import { cancelStay, changeStay, importStay } from '../reservations/index.ts'
import type { Imported, MappedRoom } from '../reservations/index.ts'
import type { ChannelBookingRow } from '../rows.ts'
import { catalogueOf, readProperty } from '../properties/index.ts'
import { revisionLifecycle, problemsOf, readPayload, tellOfRevision } from './revisions.ts'

type Outcome = { status: 'applied' | 'superseded'; imported: Imported | null }

/** Refusal of a revision that staff must map, or whose currency they must settle, before it is applied. */
const unmapped = (code: 'mapping_missing' | 'currency_mismatch', errors: FieldError[]) =>
  unprocessable(
    code,
    code === 'mapping_missing' ? 'The channel sells what is not mapped' : 'The channel sells in another currency',
    errors,
  )

/** The unit types and plans that a channel means, by mappings that were disabled or left out, too: it sold by them before it heard. 422 `mapping_missing` names each room that none is mapped for. */
const mapRooms = async (
  trx: Trx,
  row: Pick<ChannelBookingRow, 'channelConnectionId' | 'propertyId'>,
  { rooms, currency }: ChannelRevision,
): Promise<MappedRoom[]> => {
  const property = await readProperty(trx, row.propertyId)
  if (!property) throw new Error(`property ${row.propertyId} is gone`)
  if (currency !== property.currency)
    throw unmapped('currency_mismatch', [{ field: 'currency', message: `must be ${property.currency}` }])
  const catalogue = await catalogueOf(trx, property)
  const mappings = await sql<{
    unitType: string
    ratePlan: string | null
    unitTypeId: string
    ratePlanId: string | null
  }>(
    trx,
    `select external_unit_type_id as unit_type, external_rate_plan_id as rate_plan, unit_type_id, rate_plan_id from channel_mapping
     where channel_connection_id = ?`,
    [row.channelConnectionId],
  )
  const isSold = ({ unitTypeId, ratePlanId }: MappedRoom) =>
    catalogue.unitTypes.some((type) => type.id === unitTypeId && type.pools.length > 0) &&
    catalogue.ratePlans.some((plan) => plan.id === ratePlanId)
  const mapped = rooms.map((room) => {
    const found = mappings.find(
      (one) => one.unitType === room.externalUnitTypeId && one.ratePlan === room.externalRatePlanId,
    )
    const place =
      found && found.ratePlanId !== null ? { unitTypeId: found.unitTypeId, ratePlanId: found.ratePlanId } : null
    return place && isSold(place) ? place : null
  })
  const errors = mapped.flatMap((one, index): FieldError[] =>
    one
      ? []
      : [
          {
            field: `rooms.${index}`,
            message: `${rooms[index]?.externalUnitTypeId} at ${rooms[index]?.externalRatePlanId} is mapped to nothing that is sold`,
          },
        ],
  )
  if (errors.length > 0) throw unmapped('mapping_missing', errors)
  return mapped.filter((one) => one !== null)
}

const bookingOf = async (trx: Trx, row: ChannelBookingRow): Promise<string | null> =>
  (
    await sqlOne<{ id: string }>(trx, `select id from booking where channel_connection_id = ? and external_id = ?`, [
      row.channelConnectionId,
      row.externalId,
    ])
  )?.id ?? null

/** Makes of one revision what it says. Nothing of it stays where it throws. */
const perform = async (
  trx: Trx,
  row: ChannelBookingRow,
  revisions: readonly ChannelBookingRow[],
): Promise<Imported | null> => {
  const revision = await readPayload(trx, row)
  if (!revision) throw conflict('payload_erased', 'What the channel said was erased')
  if (compile(ChannelRevision)(revision) || problemsOf(revision).length > 0)
    throw unprocessable('unreadable', 'What the channel said cannot be read as a booking')
  const bookingId = await bookingOf(trx, row)
  if (revision.kind === 'cancelled') return bookingId ? cancelStay(trx, bookingId, revision.collectedBy) : null
  const stay = {
    propertyId: row.propertyId,
    channelConnectionId: row.channelConnectionId,
    revision,
    mapped: await mapRooms(trx, row, revision),
  }
  return bookingId ? changeStay(trx, bookingId, stay, await lastApplied(trx, revisions)) : importStay(trx, stay)
}

/** The state of a booking that a revision changes, where its words are still kept; of a cancellation there is none. */
const lastApplied = async (trx: Trx, revisions: readonly ChannelBookingRow[]): Promise<ChannelRevision | null> => {
  const row = revisions.findLast(({ status }) => status === 'applied')
  return row && row.kind !== 'cancelled' ? readPayload(trx, row) : null
}

const isBefore = (row: ChannelBookingRow, revisions: readonly ChannelBookingRow[]) =>
  revisions.some(
    (other) => other.status === 'applied' && (other.revision > row.revision || cameFirst(other, revisions)),
  )

/**
 * Tells whether this is a cancellation of a booking of which nothing was known: later revisions of it are ignored. One that was known, and waited for a person
 * until it was cancelled, may come back.
 */
const cameFirst = (row: ChannelBookingRow, revisions: readonly ChannelBookingRow[]) =>
  row.kind === 'cancelled' &&
  row.bookingId === null &&
  !revisions.some((other) => other.revision < row.revision && other.createdAt <= row.createdAt)

const settle = async (trx: Trx, row: ChannelBookingRow, { status, imported }: Outcome) => {
  await sql(
    trx,
    `update channel_booking set status = ?, booking_id = ?, reservation_ids = ?::uuid[], applied_at = case when ? = 'applied' then now() end, error = null,
       version = version + 1 where id = ?`,
    [status, imported?.bookingId ?? null, imported?.reservationIds ?? [], status, row.id],
  )
  if (status === 'applied')
    await tellOfRevision(trx, channelBookingApplied, { ...row, version: row.version + 1 }, imported?.reservationIds)
}

/** Applies one revision, and sets those below it aside that never were. */
const applyOne = async (
  trx: Trx,
  row: ChannelBookingRow,
  revisions: readonly ChannelBookingRow[],
): Promise<Outcome['status']> => {
  if (isBefore(row, revisions)) {
    await settle(trx, row, { status: 'superseded', imported: null })
    return 'superseded'
  }
  const imported = await perform(trx, row, revisions)
  await settle(trx, row, { status: 'applied', imported })
  const overtaken = revisions.filter(
    (other) => other.revision < row.revision && ['received', 'needs_mapping', 'failed'].includes(other.status),
  )
  for (const other of overtaken) await settle(trx, other, { status: 'superseded', imported: null })
  return 'applied'
}

/** Locks the revisions of one external booking in their order, so that they are applied one after the other. */
const lockRevisions = async (trx: Trx, id: string): Promise<ChannelBookingRow[]> =>
  sql<ChannelBookingRow>(
    trx,
    `select b.* from channel_booking b join channel_booking named on named.tenant_id = b.tenant_id and named.id = ?
       and named.channel_connection_id = b.channel_connection_id and named.external_id = b.external_id
     order by b.revision for no key update of b`,
    [id],
  )

/** A person asks for a revision to be applied: what speaks against it is the answer, and changes nothing. */
export const applyNow = async (trx: Trx, id: string): Promise<void> => {
  const revisions = await lockRevisions(trx, id)
  const row = revisions.find((one) => one.id === id)
  if (!row || row.status === 'superseded' || !revisionLifecycle.isDue('applied', row.status)) return
  await applyOne(trx, row, revisions)
}

/** The error of a revision that needs a person; null for errors that are tried again. */
const refusalOf = (error: unknown): ApiError | null => {
  // The opener of the transaction repeats work whose error has a way out.
  if (recoveryOf(error)) return null
  const refusal = error instanceof ApiError ? error : fromDatabase(error)
  return refusal === null || isMomentary(refusal) || refusal.code === 'payment_in_progress' ? null : refusal
}

const waiting = async (trx: Trx, row: ChannelBookingRow, refusal: ApiError) => {
  const needsMapping = refusal.code === 'mapping_missing' || refusal.code === 'currency_mismatch'
  const details = (refusal.errors ?? []).slice(0, 10).map(({ field, message }) => `${field}: ${message}`)
  await sql(trx, `update channel_booking set status = ?, error = ?, version = version + 1 where id = ?`, [
    needsMapping ? 'needs_mapping' : 'failed',
    [refusal.code, ...details].join('; ').slice(0, 1_000),
    row.id,
  ])
  const event = needsMapping ? channelBookingMappingNeeded : channelBookingFailed
  await tellOfRevision(trx, event, { ...row, version: row.version + 1 })
}

/**
 * The job's way: applies what is stored of the external booking up to the revision, in order (R32). One that needs a person waits for him,
 * and does not keep a later one. A job that is overtaken finds nothing to do.
 */
export const applyStored = async (trx: Trx, id: string): Promise<void> => {
  const revisions = await lockRevisions(trx, id)
  const named = revisions.find((one) => one.id === id)
  if (named?.status !== 'received') return
  const due = revisions.filter((one) => one.status === 'received' && one.revision <= named.revision)
  for (const row of due) {
    const fresh = await lockRevisions(trx, id)
    await sql(trx, `savepoint revision`)
    try {
      await applyOne(trx, row, fresh)
      // Here, since what was written and not waited for is sent with it.
      await sql(trx, `release savepoint revision`)
    } catch (error) {
      const refusal = refusalOf(error)
      if (!refusal) throw error
      await sql(trx, `rollback to savepoint revision; release savepoint revision`)
      await waiting(trx, row, refusal)
    }
  }
}
