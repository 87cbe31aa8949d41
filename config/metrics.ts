import { Registry, collectDefaultMetrics } from 'prom-client'

/** Metrics of this process for Prometheus; each loaded part adds its own. No label may hold an id: every value is a series for ever. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry })
