import type { Mark, Outcome } from './run.ts'

/** Growth by booking beyond which a run fails, for runs of at least so many days. */
const mostGrowth = 1.2
const leastDays = 90

const list = (counts: Record<string, number>) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `  ${count} × ${name}`)
    .join('\n')

const between = (a: Mark, b: Mark) => {
  const bookings = Math.max(1, b.bookings - a.bookings)
  const each = (of: 'ms' | 'pages' | 'rows' | 'bytes') => (b[of] - a[of]) / bookings
  return { ms: each('ms'), pages: each('pages'), rows: each('rows'), bytes: each('bytes') }
}

const ofEach = ([a, b]: readonly [Mark, Mark], name: string, index: 0 | 1 | 2) =>
  ((b.tables[name]?.[index] ?? 0) - (a.tables[name]?.[index] ?? 0)) / Math.max(1, b.bookings - a.bookings)

/** The tables that the last bookings read most of, by rows of each booking, and what the first read of them. */
const mostRead = (young: readonly [Mark, Mark], old: readonly [Mark, Mark]): string[] =>
  Object.keys(old[1].tables)
    .map((name) => ({ name, scanned: ofEach(old, name, 0), found: ofEach(old, name, 1) }))
    .sort((a, b) => b.scanned + b.found - a.scanned - a.found)
    .slice(0, 12)
    .map(
      ({ name, scanned, found }) =>
        `  ${name}: ${scanned.toFixed(0)} scanned, ${found.toFixed(0)} found (${ofEach(young, name, 0).toFixed(0)}, ${ofEach(young, name, 1).toFixed(0)})`,
    )

/** The tables whose bytes of each booking grew most. */
const mostGrown = (young: readonly [Mark, Mark], old: readonly [Mark, Mark]): string[] =>
  Object.keys(old[1].tables)
    .map((name) => ({ name, before: ofEach(young, name, 2), now: ofEach(old, name, 2) }))
    .sort((a, b) => b.now - b.before - a.now + a.before)
    .slice(0, 12)
    .map(({ name, before, now }) => `  ${name}: ${now.toFixed(0)} (${before.toFixed(0)})`)

/** Prints what a run took and found. Answers whether it failed. */
export const print = (
  { seed, properties, days }: { seed: number; properties: number; days: number },
  { tally, marks, violations }: Outcome,
): boolean => {
  const [first, last] = [marks[0], marks.at(-1)]
  if (!first || !last) throw new Error('no day was lived')
  // A window of days each: the last of the first month, and the last of all.
  const window = Math.max(1, Math.min(15, Math.floor(days / 4)))
  const early = Math.max(window, Math.min(30, Math.floor(days / 2)))
  const at = (day: number) => marks[day] ?? last
  const [young, old] = [between(at(early - window), at(early)), between(at(days - window), at(days))]
  const whole = between(first, last)
  const tables = mostRead([at(early - window), at(early)], [at(days - window), last])
  const bytes = mostGrown([at(early - window), at(early)], [at(days - window), last])
  const { bookings, ms } = last
  console.log(`seed ${seed}: ${properties} properties, ${days} days, ${bookings} bookings`)
  console.log(`done:\n${list(tally.done)}`)
  console.log(`refused:\n${list(tally.refused)}`)
  const row = (name: string, of: keyof typeof whole, digits = 0) =>
    console.log(
      `| ${name} | ${whole[of].toFixed(digits)} | ${young[of].toFixed(digits)} | ${old[of].toFixed(digits)} | ${(old[of] / young[of]).toFixed(2)} |`,
    )
  console.log(`| per booking | whole run | days to ${early} | days to ${days} | growth |\n|---|---|---|---|---|`)
  row('time, ms', 'ms')
  row('pages of PostgreSQL', 'pages')
  row('rows of PostgreSQL', 'rows')
  row('bytes kept', 'bytes')
  console.log(`rows read per booking to day ${days} (to day ${early}):\n${tables.join('\n')}`)
  console.log(`bytes kept per booking to day ${days} (to day ${early}), where they grew most:\n${bytes.join('\n')}`)
  console.log(
    `per day of a property: ${(ms / days / properties).toFixed(0)} ms, ${(bookings / days / properties).toFixed(2)} bookings`,
  )
  for (const { request, status, body } of tally.wrong)
    console.log(`\nWRONG ${request} ${status} ${JSON.stringify(body)}`)
  for (const { rule, count, examples } of violations) {
    console.log(`\nVIOLATED ${count} times: ${rule}`)
    for (const example of examples) console.log(`  ${JSON.stringify(example)}`)
  }
  // The clock of a busy machine says little; pages do not depend on who else runs.
  const grown = days >= leastDays && old.pages / young.pages > mostGrowth
  if (grown) console.log(`\nGROWN: pages of a booking are more than ${mostGrowth} of what they were`)
  return violations.length > 0 || tally.wrong.length > 0 || grown
}
