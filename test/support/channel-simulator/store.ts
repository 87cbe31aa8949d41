import type { ChannelRange } from '../../../config/channels.ts'
import { addDays } from '../../../config/time.ts'

/** The behaviour of the channel from now on. */
export type Mood =
  | 'well'
  /** 429 with Retry-After. */
  | 'busy'
  /** Acts, and hangs up: nobody here knows. */
  | 'drops'
  | 'failing'
  /** Refuses the caller. */
  | 'refuses'
  /** Takes all ranges but the first. */
  | 'rejects'
  /** Acts at once, and answers when it is told to. */
  | 'waits'
  /** Sends everything that was not acknowledged again, in no order. */
  | 'repeats'

export type Asked = {
  /** The moment by which all of it had come in, in milliseconds of the clock. */
  at: number
  method: string
  path: string
  key: string | null
  kind: string | null
  ranges: ChannelRange[]
  status: number
}
type Day = Omit<ChannelRange, 'from' | 'to' | 'unitType' | 'ratePlan'>

/** The records of a channel manager for one property: news it was told, bookings it has sold, and requests it received. */
export const makeStore = () => {
  const days = new Map<string, Day>()
  const answers = new Map<string, unknown>()
  const revisions: { id: string; [field: string]: unknown }[] = []
  const acknowledged = new Set<string>()
  const log: Asked[] = []

  const tell = (ranges: readonly ChannelRange[]) => {
    for (const { unitType, ratePlan = '', from, to, ...told } of ranges)
      for (let day = from; day <= to; day = addDays(day, 1)) days.set(`${unitType}|${ratePlan}|${day}`, told)
  }

  return {
    log,
    /** A repeated key is not acted on twice. */
    push: (key: string, ranges: readonly ChannelRange[], skipsFirst: boolean): unknown => {
      const known = answers.get(key)
      if (known !== undefined) return known
      tell(skipsFirst ? ranges.slice(1) : ranges)
      const answer = skipsFirst
        ? { accepted: ranges.length - 1, rejected: [{ index: 0, message: 'no such room' }] }
        : { accepted: ranges.length, rejected: [] }
      answers.set(key, answer)
      return answer
    },
    add: (given: readonly { id: string }[]) => void revisions.push(...given),
    page: (after: string, limit: number, repeats: boolean) => {
      if (repeats) {
        const left = revisions.filter((one) => !acknowledged.has(one.id))
        return { revisions: left.toReversed().slice(0, limit), cursor: String(revisions.length) }
      }
      const from = Number(after || 0)
      const found = revisions.slice(from, from + limit)
      return { revisions: found, cursor: String(from + found.length) }
    },
    acknowledge: (ids: readonly string[]) => ids.forEach((id) => acknowledged.add(id)),
    shown: () => ({ days: Object.fromEntries(days), log, acknowledged: [...acknowledged] }),
  }
}
export type Store = ReturnType<typeof makeStore>
