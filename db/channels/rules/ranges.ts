import type { ChannelRange } from '../../../config/channels.ts'
import { addDays } from '../../../config/time.ts'

/** Values of one day of one of the channel's unit types or rates. */
export type ChannelDay = Omit<ChannelRange, 'from' | 'to'> & { date: string }

const placeOf = ({ unitType, ratePlan = '' }: Pick<ChannelDay, 'unitType' | 'ratePlan'>) => `${unitType}\n${ratePlan}`

/** Neighbours that say the same become one. Days of one place in any order; the same day of a place is there once. */
export const compact = (days: readonly ChannelDay[]): ChannelRange[] => {
  const sorted = days.toSorted((a, b) => {
    const [one, other] = [placeOf(a), placeOf(b)]
    if (one !== other) return one < other ? -1 : 1
    return a.date < b.date ? -1 : 1
  })
  const ranges: { range: ChannelRange; said: string }[] = []
  for (const { date, ...told } of sorted) {
    const said = JSON.stringify(told)
    const before = ranges.at(-1)
    if (before?.said === said && addDays(before.range.to, 1) === date) before.range.to = date
    else ranges.push({ said, range: { ...told, from: date, to: date } })
  }
  return ranges.map(({ range }) => range)
}
