import { randomUUID } from 'node:crypto'
import { notFound } from '../../config/errors.ts'
import {
  issueAssigned,
  issueChanged,
  issueClosed,
  issueCommented,
  issueEscalated,
  issueOpened,
  issuePaused,
  issueReopened,
  issueResolved,
  issueScored,
  issueSlaBreached,
  issueStarted,
} from '../../config/events/issues.ts'
import type { DataOf } from '../../config/events/event.ts'
import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { contextOf, preparedOne, sqlOne } from '../lib/connection.ts'
import type { Actor, Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { ChangedField } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { changeRow, insertRow } from '../lib/records.ts'
import type { IssueRow } from '../rows.ts'
import { Issue, IssueEvent } from './models.ts'
import { instantsOf } from './rules/clocks.ts'
import { always, hoursOf } from './rules/hours.ts'
import type { Hours } from './rules/hours.ts'
import { sealText } from './texts.ts'

export type IssueRecord = Omit<IssueRow, 'createdBy'> & { createdBy: Actor }
/** A locked issue, with the time of the database and the hours by which its clocks run. */
export type Held = IssueRecord & { now: Date; clock: Hours }

export const issueLifecycle = lifecycle<IssueRow['status']>('An issue')({
  started: { from: ['open', 'waiting'], to: 'in_progress' },
  paused: { from: ['in_progress', 'open'], to: 'waiting' },
  resolved: { from: ['open', 'in_progress', 'waiting'], to: 'resolved' },
  closed: { from: ['open', 'in_progress', 'waiting', 'resolved'], to: 'closed' },
  reopened: { from: ['resolved', 'closed'], to: 'open' },
  escalated: { from: ['open', 'in_progress', 'waiting', 'resolved'] },
  changed: { from: ['open', 'in_progress', 'waiting', 'resolved'] },
  commented: { from: ['open', 'in_progress', 'waiting', 'resolved'] },
  compensated: { from: ['open', 'in_progress', 'waiting', 'resolved'] },
})

type House = { house: { timeZone: string; settings: StoredSettings } }
/** The columns of a property `p` that `clockOf` reads. */
export const houseColumns = `jsonb_build_object('timeZone', p.timezone, 'settings', jsonb_build_object('issues', coalesce(p.settings -> 'issues', '{}'))) as house`

/** The time by which clocks of an issue run: around the clock, or in the business hours that its house has now. */
export const clockOf = (hours: IssueRow['hours'], { timeZone, settings }: House['house']): Hours => {
  if (hours === 'always') return always
  const { businessHours, holidays } = settingsOf(settings).issues
  return hoursOf({ timeZone, businessHours, holidays })
}

/** Zone and settings of the house of an issue. */
export const houseOf = async (trx: Trx, propertyId: string): Promise<House['house']> => {
  const found = await preparedOne<House>(trx, `select ${houseColumns} from property p where p.id = ?`, [propertyId])
  if (!found) throw notFound('No such property')
  return found.house
}

/** Locks an issue and reads it, with the time of the database. 404. */
export const lockIssue = async (trx: Trx, id: string): Promise<Held> => {
  const held = await preparedOne<IssueRecord & { now: Date } & House>(
    trx,
    `select i.*, now() as now, ${houseColumns} from issue i join property p on p.tenant_id = i.tenant_id and p.id = i.property_id
     where i.id = ? for no key update of i`,
    [id],
  )
  if (!held) throw notFound()
  const { house, ...issue } = held
  return { ...issue, clock: clockOf(issue.hours, house) }
}

const eventOf = {
  opened: issueOpened,
  changed: issueChanged,
  assigned: issueAssigned,
  started: issueStarted,
  paused: issuePaused,
  commented: issueCommented,
  escalated: issueEscalated,
  sla_breached: issueSlaBreached,
  resolved: issueResolved,
  closed: issueClosed,
  reopened: issueReopened,
  scored: issueScored,
} as const
export type Told = keyof typeof eventOf
type Extra = Partial<
  Pick<DataOf<typeof issueSlaBreached>, 'clock'> &
    Pick<DataOf<typeof issueResolved>, 'cause' | 'outcome'> &
    Pick<DataOf<typeof issueScored>, 'score'>
>

/** Tells of an issue as it stands now. */
export const tell = async (
  trx: Trx,
  told: Told,
  issue: IssueRecord,
  extra: Extra = {},
  changed: ChangedField[] = [],
): Promise<void> => {
  const category = await sqlOne<{ code: string }>(trx, `select code from issue_category where id = ?`, [
    issue.categoryId,
  ])
  const { propertyId, id, version, number, kind, priority, status, assigneeId, guestId, reservationId, unitId } = issue
  const data = {
    issueId: id,
    number,
    kind,
    categoryCode: category?.code ?? '',
    priority,
    status,
    assigneeId,
    guestId,
    reservationId,
    unitId,
    escalation: issue.escalation,
    ...(told === 'resolved' || told === 'closed' ? { cause: issue.cause, outcome: issue.outcome } : {}),
    ...extra,
  }
  await emit(trx, eventOf[told], { propertyId, id, version, data, changed })
}

/** Notes a command in the history of an issue; the reason is sealed. Answers the entry's id. */
export const note = async (
  trx: Trx,
  issueId: string,
  { command, from, to, changes = [], reason }: NoteOf,
): Promise<string> => {
  const id = randomUUID()
  await insertRow(trx, IssueEvent, {
    id,
    issueId,
    command,
    fromStatus: from,
    toStatus: to,
    changes: changes as never,
    actor: contextOf(trx).actor as never,
    sealed: reason ? await sealText(trx, 'reason', id, { text: reason }) : null,
    requestId: contextOf(trx).requestId,
  })
  return id
}
type NoteOf = {
  command: string
  from: IssueRow['status'] | null
  to: IssueRow['status']
  changes?: readonly string[]
  reason?: string | null | undefined
}

/** Writes a change of a locked issue, with the instants at which its clocks are due, and answers it as it stands then. `clock`: the hours by which they run from now on. */
export const writeIssue = async (
  trx: Trx,
  held: Held,
  change: Partial<Omit<IssueRow, 'createdBy'>>,
  clock = held.clock,
): Promise<Held> => {
  const next = { ...held, clock, ...change }
  const version = await changeRow(trx, Issue, held.id, {
    ...change,
    ...instantsOf(next, clock),
  })
  return { ...next, ...instantsOf(next, clock), version }
}
