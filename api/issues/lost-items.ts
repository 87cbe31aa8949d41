import { lostCategories, lostOutcomes } from '../../config/issues.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Bool,
  Count,
  Day,
  Instant,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { changeItem, closeItem, itemSorts, listItems, readItem, registerItem } from '../../db/issues/index.ts'
import type { ItemShown } from '../../db/issues/index.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { path } from './schemas.ts'

const Direction = OneOf(['found', 'missed'])
const Category = OneOf([...lostCategories])
const texts = {
  description: Words(3, 500),
  /** Room, corridor, beach: where it was found or last seen. */
  place: Text(0, 160),
  /** Shelf or safe where it is kept. */
  storedAt: Text(0, 80),
}
const links = { unitId: Nullable(Uuid), guestId: Nullable(Uuid), reservationId: Nullable(Uuid) }

const LostItem = Obj(
  {
    id: Uuid,
    number: Count,
    propertyId: Uuid,
    direction: Direction,
    category: Category,
    /** Null after the texts were erased. */
    description: Nullable(Text(0, 500)),
    place: Nullable(Text(0, 160)),
    storedAt: texts.storedAt,
    at: Instant,
    by: Nullable(Uuid),
    ...links,
    unit: Nullable(Obj({ unitId: Uuid, name: Text(0, 100) })),
    guest: Nullable(Obj({ guestId: Uuid, name: Text(0, 400) })),
    matchId: Nullable(Uuid),
    keepUntil: Day,
    status: OneOf(['open', 'closed']),
    outcome: Nullable(OneOf([...lostOutcomes])),
    closeNote: Nullable(
      Obj({
        to: Nullable(Text(0, 200)),
        document: Nullable(Text(0, 60)),
        tracking: Nullable(Text(0, 100)),
        note: Nullable(Text(0, 1_000)),
      }),
    ),
    closedAt: Nullable(Instant),
    /** Open items of the other direction that it may be. */
    suggestions: List(Uuid, { max: 5 }),
    ...stamps,
  },
  { title: 'LostItem' },
)

/** Roles that do not read guests see no owner and no receipt. */
const show = (item: ItemShown, admission: Admission) =>
  admission.can('read', 'Guest') ? item : { ...item, guest: null, guestId: null, reservationId: null, closeNote: null }

const items = resource({
  name: 'lostItems',
  subject: 'LostItem',
  table: 'lost_item',
  path: `${path}/lost-items`,
  param: 'lostItemId',
  record: LostItem,
  lockedBy: 'command',
  read: readItem,
  show,
})

const list = items.list({
  summary: 'List found and missed items',
  query: {
    propertyId: Opt(Uuid),
    direction: Opt(Direction),
    status: Opt(OneOf(['open', 'closed'])),
    category: Opt(Category),
    unitId: Opt(Uuid),
    guestId: Opt(Uuid),
    disposalDue: Opt(Bool),
    from: Opt(Day),
    to: Opt(Day),
  },
  sort: { by: Object.keys(itemSorts) as (keyof typeof itemSorts)[], usual: '-at' },
  example: { disposalDue: true },
  find: ({ trx, filter }) => listItems(trx, filter),
})

const create = items.create({
  summary: 'Register an item found or missed',
  description: 'An item found in a unit names the stay that left the unit last, within three days.',
  errors: ['link_mismatch', 'guest_erased', 'invalid_transition', 'not_found', 'reference_not_found'],
  body: Obj({
    propertyId: Uuid,
    direction: Direction,
    category: Category,
    description: texts.description,
    at: Opt(Instant),
    ...Sparse(Obj({ place: texts.place, storedAt: texts.storedAt, ...links })).properties,
  }),
  example: {
    propertyId: sampleId('propertyId'),
    direction: 'found',
    category: 'electronics',
    description: 'A grey telephone charger',
  },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'LostItem', { propertyId: body.propertyId })
    return registerItem(trx, body)
  },
})

const change = items.change({
  summary: 'Change description, place, owner or match of an item',
  description: '`matchId` names an open item of the other direction; both then name each other. Null takes it back.',
  errors: ['link_mismatch', 'guest_erased', 'invalid_transition', 'reference_not_found'],
  body: Sparse(Obj({ category: Category, ...texts, ...links, matchId: Nullable(Uuid) })),
  example: { storedAt: 'Safe, shelf 2' },
  command: ({ trx, id, body, expectedVersion }) => changeItem(trx, id, body, expectedVersion),
})

const close = items.act('close', {
  summary: 'Hand an item back or dispose of it',
  description:
    'Returned and shipped items need `note.to`. Donated and discarded ones were kept until their day; documents and money go to the owner or the authority alone.',
  action: 'update',
  errors: ['outcome_not_allowed', 'keep_until_not_reached', 'invalid_transition'],
  body: Obj({
    outcome: OneOf([...lostOutcomes]),
    note: Opt(
      Obj({
        to: Opt(Words(1, 200)),
        document: Opt(Text(0, 60)),
        tracking: Opt(Text(0, 100)),
        note: Opt(Text(0, 1_000)),
      }),
    ),
  }),
  example: { outcome: 'returned', note: { to: 'Ana Souza' } },
  command: ({ trx, id, body, expectedVersion }) => closeItem(trx, id, body, expectedVersion),
})

export const routes = [list, create, change, close]
