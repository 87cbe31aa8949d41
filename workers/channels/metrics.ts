import { Counter, Histogram } from 'prom-client'
import { registry } from '../../config/metrics.ts'

// By driver: no label may hold an id. The lag of each connection stands in its record.
export const pushedAfter = new Histogram({
  name: 'channel_push_lag_seconds',
  help: 'From the oldest change, as its transaction began, to the answer of the channel that was told of it',
  labelNames: ['driver', 'kind'],
  buckets: [0.5, 1, 2, 4, 6, 8, 10, 15, 30, 60, 300, 1800],
  registers: [registry],
})

export const pushesUnder = new Counter({
  name: 'channel_pushes_total',
  help: 'Pushes to channels by how they ended',
  labelNames: ['driver', 'outcome'],
  registers: [registry],
})
