import { randomUUID } from 'node:crypto'
import { conflict, invalid, unprocessable } from '../../config/errors.ts'
import { automationChanged, automationCreated, automationDeleted, messageCancelled } from '../../config/events/ocp.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, emitAll, sentFields } from '../lib/events.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import type { RowOf } from '../lib/models.ts'
import { Automation } from './models.ts'
import { planAutomation } from './plan-automation.ts'
import { planReservation } from './plan-stay.ts'
import type { Conditions } from './rules/automation-conditions.ts'
import { judgePlan } from './rules/plan.ts'
import type { PlanStep } from './rules/plan.ts'
import { contextsOf, judgeTrigger } from './rules/trigger.ts'
import type { Trigger } from './rules/trigger.ts'
import { factsOf } from './queue.ts'
import { usableTemplate } from './templates.ts'

const mostAutomations = 100

export type AutomationRecord = Omit<
  RowOf<'automation', { trigger: Trigger; conditions: Conditions; plan: PlanStep[] | null }>,
  'tenantId'
>
type Last30Days = { queued: number; sent: number; delivered: number; failed: number; suppressed: number }
export type AutomationListed = AutomationRecord & { last30Days: Last30Days }

/** Messages of thirty days: days are counted as they are written, and rows of the first day alone, which is cut, are counted here. */
const since = `now() - interval '30 days'`
const counted = `select jsonb_build_object(
    'queued', coalesce(sum(n), 0), 'sent', coalesce(sum(n) filter (where kind = 'sent'), 0),
    'delivered', coalesce(sum(n) filter (where status = 'delivered'), 0),
    'failed', coalesce(sum(n) filter (where status = 'failed'), 0), 'suppressed', coalesce(sum(n) filter (where status = 'suppressed'), 0))
  from (
    select c.kind, c.status, c.n from list_count c
    where c.tenant_id = a.tenant_id and c.list = 'automation_message' and c.automation_id = a.id and c.day > ((${since}) at time zone 'UTC')::date
    union all
    select case when m.sent_at is null then 'kept' else 'sent' end, case when m.status = 'read' then 'delivered' else m.status end, 1 from message m
    where m.tenant_id = a.tenant_id and m.automation_id = a.id and m.created_at > ${since}
      and m.created_at < date_trunc('day', ${since}, 'UTC') + interval '1 day') x`
const columns = `a.id, a.property_id, a.name, a.enabled, a.trigger, a.conditions, a.template_id, a.plan, a.valid_minutes, a.version,
  a.created_at, a.updated_at, (${counted}) as last30_days`

type Filter = Paging & { propertyId?: string; enabled?: boolean; templateId?: string; scope: Condition }

export const listAutomations = (
  trx: Trx,
  { propertyId, enabled, templateId, scope, ...paging }: Filter,
): Promise<Page<AutomationListed>> =>
  readPage<AutomationListed>(
    trx,
    {
      columns,
      from: 'automation a',
      conditions: [
        ...inScope(scope, 'a.property_id'),
        ...where('a.property_id = ?', propertyId),
        ...where('a.enabled = ?', enabled),
        ...where('a.template_id = ?', templateId),
      ],
      order: 'a.created_at, a.id',
    },
    paging,
  )

/** An automation with what came of it in thirty days. 404 */
export const readAutomation = async (trx: Trx, id: string): Promise<AutomationListed> => {
  const [, row] = await Promise.all([
    readRow(trx, Automation, id, ['id']),
    sqlOne<AutomationListed>(trx, `select ${columns} from automation a where a.id = ?`, [id]),
  ])
  return row!
}

export type AutomationChange = {
  propertyId?: string | null | undefined
  name?: string | undefined
  enabled?: boolean | undefined
  trigger?: Parameters<typeof judgeTrigger>[0] | undefined
  conditions?: Conditions | undefined
  templateId?: string | undefined
  plan?: PlanStep[] | null | undefined
  validMinutes?: number | undefined
}
export type NewAutomation = AutomationChange & {
  name: string
  trigger: Parameters<typeof judgeTrigger>[0]
  templateId: string
}

const judgeConditions = (conditions: Conditions | undefined): void => {
  if (conditions && (conditions.minNights ?? 1) > (conditions.maxNights ?? 366))
    throw invalid([{ field: 'conditions.maxNights', message: 'must not be less than minNights' }])
}

const refuseTaken = async (trx: Trx, name: string, id: string): Promise<void> => {
  const taken = await sqlOne(trx, `select id from automation where name = ? and id <> ?`, [name, id])
  if (taken)
    throw conflict('duplicate_name', 'Another automation has this name', [{ field: 'name', message: 'is taken' }])
}

const refuseUnknownProperty = async (trx: Trx, propertyId: string | null | undefined): Promise<void> => {
  if (!propertyId) return
  if (!(await sqlOne(trx, `select id from property where id = ?`, [propertyId])))
    throw unprocessable('reference_not_found', 'The property does not exist', [
      { field: 'propertyId', message: 'names no property' },
    ])
}

/** The template must be published, and speak of what the trigger has. 422 `template_not_published`, `context_mismatch`. */
const judgeTemplate = async (trx: Trx, templateId: string, trigger: Trigger): Promise<void> => {
  const { context } = await usableTemplate(trx, templateId)
  if (!contextsOf(trigger).includes(context))
    throw unprocessable('context_mismatch', `A template of context ${context} does not fit this trigger`, [
      { field: 'templateId', message: `must have context ${contextsOf(trigger).join(' or ')}` },
    ])
}

type Told = { id: string; version: number; propertyId: string | null; enabled: boolean }

const tell = (trx: Trx, event: typeof automationCreated, { id, version, propertyId, enabled }: Told, sent = {}) =>
  emit(trx, event, { propertyId, id, version, data: { automationId: id, enabled }, changed: sentFields(sent) })

/** Makes an automation. 409 `duplicate_name`, 422 `too_many`, `template_not_published`, `context_mismatch`. */
export const createAutomation = async (trx: Trx, { trigger: given, ...automation }: NewAutomation): Promise<string> => {
  const trigger = judgeTrigger(given)
  judgeConditions(automation.conditions)
  judgePlan(automation.plan)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended('automations ' || ?, 0))`, [contextOf(trx).tenantId])
  const counts = await sqlOne<{ count: number }>(trx, `select count(*) as count from automation`)
  if ((counts?.count ?? 0) >= mostAutomations)
    throw unprocessable('too_many', `A tenant has at most ${mostAutomations} automations`)
  const id = randomUUID()
  await refuseTaken(trx, automation.name, id)
  await refuseUnknownProperty(trx, automation.propertyId)
  await judgeTemplate(trx, automation.templateId, trigger)
  const made = await insertRow(trx, Automation, { ...automation, id, trigger, enabled: automation.enabled ?? true })
  await tell(trx, automationCreated, made)
  if ('anchor' in trigger) await planAutomation(trx, id)
  return id
}

/** Changes an automation, or switches it. What it has scheduled follows. The caller holds the row. */
export const changeAutomation = async (
  trx: Trx,
  id: string,
  { trigger: given, ...change }: AutomationChange,
): Promise<void> => {
  const before = await readRow(trx, Automation, id)
  const trigger = given === undefined ? before.trigger : judgeTrigger(given)
  judgeConditions(change.conditions)
  judgePlan(change.plan)
  if (change.name !== undefined) await refuseTaken(trx, change.name, id)
  await refuseUnknownProperty(trx, change.propertyId)
  const becomes = change.enabled ?? before.enabled
  // One that is switched off may keep a template that was retired.
  if (becomes || change.templateId !== undefined)
    await judgeTemplate(trx, change.templateId ?? before.templateId, trigger)
  const version = await changeRow(trx, Automation, id, { ...change, ...(given === undefined ? {} : { trigger }) })
  const propertyId = change.propertyId === undefined ? before.propertyId : change.propertyId
  await tell(trx, automationChanged, { id, version, propertyId, enabled: becomes }, change)
  if ('anchor' in trigger || 'anchor' in before.trigger) await planAutomation(trx, id)
}

/** Deletes an automation, and cancels what of it is not sent; a text that left and waits for its next channel goes on. The caller holds the row. Answers it as it was. */
export const deleteAutomation = async (trx: Trx, id: string): Promise<AutomationListed> => {
  const before = await readAutomation(trx, id)
  const cancelled = await sql<{ id: string }>(
    trx,
    `update message set status = 'cancelled', reason = 'automation_deleted', turn = turn + 1
     where automation_id = ? and status in ('scheduled', 'queued') and sent_at is null returning id`,
    [id],
  )
  await emitAll(
    trx,
    messageCancelled,
    await factsOf(
      trx,
      'cancelled',
      cancelled.map((row) => row.id),
      'automation_deleted',
    ),
  )
  await sql(trx, `delete from automation where id = ?`, [id])
  await tell(trx, automationDeleted, before)
  return before
}

const stepSize = 500

/** Reservations after a cursor whose dated messages an automation may want. Stays are planned for up to 13 months after they ended. */
export const staysToPlan = async (trx: Trx, cursor: string | null): Promise<string[]> => {
  const rows = await sql<{ id: string }>(
    trx,
    `select id from reservation where status in ('confirmed', 'checked_in', 'checked_out') and departure > current_date - 400
       and (?::uuid is null or id > ?::uuid) order by id limit ?`,
    [cursor, cursor, stepSize],
  )
  return rows.map(({ id }) => id)
}

export const isWholeStep = (ids: readonly string[]): boolean => ids.length === stepSize

/** Plans some stays; one after the other, each under its own lock. */
export const planStays = async (trx: Trx, reservationIds: readonly string[]): Promise<void> => {
  for (const reservationId of reservationIds) await planReservation(trx, reservationId)
}
