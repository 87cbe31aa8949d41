import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from './support.ts'

/** Runs of reports, and the parts of their files, sealed by the tenant's key. Parts are seen once their run has succeeded. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'report_run',
    `report text not null,
     parameters jsonb not null default '{}',
     format text not null,
     locale text not null,
     status text not null default 'queued',
     created_by uuid not null,
     by_key boolean not null default false,
     property_ids uuid[],
     ledger_sequence bigint,
     as_of timestamptz,
     provisional boolean,
     formula_version int not null,
     rows bigint not null default 0,
     bytes bigint not null default 0,
     sha256 text,
     file_name text,
     error_code text,
     error_message text,
     starts_on date,
     ends_on date,
     started_at timestamptz,
     finished_at timestamptz,
     expires_at timestamptz,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint report_run_status check (status in ('queued', 'running', 'succeeded', 'failed', 'expired')),
     constraint report_run_format check (format in ('csv', 'xlsx', 'pdf', 'json')),
     constraint report_run_locale check (locale in ('pt-BR', 'en', 'es')),
     constraint report_run_parameters check (jsonb_typeof(parameters) = 'object' and octet_length(parameters::text) <= 8000),
     constraint report_run_counts check (rows >= 0 and bytes >= 0),
     constraint report_run_finished check ((status in ('queued', 'running')) = (finished_at is null)),
     constraint report_run_file check ((status in ('succeeded', 'expired')) <= (file_name is not null and sha256 is not null and expires_at is not null)),
     constraint report_run_failed check ((status = 'failed') = (error_code is not null))`,
  )
  await knex.raw(`create index report_run_latest on report_run (tenant_id, created_at desc, id)`)
  await knex.raw(`create index report_run_open on report_run (tenant_id) where status in ('queued', 'running')`)
  await knex.raw(`create index report_run_expiring on report_run (expires_at) where status = 'succeeded'`)
  await touch(knex, 'report_run')

  await tenantTable(
    knex,
    'report_file',
    `report_run_id uuid not null,
     part int not null,
     bytes bytea not null,
     size int not null,
     primary key (tenant_id, report_run_id, part),
     constraint report_file_size check (part >= 1 and size between 1 and 1048576),
     constraint report_file_run foreign key (tenant_id, report_run_id) references report_run (tenant_id, id) on delete cascade`,
    { grant: 'select, insert, delete' },
  )

  await sweepFunction(
    knex,
    'report_runs_due()',
    'tenant_id uuid',
    `select distinct r.tenant_id from report_run r
     where (r.status = 'succeeded' and r.expires_at <= now()) or (r.status = 'running' and r.started_at < now() - interval '30 minutes')
       or (r.status = 'queued' and r.created_at < now() - interval '1 day') or r.created_at < now() - interval '1 year'`,
  )
}
