import { randomUUID } from 'node:crypto'
import { notFound, unprocessable } from '../../config/errors.ts'
import { campaignCancelled, campaignLaunched } from '../../config/events/ocp.ts'
import type { Event } from '../../config/events/event.ts'
import { settingsOf } from '../../config/property-settings.ts'
import type { StoredSettings } from '../../config/property-settings.ts'
import { messagesExpandCampaign, messagesStopCampaign } from '../../jobs/ocp.ts'
import { maskEmail, maskPhone } from '../guests/index.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import type { RowOf } from '../lib/models.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { countAudience, judgeSegment, nextAudience } from './audience.ts'
import type { Audience } from './audience.ts'
import { Campaign } from './models.ts'
import { readReader } from './reader.ts'
import { judgePlan, planOf } from './rules/plan.ts'
import type { PlanStep } from './rules/plan.ts'
import type { Segment } from './rules/segment.ts'
import { usableTemplate } from './templates.ts'

type Row = RowOf<'campaign', { segment: Segment; plan: PlanStep[] | null; excluded: Record<string, number> }>
type Counts = {
  audience: number
  excluded: Record<string, number>
  queued: number
  sent: number
  delivered: number
  read: number
  failed: number
  suppressed: number
  cancelled: number
}
export type CampaignRecord = Omit<Row, 'tenantId' | 'cursor' | 'audience' | 'excluded' | 'expandedAt'> & {
  counts: Counts
}

export const mostRecipients = 50_000

const moves = lifecycle<Row['status']>('A campaign')({
  changed: { from: ['draft'] },
  launched: { from: ['draft'] },
  cancelled: { from: ['draft', 'scheduled', 'running'], to: 'cancelled' },
})

const counted = `jsonb_build_object('audience', c.audience, 'excluded', c.excluded, 'queued', n.queued, 'sent', n.sent, 'delivered', n.delivered,
  'read', n.read, 'failed', n.failed, 'suppressed', n.suppressed, 'cancelled', n.cancelled)`
const columns = `c.id, c.property_id, c.name, c.template_id, c.template_number, c.plan, c.segment, c.scheduled_for, c.status, c.launched_by, c.launched_at,
  c.ended_at, c.created_by, c.version, c.created_at, c.updated_at, ${counted} as counts`
// A message that was read was delivered, and one that was delivered was sent.
const joins = `cross join lateral (
    select count(*) as queued, count(*) filter (where m.sent_at is not null) as sent, count(*) filter (where m.status in ('delivered', 'read')) as delivered,
      count(*) filter (where m.status = 'read') as read, count(*) filter (where m.status = 'failed') as failed,
      count(*) filter (where m.status in ('suppressed', 'expired')) as suppressed, count(*) filter (where m.status = 'cancelled') as cancelled
    from message m where m.tenant_id = c.tenant_id and m.campaign_id = c.id) n`

type Filter = Paging & { propertyId?: string; status?: string; scope: Condition }

export const listCampaigns = (
  trx: Trx,
  { propertyId, status, scope, ...paging }: Filter,
): Promise<Page<CampaignRecord>> =>
  readPage<CampaignRecord>(
    trx,
    {
      columns,
      from: 'campaign c',
      joins,
      conditions: [
        ...inScope(scope, 'c.property_id'),
        ...where('c.property_id = ?', propertyId),
        ...where('c.status = ?', status),
      ],
      order: 'c.created_at desc, c.id',
    },
    paging,
  )

/** A campaign with what has come of it. 404 */
export const readCampaign = async (trx: Trx, id: string): Promise<CampaignRecord> => {
  const row = await sqlOne<CampaignRecord>(trx, `select ${columns} from campaign c ${joins} where c.id = ?`, [id])
  if (!row) throw notFound()
  return row
}

const judgeTemplate = async (trx: Trx, templateId: string): Promise<number> => {
  const { purpose, context, publishedNumber } = await usableTemplate(trx, templateId)
  if (purpose !== 'marketing' || context !== 'guest')
    throw unprocessable('context_mismatch', 'A campaign sends a marketing template of context guest', [
      { field: 'templateId', message: 'must name a marketing template of context guest' },
    ])
  return publishedNumber
}

export type NewCampaign = {
  propertyId: string
  name: string
  templateId: string
  plan?: PlanStep[] | null | undefined
  segment: Segment
}
export type CampaignChange = { [Field in Exclude<keyof NewCampaign, 'propertyId'>]?: NewCampaign[Field] | undefined }

/** Makes a draft. 404, 422 `template_not_published`, `context_mismatch`. */
export const createCampaign = async (trx: Trx, campaign: NewCampaign): Promise<string> => {
  judgePlan(campaign.plan)
  judgeSegment(campaign.segment)
  if (!(await sqlOne(trx, `select id from property where id = ?`, [campaign.propertyId])))
    throw notFound('There is no such property')
  await judgeTemplate(trx, campaign.templateId)
  const { actor } = contextOf(trx)
  const { id } = await insertRow(trx, Campaign, {
    ...campaign,
    id: randomUUID(),
    createdBy: actor.type === 'user' ? actor.id : null,
  })
  return id
}

/** Changes a draft. The caller holds the row. */
export const changeCampaign = async (trx: Trx, id: string, change: CampaignChange): Promise<void> => {
  const { status } = await readRow(trx, Campaign, id)
  moves.allow('changed', status)
  judgePlan(change.plan)
  if (change.segment) judgeSegment(change.segment)
  if (change.templateId !== undefined) await judgeTemplate(trx, change.templateId)
  await changeRow(trx, Campaign, id, change)
}

export const planOfCampaign = async (trx: Trx, { plan, propertyId }: Pick<Row, 'plan' | 'propertyId'>) => {
  if (plan) return plan
  const property = await sqlOne<{ settings: StoredSettings }>(trx, `select settings from property where id = ?`, [
    propertyId,
  ])
  return planOf(settingsOf(property?.settings ?? {}).messages.order)
}

/** Tells of a campaign as it stands, with what has come of its messages. */
export const tellCampaign = async (trx: Trx, event: Event<typeof campaignLaunched.data>, id: string): Promise<void> => {
  const { propertyId, version, counts } = await readCampaign(trx, id)
  const { excluded: _, ...counted } = counts
  await emit(trx, event, { propertyId, id, version, data: { campaignId: id, counts: counted } })
}

const judgeAudience = ({ audience }: Audience): void => {
  if (audience === 0)
    throw unprocessable('audience_empty', 'Nobody of this segment may be written to', [
      { field: 'segment', message: 'finds nobody with an address, consent and no suppression' },
    ])
  if (audience > mostRecipients)
    throw unprocessable('audience_too_large', `A campaign goes to ${mostRecipients} guests at most`, [
      { field: 'segment', message: `finds ${audience} guests` },
    ])
}

export type CampaignPreview = Audience & { examples: { name: string; channel: string; address: string }[] }

/** Whom a launch would reach, and three of them masked. Writes nothing. 422 as a launch. */
export const previewCampaign = async (trx: Trx, id: string): Promise<CampaignPreview> => {
  const row = (await readRow(trx, Campaign, id)) as Row
  moves.allow('launched', row.status)
  await judgeTemplate(trx, row.templateId)
  const plan = await planOfCampaign(trx, row)
  const counts = await countAudience(trx, row.propertyId, row.segment, plan)
  const some = await nextAudience(trx, row.propertyId, row.segment, plan, { after: null, limit: 3 })
  const examples = []
  for (const guestId of some) {
    const reader = await readReader(trx, { id, recipient: null, guestId, reservationId: null, paymentId: null })
    const channel = plan.find((step) => (step.channel === 'email' ? reader?.email : reader?.phone))?.channel
    if (!reader || !channel) continue
    const address = channel === 'email' ? maskEmail(reader.email ?? '') : maskPhone(reader.phone ?? '')
    examples.push({ name: `${reader.firstName.slice(0, 1)}***`, channel, address })
  }
  return { ...counts, examples }
}

/** Starts a campaign now, or at a time. 409; 422 `audience_empty`, `audience_too_large`, `template_not_published`. The caller holds the row. */
export const launchCampaign = async (trx: Trx, id: string, scheduledFor: Date | undefined): Promise<void> => {
  const before = (await readRow(trx, Campaign, id)) as Row
  if (before.status === 'scheduled' || before.status === 'running') return
  moves.allow('launched', before.status)
  const templateNumber = await judgeTemplate(trx, before.templateId)
  const plan = await planOfCampaign(trx, before)
  const counts = await countAudience(trx, before.propertyId, before.segment, plan)
  judgeAudience(counts)
  const { actor, tenantId } = contextOf(trx)
  const isLater = scheduledFor !== undefined && scheduledFor > new Date()
  await changeRow(trx, Campaign, id, {
    status: isLater ? 'scheduled' : 'running',
    templateNumber,
    plan,
    scheduledFor: scheduledFor ?? null,
    audience: counts.audience,
    excluded: counts.excluded,
    launchedBy: actor.type === 'user' ? actor.id : null,
    launchedAt: new Date(),
  })
  await enqueue(
    trx,
    messagesExpandCampaign,
    { tenantId: tenantId ?? '', campaignId: id },
    isLater ? { at: scheduledFor } : {},
  )
  await tellCampaign(trx, campaignLaunched, id)
}

/** Stops a campaign; what of it is not being sent yet is cancelled by a job, and not sent meanwhile. The caller holds the row. */
export const cancelCampaign = async (trx: Trx, id: string): Promise<void> => {
  const before = (await readRow(trx, Campaign, id)) as Row
  if (!moves.isDue('cancelled', before.status)) return
  await changeRow(trx, Campaign, id, { status: 'cancelled', endedAt: new Date() })
  const { tenantId } = contextOf(trx)
  if (before.status !== 'draft') await enqueue(trx, messagesStopCampaign, { tenantId: tenantId ?? '', campaignId: id })
  await tellCampaign(trx, campaignCancelled, id)
}
