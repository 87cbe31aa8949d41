import { nilId } from '../../config/nil-id.ts'
import { numberedAtOnce, numberEvents, unnumberedTenants } from '../../db/webhooks/index.ts'
import { sequenceEvents } from '../../jobs/webhooks.ts'
import { processor } from '../lib/processor.ts'

const tenantsAtOnce = 500
/** Transactions at a time: each is a few statements of one tenant. */
const side = 4
/** Another one is on its way by then. */
const enoughMs = 5_000

/**
 * Numbers what was committed since, tenant by tenant, each in a transaction of its own: one that fails keeps no other, and a crash in between leaves
 * the rest to the next second.
 */
export const sequence = processor(sequenceEvents, async ({ effect, inTenant, finish, log, signal }) => {
  const until = Date.now() + enoughMs
  const number = async (tenantId: string): Promise<void> => {
    try {
      for (let count = numberedAtOnce; count === numberedAtOnce && !signal.aborted && Date.now() < until;)
        count = await inTenant(tenantId, numberEvents)
    } catch (error) {
      log.warn({ err: error, tenantId }, 'the events of a tenant could not be numbered')
    }
  }
  for (let after = nilId; !signal.aborted && Date.now() < until;) {
    const from = after
    const found = await effect((trx) => unnumberedTenants(trx, from, tenantsAtOnce))
    const waiting = found.map(({ tenantId }) => tenantId)
    after = waiting.at(-1) ?? ''
    await Promise.all(
      Array.from({ length: side }, async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await number(next)
      }),
    )
    if (found.length < tenantsAtOnce) break
  }
  await finish()
})
