import { judge } from '../../bench/report.ts'
import type { Result } from '../../bench/report.ts'
import type { Tally } from './hand.ts'
import type { Mark } from './measure.ts'
import type { Outcome } from './run.ts'
import { windowsOf } from './windows.ts'
import type { Measure } from './windows.ts'

type Options = { seed: number; properties: number; days: number }

/** Growth by request beyond which a run fails, for runs of at least so many days. */
const mostGrowth = 1.2
const leastDays = 90

const list = (counts: Record<string, number>) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `  ${count} × ${name}`)
    .join('\n')

const ofEach = ([a, b]: readonly [Mark, Mark], name: string, index: 0 | 1 | 2 | 3) =>
  ((b.tables[name]?.[index] ?? 0) - (a.tables[name]?.[index] ?? 0)) / Math.max(1, b.bookings - a.bookings)

/** The tables that the last bookings read most of, by rows of each booking, and what the first read of them. */
const mostRead = (young: readonly [Mark, Mark], old: readonly [Mark, Mark]): string[] =>
  Object.keys(old[1].tables)
    .map((name) => ({ name, scanned: ofEach(old, name, 0), found: ofEach(old, name, 1) }))
    .sort((a, b) => b.scanned + b.found - a.scanned - a.found)
    .slice(0, 25)
    .map(
      ({ name, scanned, found }) =>
        `  ${name}: ${scanned.toFixed(0)} scanned, ${found.toFixed(0)} found (${ofEach(young, name, 0).toFixed(0)}, ${ofEach(young, name, 1).toFixed(0)})`,
    )

/** The tables whose bytes or pages of each booking grew most. */
const mostGrown = (young: readonly [Mark, Mark], old: readonly [Mark, Mark], index: 2 | 3): string[] =>
  Object.keys(old[1].tables)
    .map((name) => ({ name, before: ofEach(young, name, index), now: ofEach(old, name, index) }))
    .sort((a, b) => b.now - b.before - a.now + a.before)
    .slice(0, 25)
    .map(({ name, before, now }) => `  ${name}: ${now.toFixed(0)} (${before.toFixed(0)})`)

/** Figures of a run as those of a measurement, for `docs/performance.md`. */
export const figuresOf = (
  { seed, properties, days }: Options,
  { tally, marks, violations }: Outcome,
): { results: Result[]; notes: string[] } => {
  const { last, early, growth } = windowsOf(days, marks)
  const figure = (name: string, unit: string, ours: number, most: number | null = null) =>
    judge({ name, unit, ours, reference: null }, most === null ? null : { most })
  const each = (by: 'bookings' | 'requests', name: string, unit: string, of: Measure, most: number | null = null) => {
    const { whole, young, old, factor } = growth(by, of)
    const one = by === 'bookings' ? 'booking' : 'request'
    return [
      figure(`${name} of a ${one}, whole run`, unit, whole),
      figure(`${name} of a ${one}, to day ${early}`, unit, young),
      figure(`${name} of a ${one}, to day ${days}`, unit, old),
      figure(`growth of ${name} of a ${one}`, 'times', factor, most),
    ]
  }
  return {
    results: [
      figure('bookings', 'bookings', last.bookings),
      figure('requests that were done', 'requests', last.requests),
      figure('rules violated', 'rules', violations.length, 0),
      figure('wrong replies', 'replies', tally.wrong.length, 0),
      ...each('bookings', 'pages of PostgreSQL', 'pages', 'pages', mostGrowth),
      ...each('requests', 'pages of PostgreSQL', 'pages', 'pages', mostGrowth),
      ...each('bookings', 'bytes kept', 'bytes', 'bytes', mostGrowth),
      ...each('bookings', 'time', 'ms', 'ms'),
      figure('time of a day of a property', 'ms', last.ms / days / properties),
    ],
    notes: [
      `\`npm run simulate -- --properties=${properties} --days=${days} --seed=${seed} --keep\`: the days of one group over HTTP with all workers in one process, six houses and six jobs at a time, each day with its bookings, changes, stays, charges, payments, disputes, bills, stock, messages and night audit; a day takes seconds. At its end each check of the books, counters beside a recount and statements beside each other.`,
      'Pages are those that PostgreSQL read, from memory or not: they depend on who else uses the machine by that alone which goes by the clock, such as sums that are folded each minute, and so less than the time does. What `vacuum` and `analyze` read is left out.',
    ],
  }
}

/** Prints, every few days, how far a run is. */
export const progress = ({ properties, days }: Options) => {
  let before: Pick<Mark, 'day' | 'ms' | 'bookings'> = { day: 0, ms: 0, bookings: 0 }
  return (mark: Mark, { wrong }: Tally): void => {
    if (mark.day % 5 !== 0 && mark.day !== days) return
    const lived = (mark.day - before.day) * properties
    const each = (mark.ms - before.ms) / lived
    console.log(
      `day ${mark.day} of ${days}: ${mark.bookings} bookings, ${each.toFixed(0)} ms for each day of a property, ${wrong.length} wrong replies`,
    )
    before = mark
  }
}

/** Prints what a run took and found. Answers whether it failed. */
export const print = ({ seed, properties, days }: Options, { tally, marks, violations }: Outcome): boolean => {
  const { last, early, young, old, growth } = windowsOf(days, marks)
  const tables = mostRead(young, old)
  const grownMost = (index: 2 | 3) => mostGrown(young, old, index).join('\n')
  const { bookings, ms } = last
  console.log(`seed ${seed}: ${properties} properties, ${days} days, ${bookings} bookings`)
  console.log(`done:\n${list(tally.done)}`)
  console.log(`refused:\n${list(tally.refused)}`)
  const row = (by: 'bookings' | 'requests', name: string, of: Measure) => {
    const { whole, young: before, old: now, factor } = growth(by, of)
    console.log(`| ${name} | ${whole.toFixed(0)} | ${before.toFixed(0)} | ${now.toFixed(0)} | ${factor.toFixed(2)} |`)
  }
  for (const by of ['bookings', 'requests'] as const) {
    console.log(`| by ${by} | whole run | days to ${early} | days to ${days} | growth |\n|---|---|---|---|---|`)
    row(by, 'time, ms', 'ms')
    row(by, 'pages of PostgreSQL', 'pages')
    row(by, 'rows of PostgreSQL', 'rows')
    row(by, 'bytes kept', 'bytes')
  }
  console.log(`rows read per booking to day ${days} (to day ${early}):\n${tables.join('\n')}`)
  console.log(`pages read per booking to day ${days} (to day ${early}), where they grew most:\n${grownMost(3)}`)
  console.log(`bytes kept per booking to day ${days} (to day ${early}), where they grew most:\n${grownMost(2)}`)
  console.log(
    `per day of a property: ${(ms / days / properties).toFixed(0)} ms, ${(bookings / days / properties).toFixed(2)} bookings`,
  )
  for (const { request, status, body } of tally.wrong)
    console.log(`\nWRONG ${request} ${status} ${JSON.stringify(body)}`)
  for (const { rule, count, examples } of violations) {
    console.log(`\nVIOLATED ${count} times: ${rule}`)
    for (const example of examples) console.log(`  ${JSON.stringify(example)}`)
  }
  // The clock of a busy machine says little; pages do not depend on who else runs. A booking of the first month has most of its life before it, so that
  // requests are what is compared.
  const grown = days >= leastDays && growth('requests', 'pages').factor > mostGrowth
  if (grown) console.log(`\nGROWN: pages of a request are more than ${mostGrowth} of what they were`)
  return violations.length > 0 || tally.wrong.length > 0 || grown
}
