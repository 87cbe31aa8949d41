import { PropertySettings, PropertySettingsChange } from '../../config/property-settings.ts'
import type { SettingsChange } from '../../config/property-settings.ts'
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
  blockersOf,
  warningsOf,
} from '../../db/properties/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Caller } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { propertyFields, propertyKinds, propertyRecord, Reason } from './schemas.ts'

const Summary = Obj(propertyRecord, { title: 'PropertySummary' })
const Property = Obj({ ...propertyRecord, settings: PropertySettings }, { title: 'Property' })
const sorts = Object.keys(propertySorts) as (keyof typeof propertySorts)[]

const properties = resource({
  name: 'properties',
  subject: 'Property',
  table: 'property',
  path: '/api/tenants/:tenantId/properties',
  param: 'propertyId',
  record: Property,
  read: readPropertyRecord,
})
const { code, slug, name, kind, timezone, currency, locales, ...optional } = propertyFields
const Findings = List(Obj({ code: Text(1, 60), message: Text(1, 500) }), { max: 100 })

const list = properties.list({
  summary: 'List properties',
  sort: { by: sorts, usual: 'name' },
  query: {
    status: Opt(OneOf(['draft', 'live', 'suspended', 'archived'])),
    kind: Opt(OneOf([...propertyKinds])),
    q: Opt(Text(1, 120)),
  },
  of: Summary,
  example: { status: 'live', sort: '-name' },
  find: ({ trx, filter }) => listProperties(trx, filter),
})

const create = properties.create({
  summary: 'Create a property in draft',
  description:
    'It belongs to the default book unless `bookId` names another one, and has the currency of that book. Callers limited to certain properties cannot add one.',
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
  example: {
    code: 'SOL',
    slug: 'casa-do-sol',
    name: 'Casa do Sol',
    kind: 'inn',
    timezone: 'America/Sao_Paulo',
    currency: 'BRL',
    locales: ['pt-BR', 'en'],
  },
  command: ({ trx, body, admission }) => {
    if (admission.propertyIds !== null) throw forbidden()
    return createProperty(trx, body)
  },
})

const read = properties.read({
  summary: 'Read a property with its settings',
})

const change = properties.change({
  summary: 'Change identity, address, hours or texts of a property',
  description:
    'Address, place, texts and lists are replaced whole. The time zone changes only while nothing has a date.',
  errors: ['duplicate_code', 'locked_field', 'invalid_transition', 'rule_violated'],
  body: Sparse(Obj(propertyFields)),
  example: { cleaningMinutes: 30, description: { 'pt-BR': 'Casa perto do mar' } },
  command: ({ trx, id, body }) => changeProperty(trx, id, body),
})

/** Settings that say to whom the data of guests go: no support session sets them. */
const ofAuthority = ['authority', 'endpointUrl', 'credentials'] as const

const refuseSupport = (caller: Caller, { registration }: SettingsChange): void => {
  if (caller.kind === 'user' && caller.support && ofAuthority.some((key) => registration?.[key] !== undefined))
    throw forbidden('forbidden', 'Insufficient permissions: a support session does not say where data of guests go')
}

const changeSettingsOf = route({
  id: 'properties.updateSettings',
  method: 'PATCH',
  path: `${properties.one}/settings`,
  summary: 'Change portal, hold, housekeeping and night audit settings',
  description: 'Sections and keys that are not sent stay as they are; a key that is sent replaces its value whole.',
  access: can('update', 'PropertySettings'),
  record: properties.lock,
  errors: ['invalid_transition'],
  body: PropertySettingsChange,
  example: { holds: { checkoutMinutes: 12 }, portal: { maxNights: 20 } },
  returns: Property,
  handle: async ({ trx, caller, params, body }) => {
    refuseSupport(caller, body)
    await changeSettings(trx, params.propertyId, body)
    return readPropertyRecord(trx, params.propertyId)
  },
})

const readiness = route({
  id: 'properties.readiness',
  method: 'GET',
  path: `${properties.one}/readiness`,
  summary: 'List what blocks or weakens going live',
  access: can('read', 'Property'),
  returns: Obj({ ready: Bool, blockers: Findings, warnings: Findings }),
  handle: async ({ trx, params }) => {
    await readPropertyRecord(trx, params.propertyId)
    const blockers = await blockersOf(trx, params.propertyId)
    return { ready: blockers.length === 0, blockers, warnings: await warningsOf(trx, params.propertyId) }
  },
})

const publish = properties.act('go-live', {
  summary: 'Open a property for sale',
  action: 'publish',
  errors: ['not_ready', 'invalid_transition'],
  command: ({ trx, id }) => goLive(trx, id),
})

const suspend = properties.act('suspend', {
  summary: 'Stop all sales of a property',
  action: 'publish',
  errors: ['invalid_transition'],
  body: Reason,
  example: { reason: 'A storm' },
  command: ({ trx, id, body }) => suspendProperty(trx, id, body.reason),
})

const archive = properties.act('archive', {
  summary: 'Retire a property that has no open business',
  action: 'delete',
  errors: ['invalid_transition', 'in_use'],
  command: ({ trx, id }) => archiveProperty(trx, id),
})

export const routes = [list, create, read, change, changeSettingsOf, readiness, publish, suspend, archive]
