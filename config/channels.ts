import { ChildrenAges } from './quote.ts'
import {
  Amount,
  Currency,
  Day,
  Email,
  Instant,
  Int,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Phone,
  Text,
} from './schema.ts'
import type { Static } from './schema.ts'

/** The drivers of channels: `open` is the contract of docs/integrators/channels.md, `simulator` is that contract with a peer of tests and development. */
export const channelDrivers = ['open', 'simulator'] as const
export type ChannelDriver = (typeof channelDrivers)[number]

/** The host that the driver `simulator` takes to the peer of this machine. */
export const simulatorHost = 'simulator.channels.test'

/** The time that a change waits for others, so that they are told together. Changes that close sales do not wait. */
export const pushDelayMs = 6_000
export const pushLeaseSeconds = 60
export const mostRanges = 1_000
export const pullEverySeconds = 120
export const attentionAfterMinutes = 10
/** Marks are no longer than this, so that one of them always fits a push. */
export const markDays = 31
/** Rates of one unit type that one connection may sell. */
export const mostRatesPerType = 30

const ExternalId = Text(1, 100, { cardNumber: 'exempt' })

const ChannelRoom = Obj({
  externalUnitTypeId: ExternalId,
  externalRatePlanId: Nullable(ExternalId),
  arrival: Day,
  departure: Day,
  adults: Int(1, 40),
  childrenAges: ChildrenAges,
  guestNames: Opt(List(Text(1, 160), { max: 40 })),
  /** Prices of the room's nights, without `extras`. */
  nights: List(Obj({ date: Day, amount: Amount }), { max: 366 }),
  extras: Opt(List(Obj({ name: Text(1, 120), quantity: Opt(Int(1, 99)), amount: Amount }), { max: 20 })),
})

const fields = {
  externalId: ExternalId,
  revision: Int(0, 2_147_483_647),
  kind: OneOf(['new', 'modified', 'cancelled']),
  issuedAt: Instant,
  /** A code of no country is taken, and left out: no booking fails for it. */
  booker: Opt(
    Obj({ name: Text(1, 160), email: Opt(Email), phone: Opt(Phone), countryCode: Opt(Matching('^[A-Z]{2}$', 2)) }),
  ),
  rooms: List(ChannelRoom, { max: 9 }),
  currency: Currency,
  /** All that the guest owes for the stay, in minor units of `currency`. */
  total: Amount,
  collectedBy: OneOf(['channel', 'property']),
  /** Commission that the channel keeps or is owed, in minor units. */
  commission: Opt(Amount),
  notes: Opt(Text(0, 2_000)),
}

/** A revision of a booking as a channel says it. */
export const ChannelRevision = Obj(fields)
export type ChannelRevision = Static<typeof ChannelRevision>
export type ChannelRoom = Static<typeof ChannelRoom>

/** A revision as it is pulled; `id` acknowledges it. */
export const PulledRevision = Obj({ id: Text(1, 200, { cardNumber: 'exempt' }), ...fields })
export type PulledRevision = Static<typeof PulledRevision>

export type ChannelRestrictions = {
  stopSell: boolean
  closedToArrival: boolean
  closedToDeparture: boolean
  minStayArrival: number | null
  maxStayArrival: number | null
  minStayThrough: number | null
  maxStayThrough: number | null
  minAdvanceDays: number | null
  maxAdvanceDays: number | null
}

/** Values of one of the channel's unit types or rates, from a night to a night, both included. */
export type ChannelRange = {
  unitType: string
  ratePlan?: string
  from: string
  to: string
  available?: number
  /** By the number of adults, minor units. */
  amounts?: Record<string, number>
  restrictions?: ChannelRestrictions
}
