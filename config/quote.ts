import { Amount, Bool, Currency, Day, Int, List, LocaleTag, Nullable, Obj, OneOf, Opt, Text, Uuid } from './schema.ts'
import type { Static } from './schema.ts'
import { addDays } from './time.ts'

export const extraBases = ['per_stay', 'per_night', 'per_person', 'per_person_per_night', 'per_unit'] as const
export type ExtraBasis = (typeof extraBases)[number]

/** Years of each child of a room, on the day of arrival. */
export const ChildrenAges = List(Int(0, 17), { max: 40 })

/** A tax that applies to the room; its amounts stand in the lists `taxes`, in the order of this list. */
const QuotedTaxRule = Obj({ taxRuleId: Uuid, code: Text(1, 20), name: Text(1, 200), included: Bool })

const ClaimedExtra = Obj({
  extraId: Uuid,
  name: Text(1, 200),
  basis: OneOf([...extraBases]),
  quantity: Int(1, 99),
  unitAmount: Amount,
  /** For the whole stay, before taxes on top. */
  amount: Amount,
  mandatory: Bool,
  from: Day,
  until: Day,
  taxes: List(Amount, { max: 50 }),
})

/** `dueAt` null is due at booking; else an instant in ISO 8601. */
const Installment = Obj({ dueAt: Nullable(Text(20, 30)), amount: Amount })

const ClaimedRoom = Obj({
  unitTypeId: Uuid,
  ratePlanId: Uuid,
  adults: Int(1, 40),
  childrenAges: ChildrenAges,
  /** Price of each night from the day of arrival. */
  nights: List(Amount, { max: 366 }),
  taxRules: List(QuotedTaxRule, { max: 50 }),
  /** Taxes of each night, in the order of `taxRules`. */
  taxes: List(List(Amount, { max: 50 }), { max: 366 }),
  /** Shares of a night that belong to extras included in the plan. */
  components: List(Obj({ extraId: Uuid, nights: List(Amount, { max: 366 }) }), { max: 20 }),
  extras: List(ClaimedExtra, { max: 50 }),
  roomTotal: Amount,
  extrasTotal: Amount,
  /** Taxes on top only, so that the three make `total`; included ones are inside the other two. */
  taxTotal: Amount,
  total: Amount,
  policies: Obj({ cancellation: Uuid, noShow: Uuid, deposit: Nullable(Uuid) }),
  deposits: List(Installment, { max: 6 }),
})

/** Claims of a quote token. It holds no personal data, and lists instead of objects per night, since it travels in URLs and bodies. */
export const QuoteClaims = Obj({
  jti: Uuid,
  tenantId: Uuid,
  propertyId: Uuid,
  arrival: Day,
  departure: Day,
  currency: Currency,
  locale: LocaleTag,
  promoCode: Nullable(Text(3, 30)),
  promoCodeId: Nullable(Uuid),
  /** Made by staff: limits of the portal and the visibility of plans do not hold. */
  byStaff: Opt(Bool),
  rooms: List(ClaimedRoom, { min: 1, max: 9 }),
  total: Amount,
  dueNow: Amount,
})
export type QuoteClaims = Static<typeof QuoteClaims>
export type ClaimedRoom = Static<typeof ClaimedRoom>

export const QuotedTax = Obj({ taxRuleId: Uuid, code: Text(1, 20), name: Text(1, 200), included: Bool, amount: Amount })
export type QuotedTax = Static<typeof QuotedTax>

export type QuotedNight = {
  date: string
  amount: number
  taxes: QuotedTax[]
  components: { extraId: string; amount: number }[]
}

export type QuotedExtra = Omit<Static<typeof ClaimedExtra>, 'taxes'> & { taxes: QuotedTax[] }

/** A priced room as everything after the quote wants it. `deposits` with `dueAt` null are due at booking. */
export type QuotedRoom = Omit<ClaimedRoom, 'nights' | 'taxRules' | 'taxes' | 'components' | 'extras'> & {
  arrival: string
  departure: string
  nights: QuotedNight[]
  extras: QuotedExtra[]
}

/** The rooms of a quote written out, nights with their dates and taxes with their rules. */
export const roomsOfQuote = (claims: QuoteClaims): QuotedRoom[] =>
  claims.rooms.map(({ nights, taxRules, taxes, components, extras, ...room }) => {
    const taxesOf = (amounts: number[]) =>
      taxRules.flatMap((rule, index) => (amounts[index] ? [{ ...rule, amount: amounts[index] }] : []))
    return {
      ...room,
      arrival: claims.arrival,
      departure: claims.departure,
      nights: nights.map((amount, index) => ({
        date: addDays(claims.arrival, index),
        amount,
        taxes: taxesOf(taxes[index] ?? []),
        components: components.flatMap((part) =>
          part.nights[index] ? [{ extraId: part.extraId, amount: part.nights[index] }] : [],
        ),
      })),
      extras: extras.map((extra) => ({ ...extra, taxes: taxesOf(extra.taxes) })),
    }
  })

/** The opposite of `roomsOfQuote`, for one room. */
export const claimedRoom = ({
  arrival: _arrival,
  departure: _departure,
  nights,
  extras,
  ...room
}: QuotedRoom): ClaimedRoom => {
  const rules = new Map<string, Static<typeof QuotedTaxRule>>()
  for (const { amount: _amount, ...rule } of [...nights, ...extras].flatMap((line) => line.taxes))
    rules.set(rule.taxRuleId, rule)
  const taxRules = [...rules.values()]
  const amountsOf = (taxes: QuotedTax[]) =>
    taxRules.map((rule) => taxes.find((tax) => tax.taxRuleId === rule.taxRuleId)?.amount ?? 0)
  const included = [...new Set(nights.flatMap((night) => night.components.map((part) => part.extraId)))]
  return {
    ...room,
    nights: nights.map((night) => night.amount),
    taxRules,
    taxes: nights.map((night) => amountsOf(night.taxes)),
    components: included.map((extraId) => ({
      extraId,
      nights: nights.map((night) => night.components.find((part) => part.extraId === extraId)?.amount ?? 0),
    })),
    extras: extras.map((extra) => ({ ...extra, taxes: amountsOf(extra.taxes) })),
  }
}
