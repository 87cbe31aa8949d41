import { sampleDay, sampleId } from '../../config/samples.ts'
import { ChildrenAges } from '../../config/quote.ts'
import {
  Bool,
  Day,
  Email,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Phone,
  Sparse,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { maskEmail, maskPhone } from '../../db/guests/index.ts'
import {
  changeWaitlistEntry,
  closeWaitlistEntry,
  createWaitlistEntry,
  listWaitlist,
  readWaitlistEntry,
  waitlistSorts,
} from '../../db/reservations/index.ts'
import type { WaitlistShown } from '../../db/reservations/index.ts'
import { seesContact } from '../guests/show.ts'
import type { Admission } from '../lib/caller.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { Adults, NamedGuest } from './schemas.ts'

const Status = OneOf(['waiting', 'booked', 'closed'])
const Note = Text(0, 500)
const needed = { arrival: Day, departure: Day, adults: Adults }
const optional = {
  guestId: Nullable(Uuid),
  flexibleDays: Int(0, 7),
  rooms: Int(1, 9),
  /** Empty = any. */
  unitTypeIds: List(Uuid, { max: 50 }, { uniqueItems: true }),
  ratePlanId: Nullable(Uuid),
  childrenAges: ChildrenAges,
  /** 1 comes first. */
  priority: Int(1, 5),
}
/** A person without a profile, and what is said about the request. */
const wordsGiven = {
  contact: Nullable(Obj({ name: Words(1, 200), email: Opt(Email), phone: Opt(Phone) })),
  note: Note,
}

const WaitlistEntry = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    ...needed,
    ...optional,
    guest: Nullable(NamedGuest),
    /** E-mail and phone are masked for roles that see guests masked. */
    contact: Nullable(Obj({ name: Text(0, 200), email: Opt(Text(0, 254)), phone: Opt(Text(0, 20)) })),
    note: Note,
    status: Status,
    matchedAt: Nullable(Instant),
    bookingId: Nullable(Uuid),
    closeReason: Nullable(Text(1, 500)),
    ...stamps,
  },
  { title: 'WaitlistEntry' },
)

const show = (entry: WaitlistShown, admission: Admission) => {
  if (entry.contact === null) return { ...entry, contact: null }
  const { name, email, phone } = entry.contact
  const isMasked = !seesContact(admission)
  const contact = {
    name,
    ...(email === undefined ? {} : { email: isMasked ? maskEmail(email) : email }),
    ...(phone === undefined ? {} : { phone: isMasked ? maskPhone(phone) : phone }),
  }
  return { ...entry, contact }
}

const waitlist = resource({
  name: 'waitlist',
  subject: 'Booking',
  table: 'waitlist_entry',
  path: '/api/tenants/:tenantId/waitlist',
  param: 'waitlistEntryId',
  record: WaitlistEntry,
  read: readWaitlistEntry,
  show,
})

const list = waitlist.list({
  summary: 'List who waits for a room, matched ones first',
  description:
    'Those that wait, unless `status` asks for others. A request is matched while a room can be offered for it.',
  query: {
    propertyId: Opt(Uuid),
    status: Opt(Status),
    matched: Opt(Bool),
    arrivalFrom: Opt(Day),
    arrivalTo: Opt(Day),
    guestId: Opt(Uuid),
  },
  sort: { by: Object.keys(waitlistSorts) as (keyof typeof waitlistSorts)[], usual: 'priority,createdAt' },
  example: { matched: true },
  find: ({ trx, filter }) => listWaitlist(trx, filter),
})

const create = waitlist.create({
  summary: 'Put a request on the waitlist',
  description: 'It takes no room. Give `guestId`, or `contact` for a person without a profile.',
  errors: ['reference_not_found', 'guest_erased', 'occupancy_exceeded', 'not_found'],
  body: Obj({
    propertyId: Uuid,
    ...needed,
    ...Sparse(Obj(optional)).properties,
    ...Sparse(Obj(wordsGiven)).properties,
  }),
  example: {
    propertyId: sampleId('propertyId'),
    contact: { name: 'Ana Souza', email: 'ana@example.com' },
    arrival: sampleDay(30),
    departure: sampleDay(32),
    adults: 2,
    flexibleDays: 1,
  },
  command: ({ trx, body, admission }) => {
    admission.check('create', 'Booking', { propertyId: body.propertyId })
    return createWaitlistEntry(trx, body)
  },
})

const change = waitlist.change({
  summary: 'Change dates, types, party or priority of a request',
  errors: ['reference_not_found', 'guest_erased', 'occupancy_exceeded', 'invalid_transition'],
  body: Sparse(Obj({ ...needed, ...optional, ...wordsGiven })),
  example: { priority: 1, note: 'Would take a suite, too' },
  command: ({ trx, id, body }) => changeWaitlistEntry(trx, id, body),
})

const close = waitlist.act('close', {
  summary: 'Take a request off the waitlist',
  description: 'A request that waits. The name and the addresses of the person are erased 30 days later.',
  action: 'update',
  errors: ['invalid_transition'],
  body: Obj({ reason: Reason }),
  example: { reason: 'Found a room elsewhere' },
  command: ({ trx, id, body }) => closeWaitlistEntry(trx, id, trimmed(body.reason)),
})

export const routes = [list, create, change, close]
