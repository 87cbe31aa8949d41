import type { Knex } from 'knex'

/** Members who are invited by somebody, and the walls of members and roles. */
export const up = async (knex: Knex) => {
  // The inviter's words give an invited person's name and address until the person accepts. Showing the name or the new address of an
  // account would tell that there is one.
  await knex.raw(`
    alter table membership
      add column invited_name text,
      add column invited_email text,
      add constraint membership_invited_name check (length(invited_name) between 1 and 120),
      add constraint membership_invited_email check (length(invited_email) between 3 and 254)`)
  await knex.raw(`
    alter table role
      add constraint role_name check (length(name) between 1 and 60),
      add constraint role_description check (length(description) <= 300)`)
  // An insert of a row of the tenant holds its key FOR KEY SHARE: a look at the owners must not wait for all of them.
  await knex.raw(`
    create or replace function keep_an_owner() returns trigger language plpgsql as $$
    begin
      if old.role = 'owner' and old.status = 'active' then
        perform 1 from tenant where id = old.tenant_id for no key update;
        if not exists (select 1 from membership where tenant_id = old.tenant_id and role = 'owner' and status = 'active')
          and exists (select 1 from tenant where id = old.tenant_id and status in ('active', 'suspended')) then
          raise exception 'the last owner of a tenant stays' using errcode = '23514', constraint = 'membership_last_owner';
        end if;
      end if;
      return null;
    end $$`)
  // Invitations that were sent to one person for one house are counted by the day.
  await knex.raw(
    `create index one_time_token_sent on one_time_token (user_id, tenant_id, created_at) where purpose = 'invitation'`,
  )
}
