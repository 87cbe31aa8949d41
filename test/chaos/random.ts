/** Numbers that follow from a seed alone, so that a run can be drawn again. */
export type Random = {
  /** At least 0 and below 1. */
  next: () => number
  /** Whole, both ends included. */
  between: (least: number, most: number) => number
  chance: (share: number) => boolean
  pick: <T>(list: readonly T[]) => T
  /** One of the names, by their weights. */
  weighted: <K extends string>(weights: Readonly<Record<K, number>>) => K
  shuffled: <T>(list: readonly T[]) => T[]
}

/** Mulberry32 over the seed and a name: streams of different names do not disturb each other. */
export const randomOf = (seed: number, name = ''): Random => {
  let state = seed >>> 0
  for (const char of name) state = (Math.imul(state, 31) + (char.codePointAt(0) ?? 0)) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new Error('there is nothing to pick from')
    return list[between(0, list.length - 1)] as T
  }
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick,
    weighted: <K extends string>(weights: Readonly<Record<K, number>>) => {
      const entries = Object.entries(weights) as [K, number][]
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      const found = entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0]
      if (!found) throw new Error('there is nothing to pick from')
      return found[0]
    },
    shuffled: <T>(list: readonly T[]): T[] => {
      const copy = [...list]
      for (let at = copy.length - 1; at > 0; at -= 1) {
        const other = between(0, at)
        ;[copy[at], copy[other]] = [copy[other] as T, copy[at] as T]
      }
      return copy
    },
  }
}
