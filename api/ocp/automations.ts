import { sampleId } from '../../config/samples.ts'
import { Bool, Count, Int, Nullable, Obj, Opt, Sparse, Text, Uuid } from '../../config/schema.ts'
import {
  changeAutomation,
  createAutomation,
  deleteAutomation,
  listAutomations,
  readAutomation,
} from '../../db/ocp/index.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { Conditions, GivenTrigger, Name, Plan, root, StoredPlan, Trigger } from './schemas.ts'

const automations = resource({
  name: 'automations',
  subject: 'Automation',
  table: 'automation',
  path: `${root}/automations`,
  param: 'automationId',
  record: Obj(
    {
      id: Uuid,
      /** Null: all houses. */
      propertyId: Nullable(Uuid),
      name: Text(1, 120),
      enabled: Bool,
      trigger: Trigger,
      conditions: Conditions,
      templateId: Uuid,
      /** Null: the order of the house. */
      plan: Nullable(StoredPlan),
      /** A message that could not leave for so long does not leave any more. */
      validMinutes: Int(10, 43_200),
      last30Days: Obj({ queued: Count, sent: Count, delivered: Count, failed: Count, suppressed: Count }),
      ...stamps,
    },
    { title: 'Automation' },
  ),
  read: readAutomation,
})

const changeable = {
  propertyId: Nullable(Uuid),
  name: Name,
  enabled: Bool,
  trigger: GivenTrigger,
  conditions: Conditions,
  templateId: Uuid,
  plan: Nullable(Plan),
  validMinutes: Int(10, 43_200),
}
const refusals = ['duplicate_name', 'template_not_published', 'context_mismatch', 'reference_not_found'] as const

const list = automations.list({
  summary: 'List automations with their last month’s outcome',
  query: { propertyId: Opt(Uuid), enabled: Opt(Bool), templateId: Opt(Uuid) },
  example: { enabled: true },
  find: ({ trx, filter }) => listAutomations(trx, filter),
})

const { name, trigger, templateId, ...optional } = changeable
const create = automations.create({
  summary: 'Send a template on an event or before a date',
  description:
    'A trigger is `{event}`, or an anchor with `days` and `at` in the time of the house, or with `hours`. Each occasion has one message, however often its event is repeated.',
  errors: ['too_many', 'not_found', ...refusals],
  body: Obj({ name, trigger, templateId, ...Sparse(Obj(optional)).properties }),
  example: {
    propertyId: sampleId('propertyId'),
    name: 'Three days before',
    trigger: { anchor: 'arrival', days: -3, at: '10:00' },
    templateId: sampleId('publishedTemplateId'),
    enabled: true,
  },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'Automation', { propertyId: body.propertyId ?? null })
    return createAutomation(trx, body)
  },
})

const change = automations.change({
  summary: 'Change, switch on or switch off an automation',
  description: 'What it has scheduled follows: it is moved, cancelled or made within a minute or two.',
  errors: refusals,
  body: Sparse(Obj(changeable)),
  example: { enabled: false, validMinutes: 600 },
  command: ({ trx, id, body, admission }) => {
    if (body.propertyId !== undefined) admission.check('update', 'Automation', { propertyId: body.propertyId })
    return changeAutomation(trx, id, body)
  },
})

const remove = automations.remove({
  summary: 'Delete an automation and cancel what it scheduled',
  command: ({ trx, id }) => deleteAutomation(trx, id),
})

export const routes = [list, create, change, remove]
