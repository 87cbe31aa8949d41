import type { Bench } from '../bench.ts'
import { latency } from '../jobs/latency.ts'
import { libraries } from '../jobs/libraries.ts'
import { recovery } from '../jobs/recovery.ts'
import { makeEffects } from '../jobs/rows.ts'
import { throughput } from '../jobs/throughput.ts'
import type { Result } from '../report.ts'

export const bench: Bench = async (database) => {
  const { admin } = database
  await makeEffects(admin)
  const parts = [() => throughput(admin), latency, () => recovery(admin), () => libraries(database)]
  const results: Result[] = []
  for (const part of parts) {
    const found = await part()
    for (const { name, unit, ours } of found) console.log(`${name}: ${ours} ${unit}`)
    results.push(...found)
  }
  return {
    results,
    notes: [
      'Ours: each part a process (relay, one worker with 50 places, 20 for the latency), the disk is waited for, Redis keeps its log. Medians of rounds in turn.',
      'addBulk alone: the same ids and options, a hundred a call, one process. BullMQ alone: a processor that does nothing, 50 at once, and no record in PostgreSQL.',
      'A single statement: pg alone on 50 connections; the row of the job goes, one row of effect and the archive are written, one statement and one commit per job.',
      'Postings of the ledger: events of 20 books, each raised in a transaction of its own with its job, from the start of the relay process until every event is an entry with its two lines, balances and event, and every job has ended. A job posts what waits in its book and ends the jobs that asked for it. The reference writes one row per event.',
      'If nothing but the bare parts cost anything: one posting added by addBulk alone, worked off by BullMQ alone and its single statement run alone, one after the other on the same processors. What it reaches of the single statement bounds what any machinery of these parts can; what lies above it is out of reach of this machine.',
      'The relay hands over to ten queues whose workers are infinitely fast: what was handed over is deleted, which costs PostgreSQL something, too.',
      'SIGKILL: what passes is BullMQ’s lock (10 s, renewed every 5) and its look for stalled jobs (every 5 s).',
      'Redis lost: from the start of a relay process (about a second of it) that finds an empty Redis and every job marked as handed over.',
      'Other libraries: the same work (a row and the job in one transaction, an effect in another, done), 20 at once in one process, on the same durable PostgreSQL. Theirs commit effect and completion apart: a crash between repeats the effect. pg-boss looks twice a second, 500 jobs at a time.',
    ],
  }
}
