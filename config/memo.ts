import { LRUCache } from 'lru-cache'

/** Answers by key, at most `max` of them: the one that was asked for longest ago gives way. An answer is shared by all who ask. */
export const memo = <Value extends {}>(max: number) => {
  const answers = new LRUCache<string, Value>({ max })
  return (key: string, work: () => Value): Value => {
    const known = answers.get(key)
    if (known !== undefined) return known
    const value = work()
    answers.set(key, value)
    return value
  }
}
