import { PropertySettings, PropertySettingsChange } from '../../config/property-settings.ts'
import { forbidden } from '../../config/errors.ts'
import { Bool, List, Obj, OneOf, Opt, Sparse, Text, Uuid } from '../../config/schema.ts'
import {
  changeSettings,
  createProperty,
  goLive,
  suspendProperty,
  archiveProperty,
  changeProperty,
  listProperties,
  propertySorts,
  readPropertyRecord,
  refuseIdentity,
  blockersOf,
  warningsOf,
} from '../../db/properties/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { sortOf, SortQuery } from '../lib/sort.ts'
import { propertyFields, propertyKinds, propertyRecord, Reason } from './schemas.ts'

const Summary = Obj(propertyRecord, { title: 'PropertySummary' })
const Property = Obj({ ...propertyRecord, settings: PropertySettings }, { title: 'Property' })
const sorts = Object.keys(propertySorts) as (keyof typeof propertySorts)[]

const path = '/api/tenants/:tenantId/properties'
const record = { table: 'property', param: 'propertyId' }
const { code, slug, name, kind, timezone, currency, locales, ...optional } = propertyFields
const Findings = List(Obj({ code: Text(1, 60), message: Text(1, 500) }), { max: 100 })

const list = paged({
  id: 'properties.list',
  path,
  summary: 'List properties',
  access: can('read', 'Property'),
  query: {
    ...SortQuery,
    status: Opt(OneOf(['draft', 'live', 'suspended', 'archived'])),
    kind: Opt(OneOf([...propertyKinds])),
    q: Opt(Text(1, 120)),
  },
  of: Summary,
  find: ({ trx, query: { sort, ...query }, admission }) =>
    listProperties(trx, {
      ...query,
      sort: sortOf(sort, sorts, 'name'),
      scope: admission.scope('read', 'Property'),
    }),
})

const create = route({
  id: 'properties.create',
  method: 'POST',
  path,
  summary: 'Create a property in draft',
  description:
    'It belongs to the default book unless `bookId` names another one, and has the currency of that book. Callers limited to certain properties cannot add one.',
  access: can('create', 'Property'),
  status: 201,
  errors: ['duplicate_code', 'currency_mismatch', 'not_found', 'rule_violated'],
  body: Obj({
    code,
    slug,
    name,
    kind,
    timezone,
    currency,
    locales,
    ...Sparse(Obj(optional)).properties,
    bookId: Opt(Uuid),
  }),
  returns: Property,
  handle: async ({ trx, body, admission }) => {
    if (admission.propertyIds !== null) throw forbidden()
    refuseIdentity({ locales: body.locales, countryCode: body.address?.countryCode }, body)
    return readPropertyRecord(trx, await createProperty(trx, body))
  },
})

const read = route({
  id: 'properties.read',
  method: 'GET',
  path: `${path}/:propertyId`,
  summary: 'Read a property with its settings',
  access: can('read', 'Property'),
  returns: Property,
  handle: ({ trx, params }) => readPropertyRecord(trx, params.propertyId),
})

const change = route({
  id: 'properties.update',
  method: 'PATCH',
  path: `${path}/:propertyId`,
  summary: 'Change identity, address, hours or texts of a property',
  description:
    'Address, place, texts and lists are replaced whole. The time zone changes only while nothing has a date.',
  access: can('update', 'Property'),
  record,
  errors: ['duplicate_code', 'locked_field', 'invalid_transition', 'rule_violated'],
  body: Sparse(Obj(propertyFields)),
  returns: Property,
  handle: async ({ trx, params, body }) => {
    await changeProperty(trx, params.propertyId, body)
    return readPropertyRecord(trx, params.propertyId)
  },
})

const changeSettingsOf = route({
  id: 'properties.updateSettings',
  method: 'PATCH',
  path: `${path}/:propertyId/settings`,
  summary: 'Change portal, hold, housekeeping and night audit settings',
  description: 'Sections and keys that are not sent stay as they are; a key that is sent replaces its value whole.',
  access: can('update', 'PropertySettings'),
  record,
  errors: ['invalid_transition'],
  body: PropertySettingsChange,
  returns: Property,
  handle: async ({ trx, params, body }) => {
    await changeSettings(trx, params.propertyId, body)
    return readPropertyRecord(trx, params.propertyId)
  },
})

const readiness = route({
  id: 'properties.readiness',
  method: 'GET',
  path: `${path}/:propertyId/readiness`,
  summary: 'List what blocks or weakens going live',
  access: can('read', 'Property'),
  returns: Obj({ ready: Bool, blockers: Findings, warnings: Findings }),
  handle: async ({ trx, params }) => {
    await readPropertyRecord(trx, params.propertyId)
    const blockers = await blockersOf(trx, params.propertyId)
    return { ready: blockers.length === 0, blockers, warnings: await warningsOf(trx, params.propertyId) }
  },
})

const publish = route({
  id: 'properties.goLive',
  method: 'POST',
  path: `${path}/:propertyId/go-live`,
  summary: 'Open a property for sale',
  access: can('publish', 'Property'),
  record,
  errors: ['not_ready', 'invalid_transition'],
  returns: Property,
  handle: async ({ trx, params }) => {
    await goLive(trx, params.propertyId)
    return readPropertyRecord(trx, params.propertyId)
  },
})

const suspend = route({
  id: 'properties.suspend',
  method: 'POST',
  path: `${path}/:propertyId/suspend`,
  summary: 'Stop all sales of a property',
  access: can('publish', 'Property'),
  record,
  errors: ['invalid_transition'],
  body: Reason,
  returns: Property,
  handle: async ({ trx, params, body }) => {
    await suspendProperty(trx, params.propertyId, body.reason)
    return readPropertyRecord(trx, params.propertyId)
  },
})

const archive = route({
  id: 'properties.archive',
  method: 'POST',
  path: `${path}/:propertyId/archive`,
  summary: 'Retire a property that has no open business',
  access: can('delete', 'Property'),
  record,
  errors: ['invalid_transition', 'in_use'],
  returns: Property,
  handle: async ({ trx, params }) => {
    await archiveProperty(trx, params.propertyId)
    return readPropertyRecord(trx, params.propertyId)
  },
})

export const routes = [list, create, read, change, changeSettingsOf, readiness, publish, suspend, archive]
