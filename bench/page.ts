import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import type { Result } from './report.ts'

type Content = {
  name: string
  at: string
  commit: string | null
  machine: { cpu: string; cores: number; memoryGb: number; system: string }
  /** Processes that ran or waited for a processor before the run. */
  waiting?: number
  versions: Record<string, string>
  results: Result[]
  notes: string[]
}

const folder = new URL('./results/', import.meta.url)

const head = `# Performance

Written by \`npm run bench\` from the last whole run of each measurement (\`bench/results\`); change it there. Absolute numbers are those of one machine. What counts are the ratios: each
compares ours with the bare parts (BullMQ alone, pg alone, the same SQL without us) in the same run, in turn, medians of rounds. \`--quick\` runs less and writes nothing. So does \`--only=<part>\`, with one part of \`cash-ap-ar\`: movements, numbers, statement, suggestions, reminders.

- \`npm run bench -- jobs\`, \`auth\`, … or \`all\`: a private PostgreSQL that waits for the disk and has a quarter of the memory (at most 4 GB), and a private Redis that keeps its log. Nothing else should run.
- \`BENCH_PROFILE=worker npm run bench -- jobs --quick\` (\`relay\`, or \`api\` of \`list\` and others) writes processor profiles to \`.data/profiles\`.
- Where the time of a job goes, by the processor (workers with more to do than they can, on the slower of two machines): PostgreSQL 0.57 ms, the worker 0.4 ms, Redis 0.15 ms, the relay 0.13 ms; it
  was 0.9, 0.9, 0.2 and 0.35 ms. On two cores their sum is the ceiling of what they can do together on one machine; more machines share it. Most of it is writing to sockets and waking who reads, so
  the lock of a job goes with BEGIN and its end with COMMIT: two round trips for a job in the database alone where there were five. A transaction of knex cost the worker as much as all its
  statements, and is not used (decision 16). The relay looks in three round trips, hands over in one or two more, and no sooner than there is room worth it (decision 14).
  Planning was two thirds of PostgreSQL's part before connections kept plans (\`DATABASE_PREPARE\`). Of the indexes of \`jobs\` a row writes five when it is made (of seven) and two when it is handed over (of five).
- Where the time of an event goes, from its writing to its answer, by the processor (\`webhooks --quick\`, 200 a second over 100 tenants; beside other work, which makes all of it several times as
  dear as on a quiet machine, so it is the ratios that count):

  | ms for each event | PostgreSQL | worker | relay | Redis | clock | writer and receiver | all | p95 |
  |---|---|---|---|---|---|---|---|---|
  | before | 7.92 | 3.72 | 0.57 | 0.24 | 0.14 | 0.97 | 13.6 | 23.0 s |
  | now | 2.96 | 2.33 | 0.33 | 0.14 | 0.06 | 0.47 | 6.3 | 4.5 s |
  | a job of the queue that does nothing, in the same runs | | | | | | | 7.6 and 7.3 | |

  Planning was two thirds of PostgreSQL's part: statements on the months of events were planned over those made ahead as well, anew every ten seconds on each connection. A delivery took 19 round trips
  and takes 9; a claim reads its gate, a lock its tenant, and successes go to the gate once a minute. What is left is the job: where each tenant has an event a second, each event is a job and three
  transactions of its own, and two processors do a few hundred of those. An event of a busy tenant shares them, and costs half of that.
- What a booking reads and plans (\`simulate\`, 10 houses, 9 days; with \`pg_stat_statements\` over all statements): 15,016 pages where it was 17,474, in days 5 to 9 15,634 where it was 19,280. A third of
  the pages are those of the catalogue, read to plan anew after statistics were gathered. Planning took more than running: 364 ms beside 249. Of it 291 ms went to statements that were planned for
  each call, and 92 do now, on a machine that others used more. The planner takes one key for cheaper than the ten that it assumes of a list, and so never kept a plan of those: prepared
  statements hide their lists from it. A list of stays weighed the orders of nine joins in 28 ms a call. The lock of a running job read 36 pages, since the index of running ones was empty when it was
  analysed, and reads 6. What is left are about 700 statements and 300 of triggers and keys a booking, of some 14 pages each: 5 to 25 indexes that a row writes, and its references.
- A year of a group (\`simulate\`, 10 houses, 365 days: 7,968 bookings, 122,300 requests, in 82 minutes beside other work): no rule violated, no wrong reply. A booking read 17,800 pages to day 30 and
  21,840 at the end. Of those 4,040 the sandbox gateway took 1,615: it read the whole history of an account, and does not since; without it the growth is 1.14. 670 more are caps of messages and 360 proofs
  and payouts of a gateway, which go by the day of the wall clock, in which the whole year lies here. The growth hangs on the time that a run takes, since sums, proofs and relays go by the clock: with the whole suite beside its last
  third it was 1.36, a booking taking 2.5 times as long. A day of a house takes 0.4 to 0.9 s on the quiet machine, so that 50 houses take two to five hours.
- A ratio of throughput is better when it is larger, one of a time when it is smaller. Goals without a reference are in the unit itself.

A reference is honest where it is the least that an expert would write by hand: prepared, and nothing that could be left out.

| measurement | reference | honest |
|---|---|---|
| list | the number of all, the ids of the page, their rows by key; prepared | yes; it repeated our own statements unprepared |
| records | the same statement by hand on our own connection, prepared | yes |
| availability | three plain selects, prepared; the second sends our own statement of the calendar | the first, yes; the second is ours and has no goal |
| booking, front-desk, hold | the statements of our own request or transaction, repeated by pg one after the other, prepared | half: an expert would join some of them, and leave none out |
| webhooks | the bare parts of an event's way: an insert by pg, a job that does nothing, a signed POST | parts, not a ratio |
| jobs | BullMQ alone, pg alone with one prepared statement | yes |
| job-scale, fairness | ourselves with a smaller table, or without the fair choice | yes: a growth, not a ratio |
| auth | the same route without credentials | yes: a difference, not a ratio |
| channels | plain posts of the same bodies | yes: no database |
| list-growth | the same page of a tenant with 1,000 rows beside it | yes: a growth, not a ratio |
| statements | the same statement of a book with a hundredth of the lines | yes: a growth, not a ratio |
| cash-ap-ar, ledger, stock | pg alone repeats the writing statements of the same command with fresh ids | half: an expert would join some of them, and leave none out |
| issues | node:http and pg, the number of all and the rows of the page, prepared | yes; no key is checked, and nothing is unsealed |
| messages | the same without a campaign beside it | yes: a difference, not a ratio |
| simulate | its own first month | yes: a growth, not a ratio |
| payments | none | goals are times |
| boot | a bare node:http server | a floor, and no goal hangs on it |
| night-audit | none | goals are times |
`

const cell = (value: string | number | null): string => (value === null ? '' : String(value))

const section = ({ name, at, commit, machine, waiting = 0, versions, results, notes }: Content): string => {
  const rows = results.map(
    ({ name: row, unit, ours, reference, ratio, goal, holds }) =>
      `| ${[row, unit, ours, reference, ratio, goal, holds === null ? null : holds ? 'yes' : '**no**'].map(cell).join(' | ')} |`,
  )
  return [
    `## ${name}\n`,
    `${at.slice(0, 16).replace('T', ' ')} UTC at ${commit ?? 'an unknown commit'}; ${machine.cores} × ${machine.cpu}, ${machine.memoryGb} GB; Node ${versions.node}, PostgreSQL ${versions.postgres}.${waiting < 0.8 ? '' : ` The ${machine.cores} processors were not idle: ${waiting} processes of others ran or waited.`}\n`,
    '| what | unit | ours | reference | ratio | goal | holds |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    ...notes.map((note) => `- ${note}`),
    '',
  ].join('\n')
}

/** Writes docs/performance.md from all results. */
export const writePage = (): void => {
  const all = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Content)
  const missed = all.flatMap(({ name, results }) =>
    results
      .filter(({ holds }) => holds === false)
      .map(
        ({ name: row, ours, unit, ratio, goal }) =>
          `- ${name}: ${row}: ${ours} ${unit}${ratio === null ? '' : `, ratio ${ratio}`}; goal ${goal}`,
      ),
  )
  const misses = ['## Goals that are missed\n', ...(missed.length > 0 ? missed : ['None.']), ''].join('\n')
  writeFileSync(new URL('../docs/performance.md', import.meta.url), [head, misses, ...all.map(section)].join('\n'))
}
