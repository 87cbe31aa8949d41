import { sampleDay } from '../../config/samples.ts'
import { Day, List, Matching, Obj, Opt, Uuid, Words } from '../../config/schema.ts'
import { readSeasons, replaceSeasons } from '../../db/properties/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { Code, ofProperty, propertyRow } from './schemas.ts'

const fields = {
  code: Code,
  name: Words(1, 80),
  colour: Matching('^#[0-9a-f]{6}$', 7),
  ranges: List(Obj({ from: Day, to: Day }), { min: 1, max: 20 }),
}
/** `version` is the property's. */
const Seasons = Obj(
  { data: List(Obj({ id: Uuid, ...fields }), { max: 50 }), version: propertyRow.version },
  { title: 'Seasons' },
)
const path = `${ofProperty}/seasons` as const

const list = route({
  id: 'seasons.list',
  method: 'GET',
  path,
  summary: 'List seasons with their date ranges',
  access: can('read', 'Season'),
  returns: Seasons,
  handle: ({ trx, params }) => readSeasons(trx, params.propertyId),
})

const replace = route({
  id: 'seasons.replace',
  method: 'PUT',
  path,
  summary: 'Replace the set of seasons',
  description:
    'A season selects days, both ends included, for bulk changes; it holds no price. `If-Match` is the version of the property.',
  access: can('update', 'Season'),
  record: { table: 'property', param: 'propertyId' },
  errors: ['seasons_overlap', 'reference_not_found', 'duplicate_code', 'invalid_transition'],
  body: Obj({ seasons: List(Obj({ id: Opt(Uuid), ...fields }), { max: 50 }) }),
  example: {
    seasons: [
      { code: 'HIGH', name: 'High season', colour: '#d9480f', ranges: [{ from: sampleDay(20), to: sampleDay(50) }] },
    ],
  },
  returns: Seasons,
  handle: async ({ trx, params, body }) => {
    await replaceSeasons(trx, params.propertyId, body.seasons)
    return readSeasons(trx, params.propertyId)
  },
})

export const routes = [list, replace]
