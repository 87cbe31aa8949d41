import type { Knex } from 'knex'
import { accountsAndMethods } from './payment/accounts-and-methods.ts'
import { proofs } from './payment/proofs.ts'
import { sweepFunction } from './support.ts'

const due = (kind: string, table: string) =>
  `(select x.tenant_id, '${kind}', x.id from ${table} x where x.next_read_at <= now() order by x.next_read_at limit most)`

/** The parts that payments still lacked: history, saved methods, links, onboarding of accounts, disputes, payouts and the proof against the gateway. */
export const up = async (knex: Knex) => {
  await accountsAndMethods(knex)
  await proofs(knex)
  await knex.raw(`drop function payments_due(int)`)
  await sweepFunction(
    knex,
    'payments_due(most int)',
    'tenant_id uuid, kind text, id uuid',
    `${due('payment', 'payment')} union all ${due('refund', 'refund')} union all ${due('account', 'gateway_account')}
     union all ${due('method', 'payment_method')} union all ${due('dispute', 'dispute')}
     union all (select a.tenant_id, 'import', a.id from gateway_account a where a.next_import_at <= now() order by a.next_import_at limit most)`,
  )
  await sweepFunction(
    knex,
    'payments_near_end(most int)',
    'tenant_id uuid, kind text, id uuid',
    `(select p.tenant_id, 'authorisation', p.id from payment p where p.status = 'authorised' and p.end_neared_at is null
       and p.authorisation_expires_at < now() + interval '24 hours' order by p.authorisation_expires_at limit most)
     union all
     (select d.tenant_id, 'dispute', d.id from dispute d where d.status = 'needs_response' and d.response_due_at > now()
       and (d.warnings = 0 and d.response_due_at < now() + interval '72 hours' or d.warnings = 1 and d.response_due_at < now() + interval '24 hours')
       order by d.response_due_at limit most)
     union all
     (select m.tenant_id, 'method', m.id from payment_method m where m.status = 'active'
       and make_date(m.exp_year, m.exp_month, 1) + interval '2 months' <= now() limit most)
     union all
     (select o.tenant_id, 'payout', o.id from payout o where o.status = 'paid' and o.paid_at < now() - interval '48 hours'
       and (not o.complete or o.difference is distinct from 0)
       and not exists (select from payment_exception e where e.tenant_id = o.tenant_id and e.subject_type = 'payout' and e.subject_id = o.id)
       order by o.paid_at limit most)`,
  )
}
