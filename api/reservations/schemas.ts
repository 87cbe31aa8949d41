import { ChildrenAges, extraBases } from '../../config/quote.ts'
import {
  Amount,
  Bool,
  Currency,
  Day,
  Instant,
  Int,
  LocaleTag,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  TimeOfDay,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { alertMoments, audiences } from '../../db/guests/index.ts'
import { flags } from '../../db/reservations/index.ts'
import { stamps } from '../properties/schemas.ts'
import { UnitName } from '../units/schemas.ts'
import { told } from './told.ts'

export const statuses = ['held', 'confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'expired'] as const
export const sources = ['phone', 'email', 'desk', 'walk_in', 'portal', 'api', 'channel', 'group'] as const

export const ReservationStatus = OneOf([...statuses])
export const Source = OneOf([...sources])
/** Number of a booking, and of one of its reservations. */
export const BookingNumber = Text(8, 8)
export const ReservationNumber = Text(10, 11)
export const Adults = Int(1, 40)
export const Purpose = OneOf(['leisure', 'business', 'event', 'health', 'study', 'other'])
export const Guarantee = OneOf(['none', 'method', 'deposit', 'company', 'channel'])
export const Flag = OneOf([...flags])
export const NoteAudience = OneOf([...audiences])
export const NoteAlert = OneOf([...alertMoments])
export const HoldKind = OneOf(['checkout', 'option', 'payment'])
export const NamedGuest = Obj({ guestId: Uuid, name: Text(0, 302) }, { title: 'NamedGuest' })
const Named = Text(0, 5000)
const Sum = Opt(Amount)

export const ReservationSummary = Obj(
  {
    id: Uuid,
    number: ReservationNumber,
    bookingId: Uuid,
    propertyId: Uuid,
    status: ReservationStatus,
    source: Source,
    arrival: Day,
    departure: Day,
    arrivalTime: Nullable(TimeOfDay),
    adults: Adults,
    childrenAges: ChildrenAges,
    primaryGuest: Nullable(NamedGuest),
    unitTypeId: Uuid,
    unitTypeName: Named,
    ratePlanId: Uuid,
    ratePlanName: Named,
    unit: Nullable(Obj({ unitId: Uuid, name: UnitName })),
    guarantee: Guarantee,
    marketSegment: Text(1, 40),
    channelManaged: Bool,
    overbooked: Bool,
    holdExpiresAt: Nullable(Instant),
    currency: Currency,
    roomTotal: Sum,
    extrasTotal: Sum,
    taxTotal: Sum,
    total: Sum,
    feeAmount: Opt(Nullable(Amount)),
    balance: Opt(Nullable(SignedAmount)),
    ...stamps,
  },
  { title: 'ReservationSummary' },
)

export const TaxLine = Obj(
  { taxRuleId: Uuid, code: Text(1, 20), name: Text(0, 200), included: Bool, amount: Amount },
  { title: 'TaxOfLine' },
)

export const Note = Obj(
  {
    id: Uuid,
    audience: NoteAudience,
    alertAt: NoteAlert,
    text: Words(1, 2_000),
    createdBy: Nullable(Uuid),
    createdAt: Instant,
  },
  { title: 'ReservationNote' },
)

/** An installment, with the part of it that money on the folios covers. */
export const Installment = Obj(
  {
    id: Uuid,
    position: Int(1, 1_000),
    dueAt: Instant,
    amount: Amount,
    waivedAmount: Amount,
    covered: Amount,
    origin: OneOf(['policy', 'manual']),
    status: OneOf(['open', 'due', 'covered', 'waived']),
  },
  { title: 'Deposit' },
)

const Policy = Obj({ versionId: Uuid, text: Text(0, 50_000), hash: Text(1, 200) }, { title: 'PolicyCopy' })

export const FolioSummary = Obj(
  {
    folios: List(
      Obj({
        id: Uuid,
        number: Text(1, 40),
        kind: OneOf(['guest', 'company', 'group', 'house']),
        label: Text(0, 60),
        status: OneOf(['open', 'closed']),
        stage: OneOf(['deposit', 'guest']),
        isPrimary: Bool,
        charges: SignedAmount,
        credits: SignedAmount,
        balance: SignedAmount,
      }),
      { max: 1_000 },
    ),
    charges: SignedAmount,
    credits: SignedAmount,
    /** Charges less credits of all folios: positive is owed. */
    balance: SignedAmount,
    /** Nights and extras up to the business date that are on no folio yet. */
    unposted: Amount,
    /** Balance at departure. */
    projected: SignedAmount,
    depositDue: Amount,
    currency: Currency,
  },
  { title: 'FolioSummary' },
)

/** A stay with all that the desk asks of it. Amounts are shown to roles that may read folios. */
export const Reservation = Obj(
  {
    id: Uuid,
    number: ReservationNumber,
    bookingId: Uuid,
    propertyId: Uuid,
    status: ReservationStatus,
    businessDate: Day,
    arrival: Day,
    departure: Day,
    arrivalTime: Nullable(TimeOfDay),
    departureTime: Nullable(TimeOfDay),
    unitTypeId: Uuid,
    unitTypeName: Named,
    ratePlanId: Uuid,
    ratePlanName: Named,
    adults: Adults,
    childrenAges: ChildrenAges,
    primaryGuest: Nullable(NamedGuest),
    purpose: Nullable(Purpose),
    marketSegment: Text(1, 40),
    guarantee: Guarantee,
    requests: Nullable(Text(0, 500)),
    channelManaged: Bool,
    overbooked: Bool,
    flags: List(Flag, { max: flags.length }),
    policies: Obj({ cancellation: Policy, noShow: Policy, deposit: Nullable(Policy) }),
    confirmedAt: Nullable(Instant),
    actualCheckInAt: Nullable(Instant),
    actualCheckOutAt: Nullable(Instant),
    checkInBusinessDate: Nullable(Day),
    checkOutBusinessDate: Nullable(Day),
    cancelReason: Nullable(Text(1, 40)),
    cancelledAt: Nullable(Instant),
    feeAmount: Opt(Nullable(Amount)),
    currency: Currency,
    roomTotal: Sum,
    extrasTotal: Sum,
    taxTotal: Sum,
    total: Sum,
    postedTotal: Sum,
    booking: Obj({
      id: Uuid,
      number: BookingNumber,
      source: Source,
      bookerGuestId: Nullable(Uuid),
      externalReference: Nullable(Text(1, 60)),
      groupId: Nullable(Uuid),
      companyId: Nullable(Uuid),
      agencyId: Nullable(Uuid),
      channelConnectionId: Nullable(Uuid),
      externalId: Nullable(Text(1, 200)),
      collectedBy: Nullable(OneOf(['channel', 'property'])),
      language: LocaleTag,
      holdKind: Nullable(HoldKind),
      holdExpiresAt: Nullable(Instant),
      credit: Sum,
    }),
    nights: List(
      Obj({
        date: Day,
        unitTypeId: Uuid,
        ratePlanId: Uuid,
        status: OneOf(['open', 'charged', 'waived', 'released']),
        amount: Sum,
        taxes: Opt(List(TaxLine, { max: 50 })),
        components: Opt(List(Obj({ extraId: Uuid, amount: Amount }), { max: 20 })),
      }),
      { max: 1_000 },
    ),
    guests: List(
      Obj({
        id: Uuid,
        guestId: Uuid,
        name: Text(0, 302),
        role: OneOf(['primary', 'companion']),
        age: Nullable(Int(0, 120)),
        responsibleId: Nullable(Uuid),
        kinship: Nullable(Text(0, 60)),
        authorisationDocumentId: Nullable(Uuid),
        version: Int(1, 2_147_483_647),
      }),
      { max: 200 },
    ),
    extras: List(
      Obj({
        id: Uuid,
        extraId: Uuid,
        name: Text(0, 200),
        basis: OneOf([...extraBases]),
        quantity: Int(1, 99),
        from: Day,
        until: Day,
        chargedUntil: Nullable(Day),
        status: OneOf(['active', 'cancelled']),
        unitAmount: Sum,
        amount: Sum,
        taxes: Opt(List(TaxLine, { max: 50 })),
        version: Int(1, 2_147_483_647),
      }),
      { max: 1_000 },
    ),
    notes: List(Note, { max: 200 }),
    assignments: List(
      Obj({
        id: Uuid,
        unitId: Uuid,
        unitName: UnitName,
        from: Day,
        to: Day,
        status: OneOf(['proposed', 'locked', 'occupied', 'ended']),
      }),
      { max: 1_000 },
    ),
    /** Charges of these categories and days go to a folio of their own; null is all. */
    routing: List(
      Obj({
        folioId: Uuid,
        categories: Nullable(List(Text(1, 40), { max: 20 })),
        from: Nullable(Day),
        until: Nullable(Day),
      }),
      { max: 10 },
    ),
    deposits: Opt(List(Installment, { max: 1_000 })),
    fees: Opt(Obj({ cancelNow: Nullable(Amount), nextDeadline: Nullable(Instant) })),
    folioSummary: Opt(FolioSummary),
    ...told,
    ...stamps,
  },
  { title: 'Reservation' },
)

/** A booking with its rooms. Amounts are shown to roles that may read folios. */
export const Booking = Obj(
  {
    id: Uuid,
    number: BookingNumber,
    propertyId: Uuid,
    source: Source,
    status: ReservationStatus,
    booker: Nullable(NamedGuest),
    language: LocaleTag,
    externalReference: Nullable(Text(1, 60)),
    groupId: Nullable(Uuid),
    companyId: Nullable(Uuid),
    agencyId: Nullable(Uuid),
    /** Of the agency, in basis points, as it was when the booking was made. */
    commissionRate: Opt(Nullable(Int(0, 5_000))),
    channelConnectionId: Nullable(Uuid),
    externalId: Nullable(Text(1, 200)),
    collectedBy: Nullable(OneOf(['channel', 'property'])),
    quoteId: Nullable(Uuid),
    hold: Nullable(Obj({ kind: HoldKind, expiresAt: Instant, capAt: Instant })),
    arrival: Day,
    departure: Day,
    currency: Currency,
    total: Sum,
    /** Money of the booking that is on no folio yet. */
    credit: Sum,
    /** The amount owed now: the balances of its folios less its credit. */
    balance: Opt(SignedAmount),
    /** Balance at departure of all rooms. */
    projected: Opt(SignedAmount),
    reservations: List(ReservationSummary, { max: 99 }),
    ...told,
    ...stamps,
  },
  { title: 'Booking' },
)
