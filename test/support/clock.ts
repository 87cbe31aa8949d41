/** Does something while the clock of this process is ahead of PostgreSQL's, or behind it where `ms` is negative. */
export const withClockOff = async <T>(ms: number, work: () => Promise<T>): Promise<T> => {
  const right = globalThis.Date
  const now = () => right.now() + ms
  globalThis.Date = new Proxy(right, {
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given) as Date,
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  })
  try {
    return await work()
  } finally {
    globalThis.Date = right
  }
}
