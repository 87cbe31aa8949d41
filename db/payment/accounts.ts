import { notFound, unprocessable } from '../../config/errors.ts'
import type { Trx } from '../lib/connection.ts'
import { preparedOne, sqlOne } from '../lib/connection.ts'
import type { GatewayAccountRow } from '../rows.ts'
import type { Method } from './rules/states.ts'

type Wanted = { propertyId: string; currency: string; method: Method; gatewayAccountId?: string | undefined }

/**
 * The account that takes the money (R10): the one named, else the default of the property's book. It must be able to
 * charge by the method.
 */
export const accountFor = async (
  trx: Trx,
  { propertyId, currency, method, gatewayAccountId }: Wanted,
): Promise<GatewayAccountRow> => {
  const account = await sqlOne<GatewayAccountRow>(
    trx,
    `select a.* from gateway_account a join property p on p.tenant_id = a.tenant_id and p.book_id = a.book_id and p.id = :propertyId
     where (cast(:gatewayAccountId as uuid) is null and a.is_default or a.id = :gatewayAccountId)
       and (cardinality(a.property_ids) = 0 or p.id = any(a.property_ids))
     for key share of a`,
    { propertyId, gatewayAccountId: gatewayAccountId ?? null },
  )
  if (!account) {
    if (gatewayAccountId) throw notFound('There is no such gateway account for the property')
    throw unprocessable('gateway_account_not_ready', 'The property has no gateway account')
  }
  if (account.currency !== currency)
    throw unprocessable('currency_mismatch', `The gateway account takes ${account.currency}`)
  if (account.status !== 'active' && !(account.status === 'restricted' && account.chargesEnabled))
    throw unprocessable('gateway_account_not_ready', 'The gateway account cannot take payments yet')
  if ((account.capabilities as Record<string, string>)[method] !== 'active')
    throw unprocessable('method_unavailable', `The gateway account does not take ${method}`)
  return account
}

/** The book that a property's money belongs to; '' where there is no such property. */
export const bookOfProperty = async (trx: Trx, propertyId: string): Promise<string> =>
  (await preparedOne<{ bookId: string }>(trx, `select book_id from property where id = ?`, [propertyId]))?.bookId ?? ''

/**
 * The gate of the jobs that call an account: it closes for that account alone. One that was disconnected has none: its credentials may be refused for ever, and
 * what is still live there is read all the same.
 */
export const gateOf = ({ provider, id, status }: { provider: string; id: string; status?: string }): string =>
  status === 'disconnected' ? '' : `${provider}:${id}`

/** The gate of a gateway account given by id. */
export const gateOfAccount = async (trx: Trx, id: string | null): Promise<string> => {
  const account = await sqlOne<{ provider: string; id: string; status: string }>(
    trx,
    `select provider, id, status from gateway_account where id = ?`,
    [id],
  )
  return account ? gateOf(account) : ''
}

export type SandboxAccount = {
  id?: string
  bookId: string
  country: string
  currency: string
  label?: string
  platformFeeRate?: number
}

/** An account at the sandbox gateway, ready at once and the default of its book: for demo data and tests. */
export const addSandboxAccount = async (trx: Trx, account: SandboxAccount): Promise<string> => {
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into gateway_account (id, provider, label, book_id, country, currency, is_default, status, external_id, capabilities,
       charges_enabled, payouts_enabled, platform_fee_rate, next_read_at, next_import_at)
     values (coalesce(:id, gen_random_uuid()), 'sandbox', :label, :bookId, :country, :currency,
       not exists (select from gateway_account where book_id = :bookId and is_default), 'active',
       'sbx_' || replace(gen_random_uuid()::text, '-', ''), '{"card": "active", "pix": "active", "boleto": "active"}', true, true, :platformFeeRate, now() + interval '1 day', now() + interval '1 hour')
     returning id`,
    { label: 'Sandbox', platformFeeRate: 0, id: null, ...account },
  )
  if (!row) throw new Error('the account was not written')
  return row.id
}
