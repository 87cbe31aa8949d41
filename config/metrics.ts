import { Registry, collectDefaultMetrics } from 'prom-client'

/** What Prometheus reads of this process; each part that is loaded adds its own. No label may hold an id: every value is a series for ever. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry })
