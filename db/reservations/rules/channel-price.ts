import type { ChannelRevision, ChannelRoom } from '../../../config/channels.ts'
import type { QuotedNight } from '../../../config/quote.ts'
import { daysIn } from '../../../config/time.ts'
import { split, sum } from '../../lib/amounts.ts'
import { countParty } from '../../properties/rules/party.ts'
import { localTaxRules } from '../../properties/rules/stay-price.ts'
import { nightTaxes, onTop } from '../../properties/rules/taxes.ts'
import type { Catalogue, SaleProperty } from '../../properties/index.ts'

export type ChannelNight = QuotedNight & {
  /** Commission of the channel, in minor units. */
  commission: number
}

type Priced = Pick<ChannelRevision, 'total' | 'commission'> & { rooms: readonly ChannelRoom[] }

/**
 * The nights of each room at the price of a channel (R31): what they come to is `total`, to the cent. Taxes on top are told apart where the
 * channel's total holds them; where it does not, its price is all that the guest owes. What of the total is in no night (extras, rounding,
 * nights without a price) is spread over the nights in proportion.
 */
export const channelNights = (
  property: SaleProperty,
  catalogue: Catalogue,
  { rooms, total, commission = 0 }: Priced,
): ChannelNight[][] => {
  const rules = localTaxRules(catalogue, property, property.locales[0] ?? 'en')
  const places = rooms.flatMap((room, place) => {
    const { persons } = countParty(catalogue, room)
    const amounts = new Map(room.nights.map((night) => [night.date, night.amount]))
    return daysIn(room.arrival, room.departure).map((date, index) => ({
      place,
      date,
      index,
      persons,
      amount: amounts.get(date) ?? 0,
    }))
  })
  const taxed = places.map((night) => nightTaxes(rules, night))
  const extras = sum(rooms.flatMap((room) => (room.extras ?? []).map((extra) => extra.amount)))
  const stated = sum(places.map((night) => night.amount))
  const isOnTop = extras === 0 && total === stated + sum(taxed.map(onTop))
  const amounts = isOnTop
    ? places.map((night) => night.amount)
    : split(
        total,
        places.map((night) => night.amount),
      )
  const commissions = split(commission, amounts)
  return rooms.map((_, place) =>
    places.flatMap((night, index) => {
      if (night.place !== place) return []
      const amount = amounts[index] ?? 0
      const taxes = isOnTop
        ? (taxed[index] ?? [])
        : nightTaxes(rules, { ...night, amount }).filter((tax) => tax.included)
      return [{ date: night.date, amount, taxes, components: [], commission: commissions[index] ?? 0 }]
    }),
  )
}

/** A night that stands on the folio, or is over: what it came to with its taxes, and its commission. */
export type ChargedNight = { date: string; owed: number; commission: number }

/**
 * The nights of a room as its charged ones leave them. These keep the price at which they were charged; where the channel has another one by now, the
 * nights to come make up for it, so that the room comes to what the channel says. The commission likewise. `nights`: all that the guest pays for, in order.
 */
export const besideCharged = (
  property: SaleProperty,
  catalogue: Catalogue,
  { room, nights }: { room: ChannelRoom; nights: readonly ChannelNight[] },
  charged: readonly ChargedNight[],
): ChannelNight[] => {
  const past = new Map(charged.map((night) => [night.date, night]))
  const [over, open] = [nights.filter(({ date }) => past.has(date)), nights.filter(({ date }) => !past.has(date))]
  if (over.length === 0 || open.length === 0) return [...nights]
  const owed = (some: readonly ChannelNight[]) => sum(some.map(({ amount, taxes }) => amount + onTop(taxes)))
  const weights = open.map(({ amount }) => amount)
  const rest = (of: (night: ChargedNight) => number, said: number) =>
    said - sum(over.map(({ date }) => of(past.get(date)!)))
  const commissions = split(
    Math.max(
      0,
      rest((night) => night.commission, sum(nights.map((night) => night.commission))),
    ),
    weights,
  )
  const due = Math.max(
    0,
    rest((night) => night.owed, owed(nights)),
  )
  const isAsSaid = due === owed(open)
  const amounts = isAsSaid ? weights : split(due, weights)
  const rules = localTaxRules(catalogue, property, property.locales[0] ?? 'en')
  const { persons } = countParty(catalogue, room)
  const taxesOf = (night: ChannelNight, amount: number) =>
    nightTaxes(rules, { date: night.date, index: nights.indexOf(night), amount, persons }).filter((tax) => tax.included)
  const anew = new Map(
    open.map((night, index) => {
      const [amount = 0, commission = 0] = [amounts[index], commissions[index]]
      return [night.date, { ...night, amount, commission, taxes: isAsSaid ? night.taxes : taxesOf(night, amount) }]
    }),
  )
  return nights.map((night) => anew.get(night.date) ?? night)
}
