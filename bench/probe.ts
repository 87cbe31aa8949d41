import { Int, Obj } from '../config/schema.ts'
import { job } from '../jobs/job.ts'

/** A job without an effect of its own: what it costs is the platform. */
export const probe = job({
  name: 'inventory.bench-probe',
  queue: 'inventory',
  payload: Obj({ number: Int(0, 1_000_000_000) }),
  retry: 'internal',
})
