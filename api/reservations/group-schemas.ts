import {
  Count,
  Currency,
  Day,
  Email,
  Instant,
  Int,
  AnyOf,
  List,
  Literal,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Phone,
  SignedAmount,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { groupStatuses, routedCategories } from '../../db/reservations/index.ts'
import { Code, Price, stamps } from '../properties/schemas.ts'

export const GroupStatus = OneOf([...groupStatuses])
export const GroupName = Words(1, 120)
/** The person who speaks for the group. */
export const GroupContact = Obj({ name: Words(1, 120), email: Opt(Nullable(Email)), phone: Opt(Nullable(Phone)) })
/** The release of rooms that are not picked up: on a date, or a number of days before each arrival. */
export const GroupRelease = AnyOf([
  Obj({ type: Literal('none') }),
  Obj({ type: Literal('fixed'), date: Day }),
  Obj({ type: Literal('rolling'), daysBefore: Int(0, 365) }),
])
/** Categories of charges that the master folio pays. */
export const GroupRouting = Obj({ categories: List(OneOf([...routedCategories]), { max: 9 }, { uniqueItems: true }) })
/** Rooms of a type on the nights of `[from, to)`. */
export const AllotmentNights = List(
  Obj({ unitTypeId: Uuid, from: Day, to: Day, quantity: Int(0, 1_000), amount: Opt(Nullable(Price)) }),
  { max: 500 },
)

const fields = {
  id: Uuid,
  propertyId: Uuid,
  code: Code,
  number: Text(8, 8),
  name: GroupName,
  status: GroupStatus,
  arrival: Day,
  departure: Day,
  ratePlanId: Uuid,
  companyId: Nullable(Uuid),
  optionUntil: Nullable(Instant),
  release: GroupRelease,
  masterFolioId: Nullable(Uuid),
  routing: Obj({ categories: List(Text(1, 40), { max: 20 }) }),
  notes: Text(0, 2000),
  cancelReason: Nullable(Text(1, 60)),
  ...stamps,
}

/** Room nights in all. */
export const GroupListed = Obj({ ...fields, allotted: Count, pickedUp: Count }, { title: 'GroupListed' })

export const Group = Obj(
  {
    ...fields,
    contact: Nullable(
      Obj({ name: Text(1, 120), email: Opt(Nullable(Text(1, 254))), phone: Opt(Nullable(Text(1, 16))) }),
    ),
    pickup: List(
      Obj({
        date: Day,
        unitTypeId: Uuid,
        allotted: Count,
        pickedUp: Count,
        remaining: Count,
        amount: Nullable(Price),
      }),
      { max: 50_000 },
    ),
    /** Of the master folio, shown to roles that read folios; null before it is open. */
    balance: Opt(Nullable(SignedAmount)),
    currency: Currency,
  },
  { title: 'Group' },
)
