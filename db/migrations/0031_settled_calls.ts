import type { Knex } from 'knex'

/** The id in the key of a call, where it is one; few calls are open, and each leads to its record. */
const idIn = (begin: string) =>
  `case when c.idempotency_key ~ '^${begin}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-cancel|)$' then substr(c.idempotency_key, 5, 36)::uuid end`

/**
 * Calls that were left open although their payment or refund has long been known: nobody comes back to them, and they page for ever. What a callback or
 * a reading tells from now on ends them when it is told.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `update external_call c set state = 'succeeded', finished_at = now() from payment p
     where c.state in ('started', 'unknown') and p.tenant_id = c.tenant_id and p.id = ${idIn('pay')}
       and case c.operation when 'submit' then p.status not in ('created', 'unknown')
         when 'cancel' then p.status in ('captured', 'failed', 'cancelled', 'expired', 'reversed') else false end`,
  )
  await knex.raw(
    `update external_call c set state = 'succeeded', finished_at = now() from refund r
     where c.state in ('started', 'unknown') and c.operation = 'refund' and r.tenant_id = c.tenant_id and r.id = ${idIn('ref')}
       and r.status not in ('requested', 'unknown')`,
  )
}
