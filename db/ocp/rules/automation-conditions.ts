/** Conditions of an automation; all that are given must hold. */
export type Conditions = {
  unitTypeIds?: string[]
  ratePlanIds?: string[]
  sources?: string[]
  minNights?: number
  maxNights?: number
  languages?: string[]
  returning?: boolean
  balanceDue?: boolean
  minor?: boolean
}

/** Fields of a reservation that automations read. */
export type Stay = {
  id: string
  bookingId: string
  propertyId: string
  status: string
  unitTypeId: string
  ratePlanId: string
  source: string
  arrival: string
  departure: string
  nights: number
  language: string
  guestId: string | null
  childrenAges: number[]
  bookedAt: Date
  confirmedAt: Date | null
  checkedInAt: Date | null
  checkedOutAt: Date | null
  /** True if the guest has stayed before. */
  returning: boolean
  balanceDue: boolean
  timeZone: string
  checkInFrom: string | null
  checkOutUntil: string | null
}

const listed = (list: readonly string[] | undefined, value: string) => list === undefined || list.includes(value)

export const matches = (conditions: Conditions, stay: Stay): boolean =>
  listed(conditions.unitTypeIds, stay.unitTypeId) &&
  listed(conditions.ratePlanIds, stay.ratePlanId) &&
  listed(conditions.sources, stay.source) &&
  stay.nights >= (conditions.minNights ?? 1) &&
  stay.nights <= (conditions.maxNights ?? 366) &&
  (listed(conditions.languages, stay.language) || listed(conditions.languages, stay.language.split('-')[0] ?? '')) &&
  (conditions.returning ?? stay.returning) === stay.returning &&
  (conditions.balanceDue ?? stay.balanceDue) === stay.balanceDue &&
  (conditions.minor ?? stay.childrenAges.length > 0) === stay.childrenAges.length > 0
