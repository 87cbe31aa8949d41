import type { Knex } from 'knex'

/** A tenant keeps an active owner of all its properties: owners of some of them may neither change its settings nor give a member all properties. */
export const up = async (knex: Knex) => {
  await knex.raw(`
    create or replace function keep_an_owner() returns trigger language plpgsql as $$
    begin
      if old.role = 'owner' and old.status = 'active' then
        perform 1 from tenant where id = old.tenant_id for no key update;
        if not exists (select 1 from membership where tenant_id = old.tenant_id and role = 'owner' and status = 'active'
            and (all_properties or not old.all_properties))
          and exists (select 1 from tenant where id = old.tenant_id and status in ('active', 'suspended')) then
          raise exception 'the last owner of a tenant stays' using errcode = '23514', constraint = 'membership_last_owner';
        end if;
      end if;
      return null;
    end $$`)
}
