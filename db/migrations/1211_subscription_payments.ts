import type { Knex } from 'knex'

/**
 * What a subscription is paid with, and the plan that it had as its period ended. A way to pay has a number, which tries carry, so that news of an earlier way says nothing
 * of the present one. A change of plan after the end of a period that is not closed yet keeps the plan before it for that period.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `alter table subscription add column method_no int not null default 0, add column former_plan_version_id uuid references plan_version (id),
       add column plan_changed_at timestamptz`,
  )
  await knex.raw(
    `create index subscription_former_plan_version on subscription (former_plan_version_id) where former_plan_version_id is not null`,
  )
  await knex.raw(`alter table invoice_payment add column method_no int not null default 0, add column return_url text`)
  await knex.raw(
    `create function keep_former_plan() returns trigger language plpgsql as $$
     declare ends_at timestamptz;
     begin
       select new.period_end::timestamp at time zone t.time_zone into ends_at from tenant t where t.id = new.tenant_id;
       if old.plan_changed_at is null or old.plan_changed_at < ends_at then
         new.former_plan_version_id := old.plan_version_id;
         new.plan_changed_at := clock_timestamp();
       end if;
       return new;
     end $$`,
  )
  await knex.raw(
    `create trigger former_plan before update of plan_version_id on subscription for each row
     when (old.plan_version_id is distinct from new.plan_version_id) execute function keep_former_plan()`,
  )
}
