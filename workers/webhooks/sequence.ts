import { randomUUID } from 'node:crypto'
import { nilId } from '../../config/nil-id.ts'
import { numberedAtOnce, numberEvents, unnumberedTenants } from '../../db/webhooks/index.ts'
import { sequenceEvents } from '../../jobs/webhooks.ts'
import { processor } from '../lib/processor.ts'

const tenantsAtOnce = 500
/** Transactions at a time: each is a few statements of one tenant. */
const side = 4
/** Another one is on its way by then. */
const enoughMs = 5_000

type Look = (after: string, most: number) => Promise<{ tenantId: string }[]>

/** Tenants with events to be numbered, some at a time: from the one behind `begun` on, and once around. */
export const aroundFrom = async function* (look: Look, begun: string, most: number): AsyncGenerator<string[]> {
  let isAround = false
  for (let after = begun; ;) {
    const found = (await look(after, most)).map(({ tenantId }) => tenantId)
    const some = isAround ? found.filter((tenantId) => tenantId <= begun) : found
    const next = some.length === most ? (some.at(-1) ?? null) : null
    // The list is emptied as its tenants are numbered.
    if (some.length > 0) yield some
    if (next !== null) after = next
    else if (isAround) return
    else [isAround, after] = [true, nilId]
  }
}

/**
 * Numbers what was committed since, tenant by tenant, each in a transaction of its own: one that fails keeps no other, and a crash in between leaves
 * the rest to the next second. Each start begins at another tenant: where there is more than a start can do, every tenant has its turn all the same.
 */
export const sequence = processor(sequenceEvents, async ({ effect, inTenant, finish, log, signal }) => {
  const until = Date.now() + enoughMs
  const isOver = () => signal.aborted || Date.now() > until
  const number = async (tenantId: string): Promise<void> => {
    try {
      for (let count = numberedAtOnce; count === numberedAtOnce && !isOver();)
        count = await inTenant(tenantId, numberEvents)
    } catch (error) {
      log.warn({ err: error, tenantId }, 'the events of a tenant could not be numbered')
    }
  }
  const look: Look = (after, most) => effect((trx) => unnumberedTenants(trx, after, most))
  for await (const waiting of aroundFrom(look, randomUUID(), tenantsAtOnce)) {
    await Promise.all(
      Array.from({ length: side }, async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await number(next)
      }),
    )
    if (isOver()) break
  }
  await finish()
})
