import { bedKinds } from '../../config/amenities.ts'
import { guestFields } from '../../config/property-settings.ts'
import { extraBases } from '../../config/quote.ts'
import {
  Amount,
  AnyOf,
  Bool,
  Count,
  Currency,
  Day,
  Decimal,
  Instant,
  Int,
  List,
  LocaleTag,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  TimeOfDay,
  Uuid,
} from '../../config/schema.ts'
import { AgeKind, MealPlan, propertyKinds, TaxBasis } from '../properties/schemas.ts'
import { UnitKind } from '../units/schemas.ts'

const Words = Text(0, 5000)
const Name = Text(0, 200)
const Basis = OneOf([...extraBases])

export const Address = Obj({
  line1: Opt(Name),
  line2: Opt(Name),
  district: Opt(Name),
  city: Opt(Name),
  region: Opt(Name),
  postalCode: Opt(Text(0, 20)),
  countryCode: Opt(Text(2, 2)),
})

const Priced = Nullable(Obj({ amount: Amount, basis: Basis }))

export const Config = Obj({
  propertyId: Uuid,
  slug: Text(3, 60),
  name: Name,
  kind: OneOf([...propertyKinds]),
  description: Words,
  address: Address,
  geo: Nullable(Obj({ latitude: Decimal, longitude: Decimal })),
  phone: Nullable(Text(0, 16)),
  email: Nullable(Text(0, 254)),
  website: Nullable(Text(0, 2000)),
  timezone: Text(1, 64),
  currency: Currency,
  locales: List(LocaleTag, { max: 10 }),
  sales: OneOf(['open', 'closed']),
  serverTime: Instant,
  today: Day,
  amenities: List(Text(1, 40), { max: 100 }),
  houseRules: Words,
  ageCategories: List(
    Obj({
      code: Text(1, 20),
      name: Name,
      minAge: Int(0, 120),
      maxAge: Nullable(Int(0, 120)),
      kind: AgeKind,
    }),
    { max: 20 },
  ),
  portal: Obj({
    theme: Obj({ primaryColour: Nullable(Text(7, 7)), logoUrl: Nullable(Text(0, 2000)) }),
    maxRooms: Int(1, 9),
    maxNights: Int(1, 90),
    minAdvanceMinutes: Int(0, 10_080),
    maxAdvanceDays: Int(1, 730),
    holdMinutes: Int(5, 30),
    requiredGuestFields: List(OneOf([...guestFields]), { max: 7 }),
    terms: Words,
    termsVersion: Text(12, 12),
    privacyUrl: Nullable(Text(0, 2000)),
  }),
  disclosures: Obj({
    checkInFrom: TimeOfDay,
    checkInUntil: Nullable(TimeOfDay),
    checkOutUntil: TimeOfDay,
    cleaningMinutes: Int(0, 360),
    earlyCheckIn: Priced,
    lateCheckOut: Priced,
    taxes: List(
      Obj({
        name: Name,
        basis: TaxBasis,
        rate: Opt(Int(0, 10_000)),
        amount: Opt(Amount),
        included: Bool,
      }),
      { max: 100 },
    ),
  }),
})

const Picture = Obj({ url: Text(8, 2000), caption: Words, width: Int(1, 100_000), height: Int(1, 100_000) })

export const Rooms = Obj({
  currency: Currency,
  unitTypes: List(
    Obj({
      unitTypeId: Uuid,
      code: Text(1, 12),
      name: Name,
      description: Words,
      kind: UnitKind,
      baseOccupancy: Int(1, 40),
      maxAdults: Int(1, 40),
      maxChildren: Int(0, 40),
      maxOccupancy: Int(1, 40),
      beds: List(Obj({ kind: OneOf([...bedKinds]), count: Int(1, 40) }), { max: 40 }),
      sizeM2: Nullable(Decimal),
      amenities: List(Text(1, 40), { max: 100 }),
      images: List(Picture, { max: 200 }),
      ratePlans: List(
        Obj({
          ratePlanId: Uuid,
          code: Text(1, 30),
          name: Name,
          description: Words,
          mealPlan: MealPlan,
          includedExtras: List(Obj({ extraId: Uuid, quantity: Int(1, 99) }), { max: 50 }),
          refundable: OneOf(['full', 'partial', 'none']),
          cancellationText: Words,
          depositText: Words,
          fromAmount: Nullable(Amount),
        }),
        { max: 200 },
      ),
    }),
    { max: 200 },
  ),
  extras: List(
    Obj({
      extraId: Uuid,
      name: Name,
      description: Words,
      category: Text(1, 40),
      basis: Basis,
      amount: Amount,
      mandatory: Bool,
      maxQuantity: Int(1, 99),
      cutoffHours: Int(0, 720),
      unitTypeIds: List(Uuid, { max: 200 }),
    }),
    { max: 500 },
  ),
})

const StayOffers = Obj({
  currency: Currency,
  offers: List(
    Obj(
      {
        unitTypeId: Uuid,
        ratePlanId: Uuid,
        left: Int(0, 5),
        nights: List(Obj({ date: Day, amount: Amount }), { max: 90 }),
        mandatoryExtras: List(Obj({ extraId: Uuid, name: Name, amount: Amount }), { max: 50 }),
        taxes: List(Obj({ name: Name, included: Bool, amount: Amount }), { max: 50 }),
        total: Amount,
        dueNow: Amount,
        cancellation: Obj({ text: Words, freeUntil: Nullable(Instant) }),
      },
      { title: 'Offer' },
    ),
    { max: 200 },
  ),
  unavailable: List(Obj({ unitTypeId: Uuid, reasons: List(Text(1, 40), { max: 40 }) }), { max: 200 }),
})

const DayOffers = Obj({
  currency: Currency,
  days: List(
    Obj({
      date: Day,
      open: Bool,
      lowestAmount: Nullable(Amount),
      minStay: Nullable(Int(1, 366)),
      closedToArrival: Bool,
      closedToDeparture: Bool,
    }),
    { max: 92 },
  ),
})

export const Availability = AnyOf([StayOffers, DayOffers])

export const Gallery = Obj({
  images: List(
    Obj({
      galleryImageId: Uuid,
      url: Text(8, 2000),
      category: Text(1, 20),
      unitTypeId: Nullable(Uuid),
      caption: Words,
      width: Int(1, 100_000),
      height: Int(1, 100_000),
      position: Count,
    }),
    { max: 200 },
  ),
})

export const PaymentMethods = Obj({
  methods: List(
    Obj({
      method: OneOf(['card', 'pix', 'boleto', 'pay_at_property']),
      label: Name,
      instructions: Words,
      maxInstallments: Int(1, 12),
      gateway: Nullable(Obj({ provider: Text(1, 20), publishableKey: Nullable(Text(1, 200)) })),
    }),
    { max: 20 },
  ),
})
