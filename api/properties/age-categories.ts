import { Bool, Int, List, LocalName, Nullable, Obj, Opt, Uuid } from '../../config/schema.ts'
import { readAgeCategories, replaceAgeCategories } from '../../db/properties/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { AgeKind, Code, ofProperty, propertyRow } from './schemas.ts'

const fields = {
  code: Code,
  name: LocalName,
  minAge: Int(0, 120),
  /** Null in the last band alone. */
  maxAge: Nullable(Int(0, 120)),
  kind: AgeKind,
  countsInOccupancy: Bool,
}
/** `id` is null where the usual bands hold; `version` is the property's. */
const AgeCategories = Obj(
  { data: List(Obj({ id: Nullable(Uuid), ...fields }), { max: 20 }), version: propertyRow.version },
  { title: 'AgeCategories' },
)
const path = `${ofProperty}/age-categories` as const

const list = route({
  id: 'ageCategories.list',
  method: 'GET',
  path,
  summary: 'List age categories',
  description: 'Without a set of its own a property counts infants to 1, children to 11, and adults.',
  access: can('read', 'AgeCategory'),
  returns: AgeCategories,
  handle: ({ trx, params }) => readAgeCategories(trx, params.propertyId),
})

const replace = route({
  id: 'ageCategories.replace',
  method: 'PUT',
  path,
  summary: 'Replace the set of age categories',
  description:
    'Bands begin at 0, leave no gap and end with the one of adults. An entry with a known `id` is kept and changed; `If-Match` is the version of the property.',
  access: can('update', 'AgeCategory'),
  record: { table: 'property', param: 'propertyId' },
  errors: ['bands_not_contiguous', 'in_use', 'reference_not_found', 'duplicate_code', 'invalid_transition'],
  body: Obj({ ageCategories: List(Obj({ id: Opt(Uuid), ...fields }), { min: 1, max: 20 }) }),
  example: {
    ageCategories: [
      { code: 'INFANT', name: { en: 'Infants' }, minAge: 0, maxAge: 2, kind: 'infant', countsInOccupancy: false },
      { code: 'CHILD', name: { en: 'Children' }, minAge: 3, maxAge: 11, kind: 'child', countsInOccupancy: true },
      { code: 'ADULT', name: { en: 'Adults' }, minAge: 12, maxAge: null, kind: 'adult', countsInOccupancy: true },
    ],
  },
  returns: AgeCategories,
  handle: async ({ trx, params, body }) => {
    await replaceAgeCategories(trx, params.propertyId, body.ageCategories)
    return readAgeCategories(trx, params.propertyId)
  },
})

export const routes = [list, replace]
