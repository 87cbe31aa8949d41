import { sampleId } from '../../config/samples.ts'
import {
  Bool,
  Count,
  Country,
  Currency,
  Day,
  Instant,
  Int,
  List,
  LocaleTag,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  AnyOf,
  Sparse,
  Text,
  Uuid,
  Amount,
} from '../../config/schema.ts'
import { invalid } from '../../config/errors.ts'
import { messagePrices } from '../../db/admin/index.ts'
import {
  cancelCampaign,
  changeCampaign,
  createCampaign,
  launchCampaign,
  listCampaigns,
  previewCampaign,
  readCampaign,
} from '../../db/ocp/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'
import { Name, Plan, root, StoredPlan } from './schemas.ts'

const Status = OneOf(['draft', 'scheduled', 'running', 'completed', 'cancelled'])
const Tags = List(Text(1, 40), { min: 1, max: 20 }, { uniqueItems: true })
/** All that is given must hold. Stays are those in the campaign’s house. */
const Segment = Obj(
  Sparse(
    Obj({
      stayedFrom: Day,
      stayedTo: Day,
      arrivalFrom: Day,
      arrivalTo: Day,
      minStays: Int(1, 1_000),
      minNights: Int(1, 366),
      countries: List(Country, { min: 1, max: 250 }, { uniqueItems: true }),
      languages: List(LocaleTag, { min: 1, max: 20 }, { uniqueItems: true }),
      tags: Tags,
      excludeTags: Tags,
      unitTypeIds: List(Uuid, { min: 1, max: 100 }, { uniqueItems: true }),
      notStayedSince: Day,
    }),
  ).properties,
  { minProperties: 1 },
)
const Excluded = MapOf(Count, { max: 10 })
const Campaign = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    name: Text(1, 120),
    templateId: Uuid,
    templateNumber: Nullable(Int(1, 1_000_000)),
    plan: Nullable(StoredPlan),
    segment: Segment,
    scheduledFor: Nullable(Instant),
    status: Status,
    counts: Obj({
      audience: Count,
      excluded: Excluded,
      queued: Count,
      sent: Count,
      delivered: Count,
      read: Count,
      failed: Count,
      suppressed: Count,
      cancelled: Count,
    }),
    launchedBy: Nullable(Uuid),
    launchedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
    createdBy: Nullable(Uuid),
    ...stamps,
  },
  { title: 'Campaign' },
)

const campaigns = resource({
  name: 'campaigns',
  subject: 'Campaign',
  table: 'campaign',
  path: `${root}/campaigns`,
  param: 'campaignId',
  record: Campaign,
  read: readCampaign,
})

const list = campaigns.list({
  summary: 'List campaigns with their progress',
  query: { propertyId: Opt(Uuid), status: Opt(Status) },
  example: { status: 'draft' },
  find: ({ trx, filter }) => listCampaigns(trx, filter),
})

const changeable = { name: Name, templateId: Uuid, plan: Nullable(Plan), segment: Segment }
const refusals = ['template_not_published', 'context_mismatch'] as const

const create = campaigns.create({
  summary: 'Create a campaign draft for a segment',
  description: 'Its template is for marketing, of context `guest`.',
  errors: ['not_found', ...refusals],
  body: Obj({ propertyId: Uuid, name: Name, templateId: Uuid, plan: Opt(Nullable(Plan)), segment: Segment }),
  example: {
    propertyId: sampleId('propertyId'),
    name: 'Come back in winter',
    templateId: sampleId('marketingTemplateId'),
    plan: [{ channel: 'email', waitMinutes: 30 }],
    segment: { languages: ['pt'], minStays: 1 },
  },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'Campaign', { propertyId: body.propertyId })
    return createCampaign(trx, body)
  },
})

const change = campaigns.change({
  summary: 'Change a campaign draft',
  errors: ['invalid_transition', ...refusals],
  body: Sparse(Obj(changeable)),
  example: { name: 'Come back in spring' },
  command: ({ trx, id, body }) => changeCampaign(trx, id, body),
})

const Preview = Obj(
  {
    dryRun: Bool,
    audience: Count,
    excluded: Excluded,
    byChannel: MapOf(Count, { max: 3 }),
    /** Minor units that these messages would add to this month’s bill, after the allowance. */
    cost: Obj({ amount: Amount, currency: Currency }),
    /** Three of the audience, masked. */
    examples: List(Obj({ name: Text(0, 10), channel: Text(1, 10), address: Text(1, 254) }), { max: 3 }),
  },
  { title: 'CampaignPreview' },
)

const launch = route({
  id: 'campaigns.launch',
  method: 'POST',
  path: `${campaigns.one}/launch`,
  summary: 'Preview or start a campaign, now or later',
  description:
    '`dryRun` answers whom it would reach, whom not and why, and what it would cost, and stores nothing. Messages leave at most 600 a minute, behind those that guests wait for.',
  access: can('launch', 'Campaign'),
  record: campaigns.lock,
  errors: ['invalid_transition', 'audience_empty', 'audience_too_large', 'template_not_published', 'context_mismatch'],
  body: Obj({ dryRun: Opt(Bool), scheduledFor: Opt(Instant) }),
  example: { dryRun: true },
  returns: AnyOf([Preview, Campaign]),
  handle: async ({ trx, params, body }) => {
    if (body.dryRun) {
      const preview = await previewCampaign(trx, params.campaignId)
      const { email = 0, sms = 0, whatsapp = 0 } = preview.byChannel
      const cost = await messagePrices(trx, { 'messages.email': email, 'messages.phone': sms + whatsapp })
      return { ...preview, byChannel: { email, sms, whatsapp }, dryRun: true, cost }
    }
    const at = body.scheduledFor === undefined ? undefined : new Date(body.scheduledFor)
    if (at && at.getTime() > Date.now() + 366 * 86_400_000)
      throw invalid([{ field: 'scheduledFor', message: 'is more than a year ahead' }])
    await launchCampaign(trx, params.campaignId, at)
    return readCampaign(trx, params.campaignId)
  },
})

const cancel = campaigns.act('cancel', {
  summary: 'Stop a campaign and what it has not sent',
  action: 'launch',
  errors: ['invalid_transition'],
  command: ({ trx, id }) => cancelCampaign(trx, id),
})

export const routes = [list, create, change, launch, cancel]
