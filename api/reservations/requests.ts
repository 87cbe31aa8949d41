import { overrideRules } from '../../config/override-rules.ts'
import { ChildrenAges } from '../../config/quote.ts'
import {
  Amount,
  Country,
  Day,
  Email,
  Instant,
  Int,
  LocaleTag,
  List,
  Matching,
  Obj,
  OneOf,
  Opt,
  Phone,
  Text,
  TimeOfDay,
  Uuid,
  Words,
  personName,
} from '../../config/schema.ts'
import type { Static } from '../../config/schema.ts'
import { documentKinds } from '../../db/guests/index.ts'
import { Adults, Purpose } from './schemas.ts'

/** Names the rules to be set aside; one that turns out not to be needed is ignored. */
export const Override = Obj(
  {
    rules: List(OneOf([...overrideRules]), { min: 1, max: overrideRules.length }, { uniqueItems: true }),
    reason: Words(3, 500),
  },
  { title: 'Override' },
)

const Name = Matching(personName, 100)
const Age = Int(0, 120)

/** A profile that is there, by `guestId`, or one to be made, by its names. */
export const NamedPerson = Obj({
  guestId: Opt(Uuid),
  firstName: Opt(Name),
  lastName: Opt(Name),
  email: Opt(Email),
  phone: Opt(Phone),
  language: Opt(LocaleTag),
  nationality: Opt(Country),
  residenceCountry: Opt(Country),
  birthDate: Opt(Day),
  documents: Opt(
    List(
      Obj({
        kind: OneOf([...documentKinds]),
        countryCode: Country,
        number: Matching('^[0-9A-Za-z.\\-/ ]{3,30}$', 30, { cardNumber: 'document' }),
      }),
      { max: 5 },
    ),
  ),
  age: Opt(Age),
})

export const ChosenExtras = List(Obj({ extraId: Uuid, quantity: Int(1, 99) }), { max: 50 })
export const ManualNights = List(Obj({ date: Day, amount: Amount }), { max: 366 })

export const roomFields = {
  unitTypeId: Uuid,
  ratePlanId: Uuid,
  arrival: Day,
  departure: Day,
  adults: Adults,
  childrenAges: ChildrenAges,
  guests: Opt(List(NamedPerson, { max: 40 })),
  extras: Opt(ChosenExtras),
  unitId: Opt(Uuid),
  manualNights: Opt(ManualNights),
  expectedTotal: Opt(Amount),
  arrivalTime: Opt(TimeOfDay),
  departureTime: Opt(TimeOfDay),
  purpose: Opt(Purpose),
  requests: Opt(Text(0, 500)),
}
/** Details of a quoted room beside its price. */
export const QuotedRoomWords = Obj({
  guests: roomFields.guests,
  unitId: roomFields.unitId,
  arrivalTime: roomFields.arrivalTime,
  departureTime: roomFields.departureTime,
  purpose: roomFields.purpose,
  requests: roomFields.requests,
})
export const Room = Obj(roomFields)
export type Room = Static<typeof Room>
export const Hold = Obj({ kind: OneOf(['option', 'payment']), until: Opt(Instant) })
