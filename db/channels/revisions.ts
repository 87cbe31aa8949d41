import { randomUUID } from 'node:crypto'
import { withoutCardData } from '../../config/card-numbers.ts'
import type { ChannelRevision } from '../../config/channels.ts'
import { conflict, invalid, notFound } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { channelBookingDismissed, channelBookingFailed, channelBookingReceived } from '../../config/events/channels.ts'
import type { channelBookingApplied } from '../../config/events/channels.ts'
import { daysBetween } from '../../config/time.ts'
import { acknowledgeRevision, applyRevision } from '../../jobs/channels.ts'
import { recordUsage } from '../lib/usage.ts'
import { audit } from '../lib/audit.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { model } from '../lib/models.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import { expression, insertIfNew } from '../lib/records.ts'
import type { New } from '../lib/records.ts'
import type { ChannelBookingRow } from '../rows.ts'
import { seal, unseal } from '../lib/sealing/index.ts'

export const revisionLifecycle = lifecycle<ChannelBookingRow['status']>('A revision of a channel')({
  applied: { from: ['received', 'needs_mapping', 'failed'], to: 'applied' },
  dismissed: { from: ['needs_mapping', 'failed'], to: 'dismissed' },
})

const ChannelBooking = model<'channel_booking'>('channel_booking')

const payloadPlace = (id: string) => ({ table: 'channel_booking', rowId: id, purpose: 'payload' })

/** A revision as the channel sent it; null once it is erased. */
export const readPayload = async (
  trx: Trx,
  row: Pick<ChannelBookingRow, 'id' | 'payload'>,
): Promise<ChannelRevision | null> =>
  row.payload ? unseal<ChannelRevision>(trx, 'tenant', payloadPlace(row.id), row.payload) : null

export const tellOfRevision = (
  trx: Trx,
  event: typeof channelBookingApplied,
  row: Pick<
    ChannelBookingRow,
    'id' | 'propertyId' | 'channelConnectionId' | 'externalId' | 'revision' | 'kind' | 'version'
  >,
  reservationIds: readonly string[] = [],
) =>
  emit(trx, event, {
    propertyId: row.propertyId,
    id: row.id,
    version: row.version,
    data: {
      channelConnectionId: row.channelConnectionId,
      channelBookingId: row.id,
      externalId: row.externalId,
      revision: row.revision,
      kind: row.kind,
      reservationIds: [...reservationIds],
    },
  })

/** Problems of a revision that its schema cannot find. */
export const problemsOf = ({ kind, rooms, booker }: ChannelRevision): FieldError[] => [
  ...(kind !== 'cancelled' && rooms.length === 0 ? [{ field: 'rooms', message: 'holds at least one' }] : []),
  ...(kind !== 'cancelled' && !booker ? [{ field: 'booker', message: 'is required' }] : []),
  ...rooms.flatMap((room, index) => {
    const nights = daysBetween(room.arrival, room.departure)
    return nights >= 1 && nights <= 366
      ? []
      : [{ field: `rooms.${index}.departure`, message: 'must be 1 to 366 days after arrival' }]
  }),
]

/** Removes card data, which may not be kept, from the texts of a revision. The booking itself is accepted. */
const cleaned = (revision: ChannelRevision): ChannelRevision => ({
  ...revision,
  ...(revision.notes === undefined ? {} : { notes: withoutCardData(revision.notes) }),
  ...(revision.booker ? { booker: { ...revision.booker, name: withoutCardData(revision.booker.name) } } : {}),
  rooms: revision.rooms.map((room) => ({
    ...room,
    ...(room.guestNames ? { guestNames: room.guestNames.map(withoutCardData) } : {}),
    ...(room.extras ? { extras: room.extras.map((one) => ({ ...one, name: withoutCardData(one.name) })) } : {}),
  })),
})

type Source = { id: string; propertyId: string }
type Kept = Omit<New<'channel_booking', ChannelBookingRow>, 'channelConnectionId' | 'propertyId'>
const unique = ['tenantId', 'channelConnectionId', 'externalId', 'revision'] as const

/** Answers null where the revision is kept already. */
const keep = (trx: Trx, { id, propertyId }: Source, row: Kept) =>
  insertIfNew(trx, ChannelBooking, { ...row, channelConnectionId: id, propertyId }, unique)

export type Stored = { row: ChannelBookingRow; isNew: boolean }

/**
 * Keeps a revision, sealed, and asks for its application (R32). The same one again answers what was kept first. `pulledAs`: what the channel wants
 * to hear once it is stored; one that was delivered has its answer.
 */
export const storeRevision = async (
  trx: Trx,
  connection: Source,
  given: ChannelRevision,
  pulledAs: string | null,
): Promise<Stored> => {
  const revision = cleaned(given)
  const { externalId, kind } = revision
  const id = randomUUID()
  const departure =
    revision.rooms
      .map((room) => room.departure)
      .sort()
      .at(-1) ?? null
  const row = await keep(trx, connection, {
    id,
    externalId,
    revision: revision.revision,
    kind,
    payload: await seal(trx, 'tenant', payloadPlace(id), revision),
    departure,
    pulledAs,
    acknowledgedAt: pulledAs === null ? expression('now()') : null,
  })
  if (!row) return { row: await known(trx, connection, revision, pulledAs), isNew: false }
  const tenantId = contextOf(trx).tenantId ?? ''
  await recordUsage(trx, 'channels.bookings', `${connection.id} ${externalId} ${revision.revision}`, [
    { tenantId, quantity: 1, at: row.createdAt },
  ])
  await tellOfRevision(trx, channelBookingReceived, row)
  if (pulledAs !== null) await enqueue(trx, acknowledgeRevision, { tenantId, channelBookingId: id })
  await enqueue(trx, applyRevision, { tenantId, channelBookingId: id })
  return { row, isNew: true }
}

/**
 * Stores a revision that cannot be read as a booking, for staff to look at, since a guest may arrive for it. Answers
 * false where not even a number of it can be told.
 */
export const storeUnreadable = async (
  trx: Trx,
  connection: Source,
  given: unknown,
  problem: string,
  pulledAs: string,
): Promise<boolean> => {
  const { externalId, revision } = (given ?? {}) as { externalId?: unknown; revision?: unknown }
  const isNamed = typeof externalId === 'string' && externalId.length >= 1 && externalId.length <= 100
  if (!isNamed || !Number.isInteger(revision) || Number(revision) < 0 || Number(revision) > 2_147_483_647) return false
  const id = randomUUID()
  const words = withoutCardData(JSON.stringify(given).slice(0, 50_000)).slice(0, 50_000)
  const row = await keep(trx, connection, {
    id,
    externalId,
    revision: Number(revision),
    kind: 'new',
    payload: await seal(trx, 'tenant', payloadPlace(id), { unreadable: words }),
    status: 'failed',
    error: `unreadable: ${problem}`,
    pulledAs,
  })
  if (!row) return true
  await tellOfRevision(trx, channelBookingFailed, row)
  await enqueue(trx, acknowledgeRevision, { tenantId: contextOf(trx).tenantId ?? '', channelBookingId: id })
  return true
}

/** Revisions that are stored already. One that is fetched again was not acknowledged at the channel, so it is acknowledged again. */
const known = async (
  trx: Trx,
  connection: Source,
  { externalId, revision }: ChannelRevision,
  pulledAs: string | null,
): Promise<ChannelBookingRow> => {
  const row = await sqlOne<ChannelBookingRow>(
    trx,
    `select * from channel_booking where channel_connection_id = ? and external_id = ? and revision = ?`,
    [connection.id, externalId, revision],
  )
  if (!row) throw new Error(`revision ${revision} of ${externalId} is neither new nor known`)
  if (pulledAs === null) return row
  await sql(trx, `update channel_booking set pulled_as = ?, acknowledged_at = null where id = ?`, [pulledAs, row.id])
  await enqueue(
    trx,
    acknowledgeRevision,
    { tenantId: contextOf(trx).tenantId ?? '', channelBookingId: row.id },
    { uniqueKey: row.id },
  )
  return row
}

/** A revision that a channel delivers. 404 for a connection that the caller may not know of, 409 for one that never began or has ended. */
export const deliverRevision = async (
  trx: Trx,
  channelConnectionId: string,
  revision: ChannelRevision,
  scope: Condition,
): Promise<Stored> => {
  const { rows } = await readPage<Source & { status: string }>(
    trx,
    {
      columns: 'c.id, c.property_id, c.status',
      from: 'channel_connection c',
      conditions: [...where('c.id = ?', channelConnectionId), ...inScope(scope, 'c.property_id')],
      order: 'c.id',
    },
    { page: 1, limit: 1 },
  )
  const [connection] = rows
  if (!connection) throw notFound()
  const problems = problemsOf(revision)
  if (problems.length > 0) throw invalid(problems)
  if (
    connection.status === 'draft' ||
    (connection.status === 'disconnected' && !(await isKnown(trx, connection.id, revision)))
  )
    throw conflict('invalid_transition', `The connection is ${connection.status}`)
  return storeRevision(trx, connection, revision, null)
}

/** Tells whether the booking is known: an ended connection may still change what it once booked. */
const isKnown = async (trx: Trx, connectionId: string, { externalId }: ChannelRevision) =>
  (await sqlOne(
    trx,
    `select 1 as one from channel_booking where channel_connection_id = ? and external_id = ? limit 1`,
    [connectionId, externalId],
  )) !== null

const columns = `b.id, b.property_id, b.channel_connection_id, b.external_id, b.revision, b.kind, b.departure, b.status, b.booking_id, b.reservation_ids,
  b.acknowledged_at, b.applied_at, b.error, b.dismiss_reason, b.version, b.created_at, b.updated_at, b.payload`

type Filter = Paging & {
  propertyId?: string | undefined
  channelConnectionId?: string | undefined
  status?: string | undefined
  externalId?: string | undefined
  scope: Condition
}

export const listRevisions = (
  trx: Trx,
  { propertyId, channelConnectionId, status, externalId, scope, ...paging }: Filter,
) =>
  readPage<ChannelBookingRow>(
    trx,
    {
      columns,
      from: 'channel_booking b',
      conditions: [
        ...inScope(scope, 'b.property_id'),
        ...where('b.property_id = ?', propertyId),
        ...where('b.channel_connection_id = ?', channelConnectionId),
        ...where('b.status = ?', status),
        ...where('b.external_id = ?', externalId),
      ],
      order: 'b.created_at desc, b.id desc',
    },
    paging,
  )

/** `unreadable`: the words of what is no booking. */
export type Revealed = { payload: ChannelRevision | null; unreadable: string | null }

/** Opens revisions for people who may see them; each look is audited. */
export const revealPayloads = async (trx: Trx, rows: readonly ChannelBookingRow[]): Promise<Revealed[]> => {
  for (const { id } of rows)
    await audit(trx, { action: 'channel_booking.reveal', subjectType: 'ChannelBooking', subjectId: id })
  return Promise.all(
    rows.map(async (row) => {
      const said: ChannelRevision | { unreadable: string } | null = await readPayload(trx, row)
      return said && 'unreadable' in said
        ? { payload: null, unreadable: String(said.unreadable) }
        : { payload: said, unreadable: null }
    }),
  )
}

export const readRevision = async (trx: Trx, id: string): Promise<ChannelBookingRow> => {
  const row = await sqlOne<ChannelBookingRow>(trx, `select ${columns} from channel_booking b where b.id = ?`, [id])
  if (!row) throw notFound()
  return row
}

/** Sets a revision aside that cannot be applied. The caller holds its row. */
export const dismissRevision = async (trx: Trx, id: string, reason: string): Promise<void> => {
  const row = await readRevision(trx, id)
  if (!revisionLifecycle.isDue('dismissed', row.status)) return
  await audit(trx, { action: 'channel_booking.dismiss', subjectType: 'ChannelBooking', subjectId: id, reason })
  await sql(
    trx,
    `update channel_booking set status = 'dismissed', dismiss_reason = ?, version = version + 1 where id = ?`,
    [reason, id],
  )
  await tellOfRevision(trx, channelBookingDismissed, { ...row, version: row.version + 1 })
}
