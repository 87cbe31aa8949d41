import { amenities } from '../../config/amenities.ts'
import {
  Between,
  Currency,
  Day,
  Email,
  Https,
  Instant,
  Int,
  Language,
  List,
  LocalText,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Phone,
  PostalAddress,
  TimeOfDay,
  TimeZone,
  Uuid,
  Words,
} from '../../config/schema.ts'

/** Fields that every record carries. */
export const stamps = { version: Int(1, 2_147_483_647), createdAt: Instant, updatedAt: Instant }
export const ofProperty = '/api/tenants/:tenantId/properties/:propertyId'
/** Version of the property that a set belongs to. */
export const propertyRow = { version: Int(1, 2_147_483_647) }
/** The code of a policy, plan, extra or tax, unique within its property and kind. */
export const Code = Matching('^[A-Z0-9][A-Z0-9_-]{0,19}$', 20)
/** Minor units of the property's currency, as far as prices go. */
export const Price = Int(0, 100_000_000_000)
export const SignedPrice = Int(-100_000_000_000, 100_000_000_000)
export const Lifecycle = OneOf(['active', 'archived'])
export const Reason = Obj({ reason: Words(3, 500) })
export const MealPlan = OneOf(['none', 'breakfast', 'half_board', 'full_board', 'all_inclusive'])
export const TaxBasis = OneOf(['percent', 'per_night', 'per_stay', 'per_person_per_night'])
export const AgeKind = OneOf(['infant', 'child', 'adult'])

export const propertyKinds = ['hotel', 'inn', 'hostel', 'apart_hotel', 'resort', 'vacation_rental', 'campsite'] as const

/** Writable fields that describe a property. */
export const propertyFields = {
  code: Matching('^[A-Z0-9-]{2,12}$', 12),
  slug: Matching('^[a-z0-9-]{3,60}$', 60),
  name: Words(1, 120),
  description: LocalText,
  kind: OneOf([...propertyKinds]),
  timezone: TimeZone,
  currency: Currency,
  locales: List(Language, { min: 1, max: 10 }, { uniqueItems: true }),
  address: PostalAddress,
  geo: Nullable(Obj({ latitude: Between(-90, 90), longitude: Between(-180, 180) })),
  phone: Nullable(Phone),
  email: Nullable(Email),
  website: Nullable(Https),
  legalName: Nullable(Words(1, 120)),
  legalDocument: Nullable(Words(1, 40, { cardNumber: 'document' })),
  registryNumber: Nullable(Words(1, 40, { cardNumber: 'document' })),
  checkInFrom: Nullable(TimeOfDay),
  checkInUntil: Nullable(TimeOfDay),
  checkOutUntil: Nullable(TimeOfDay),
  cleaningMinutes: Int(0, 360),
  amenities: List(OneOf([...amenities]), { max: 100 }, { uniqueItems: true }),
  houseRules: LocalText,
}

export const propertyRecord = {
  id: Uuid,
  ...propertyFields,
  status: OneOf(['draft', 'live', 'suspended', 'archived']),
  bookId: Uuid,
  businessDate: Nullable(Day),
  publicVersion: Int(1, 2_147_483_647),
  ...stamps,
}
