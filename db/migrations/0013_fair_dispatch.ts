import type { Knex } from 'knex'
import { openTable, platformTable } from './support.ts'

/** Support for a relay that chooses fairly between tenants and leaves alone jobs that cannot run now. No backlog raises its cost. */
export const up = async (knex: Knex) => {
  // `gate` is the account that the job will call. `ready` is false while its time has not come: the turns are walked over what is
  // due alone, however many jobs of however many tenants wait for next week.
  await knex.raw(`
    alter table jobs add column gate text not null default '', add column ready boolean not null default true,
      add constraint jobs_gate_short check (length(gate) <= 120)`)
  await knex.raw(`
    create function set_job_ready() returns trigger language plpgsql as $$
    begin
      new.ready := new.run_at <= now();
      return new;
    end $$`)
  // The condition is looked at without a call of the function, so what is due at once pays nothing.
  for (const moment of ['insert', 'update of status, run_at'])
    await knex.raw(
      `create trigger ready_${moment.slice(0, 6)} before ${moment} on jobs for each row
       when (new.status = 'pending' and new.ready <> (new.run_at <= now())) execute function set_job_ready()`,
    )
  await knex.raw(`update jobs set ready = false where status = 'pending' and run_at > now()`)
  // Not coalesce(): under row-level security PostgreSQL uses an index only for conditions that it knows not to leak.
  await knex.raw(`
    create index jobs_turn on jobs (queue, class,
      (case when tenant_id is null then '00000000-0000-0000-0000-000000000000'::uuid else tenant_id end), gate, kind, run_at, seq)
    where status = 'pending' and ready`)
  await knex.raw(`create index jobs_waiting on jobs (queue, run_at, seq) where status = 'pending' and not ready`)

  // Where the round over the tenants of a queue and class stopped: whichever relay is next goes on from there.
  await openTable(
    knex,
    'relay_turn',
    `queue text not null,
     class text not null,
     tenant_id uuid not null,
     primary key (queue, class)`,
  )

  await platformTable(
    knex,
    'provider_gate',
    `gate text primary key,
     provider text not null,
     tenant_id uuid,
     state text not null default 'open',
     closed_at timestamptz,
     closed_until timestamptz,
     reason text,
     failures int not null default 0,
     closures int not null default 0,
     probe_job_id uuid,
     probe_until timestamptz,
     rate_per_second int,
     milli_tokens int not null default 0,
     tokens_at timestamptz not null default now(),
     last_success_at timestamptz,
     last_failure_at timestamptz,
     updated_at timestamptz not null default now(),
     constraint provider_gate_short check (length(gate) between 1 and 120),
     constraint provider_gate_state check (state in ('open', 'closed')),
     constraint provider_gate_until check ((state = 'open') = (closed_until is null)),
     constraint provider_gate_rate check (rate_per_second > 0)`,
  )
  await knex.raw(`create index provider_gate_tenant on provider_gate (tenant_id)`)
}
