import { Day, Int, List, Obj, OneOf, Opt, Uuid } from '../../config/schema.ts'
import { listSheets, publishSheet, readSheet, shareOutDay } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { HousekeepingSheet, HousekeepingTask, housekeeping } from './housekeeping-schemas.ts'

const path = `${housekeeping}/sheets` as const

const list = paged({
  id: 'housekeepingSheets.list',
  path,
  summary: 'List day sheets with their tasks',
  description: 'With their tasks where `include=tasks` asks for them. Housekeepers see their own, once published.',
  access: can('read', 'HousekeepingSheet'),
  query: { propertyId: Opt(Uuid), date: Opt(Day), attendantId: Opt(Uuid), include: Opt(OneOf(['tasks'])) },
  of: HousekeepingSheet,
  find: ({ trx, query: { include, ...query }, admission }) =>
    listSheets(trx, {
      ...query,
      withTasks: include === 'tasks',
      scope: admission.scope('read', 'HousekeepingSheet'),
      taskScope: admission.scope('read', 'HousekeepingTask'),
    }),
})

const create = route({
  id: 'housekeepingSheets.create',
  method: 'POST',
  path,
  summary: 'Share out a day’s tasks among attendants',
  description:
    'Open tasks that nobody has, by priority, building, floor and door: each goes to the attendant with the fewest credits so far, within his `maxCredits`. It takes back what lies in drafts; published sheets stay, and get more. `unassigned` is what fits nobody.',
  access: can('create', 'HousekeepingSheet'),
  status: 201,
  errors: ['reference_not_found', 'date_out_of_range', 'invalid_transition', 'not_found'],
  body: Obj({
    propertyId: Uuid,
    date: Day,
    attendants: List(Obj({ userId: Uuid, maxCredits: Int(1, 200) }), { min: 1, max: 50 }),
  }),
  returns: Obj({ sheets: List(HousekeepingSheet, { max: 50 }), unassigned: List(HousekeepingTask, { max: 5000 }) }),
  handle: ({ trx, body }) => shareOutDay(trx, body),
})

const publish = route({
  id: 'housekeepingSheets.publish',
  method: 'POST',
  path: `${path}/:housekeepingSheetId/publish`,
  summary: 'Give a sheet to its attendant',
  access: can('publish', 'HousekeepingSheet'),
  record: { table: 'housekeeping_sheet', param: 'housekeepingSheetId' },
  errors: ['invalid_transition'],
  returns: HousekeepingSheet,
  handle: async ({ trx, params }) => {
    await publishSheet(trx, params.housekeepingSheetId)
    return readSheet(trx, params.housekeepingSheetId)
  },
})

export const routes = [list, create, publish]
