const dayMs = 86_400_000
/** Months are kept until they are wholly over 90 days old: no event is older. */
const oldestDays = 125

/** The first instant of the month of a time, `ahead` months later, as PostgreSQL reads it. */
const monthOf = (ms: number, ahead = 0): string => {
  const at = new Date(ms)
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + ahead, 1)).toISOString()
}

const hourMs = 3_600_000
let made = { hour: -1, first: '', end: '' }

/** The months in which events are kept or written now, made anew each hour. */
const keptMonths = () => {
  const now = Date.now()
  const hour = Math.floor(now / hourMs)
  if (made.hour !== hour) made = { hour, first: monthOf(now - oldestDays * dayMs), end: monthOf(now + dayMs, 1) }
  return made
}

/**
 * A condition that leaves the months of events that are kept. Its bounds are constants, other ones each month: a plan then has no other month in it,
 * neither of the past nor of those made ahead. Planning all of them cost more than what is read and written.
 */
export const isRecent = (column: 'occurred_at' | 'event_at' | 'd.event_at' | 'e.occurred_at'): string => {
  const { first, end } = keptMonths()
  return `${column} >= '${first}'::timestamptz and ${column} < '${end}'::timestamptz`
}

/** A condition that leaves the counts of those months. */
export const isRecentMonth = (column: 'd.day' | 'd.month'): string => {
  const { first, end } = keptMonths()
  return `${column} >= '${first.slice(0, 10)}'::date and ${column} < '${end.slice(0, 10)}'::date`
}

/** A condition on deliveries `d`: it opens those months of the table alone that `monthsOf` names. */
export const inMonths = () =>
  `d.event_at between :firstAt::timestamptz and :lastAt::timestamptz and ${isRecent('d.event_at')}`

/** Times of deliveries, with the first and the last of them. There is at least one. */
export const monthsOf = (deliveries: readonly { eventAt: Date }[]) => {
  const eventAts = deliveries.map(({ eventAt }) => eventAt)
  const times = eventAts.map((at) => at.getTime())
  return { eventAts, firstAt: new Date(Math.min(...times)), lastAt: new Date(Math.max(...times)) }
}
