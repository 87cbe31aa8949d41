import {
  Int,
  Language,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
  Count,
  Bool,
  MapOf,
} from '../../config/schema.ts'
import { messageContexts, messageVariables } from '../../config/message-variables.ts'
import { notFound } from '../../config/errors.ts'
import {
  anchors,
  archiveTemplate,
  changeTemplate,
  createTemplate,
  listTemplates,
  previewTemplate,
  propertyOfPreview,
  publishTemplate,
  readTemplate,
  segmentFields,
  triggerEvents,
} from '../../db/ocp/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'
import { Context, GivenContent, Kind, Name, Purpose, root, TemplateVersion, Urgency } from './schemas.ts'

const fields = {
  id: Uuid,
  key: Text(3, 60),
  name: Text(1, 120),
  purpose: Purpose,
  urgency: Urgency,
  context: Context,
  status: OneOf(['active', 'archived']),
  publishedNumber: Nullable(Int(1, 1_000_000)),
  ...stamps,
}
const Contents = List(GivenContent, { min: 1, max: 30 })
const atSave = ['variable_unknown', 'html_not_allowed'] as const

const templates = resource({
  name: 'messageTemplates',
  subject: 'MessageTemplate',
  table: 'message_template',
  path: `${root}/templates`,
  param: 'messageTemplateId',
  record: Obj({ ...fields, versions: List(TemplateVersion, { max: 1_000 }) }, { title: 'MessageTemplate' }),
  read: readTemplate,
})

const list = templates.list({
  summary: 'List templates',
  query: {
    purpose: Opt(Purpose),
    context: Opt(Context),
    status: Opt(OneOf(['active', 'archived'])),
    q: Opt(Words(1, 60)),
  },
  of: Obj(fields, { title: 'MessageTemplateHead' }),
  example: { status: 'active' },
  find: ({ trx, filter }) => listTemplates(trx, filter),
})

const create = templates.create({
  summary: 'Create a template with a first draft',
  description:
    'Texts hold values as `{{guest.firstName | default:"guest"}}`, with the filters `date`, `time`, `money` and `default`. A variable that the context does not have is refused.',
  errors: ['duplicate_key', ...atSave],
  body: Obj({
    key: Matching('^[a-z0-9-]{3,60}$', 60),
    name: Name,
    purpose: Purpose,
    urgency: Urgency,
    context: Context,
    contents: Contents,
  }),
  example: {
    key: 'welcome-note',
    name: 'Welcome note',
    purpose: 'service',
    urgency: 'normal',
    context: 'reservation',
    contents: [
      {
        channel: 'email',
        locale: 'en',
        subject: 'Welcome to {{property.name}}',
        text: 'Dear {{guest.firstName | default:"guest"}}, we look forward to your stay.',
      },
    ],
  },
  command: ({ trx, body }) => createTemplate(trx, body),
})

const read = templates.read({ summary: 'Read a template with its versions' })

const change = templates.change({
  summary: 'Change name or the draft of a template',
  description:
    '`contents` replace those of the draft; one is made where there is none. What is published stays in use.',
  errors: ['invalid_transition', ...atSave],
  body: Obj({ name: Opt(Name), contents: Opt(Contents) }),
  example: { name: 'Welcome note of the house' },
  command: ({ trx, id, body }) => changeTemplate(trx, id, body),
})

const preview = route({
  id: 'messageTemplates.preview',
  method: 'POST',
  path: `${templates.one}/preview`,
  summary: 'Render a version with a real or sample record',
  description: 'Without a record, with examples of each variable. Codes and links are shown as •••.',
  access: can('read', 'MessageTemplate'),
  readOnly: true,
  idempotency: 'off',
  body: Obj({
    number: Opt(Int(1, 1_000_000)),
    channel: Kind,
    locale: Language,
    reservationId: Opt(Uuid),
    paymentId: Opt(Uuid),
    issueId: Opt(Uuid),
  }),
  example: { channel: 'email', locale: 'en' },
  returns: Obj(
    {
      locale: Text(2, 12),
      subject: Text(0, 10_000),
      text: Text(0, 1_000_000),
      html: Nullable(Text(0, 1_000_000)),
      contentSid: Nullable(Text(1, 100)),
      contentVariables: Nullable(MapOf(Text(0, 10_000), { max: 20 })),
      segments: Nullable(Count),
      missing: List(Text(1, 100), { max: 200 }),
    },
    { title: 'MessagePreview' },
  ),
  handle: async ({ trx, params, body, admission }) => {
    const propertyId = await propertyOfPreview(trx, body)
    const subject = body.reservationId ? 'Reservation' : 'Payment'
    if (propertyId !== null && !admission.can('read', subject)) throw notFound()
    admission.check('read', 'MessageTemplate', { propertyId })
    return previewTemplate(trx, params.messageTemplateId, body)
  },
})

const publish = templates.act('publish', {
  summary: 'Make the draft the version in use',
  description:
    'Every variable that may be empty needs a default, each language the same variables, marketing mail a way out.',
  errors: ['template_incomplete', 'invalid_transition'],
  command: ({ trx, id }) => publishTemplate(trx, id),
})

const archive = templates.act('archive', {
  summary: 'Retire a template that no automation uses',
  action: 'delete',
  errors: ['template_in_use'],
  command: ({ trx, id }) => archiveTemplate(trx, id),
})

const catalogue = route({
  id: 'messages.catalogue',
  method: 'GET',
  path: `${root}/catalogue`,
  summary: 'List triggers, variables and segment fields',
  access: can('read', 'MessageTemplate'),
  returns: Obj(
    {
      events: List(Text(1, 60), { max: 100 }),
      anchors: List(Text(1, 40), { max: 20 }),
      contexts: List(
        Obj({
          context: Context,
          variables: List(
            Obj({ path: Text(1, 100), type: Text(1, 20), nullable: Bool, example: Text(0, 200), secret: Bool }),
            { max: 100 },
          ),
        }),
        { max: 20 },
      ),
      segmentFields: List(Text(1, 40), { max: 30 }),
      filters: List(Text(1, 20), { max: 10 }),
    },
    { title: 'MessageCatalogue' },
  ),
  handle: () =>
    Promise.resolve({
      events: [...triggerEvents],
      anchors: [...anchors],
      contexts: messageContexts.map((context) => ({
        context,
        variables: messageVariables[context].map(({ path, type, nullable, example, secret }) => ({
          path,
          type,
          nullable,
          example: String(example),
          secret: secret ?? false,
        })),
      })),
      segmentFields: [...segmentFields],
      filters: ['date', 'time', 'money', 'default'],
    }),
})

export const routes = [catalogue, list, create, read, change, preview, publish, archive]
