import { Counter, Gauge, Histogram } from 'prom-client'
import { registry } from '../../config/metrics.ts'
import { redisAnswers } from './redis.ts'

const registers = [registry]

/** `route` is the id of an endpoint, which stands for one method and one pattern; `none` is everything else. */
export const requests = new Counter({
  name: 'http_requests_total',
  help: 'Requests by endpoint and status',
  labelNames: ['route', 'status'],
  registers,
})
export const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of requests by endpoint',
  labelNames: ['route'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
  registers,
})
export const rateLimited = new Counter({
  name: 'http_rate_limited_total',
  help: 'Requests refused by a rate limit; window: what the limit counts by',
  labelNames: ['window'],
  registers,
})
export const connectionsRefused = new Counter({
  name: 'http_connections_refused_total',
  help: 'Connections closed unread, since one address (address) or all together (all) had as many as may be',
  labelNames: ['bound'],
  registers,
})
const available = new Gauge({
  name: 'redis_available',
  help: '1 while Redis answers, 0 while the process runs degraded',
  registers,
  collect() {
    this.set(redisAnswers() ? 1 : 0)
  },
})
available.set(0)
