import { sampleDay, sampleId } from '../../config/samples.ts'
import { ChildrenAges } from '../../config/quote.ts'
import { Bool, Count, Day, Instant, List, Nullable, Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import { maskEmail, maskPhone } from '../../db/guests/index.ts'
import {
  cancelGroup,
  cancelReasons,
  changeGroup,
  confirmGroup,
  createGroup,
  importRoomingList,
  listGroups,
  optionGroup,
  readGroup,
  releaseGroup,
  setAllotment,
} from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { mayOverride } from '../lib/override.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { Code } from '../properties/schemas.ts'
import {
  AllotmentNights,
  Group,
  GroupContact,
  GroupListed,
  GroupName,
  GroupRelease,
  GroupRouting,
  GroupStatus,
} from './group-schemas.ts'

import { personOf } from './people.ts'
import { NamedPerson } from './requests.ts'
import { Adults } from './schemas.ts'

type Contact = Awaited<ReturnType<typeof readGroup>>['contact']

/** A person to speak with as API keys see one: reached by nothing whole. */
const masked = (contact: Contact): Contact =>
  contact && {
    ...contact,
    ...(contact.email ? { email: maskEmail(contact.email) } : {}),
    ...(contact.phone ? { phone: maskPhone(contact.phone) } : {}),
  }

const show = (group: Awaited<ReturnType<typeof readGroup>>, admission: Admission) => {
  const { balance, contact, ...rest } = group
  return {
    ...rest,
    contact: admission.isMasked('Group') ? null : admission.role === null ? masked(contact) : contact,
    ...(admission.can('read', 'Folio') ? { balance } : {}),
  }
}

/** One group. Its commands lock it after the business day, and some after its bookings. */
const groups = resource({
  name: 'groups',
  subject: 'Group',
  table: 'booking_group',
  path: '/api/tenants/:tenantId/groups',
  param: 'groupId',
  lockedBy: 'command',
  record: Group,
  read: readGroup,
  show,
})

const list = groups.list({
  summary: 'List groups with pick-up',
  description: '`from` and `to` find groups that spend a night within `[from, to)`.',
  query: {
    propertyId: Opt(Uuid),
    status: Opt(GroupStatus),
    companyId: Opt(Uuid),
    from: Opt(Day),
    to: Opt(Day),
    q: Opt(Text(1, 120)),
  },
  of: GroupListed,
  example: { status: 'confirmed', q: 'wedding' },
  find: ({ trx, filter }) => listGroups(trx, filter),
})

const create = groups.create({
  summary: 'Create a group with its allotment',
  description:
    'An inquiry takes nothing from sale: an option or the confirmation does. Rooms cost the plan of the group, or `amount` a night.',
  errors: [
    'reference_not_found',
    'company_archived',
    'duplicate_code',
    'rule_violated',
    'date_out_of_range',
    'invalid_transition',
    'not_found',
    'business_day_changed',
  ],
  body: Obj({
    propertyId: Uuid,
    code: Code,
    name: GroupName,
    arrival: Day,
    departure: Day,
    ratePlanId: Uuid,
    companyId: Opt(Nullable(Uuid)),
    contact: Opt(Nullable(GroupContact)),
    release: Opt(GroupRelease),
    routing: Opt(GroupRouting),
    notes: Opt(Text(0, 2000)),
    allotment: Opt(Obj({ nights: AllotmentNights })),
  }),
  example: {
    propertyId: sampleId('propertyId'),
    code: 'WEDDING',
    name: 'Wedding of the year',
    arrival: sampleDay(60),
    departure: sampleDay(62),
    ratePlanId: sampleId('ratePlanId'),
    release: { type: 'rolling', daysBefore: 7 },
    allotment: {
      nights: [{ unitTypeId: sampleId('unitTypeId'), from: sampleDay(60), to: sampleDay(62), quantity: 1 }],
    },
  },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'Group', { propertyId: body.propertyId })
    return createGroup(trx, body)
  },
})

const read = groups.read({ summary: 'Read a group with allotment, pick-up and balance' })

const change = groups.change({
  summary: 'Change name, contact, cut-off, plan or routing',
  description:
    'Another plan counts for rooms that are picked up from now on, and routing for what is charged from now on.',
  errors: ['reference_not_found', 'company_archived', 'invalid_transition', 'business_day_changed'],
  body: Obj({
    name: Opt(GroupName),
    companyId: Opt(Nullable(Uuid)),
    contact: Opt(Nullable(GroupContact)),
    ratePlanId: Opt(Uuid),
    release: Opt(GroupRelease),
    routing: Opt(GroupRouting),
    notes: Opt(Text(0, 2000)),
  }),
  example: { notes: 'A dinner for forty', release: { type: 'none' } },
  command: ({ trx, id, body, expectedVersion }) => changeGroup(trx, id, body, expectedVersion),
})

const allotment = route({
  id: 'groups.allotment',
  method: 'PUT',
  path: `${groups.one}/allotment`,
  summary: 'Set rooms per unit type and night',
  description:
    'The whole allotment: a night that is not named has no rooms, and nights that are over stay. Counters move by the difference alone, never below what is picked up.',
  access: can('update', 'Group'),
  record: groups.lock,
  errors: [
    'allotment_in_use',
    'sold_out',
    'beyond_horizon',
    'reference_not_found',
    'rule_violated',
    'invalid_transition',
    'business_day_changed',
  ],
  body: Obj({ nights: AllotmentNights }),
  example: { nights: [{ unitTypeId: sampleId('unitTypeId'), from: sampleDay(60), to: sampleDay(61), quantity: 1 }] },
  returns: Group,
  handle: async ({ trx, params: { groupId }, body, expectedVersion, admission }) => {
    await setAllotment(trx, groupId, body.nights, expectedVersion)
    return show(await readGroup(trx, groupId), admission)
  },
})

const taking = ['sold_out', 'beyond_horizon', 'invalid_transition', 'business_day_changed'] as const

const option = groups.act('option', {
  summary: 'Take the allotment out of sale until a date',
  description: 'At the latest until the day of arrival begins. A group that has an option gets another end.',
  action: 'confirm',
  errors: taking,
  body: Obj({ until: Instant }),
  example: { until: `${sampleDay(30)}T12:00:00.000Z` },
  command: ({ trx, id, body, expectedVersion }) => optionGroup(trx, id, body.until, expectedVersion),
})

const confirm = groups.act('confirm', {
  summary: 'Confirm a group and open it for pick-up',
  description: 'Opens the master folio, which pays the categories of the routing of the group.',
  errors: [...taking, 'transition_blocked'],
  command: ({ trx, id, expectedVersion }) => confirmGroup(trx, id, expectedVersion),
})

const release = groups.act('release', {
  summary: 'Give rooms not picked up back to sale',
  description: 'All nights to come, or those of `[from, to)` and some types.',
  action: 'update',
  errors: ['invalid_transition', 'reference_not_found', 'business_day_changed'],
  body: Obj({ from: Opt(Day), to: Opt(Day), unitTypeIds: Opt(List(Uuid, { max: 100 }, { uniqueItems: true })) }),
  example: {},
  command: ({ trx, id, body, expectedVersion }) => releaseGroup(trx, id, body, expectedVersion),
})

const cancel = groups.act('cancel', {
  summary: 'Cancel a group, with its reservations if asked',
  description:
    'Reservations are cancelled by their own terms, or without a fee. Nothing is done where one of them cannot be cancelled.',
  errors: [
    'transition_blocked',
    'invalid_transition',
    'already_arrived',
    'override_not_permitted',
    'cancellation_not_allowed',
    'payment_in_progress',
    'folio_busy',
    'business_day_changed',
  ],
  body: Obj({ reason: OneOf([...cancelReasons]), cancelReservations: Opt(Bool), waiveFees: Opt(Bool) }),
  example: { reason: 'changed_plans' },
  command: ({ trx, id, body, caller, expectedVersion, admission }) =>
    cancelGroup(trx, id, { ...body, mayWaive: mayOverride({ caller, admission }, 'fee') }, expectedVersion),
})

const RowError = Obj({ field: Text(1, 200), message: Text(1, 500) })

const roomingList = route({
  id: 'groups.roomingList',
  method: 'POST',
  path: `${groups.one}/rooming-list`,
  summary: 'Preview or import a rooming list',
  description:
    'A booking of one room for each row, all rows or none; `rowKey` is your own key of the row. Nights of the allotment are used while there are any, at their price; others are sold at the plan of the group. A row that was imported before is left, or gets its guests named anew while it is confirmed; other dates or rooms need an amendment. A missing row cancels nothing. `dryRun` answers what would happen, and stores nothing.',
  access: can('import', 'Group'),
  record: groups.lock,
  errors: ['rooming_list_invalid', 'invalid_transition', 'property_not_selling', 'business_day_changed'],
  body: Obj({
    dryRun: Opt(Bool),
    rows: List(
      Obj({
        rowKey: Words(1, 60),
        unitTypeId: Uuid,
        arrival: Day,
        departure: Day,
        adults: Adults,
        childrenAges: ChildrenAges,
        guests: List(NamedPerson, { min: 1, max: 40 }),
        notes: Opt(Text(0, 500)),
      }),
      { min: 1, max: 200 },
    ),
  }),
  example: {
    dryRun: true,
    rows: [
      {
        rowKey: 'r1',
        unitTypeId: sampleId('unitTypeId'),
        arrival: sampleDay(60),
        departure: sampleDay(61),
        adults: 2,
        childrenAges: [],
        guests: [{ firstName: 'Rosa', lastName: 'Prado' }],
      },
    ],
  },
  returns: Obj(
    {
      rows: List(
        Obj({
          rowKey: Text(1, 60),
          result: OneOf(['created', 'unchanged', 'changed', 'error']),
          reservationId: Nullable(Uuid),
          errors: List(RowError, { max: 200 }),
        }),
        { max: 200 },
      ),
      counts: Obj({ created: Count, unchanged: Count, changed: Count, error: Count }),
    },
    { title: 'RoomingListResult' },
  ),
  handle: async ({ trx, params: { groupId }, body: { dryRun = false, rows }, expectedVersion }) => {
    const results = await importRoomingList(
      trx,
      groupId,
      rows.map((row, index) => ({
        ...row,
        guests: row.guests.map((one, place) => personOf(one, `rows.${index}.guests.${place}`)),
      })),
      { dryRun, expected: expectedVersion },
    )
    const count = (result: string) => results.filter((one) => one.result === result).length
    return {
      rows: results,
      counts: {
        created: count('created'),
        unchanged: count('unchanged'),
        changed: count('changed'),
        error: count('error'),
      },
    }
  },
})

export const routes = [list, create, read, change, allotment, option, confirm, release, cancel, roomingList]
