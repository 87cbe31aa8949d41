import { documentTypes } from '../../config/file-kinds.ts'
import {
  Bool,
  Country,
  Day,
  Email,
  Instant,
  Int,
  Language,
  List,
  LocaleTag,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  personName,
  Phone,
  PostalAddress,
  SignedAmount,
  Count,
  Currency,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import {
  alertMoments,
  audiences,
  consentSources,
  documentKinds,
  mergeFields,
  preferenceCategories,
  purposes,
  sides,
} from '../../db/guests/index.ts'

export const ofGuests = '/api/tenants/:tenantId/guests'
export const ofGuest = `${ofGuests}/:guestId` as const
export const Tag = Matching('^[a-z0-9-]{1,32}$', 32)
export const Version = Int(1, 2_147_483_647)
export const Reason = Words(3, 500)

const GuestStatus = OneOf(['active', 'merged', 'erased'])
const Source = OneOf(['staff', 'portal', 'channel', 'import', 'api'])
const Name = Text(1, 100, { pattern: personName })
/** A part of a name that may be missing. */
const OpenName = Text(0, 100, { pattern: '^[^\\p{Cc}<>]*$' })

const Preference = Obj({ category: OneOf([...preferenceCategories]), text: Words(1, 300) })
const preferences = List(Preference, { max: 30 })
const tags = List(Tag, { max: 20 }, { uniqueItems: true })

/** Fields of a profile as they are sent. */
export const guestFields = {
  firstName: Name,
  lastName: Opt(OpenName),
  preferredName: Opt(OpenName),
  language: Opt(Nullable(Language)),
  nationality: Opt(Nullable(Country)),
  residenceCountry: Opt(Nullable(Country)),
  email: Opt(Nullable(Email)),
  phone: Opt(Nullable(Phone)),
  otherPhone: Opt(Nullable(Phone)),
  birthDate: Opt(Nullable(Day)),
  gender: Opt(Nullable(Words(1, 40))),
  address: Opt(Nullable(PostalAddress)),
  preferences: Opt(preferences),
  tags: Opt(tags),
}

const DocumentCountry = Matching('^[A-Z]{2}$', 2, { minLength: 2 })
export const documentFields = {
  kind: OneOf([...documentKinds]),
  countryCode: DocumentCountry,
  number: Words(1, 60, { cardNumber: 'document' }),
  issuer: Opt(Nullable(Words(1, 100))),
  expiresOn: Opt(Nullable(Day)),
}
export const consentFields = {
  purpose: OneOf([...purposes]),
  decision: OneOf(['granted', 'withdrawn']),
  source: OneOf([...consentSources]),
  textVersion: Words(1, 60),
  evidence: Opt(Words(1, 2000)),
}

/** A row of the list of guests. */
export const GuestSummary = Obj(
  {
    id: Uuid,
    status: GuestStatus,
    firstName: Text(1, 100),
    lastName: Text(0, 100),
    preferredName: Text(0, 100),
    language: Nullable(LocaleTag),
    nationality: Nullable(Country),
    residenceCountry: Nullable(Country),
    email: Nullable(Text(0, 60)),
    phone: Nullable(Text(0, 20)),
    /** Fields that are shown masked. */
    masked: List(OneOf(['email', 'phone']), { max: 2 }),
    tags: List(Tag, { max: 20 }),
    blocked: OneOf(['none', 'warn', 'refuse']),
    inHouse: Bool,
    nextArrival: Nullable(Day),
    source: Source,
    mergedIntoId: Nullable(Uuid),
    version: Version,
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'GuestSummary' },
)

export const GuestDocument = Obj(
  {
    id: Uuid,
    guestId: Uuid,
    kind: OneOf([...documentKinds]),
    countryCode: DocumentCountry,
    /** The last two characters; null once the guest is erased. */
    number: Nullable(Text(0, 10)),
    expiresOn: Nullable(Day),
    expired: Bool,
    status: OneOf(['pending', 'verified', 'rejected']),
    method: Nullable(OneOf(['in_person', 'video', 'provider'])),
    verifiedBy: Nullable(Uuid),
    verifiedAt: Nullable(Instant),
    rejectReason: Nullable(Text(0, 500)),
    files: List(
      Obj({
        side: OneOf([...sides]),
        mediaType: OneOf([...documentTypes]),
        bytes: Count,
        deleteAfter: Nullable(Day),
        createdAt: Instant,
      }),
      { max: 3 },
    ),
    version: Version,
    createdAt: Instant,
  },
  { title: 'GuestDocument' },
)

export const GuestNote = Obj(
  {
    id: Uuid,
    guestId: Uuid,
    text: Text(1, 2000),
    audience: OneOf([...audiences]),
    alertAt: OneOf([...alertMoments]),
    createdBy: Nullable(Uuid),
    createdAt: Instant,
  },
  { title: 'GuestNote' },
)

export const GuestBlock = Obj(
  {
    id: Uuid,
    guestId: Uuid,
    level: OneOf(['warn', 'refuse']),
    /** null: of every property of the tenant. */
    propertyId: Nullable(Uuid),
    startsOn: Day,
    endsOn: Nullable(Day),
    inForce: Bool,
    /** For owners, admins and managers. */
    reason: Nullable(Text(0, 500)),
    createdBy: Nullable(Uuid),
    createdAt: Instant,
    liftedAt: Nullable(Instant),
    liftReason: Nullable(Text(0, 500)),
    version: Version,
  },
  { title: 'GuestBlock' },
)

export const GuestConsent = Obj(
  {
    id: Uuid,
    purpose: OneOf([...purposes]),
    decision: OneOf(['granted', 'withdrawn']),
    source: OneOf([...consentSources]),
    textVersion: Text(0, 100),
    at: Instant,
  },
  { title: 'GuestConsent' },
)

const Statistics = Obj(
  {
    stays: Count,
    nights: Count,
    upcoming: Count,
    cancelled: Count,
    noShows: Count,
    firstArrival: Nullable(Day),
    lastDeparture: Nullable(Day),
    averageLeadDays: Nullable(Count),
    revenue: List(Obj({ currency: Currency, room: SignedAmount, other: SignedAmount }), { max: 200 }),
  },
  { title: 'GuestStatistics' },
)

export const Guest = Obj(
  {
    id: Uuid,
    status: GuestStatus,
    firstName: Text(1, 100),
    lastName: Text(0, 100),
    preferredName: Text(0, 100),
    language: Nullable(LocaleTag),
    nationality: Nullable(Country),
    residenceCountry: Nullable(Country),
    email: Nullable(Text(0, 254)),
    phone: Nullable(Text(0, 20)),
    otherPhone: Nullable(Text(0, 20)),
    gender: Nullable(Text(0, 40)),
    /** Whole years; the birth date itself is revealed with a reason. */
    age: Nullable(Int(0, 200)),
    address: Nullable(PostalAddress),
    preferences,
    /** Fields that are shown masked, or not at all. */
    masked: List(
      OneOf(['email', 'phone', 'otherPhone', 'gender', 'address', 'preferences', 'birthDate', 'documents']),
      {
        max: 8,
      },
    ),
    tags: List(Tag, { max: 20 }),
    source: Source,
    mergedIntoId: Nullable(Uuid),
    mergedGuests: List(
      Obj({ id: Uuid, firstName: Text(1, 100), lastName: Text(0, 100), mergedAt: Nullable(Instant) }),
      { max: 5000 },
    ),
    documents: List(GuestDocument, { max: 5000 }),
    consents: List(GuestConsent, { max: 5 }),
    notes: List(GuestNote, { max: 5000 }),
    blocks: List(GuestBlock, { max: 5000 }),
    openDuplicates: List(Uuid, { max: 100 }),
    statistics: Statistics,
    erasedAt: Nullable(Instant),
    version: Version,
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'Guest' },
)

export const Merge = Obj({
  mergedGuestId: Uuid,
  take: Opt(List(OneOf([...mergeFields]), { max: mergeFields.length }, { uniqueItems: true })),
  reason: Reason,
})
