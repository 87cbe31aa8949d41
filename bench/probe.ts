import { Int, Obj, Uuid } from '../config/schema.ts'
import { job } from '../jobs/job.ts'

const payload = Obj({ tenantId: Uuid, number: Int(0, 1_000_000_000) })

/** A job without an effect of its own: what it costs is the platform. */
export const probe = job({ name: 'inventory.bench-probe', queue: 'inventory', payload, retry: 'internal' })

/** A job whose effect is one row. */
export const posting = job({ name: 'ledger.bench-posting', queue: 'ledger', payload, retry: 'internal' })

/** A job that is in hand for a second, as one that calls the outside. */
export const lengthy = job({ name: 'payments.bench-lengthy', queue: 'payments', payload, retry: 'provider' })
