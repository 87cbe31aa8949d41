import { webhookEndpointChanged } from '../../../config/events/webhooks.ts'
import { webhookLimits } from '../../../config/limits.ts'
import { audit } from '../../lib/audit.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { notFound } from '../../../config/errors.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import type { WebhookEndpointRow } from '../../rows.ts'
import { newSecret } from '../rules/secrets.ts'
import { tell } from './tell.ts'

export const place = (id: string, purpose: 'secret' | 'previous_secret') => ({
  table: 'webhook_endpoint',
  rowId: id,
  purpose,
})

/** The secrets that sign now: the present one, and the one before while it still does. */
export const secretsOf = async (
  trx: Trx,
  {
    id,
    secret,
    previousSecret,
    previousUntil,
  }: Pick<WebhookEndpointRow, 'id' | 'secret' | 'previousSecret' | 'previousUntil'>,
): Promise<string[]> => {
  const present = await unseal<string>(trx, 'tenant', place(id, 'secret'), secret)
  const isValid = previousSecret !== null && previousUntil !== null && previousUntil > new Date()
  return isValid
    ? [present, await unseal<string>(trx, 'tenant', place(id, 'previous_secret'), previousSecret)]
    : [present]
}

/** Gives an endpoint, whose row the caller holds, another secret. The old one signs on for `overlapHours`. Answers the new one. */
export const rotateSecret = async (
  trx: Trx,
  id: string,
  overlapHours: number = webhookLimits.overlapHours,
): Promise<string> => {
  const row = await sqlOne<Pick<WebhookEndpointRow, 'secret'>>(
    trx,
    `select secret from webhook_endpoint where id = ?`,
    [id],
  )
  if (!row) throw notFound()
  const old = await unseal<string>(trx, 'tenant', place(id, 'secret'), row.secret)
  const secret = newSecret()
  await sql(
    trx,
    `update webhook_endpoint set secret = :secret, previous_secret = :previous,
       previous_until = case when :hours::int > 0 then now() + make_interval(hours => :hours::int) end, version = version + 1
     where id = :id`,
    {
      id,
      secret: await seal(trx, 'tenant', place(id, 'secret'), secret),
      previous: overlapHours > 0 ? await seal(trx, 'tenant', place(id, 'previous_secret'), old) : null,
      hours: overlapHours,
    },
  )
  await audit(trx, { action: 'webhook_endpoint.rotate_secret', subjectType: 'WebhookEndpoint', subjectId: id })
  await tell(trx, id, webhookEndpointChanged)
  return secret
}
