import type { Knex } from 'knex'
import { Gauge, Histogram } from 'prom-client'
import { registry } from '../../config/metrics.ts'

/** The part of knex's pool that is read here; its own types leave it out. */
type Pool = {
  numUsed: () => number
  numFree: () => number
  numPendingAcquires: () => number
  on: (event: 'acquireRequest' | 'acquireSuccess' | 'acquireFail', listener: (eventId: number) => void) => void
}

const waits = new Histogram({
  name: 'postgres_pool_wait_seconds',
  help: 'Time until a connection to PostgreSQL was had, or given up',
  labelNames: ['outcome'],
  buckets: [0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  registers: [registry],
})

let watched: Pool | null = null

const connections = new Gauge({
  name: 'postgres_pool_connections',
  help: 'Connections of the pool by what they do; waiting: askers without one',
  labelNames: ['state'],
  registers: [registry],
  collect() {
    this.set({ state: 'used' }, watched?.numUsed() ?? 0)
    this.set({ state: 'free' }, watched?.numFree() ?? 0)
    this.set({ state: 'waiting' }, watched?.numPendingAcquires() ?? 0)
  },
})
connections.set({ state: 'used' }, 0)

/** Measures how long the askers of this pool wait for a connection. */
export const watchPool = (knex: Knex): void => {
  const { pool } = knex.client as { pool: Pool }
  const asked = new Map<number, number>()
  const settled = (outcome: string) => (eventId: number) => {
    const since = asked.get(eventId)
    asked.delete(eventId)
    if (since !== undefined) waits.observe({ outcome }, (performance.now() - since) / 1000)
  }
  pool.on('acquireRequest', (eventId) => void asked.set(eventId, performance.now()))
  pool.on('acquireSuccess', settled('had'))
  pool.on('acquireFail', settled('failed'))
  watched = pool
}
