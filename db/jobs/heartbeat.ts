import { sql } from '../lib/connection.ts'
import type { PlatformTrx } from '../lib/connection.ts'

export type Beat = {
  id: string
  process: 'worker' | 'relay' | 'scheduler'
  /** By which rows know it. */
  name: string
  host: string
  pid: number
  version: string
  queues: Record<string, number>
  running: number
  loopLagMs: number
  /** Some of what it has in hand. */
  current: { jobId: string; kind: string }[]
}

/** SQL condition on `worker_heartbeat`. Beats come every five seconds; a process that missed four is taken for dead. */
export const isAlive = `beat_at > now() - interval '20 seconds'`

/** Says that a process is alive; rows of processes that fell silent an hour ago go. */
export const beat = async (trx: PlatformTrx, state: Beat) => {
  await sql(
    trx,
    `insert into worker_heartbeat (id, process, name, host, pid, version, queues, running, loop_lag_ms, current)
     values (:id, :process, :name, :host, :pid, :version, cast(:queues as jsonb), :running, :loopLagMs, cast(:current as jsonb))
     on conflict (id) do update set queues = excluded.queues, running = excluded.running, loop_lag_ms = excluded.loop_lag_ms,
       current = excluded.current, beat_at = now()`,
    { ...state, queues: JSON.stringify(state.queues), current: JSON.stringify(state.current) },
  )
  await sql(trx, `delete from worker_heartbeat where beat_at < now() - interval '1 hour'`)
}

export const endBeat = (trx: PlatformTrx, id: string) => sql(trx, `delete from worker_heartbeat where id = ?`, [id])
