import { sampleDay, sampleId } from '../../config/samples.ts'
import {
  AnyOf,
  Bool,
  Day,
  Int,
  List,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  applyTemplate,
  changeTemplate,
  createTemplate,
  listTemplates,
  pauseTemplate,
  readDraft,
  readTemplate,
  removeTemplate,
  resumeTemplate,
  runsOf,
} from '../../db/financial/index.ts'
import { can } from '../lib/access/kinds.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { EntryDraft } from './entry-drafts.ts'
import { Name, stamps } from './schemas.ts'

const variableName = Text(1, 40, { pattern: '^[a-z][A-Za-z0-9_]{0,39}$' })
const Money = Int(0, 10_000_000_000_000)
const Amount = AnyOf([
  Int(1, 10_000_000_000_000),
  Obj({ variable: variableName, rate: Int(0, 1_000_000) }),
  OneOf(['rest']),
])
const Line = Obj(
  {
    accountId: Uuid,
    side: OneOf(['debit', 'credit']),
    amount: Amount,
    propertyId: Opt(Nullable(Uuid)),
    costCenterId: Opt(Nullable(Uuid)),
    memo: Opt(Words(0, 200)),
  },
  { title: 'TemplateLine' },
)
const Variable = Obj({ name: variableName, default: Opt(Money) }, { title: 'TemplateVariable' })
const Schedule = Obj(
  {
    every: Int(1, 24),
    unit: OneOf(['week', 'month', 'year']),
    day: Opt(Int(1, 31)),
    firstOn: Day,
    endsOn: Opt(Nullable(Day)),
    mode: OneOf(['draft', 'post']),
  },
  { title: 'EntrySchedule' },
)
const given = {
  name: Name,
  journalId: Opt(Nullable(Uuid)),
  description: Words(1, 300),
  variables: Opt(List(Variable, { max: 20 })),
  lines: List(Line, { min: 2, max: 100 }),
  schedule: Opt(Nullable(Schedule)),
}
const status = OneOf(['active', 'paused'])
const record = {
  id: Uuid,
  bookId: Uuid,
  ...given,
  journalId: Nullable(Uuid),
  variables: List(Variable, { max: 20 }),
  schedule: Nullable(Schedule),
  nextOn: Nullable(Day),
  runs: Int(0, 2_147_483_647),
  status,
  createdBy: Uuid,
  ...stamps,
}
const Run = Obj({
  run: Int(1, 2_147_483_647),
  on: Day,
  entryId: Nullable(Uuid),
  entryDraftId: Nullable(Uuid),
})
const path = '/api/tenants/:tenantId/financial/entry-templates'

const templates = resource({
  name: 'entryTemplates',
  subject: 'EntryTemplate',
  table: 'entry_template',
  path,
  param: 'entryTemplateId',
  record: Obj(record, { title: 'EntryTemplate' }),
  read: readTemplate,
  show: (template) => ({
    ...template,
    status: template.status === 'paused' ? ('paused' as const) : ('active' as const),
  }),
})

const list = templates.list({
  summary: 'List entry templates and recurring entries with next run',
  query: { bookId: Opt(Uuid), status: Opt(status) },
  example: { status: 'active' },
  find: ({ trx, filter }) => listTemplates(trx, filter),
})

const ofTemplate = [
  'template_not_balanced',
  'account_not_usable',
  'reference_not_found',
  'period_missing',
  'period_closed',
  'date_locked',
] as const

const create = templates.create({
  summary: 'Create a template, with a schedule for a recurring entry',
  description:
    'Amounts are fixed, shares of a variable in basis points, or the rest. Fixed amounts balance, or exactly one line takes the rest. What the schedule has due by today is made at once: one entry or draft for each date.',
  errors: ['not_found', ...ofTemplate],
  body: Obj({ bookId: Opt(Uuid), ...given }),
  example: {
    bookId: sampleId('bookId'),
    name: 'Payroll',
    description: 'Payroll of the month',
    variables: [{ name: 'gross', default: 1_000_000 }],
    lines: [
      { accountId: sampleId('expenseAccountId'), side: 'debit', amount: { variable: 'gross', rate: 10_000 } },
      { accountId: sampleId('liabilityAccountId'), side: 'credit', amount: 'rest' },
    ],
    schedule: { every: 1, unit: 'month', day: 31, firstOn: sampleDay(0), mode: 'draft' },
  },
  command: ({ trx, body, admission }) => createTemplate(trx, body, admission.scope('post', 'LedgerEntry')),
})

const read = route({
  id: 'entryTemplates.read',
  method: 'GET',
  path: `${path}/:entryTemplateId`,
  summary: 'Show a template with schedule and past runs',
  description: 'The last hundred runs, each with the entry or the draft that came of it.',
  access: can('read', 'EntryTemplate'),
  returns: Obj({ ...record, pastRuns: List(Run, { max: 100 }) }, { title: 'EntryTemplateRead' }),
  handle: async ({ trx, params, admission }) => {
    const template = await readTemplate(trx, params.entryTemplateId)
    admission.check('read', 'EntryTemplate', asJudged('entry_template', template.id, template))
    return {
      ...template,
      status: template.status === 'paused' ? ('paused' as const) : ('active' as const),
      pastRuns: await runsOf(trx, template.id),
    }
  },
})

const change = templates.change({
  summary: 'Change lines or schedule for future runs',
  description: '`lines` and `variables` are replaced whole; `schedule: null` ends the schedule.',
  errors: ofTemplate,
  body: Sparse(Obj(given)),
  example: { description: 'Payroll' },
  command: ({ trx, id, body, admission }) => changeTemplate(trx, id, body, admission.scope('post', 'LedgerEntry')),
})

const remove = templates.remove({
  summary: 'Remove a template and end its schedule',
  description: 'What it made stays.',
  command: ({ trx, id }) => removeTemplate(trx, id),
})

const apply = route({
  id: 'entryTemplates.apply',
  method: 'POST',
  path: `${path}/:entryTemplateId/apply`,
  summary: 'Make a draft from a template and variables',
  access: can('create', 'EntryDraft'),
  status: 201,
  body: Obj({
    postingDate: Day,
    variables: Opt(MapOf(Money, { max: 20 })),
    description: Opt(Words(1, 300)),
  }),
  example: { postingDate: sampleDay(0), variables: { gross: 1_200_000 } },
  returns: EntryDraft,
  errors: ['template_not_balanced'],
  handle: async ({ trx, params, body }) => readDraft(trx, await applyTemplate(trx, params.entryTemplateId, body)),
})

const pause = templates.act('pause', {
  action: 'update',
  summary: 'Pause the schedule of a recurring entry',
  errors: ['invalid_transition'],
  command: ({ trx, id }) => pauseTemplate(trx, id),
})

const resume = templates.act('resume', {
  action: 'update',
  summary: 'Resume a paused schedule, catching up if asked',
  description: 'Dates that fell due meanwhile are left out, unless `catchUp` says that they are made now.',
  errors: ['invalid_transition'],
  body: Obj({ catchUp: Opt(Bool) }),
  example: { catchUp: false },
  command: ({ trx, id, body }) => resumeTemplate(trx, id, body.catchUp ?? false),
})

export const routes = [list, create, read, change, remove, apply, pause, resume]
