import { LRUCache } from 'lru-cache'

/** Keeps at most `max` answers by key; the least recently used one gives way. Answers are shared. */
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
