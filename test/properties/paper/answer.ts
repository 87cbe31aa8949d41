import { addDays, daysBetween, daysIn } from '../../../config/time.ts'
import type { Answer, PaperHouse, PaperStay, Says } from './house.ts'
import { lineOf, partyOf, perNight, roomOf } from './price.ts'

const wrongs = (house: PaperHouse, stay: PaperStay): (string | false)[] => {
  const { arrival, departure } = stay
  const line = lineOf(house, stay.plan).toReversed()
  const own = line[0]!
  const obeyed: string[] = []
  for (const plan of line) {
    obeyed.push(plan.name)
    if (!plan.inherits) break
  }
  const nights = daysIn(arrival, departure)
  const n = nights.length
  const ahead = daysBetween(house.today, arrival)
  const says = (date: string, wrong: (one: Says) => boolean) =>
    house.rules.some(
      (rule) =>
        rule.date === date &&
        (rule.type === null || rule.type === stay.type) &&
        (rule.plan === null || obeyed.includes(rule.plan)) &&
        wrong(rule.says),
    )
  const last = addDays(departure, -1)
  return [
    nights.some((date) => says(date, (one) => one.stopSell === true)) && 'stop_sell',
    says(arrival, (one) => one.closedToArrival === true) && 'closed_to_arrival',
    says(departure, (one) => one.closedToDeparture === true) && 'closed_to_departure',
    says(arrival, (one) => n < (one.minStayArrival ?? 0)) && 'min_stay_arrival',
    says(arrival, (one) => n > (one.maxStayArrival ?? 999)) && 'max_stay_arrival',
    nights.some((date) => says(date, (one) => n < (one.minStayThrough ?? 0))) && 'min_stay_through',
    nights.some((date) => says(date, (one) => n > (one.maxStayThrough ?? 999))) && 'max_stay_through',
    says(arrival, (one) => ahead < (one.minAdvanceDays ?? 0)) && 'min_advance',
    says(arrival, (one) => ahead > (one.maxAdvanceDays ?? 999)) && 'max_advance',
    house.today < (own.bookableFrom ?? '') && 'plan_bookable_from',
    house.today > (own.bookableUntil ?? '9') && 'plan_bookable_until',
    arrival < (own.stayFrom ?? '') && 'plan_stay_from',
    last > (own.stayUntil ?? '9') && 'plan_stay_until',
    ahead < (own.minAdvanceDays ?? 0) && 'plan_min_advance',
    ahead > (own.maxAdvanceDays ?? 999) && 'plan_max_advance',
    n < (own.minNights ?? 0) && 'plan_min_nights',
    n > (own.maxNights ?? 999) && 'plan_max_nights',
  ]
}

const isCrowded = (house: PaperHouse, stay: PaperStay) => {
  const type = house.types.find((one) => one.name === stay.type)!
  return stay.rooms
    .map((room) => partyOf(house, room))
    .some(
      (party) => party.adults > type.maxAdults || party.countedChildren > type.maxChildren || party.counted > type.most,
    )
}

const isSoldOut = (house: PaperHouse, stay: PaperStay) => {
  const { takes } = house.types.find((one) => one.name === stay.type)!
  const nights = daysIn(stay.arrival, stay.departure)
  const short = (pool: string, date: string, wanted: number) => (house.free[`${pool} ${date}`] ?? 0) < wanted
  return (
    Object.entries(takes).some(([pool, units]) =>
      nights.some((date) => short(pool, date, units * stay.rooms.length)),
    ) ||
    house.extras.some(
      (extra) =>
        extra.limited &&
        (extra.types.length === 0 || extra.types.includes(stay.type)) &&
        (perNight(extra.basis) ? nights : [stay.arrival]).some((date) => short(extra.name, date, stay.rooms.length)),
    )
  )
}

/**
 * The answer that a person would work out on paper: one stay, night by night, every rule looked up anew, fractions kept whole.
 * The code shares no line with the evaluator, and is not fast.
 * Answers all that speaks against a stay, and the price of its rooms where every night has one.
 */
export const onPaper = (house: PaperHouse, stay: PaperStay): Answer => {
  const rooms = stay.rooms.map((room) => roomOf(house, stay, room))
  const codes = [
    isCrowded(house, stay) && 'occupancy_exceeded',
    ...wrongs(house, stay),
    isSoldOut(house, stay) && 'sold_out',
    rooms.includes(null) && 'price_missing',
  ]
  return {
    codes: codes.filter((code) => code !== false).sort(),
    rooms: rooms.includes(null) ? null : rooms.map((room) => room!),
  }
}
