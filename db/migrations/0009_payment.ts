import type { Knex } from 'knex'
import { callbacks } from './payment/callbacks.ts'
import { payments } from './payment/payments.ts'
import { sweepFunction } from './support.ts'

/** Money through gateways: accounts, payments and what they pay for, refunds, callbacks, exceptions, and the sandbox gateway's own state. */
export const up = async (knex: Knex) => {
  await payments(knex)
  await callbacks(knex)
  await sweepFunction(
    knex,
    'payments_due(most int)',
    'tenant_id uuid, kind text, id uuid',
    `(select p.tenant_id, 'payment', p.id from payment p where p.next_read_at <= now() order by p.next_read_at limit most)
     union all
     (select r.tenant_id, 'refund', r.id from refund r where r.next_read_at <= now() order by r.next_read_at limit most)`,
  )
  await sweepFunction(
    knex,
    'payments_unallocated(most int)',
    'tenant_id uuid, id uuid',
    `select p.tenant_id, p.id from payment p
     where p.captured_at < now() - interval '24 hours' and p.status = 'captured' and p.allocated_amount + p.refund_reserved < p.captured_amount
       and not exists (select from payment_exception e
         where e.tenant_id = p.tenant_id and e.subject_type = 'payment' and e.subject_id = p.id)
     order by p.captured_at limit most`,
  )
  await sweepFunction(
    knex,
    'payments_with_old_payers(most int)',
    'tenant_id uuid, id uuid',
    `select p.tenant_id, p.id from payment p
     where (p.payer is not null or p.payer_index is not null or p.submission is not null) and p.updated_at < now() - interval '90 days'
       and p.status in ('captured', 'failed', 'cancelled', 'expired', 'reversed')
     order by p.updated_at limit most`,
  )
  await sweepFunction(
    knex,
    'gateway_account_of(gateway text, reference text)',
    'tenant_id uuid, id uuid',
    `select a.tenant_id, a.id from gateway_account a where a.provider = gateway and a.external_id = reference`,
  )
}
