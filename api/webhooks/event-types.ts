import { Anything, MapOf, Nullable, Obj, Opt, Text } from '../../config/schema.ts'
import { subjectFacts } from '../../config/subjects.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { typesShown } from './sight.ts'

const EventType = Obj(
  {
    type: Text(1, 100),
    entity: Text(1, 60),
    module: Text(1, 40),
    subject: Text(1, 60),
    feature: Nullable(Text(1, 40)),
    description: Text(1, 200),
    /** JSON Schema of the event's `data`. */
    data: MapOf(Anything, { max: 50 }),
  },
  { title: 'EventType' },
)

const words = (text: string) => text.replaceAll('_', ' ')

/** "Reservation: checked in". */
export const describeType = (type: string): string => {
  const [entity = '', verb = ''] = type.split('.')
  return `${words(entity).replace(/^./, (letter) => letter.toUpperCase())}: ${words(verb)}`
}

const list = paged({
  id: 'webhooks.eventTypes',
  path: '/api/tenants/:tenantId/webhooks/event-types',
  summary: 'List event types with their data fields',
  description: 'Types that you may read, of features that are active. `data` is a JSON Schema (draft 2020-12).',
  access: can('read', 'WebhookEndpoint'),
  query: { type: Opt(Text(1, 100)), module: Opt(Text(1, 40)) },
  of: EventType,
  find: ({ admission, query: { page, limit, type, module } }) => {
    admission.scope('read', 'WebhookEndpoint')
    const found = typesShown(admission)
      .map((event) => ({ event, facts: subjectFacts(event.subject) }))
      .filter(({ event, facts }) => (type ?? event.type) === event.type && (module ?? facts.module) === facts.module)
    const rows = found.slice((page - 1) * limit, page * limit).map(({ event, facts }) => ({
      type: event.type,
      entity: event.entity,
      module: facts.module,
      subject: event.subject,
      feature: facts.feature,
      description: describeType(event.type),
      data: { ...event.data },
    }))
    return Promise.resolve({ total: found.length, rows })
  },
})

export const routes = [list]
