import { sampleDay, sampleId } from '../../config/samples.ts'
import { Day, Int, List, Obj, OneOf, Opt, Uuid } from '../../config/schema.ts'
import { listSheets, publishSheet, readSheet, shareOutDay } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { HousekeepingSheet, HousekeepingTask, housekeeping } from './housekeeping-schemas.ts'

const path = `${housekeeping}/sheets` as const
const sheets = resource({
  name: 'housekeepingSheets',
  subject: 'HousekeepingSheet',
  table: 'housekeeping_sheet',
  path,
  param: 'housekeepingSheetId',
  record: HousekeepingSheet,
  read: readSheet,
})

const list = sheets.list({
  summary: 'List day sheets with their tasks',
  description: 'With their tasks where `include=tasks` asks for them. Housekeepers see their own, once published.',
  query: { propertyId: Opt(Uuid), date: Opt(Day), attendantId: Opt(Uuid), include: Opt(OneOf(['tasks'])) },
  example: { date: sampleDay(1), include: 'tasks' },
  find: ({ trx, filter: { include, ...filter }, admission }) =>
    listSheets(trx, {
      ...filter,
      withTasks: include === 'tasks',
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
  example: {
    propertyId: sampleId('propertyId'),
    date: sampleDay(1),
    attendants: [{ userId: sampleId('userId'), maxCredits: 14 }],
  },
  returns: Obj({ sheets: List(HousekeepingSheet, { max: 50 }), unassigned: List(HousekeepingTask, { max: 5000 }) }),
  handle: ({ trx, body }) => shareOutDay(trx, body),
})

const publish = sheets.act('publish', {
  summary: 'Give a sheet to its attendant',
  errors: ['invalid_transition'],
  command: ({ trx, id }) => publishSheet(trx, id),
})

export const routes = [list, create, publish]
