import { deadJobs, deadJobsPrefix, endingEvents, jobsDied, openingEvents } from '../../config/issue-causes.ts'
import type { Opening } from '../../config/issue-causes.ts'
import type { IssuePriority } from '../../config/issues.ts'
import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { readRow } from '../lib/records.ts'
import { writeComment } from './comments.ts'
import { insertIssue } from './create.ts'
import { IssueCategory } from './models.ts'
import { noteMissed } from './missed.ts'
import { reopen } from './moves.ts'
import { lockIssue, note, tell, writeIssue } from './state.ts'
import type { Held } from './state.ts'
import { sealText } from './texts.ts'

type Raised = {
  id: string
  type: string
  propertyId: string | null
  entityId: string
  data: Record<string, unknown>
  occurredAt: Date
}

const readEvent = (trx: Trx, eventId: string) =>
  preparedOne<Raised>(
    trx,
    `select id, type, property_id, entity ->> 'id' as entity_id, data, occurred_at from event where id = ?`,
    [eventId],
  )

/** Issues of one key come one after another, also before there is one. */
const lockKey = (trx: Trx, key: string) =>
  sql(trx, `select pg_advisory_xact_lock(7160, hashtext(current_setting('app.tenant_id') || ?))`, [key])

const openOf = (trx: Trx, key: string) =>
  sqlOne<{ id: string }>(trx, `select id from issue where source_key = ? and status <> 'closed'`, [key])

/** The house of an event; that of a tenant's record is its oldest one. */
const houseOf = (trx: Trx, propertyId: string | null) =>
  sqlOne<{ id: string; settings: StoredSettings }>(
    trx,
    propertyId === null
      ? `select id, settings from property where status <> 'archived' order by created_at, id limit 1`
      : `select id, settings from property where id = ?`,
    propertyId === null ? [] : [propertyId],
  )

/** The business date that a house had at an instant; the day of its clock where it has no business day yet. */
const dayOf = async (trx: Trx, propertyId: string, at: Date): Promise<string> => {
  const row = await sqlOne<{ day: string }>(
    trx,
    `select coalesce((select d.date from business_day d where d.property_id = p.id and d.opened_at <= ?::timestamptz order by d.date desc limit 1),
       (?::timestamptz at time zone p.timezone)::date) as day from property p where p.id = ?`,
    [at.toISOString(), at.toISOString(), propertyId],
  )
  return row?.day ?? ''
}

const kindOf = (key: string) => key.split(':')[0]

/** Tells whether the cause has ended since: the jobs of two events may come in any order. */
const hasEnded = async (trx: Trx, event: Raised, key: string): Promise<boolean> => {
  const types = Object.keys(endingEvents).filter((type) => kindOf(endingEvents[type]?.({}, '') ?? '') === kindOf(key))
  const later = await sql<Raised>(
    trx,
    `select id, type, entity ->> 'id' as entity_id, data from event where type = any(?::text[]) and occurred_at > ?::timestamptz`,
    [types, event.occurredAt.toISOString()],
  )
  return later.some(({ type, data, entityId }) => endingEvents[type]?.(data, entityId) === key)
}

/** Tells whether a later revision of a booking of a channel was applied, and has set the one of the event aside. */
const isSetAside = async (trx: Trx, { type, data }: Raised): Promise<boolean> =>
  type.startsWith('channel_booking.') &&
  (await sqlOne(trx, `select 1 from channel_booking where id = ? and status = 'superseded'`, [
    data['channelBookingId'],
  ])) !== null

/** Keys of the revisions of a booking of a channel that an applied one has set aside, which ends them, too. */
const overtakenBy = async (trx: Trx, { type, data }: Raised): Promise<string[]> => {
  if (type !== 'channel_booking.applied') return []
  const rows = await sql<{ key: string }>(
    trx,
    `select 'channel_booking:' || o.id as key from channel_booking b
     join channel_booking o on o.tenant_id = b.tenant_id and o.channel_connection_id = b.channel_connection_id and o.external_id = b.external_id
       and o.revision < b.revision and o.status = 'superseded'
     where b.id = ? order by 1`,
    [data['channelBookingId']],
  )
  return rows.map(({ key }) => key)
}

/** The payment of the house that an exception is about. */
const paymentOf = async (trx: Trx, propertyId: string, { subjectType, subjectId }: Raised['data']) => {
  if (subjectType !== 'payment' || typeof subjectId !== 'string') return {}
  const found = await sqlOne<{ id: string }>(trx, `select id from payment where id = ? and property_id = ?`, [
    subjectId,
    propertyId,
  ])
  return found ? { paymentId: found.id } : {}
}

const linksOf = async (trx: Trx, { links: names = [], entity }: Opening, { data, entityId }: Raised) => {
  const links = Object.fromEntries([
    ...names.flatMap((name) => (typeof data[name] === 'string' ? [[name, data[name]] as const] : [])),
    ...(entity ? [[entity, entityId] as const] : []),
  ])
  if ((typeof data['number'] === 'string' || entity) && links['reservationId']) {
    const stay = await sqlOne<{ primaryGuestId: string | null }>(
      trx,
      `select primary_guest_id from reservation where id = ?`,
      [links['reservationId']],
    )
    if (stay?.primaryGuestId) return { ...links, guestId: stay.primaryGuestId }
  }
  return links
}

/** Opens a locked issue again whose cause is back after it was resolved. */
const openAgain = async (trx: Trx, held: Held): Promise<void> => {
  if (held.status === 'resolved') await reopen(trx, held, 'It happened again')
}

/** Counts a further event on the issue of its key, once per event; one that was resolved is opened again while the cause goes on. */
const countOn = async (trx: Trx, issueId: string, event: Raised, goesOn: boolean): Promise<void> => {
  const known = await sqlOne(trx, `select 1 from issue_comment where issue_id = ? and event_id = ?`, [
    issueId,
    event.id,
  ])
  if (known) return
  const held = await lockIssue(trx, issueId)
  await writeComment(trx, issueId, {
    text: `It happened again: ${event.type}`,
    visibility: 'internal',
    authorId: null,
    eventId: event.id,
  })
  const after = await writeIssue(trx, held, { occurrences: held.occurrences + 1 })
  await tell(trx, 'commented', after)
  if (goesOn) await openAgain(trx, after)
}

/** Opens the issue that an event calls for (R10): one for a key, however often the event or its job comes. */
export const openFromEvent = async (trx: Trx, eventId: string): Promise<void> => {
  const event = await readEvent(trx, eventId)
  const rule = event && openingEvents[event.type]
  if (!event || !rule || rule.when?.(event.data) === false) return
  const house = await houseOf(trx, event.propertyId)
  if (!house || settingsOf(house.settings).issues.automaticOff.includes(event.type)) return
  const key = [
    rule.key(event.data, event.entityId),
    ...(rule.daily ? [await dayOf(trx, house.id, event.occurredAt)] : []),
  ].join(':')
  await lockKey(trx, key)
  const told = await sqlOne(trx, `select 1 from issue_comment where event_id = ?`, [event.id])
  if (told) return
  const open = await openOf(trx, key)
  const isOver = (await hasEnded(trx, event, key)) || (await isSetAside(trx, event))
  if (open) return countOn(trx, open.id, event, !isOver)
  if (isOver) return
  const category = await sqlOne<{ id: string }>(trx, `select id from issue_category where code = ?`, [rule.category])
  if (!category) return
  const due = event.data['responseDueAt']
  const issue = await insertIssue(
    trx,
    await readRow(trx, IssueCategory, category.id),
    {
      propertyId: house.id,
      title: rule.title,
      priority: rule.priority,
      ...(rule.kind ? { kind: rule.kind } : {}),
      ...(await linksOf(trx, rule, event)),
      ...(await paymentOf(trx, house.id, event.data)),
    },
    {
      source: 'system',
      sourceEvent: event.type,
      sourceKey: key,
      dueAt: typeof due === 'string' ? new Date(due) : null,
    },
  )
  // Marks the event as told, so that its job may come twice.
  await writeComment(trx, issue.id, {
    text: `Opened by ${event.type}`,
    visibility: 'internal',
    authorId: null,
    eventId: event.id,
  })
}

/** Ends a locked issue of the system: resolved where nobody took it, else told to those who did. */
const end = async (trx: Trx, found: Held, text: string, eventId: string | null): Promise<void> => {
  if (found.status === 'resolved' || found.status === 'closed') return
  const held = await noteMissed(trx, found)
  await writeComment(trx, held.id, { text, visibility: 'internal', authorId: null, eventId })
  // A missed deadline takes the issue off its assignee, whose it still was.
  if (found.status !== 'open' || found.assigneeId !== null) {
    await tell(trx, 'commented', await writeIssue(trx, held, {}))
    return
  }
  const after = await writeIssue(trx, held, {
    status: 'resolved',
    cause: 'system',
    resolutionSealed: await sealText(trx, 'resolution', held.id, { text }),
    resolvedAt: held.now,
    ...(held.firstRespondedAt === null ? { firstRespondedAt: held.now } : {}),
  })
  await note(trx, held.id, { command: 'resolve', from: held.status, to: 'resolved' })
  await tell(trx, 'resolved', after)
}

/** Ends the issue that an earlier event has opened. Without one there is nothing to do. */
export const endFromEvent = async (trx: Trx, eventId: string): Promise<void> => {
  const event = await readEvent(trx, eventId)
  const keyOf = event && endingEvents[event.type]
  if (!event || !keyOf) return
  for (const key of [keyOf(event.data, event.entityId), ...(await overtakenBy(trx, event))])
    await endOf(trx, key, event)
}

/** Ends the issue of a key, once for an event. */
const endOf = async (trx: Trx, key: string, event: Raised): Promise<void> => {
  await lockKey(trx, key)
  const open = await openOf(trx, key)
  if (!open) return
  const told = await sqlOne(trx, `select 1 from issue_comment where issue_id = ? and event_id = ?`, [open.id, event.id])
  if (!told) await end(trx, await lockIssue(trx, open.id), `The cause has ended: ${event.type}`, event.id)
}

/** Open issues of stays that have a unit for every night again, or are over; across tenants, ids alone. */
export const settledStays = (trx: PlatformTrx, most = 200): Promise<{ tenantId: string; id: string }[]> =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from issues_of_settled_stays(?)`, [most])

export const endSettled = async (trx: Trx, id: string): Promise<void> =>
  end(trx, await lockIssue(trx, id), 'The stay has its unit, or is over', null)

type DeadJobs = { tenantId: string; id: string; kind: string; count: number }

/** Jobs that wait for an operator and that no issue tells of; across tenants. */
export const untoldJobs = (trx: PlatformTrx, most = 200): Promise<DeadJobs[]> =>
  sql<DeadJobs>(trx, `select tenant_id, tenant_id || ' ' || kind as id, kind, count from dead_jobs_untold(?)`, [most])

/** Open issues of dead jobs of which none is left; across tenants, ids alone. */
export const goneJobs = (trx: PlatformTrx, most = 200): Promise<{ tenantId: string; id: string }[]> =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from issues_of_gone_jobs(?)`, [most])

export const endGone = async (trx: Trx, id: string): Promise<void> =>
  end(trx, await lockIssue(trx, id), 'The work goes on, or was given up', null)

/** Opens the issue of jobs of a kind that wait for an operator, or counts them on the one that is open. */
export const openForJobs = async (trx: Trx, { kind, count }: Pick<DeadJobs, 'kind' | 'count'>): Promise<void> => {
  const key = `${deadJobsPrefix}${kind}`
  await lockKey(trx, key)
  const open = await openOf(trx, key)
  if (open) {
    const held = await lockIssue(trx, open.id)
    if (held.status !== 'resolved' && held.occurrences >= count) return
    const text = `${count} jobs of kind ${kind} wait for an operator`
    await writeComment(trx, open.id, { text, visibility: 'internal', authorId: null })
    const after = await writeIssue(trx, held, { occurrences: count })
    await tell(trx, 'commented', after)
    return openAgain(trx, after)
  }
  const house = await houseOf(trx, null)
  const category = await sqlOne<{ id: string }>(trx, `select id from issue_category where code = ?`, [
    deadJobs.category,
  ])
  if (!house || !category) return
  const { title, priority } = deadJobs
  const issue = await insertIssue(
    trx,
    await readRow(trx, IssueCategory, category.id),
    { propertyId: house.id, title, priority },
    { source: 'system', sourceEvent: jobsDied, sourceKey: key },
  )
  await sql(trx, `update issue set occurrences = ? where id = ?`, [count, issue.id])
  const text = `${count} jobs of kind ${kind} wait for an operator`
  await writeComment(trx, issue.id, { text, visibility: 'internal', authorId: null })
}

/** A complaint about the staff after a bad answer to a closed issue (R10). */
export const openForScore = async (trx: Trx, issue: Held, score: number): Promise<void> => {
  const key = `score:${issue.id}`
  const category = await sqlOne<{ id: string }>(trx, `select id from issue_category where code = 'staff'`)
  await lockKey(trx, key)
  if (!category || (await openOf(trx, key))) return
  const { propertyId, guestId, reservationId, unitId } = issue
  await insertIssue(
    trx,
    await readRow(trx, IssueCategory, category.id),
    {
      propertyId,
      title: `A guest answered ${score} of 5 on issue ${issue.number}`,
      priority: 'high' satisfies IssuePriority,
      kind: 'complaint',
      guestId,
      reservationId,
      unitId,
    },
    { source: 'system', sourceEvent: 'issue.scored', sourceKey: key },
  )
}
