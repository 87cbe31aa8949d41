import {
  Bool,
  Count,
  Currency,
  Day,
  Email,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  PostalAddress,
  SignedAmount,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { documentTypes } from '../../config/file-kinds.ts'
import {
  createGuests,
  deleteGuest,
  guestSorts,
  listGuests,
  listTags,
  readGuest,
  recordFirstConsents,
  reveal,
  revealFields,
  revealReasons,
  sides,
  updateGuest,
} from '../../db/guests/index.ts'
import { listReservations } from '../../db/reservations/index.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { sortOf, SortQuery } from '../lib/sort.ts'
import { consentFields, documentFields, Guest, guestFields, GuestSummary, ofGuest, ofGuests, Tag } from './schemas.ts'
import { shownGuest, viewerOf } from './show.ts'

const statuses = ['active', 'merged', 'erased'] as const
const sortFields = Object.keys(guestSorts) as (keyof typeof guestSorts)[]
const record = { table: 'guest', param: 'guestId', lockedBy: 'command' } as const

const list = paged({
  id: 'guests.list',
  path: ofGuests,
  summary: 'Search and list guests, personal data masked',
  description:
    '`q` is an e-mail, the last four digits of a phone, a whole phone, CPF or document number, or words of a name in any order, without accents. A merged profile is found by its old data and answered by its survivor.',
  access: can('read', 'Guest'),
  query: {
    ...SortQuery,
    q: Opt(Text(3, 120, { cardNumber: 'exempt' })),
    email: Opt(Email),
    phone: Opt(Text(4, 20, { cardNumber: 'exempt' })),
    document: Opt(Text(3, 30, { cardNumber: 'exempt' })),
    tag: Opt(Tag),
    status: Opt(OneOf([...statuses], { default: 'active' })),
    blocked: Opt(OneOf(['warn', 'refuse'])),
    companyId: Opt(Uuid),
    updatedSince: Opt(Instant),
  },
  sorts: sortFields,
  of: GuestSummary,
  find: ({ trx, query: { status = 'active', sort, ...query }, admission }) =>
    listGuests(trx, {
      ...query,
      status,
      sort: sortOf(sort, sortFields, 'name'),
      scope: admission.scope('read', 'Guest'),
    }),
})

const create = route({
  id: 'guests.create',
  method: 'POST',
  path: ofGuests,
  summary: 'Create a guest with documents',
  description:
    'A document that another profile has is 409 `duplicate_guest`, whose `errors` name that guest. `allowDuplicate` makes the profile all the same; the two are then listed as probable duplicates.',
  access: can('create', 'Guest'),
  status: 201,
  body: Obj({
    ...guestFields,
    documents: Opt(List(Obj(documentFields), { max: 5 })),
    consents: Opt(List(Obj(consentFields), { max: 5 })),
    allowDuplicate: Opt(Bool),
  }),
  example: {
    firstName: 'Ana',
    lastName: 'Conceição',
    email: 'ana@example.com',
    phone: '+5524999990001',
    birthDate: '1990-02-28',
    nationality: 'BR',
    address: { city: 'Paraty', region: 'RJ', countryCode: 'BR' },
    preferences: [{ category: 'room', text: 'High floor, away from the lift' }],
    tags: ['returning'],
    documents: [{ kind: 'passport', countryCode: 'BR', number: 'YC 129871' }],
    consents: [{ purpose: 'marketing_email', decision: 'granted', source: 'desk', textVersion: '2026-11' }],
    allowDuplicate: true,
  },
  returns: Guest,
  errors: ['duplicate_guest', 'document_invalid'],
  handle: async ({ trx, body: { allowDuplicate = false, consents = [], ...guest }, caller, admission }) => {
    const [id = ''] = await createGuests(trx, [{ ...guest, source: caller.kind === 'api_key' ? 'api' : 'staff' }], {
      allowDuplicate,
    })
    await recordFirstConsents(trx, id, consents)
    return shownGuest(trx, id, admission)
  },
})

const tags = route({
  id: 'guests.tags',
  method: 'GET',
  path: `${ofGuests}/tags`,
  summary: 'List tags in use with their counts',
  access: can('read', 'Guest'),
  returns: Obj({ data: List(Obj({ tag: Tag, count: Count }), { max: 500 }) }),
  handle: async ({ trx }) => ({ data: await listTags(trx) }),
})

const read = route({
  id: 'guests.read',
  method: 'GET',
  path: ofGuest,
  summary: 'Read a profile with notes, documents, blocks and statistics',
  description:
    'Document numbers and the birth date are always masked; e-mail, phone, address and preferences are, unless the role may reveal. `masked` names what is. A merged profile is answered with the id of its survivor.',
  access: can('read', 'Guest'),
  returns: Guest,
  handle: ({ trx, params, admission }) => shownGuest(trx, params.guestId, admission),
})

const change = route({
  id: 'guests.update',
  method: 'PATCH',
  path: ofGuest,
  summary: 'Change identity, contact, tags or preferences',
  description: '`tags`, `preferences` and `address` are replaced as wholes; null clears a field.',
  access: can('update', 'Guest'),
  record,
  body: Sparse(Obj(guestFields)),
  example: { phone: '+5524999990002', tags: ['returning', 'vip'] },
  returns: Guest,
  errors: ['guest_merged', 'guest_erased'],
  handle: async ({ trx, params, body, expectedVersion, admission }) => {
    await updateGuest(trx, params.guestId, body, expectedVersion)
    return shownGuest(trx, params.guestId, admission)
  },
})

const remove = route({
  id: 'guests.delete',
  method: 'DELETE',
  path: ofGuest,
  summary: 'Delete a profile that nothing refers to',
  description: 'A guest with stays, messages, blocks or merges is erased by a privacy request instead.',
  access: can('delete', 'Guest'),
  record,
  returns: Obj({ id: Uuid }, { title: 'Removed' }),
  errors: ['guest_merged', 'guest_erased', 'guest_in_use'],
  handle: async ({ trx, params, expectedVersion }) => {
    await deleteGuest(trx, params.guestId, expectedVersion)
    return { id: params.guestId }
  },
})

const revealData = route({
  id: 'guests.reveal',
  method: 'POST',
  path: `${ofGuest}/reveal`,
  summary: 'Show masked fields or a document image, with reason',
  description:
    'Each call is in the audit trail with its reason and the names of what was shown. `note` is required with the reason `other`. `data` of an image is base64.',
  access: can('reveal', 'Guest'),
  idempotency: 'off',
  body: Obj({
    reason: OneOf([...revealReasons]),
    note: Opt(Words(1, 500)),
    fields: Opt(List(OneOf([...revealFields]), { max: revealFields.length }, { uniqueItems: true })),
    documentIds: Opt(List(Uuid, { max: 20 }, { uniqueItems: true })),
    file: Opt(Obj({ documentId: Uuid, side: OneOf([...sides]) })),
  }),
  example: { reason: 'check_in', fields: ['birthDate', 'email'] },
  returns: Obj({
    fields: Obj({
      email: Opt(Nullable(Text(0, 254))),
      phone: Opt(Nullable(Text(0, 20))),
      otherPhone: Opt(Nullable(Text(0, 20))),
      birthDate: Opt(Nullable(Day)),
      gender: Opt(Nullable(Text(0, 40))),
      address: Opt(Nullable(PostalAddress)),
    }),
    documents: List(Obj({ id: Uuid, number: Text(1, 100), issuer: Nullable(Text(0, 100)) }), { max: 20 }),
    file: Nullable(Obj({ mediaType: OneOf([...documentTypes]), data: Text(1, 15_000_000) })),
  }),
  errors: ['guest_erased', 'reveal_limit'],
  handle: ({ trx, params, body }) => reveal(trx, params.guestId, body),
})

const GuestStay = Obj(
  {
    id: Uuid,
    number: Text(10, 11),
    bookingId: Uuid,
    propertyId: Uuid,
    status: OneOf(['held', 'confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'expired']),
    arrival: Day,
    departure: Day,
    adults: Int(1, 40),
    primaryGuest: Nullable(Obj({ guestId: Uuid, name: Text(0, 302) }, { title: 'NamedGuest' })),
    unitTypeName: Text(0, 5000),
    unit: Nullable(Obj({ unitId: Uuid, name: Text(1, 40) })),
    currency: Currency,
    /** For roles that may read folios. */
    total: Opt(SignedAmount),
    balance: Opt(Nullable(SignedAmount)),
  },
  { title: 'GuestStay' },
)

const stays = paged({
  id: 'guests.stays',
  path: `${ofGuest}/stays`,
  summary: 'List past, present and future stays of a guest',
  description:
    'The stays of all profiles that are merged into the guest, in the properties of the caller; the newest arrival first.',
  access: can('read', 'Guest'),
  query: {
    status: Opt(OneOf(['held', 'confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'expired'])),
    propertyId: Opt(Uuid),
  },
  of: GuestStay,
  find: async ({ trx, params, query: { status, ...query }, admission }) => {
    await readGuest(trx, params.guestId, viewerOf(admission))
    const { total, rows } = await listReservations(trx, {
      ...query,
      status: status === undefined ? undefined : [status],
      guestId: params.guestId,
      dateField: 'stay',
      sort: [{ field: 'arrival', descending: true }],
      scope: admission.scope('read', 'Guest'),
    })
    const withAmounts = admission.can('read', 'Folio')
    return {
      total,
      rows: withAmounts ? rows : rows.map(({ total: _total, balance: _balance, ...row }) => row),
    }
  },
})

export const routes = [list, create, tags, read, change, remove, revealData, stays]
