import type { Knex } from 'knex'
import { shippedCategories } from '../../config/issues.ts'
import { appendOnly, platformTable, sweepFunction, tenantTable, touch } from './support.ts'

const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`

const kinds = `('complaint', 'request', 'incident', 'maintenance', 'support')`
const teams = `('receptionist', 'housekeeper', 'maintenance', 'finance', 'stock', 'relations', 'manager')`

/** Issues with their clocks, compensations, and what was lost and found. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'issue_category',
    `code text not null,
     name jsonb not null,
     kind text not null,
     team text not null,
     targets jsonb not null,
     guest_facing boolean not null default false,
     auto_approve_limit bigint not null default 0,
     manager_limit bigint not null default 50000,
     active boolean not null default true,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint issue_category_code unique (tenant_id, code),
     constraint issue_category_code_form check (code ~ '^[a-z0-9_]{2,40}$'),
     constraint issue_category_kind check (kind in ${kinds}),
     constraint issue_category_team check (team in ${teams}),
     constraint issue_category_limits check (auto_approve_limit >= 0 and manager_limit >= 0)`,
  )
  await touch(knex, 'issue_category')
  await knex.raw(
    `insert into issue_category (tenant_id, code, name, kind, team, targets, guest_facing)
     select t.id, c.code, c.name, c.kind, c.team, c.targets, c.guest_facing
     from tenant t, jsonb_to_recordset(?::jsonb) as c (code text, name jsonb, kind text, team text, targets jsonb, guest_facing boolean)
     where t.status <> 'deleted'`,
    [JSON.stringify(shippedCategories.map(({ guestFacing, ...rest }) => ({ ...rest, guest_facing: guestFacing })))],
  )

  await tenantTable(
    knex,
    'issue',
    `number int not null,
     property_id uuid not null,
     status text not null default 'open',
     kind text not null,
     category_id uuid not null,
     priority text not null,
     sealed bytea,
     source text not null,
     source_event text,
     source_key text,
     occurrences int not null default 1,
     guest_id uuid,
     reservation_id uuid,
     unit_id uuid,
     housekeeping_task_id uuid,
     payment_id uuid,
     conversation_id uuid,
     assignee_id uuid,
     team text not null,
     escalation int not null default 0,
     waiting_for text,
     first_response_minutes int not null,
     first_response_due_at timestamptz not null,
     first_responded_at timestamptz,
     first_response_breached_at timestamptz,
     resolution_minutes int not null,
     resolution_from timestamptz not null default now(),
     resolution_due_at timestamptz not null,
     resolution_breached_at timestamptz,
     overdue_steps int not null default 0,
     waiting_since timestamptz,
     waited_seconds int not null default 0,
     next_due_at timestamptz,
     check_at timestamptz,
     resolution_sealed bytea,
     cause text,
     outcome text,
     duplicate_of_id uuid,
     reopen_count int not null default 0,
     resolved_at timestamptz,
     closed_at timestamptz,
     score int,
     score_sealed bytea,
     scored_at timestamptz,
     texts_erased_at timestamptz,
     created_by jsonb not null,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint issue_number_once unique (tenant_id, number),
     constraint issue_of_property unique (tenant_id, property_id, id),
     constraint issue_status check (status in ('open', 'in_progress', 'waiting', 'resolved', 'closed')),
     constraint issue_kind check (kind in ${kinds}),
     constraint issue_priority check (priority in ('low', 'normal', 'high', 'urgent')),
     constraint issue_source check (source in ('staff', 'guest', 'channel', 'system')),
     constraint issue_source_key check ((source = 'system') = (source_key is not null) and (source_key is null) = (source_event is null)),
     constraint issue_occurrences check (occurrences >= 1),
     constraint issue_team check (team in ${teams}),
     constraint issue_escalation check (escalation between 0 and 3),
     constraint issue_waiting check ((status = 'waiting') = (waiting_for is not null) and (status = 'waiting') = (waiting_since is not null)),
     constraint issue_waiting_for check (waiting_for in ('guest', 'third_party')),
     constraint issue_waited check (waited_seconds >= 0 and overdue_steps between 0 and 2 and reopen_count >= 0),
     constraint issue_cause check (cause in ('property', 'staff', 'supplier', 'system', 'guest', 'weather', 'third_party', 'none')),
     constraint issue_outcome check (outcome in ('resolved', 'duplicate', 'not_actionable', 'withdrawn')),
     constraint issue_resolved check ((status = 'resolved') <= (resolved_at is not null and cause is not null)
       and (status in ('open', 'in_progress', 'waiting')) <= (resolved_at is null)),
     constraint issue_closed check ((status = 'closed') = (closed_at is not null) and (status = 'closed') = (outcome is not null)
       and (outcome is distinct from 'resolved' or resolved_at is not null)),
     constraint issue_duplicate check ((outcome is not distinct from 'duplicate') = (duplicate_of_id is not null) and duplicate_of_id <> id),
     constraint issue_score check (score between 1 and 5 and (score is null) = (scored_at is null)),
     ${refers('property_id', 'property')},
     ${refers('category_id', 'issue_category')},
     ${refers('guest_id', 'guest')},
     ${refers('reservation_id', 'reservation')},
     ${refers('unit_id', 'unit')},
     ${refers('housekeeping_task_id', 'housekeeping_task')},
     ${refers('payment_id', 'payment')},
     ${refers('duplicate_of_id', 'issue')}`,
  )
  await touch(knex, 'issue')
  await knex.raw(`create unique index issue_source_once on issue (tenant_id, source_key) where status <> 'closed'`)
  await knex.raw(`create index issue_by_due on issue (tenant_id, property_id, status, next_due_at, id)`)
  await knex.raw(`create index issue_property on issue (tenant_id, property_id, created_at, id)`)
  await knex.raw(`create index issue_to_check on issue (check_at) where check_at is not null`)
  await knex.raw(
    `create index issue_of_stays on issue (source_key) where source_key like 'reservation:%' and status = 'open'`,
  )
  await knex.raw(`create index issue_to_close on issue (resolved_at) where status = 'resolved'`)
  await knex.raw(`create index issue_to_erase on issue (closed_at) where status = 'closed' and texts_erased_at is null`)
  await knex.raw(`create index issue_place on issue (tenant_id, unit_id, category_id, created_at)`)
  for (const column of [
    'category_id',
    'guest_id',
    'reservation_id',
    'housekeeping_task_id',
    'payment_id',
    'duplicate_of_id',
    'assignee_id',
  ])
    await knex.raw(
      `create index issue_${column} on issue (tenant_id, ${column}) ${column === 'category_id' ? '' : `where ${column} is not null`}`,
    )

  // Blocks and tasks named issues before there were any: those ids mean nothing.
  for (const table of ['unit_block', 'housekeeping_task']) {
    await knex.raw(`update ${table} set issue_id = null where issue_id is not null`)
    await knex.raw(
      `alter table ${table} add constraint ${table}_issue foreign key (tenant_id, property_id, issue_id) references issue (tenant_id, property_id, id)`,
    )
    await knex.raw(
      `create index ${table}_issue on ${table} (tenant_id, property_id, issue_id) where issue_id is not null`,
    )
  }

  await tenantTable(
    knex,
    'issue_comment',
    `issue_id uuid not null,
     visibility text not null,
     sealed bytea,
     author_id uuid,
     message_id uuid,
     event_id uuid,
     created_at timestamptz not null default now(),
     constraint issue_comment_visibility check (visibility in ('internal', 'guest')),
     constraint issue_comment_event unique (tenant_id, issue_id, event_id),
     constraint issue_comment_message unique (tenant_id, issue_id, message_id),
     ${refers('issue_id', 'issue')}`,
  )
  await appendOnly(knex, 'issue_comment', 'of issue_id, visibility, author_id, message_id, event_id, created_at')
  await knex.raw(`create index issue_comment_issue on issue_comment (tenant_id, issue_id, created_at, id)`)

  await tenantTable(
    knex,
    'issue_event',
    `issue_id uuid not null,
     command text not null,
     from_status text,
     to_status text not null,
     changes jsonb not null default '[]',
     actor jsonb not null,
     sealed bytea,
     request_id text,
     position bigint generated always as identity,
     created_at timestamptz not null default now(),
     constraint issue_event_from check (from_status in ('open', 'in_progress', 'waiting', 'resolved', 'closed')),
     constraint issue_event_to check (to_status in ('open', 'in_progress', 'waiting', 'resolved', 'closed')),
     ${refers('issue_id', 'issue')}`,
  )
  await appendOnly(
    knex,
    'issue_event',
    'of issue_id, command, from_status, to_status, changes, actor, request_id, created_at',
  )
  await knex.raw(`create index issue_event_issue on issue_event (tenant_id, issue_id, position)`)

  await tenantTable(
    knex,
    'compensation',
    `issue_id uuid not null,
     property_id uuid not null,
     reservation_id uuid not null,
     kind text not null,
     amount bigint not null,
     currency text not null,
     folio_id uuid,
     line_id uuid,
     description text not null,
     sealed bytea,
     refund_excess boolean not null default false,
     status text not null default 'proposed',
     automatic boolean not null default false,
     proposed_by uuid,
     proposed_by_actor jsonb not null,
     decided_by uuid,
     decided_at timestamptz,
     decision_sealed bytea,
     folio_line_ids uuid[] not null default '{}',
     refund_ids uuid[] not null default '{}',
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint compensation_kind check (kind in ('adjustment', 'gesture')),
     constraint compensation_amount check (amount >= 1),
     constraint compensation_status check (status in ('proposed', 'approved', 'rejected')),
     constraint compensation_folio check ((kind = 'adjustment') = (folio_id is not null) and (kind = 'adjustment' or line_id is null)
       and (kind = 'adjustment' or not refund_excess)),
     constraint compensation_decided check ((status = 'proposed') = (decided_at is null)),
     constraint compensation_two_people check (status <> 'approved' or automatic or (decided_by is not null and decided_by is distinct from proposed_by)),
     constraint compensation_posted check (cardinality(folio_line_ids) = 0 or (status = 'approved' and kind = 'adjustment')),
     ${refers('issue_id', 'issue')},
     ${refers('property_id', 'property')},
     ${refers('reservation_id', 'reservation')},
     ${refers('folio_id', 'folio')},
     ${refers('line_id', 'folio_line')}`,
  )
  await touch(knex, 'compensation')
  await knex.raw(`create index compensation_issue on compensation (tenant_id, issue_id)`)
  await knex.raw(`create index compensation_property on compensation (tenant_id, property_id, status, created_at)`)
  await knex.raw(`create index compensation_reservation on compensation (tenant_id, reservation_id)`)
  await knex.raw(`create index compensation_folio_of on compensation (tenant_id, folio_id) where folio_id is not null`)
  await knex.raw(`create index compensation_line on compensation (tenant_id, line_id) where line_id is not null`)

  await tenantTable(
    knex,
    'lost_item',
    `number int not null,
     property_id uuid not null,
     direction text not null,
     category text not null,
     sealed bytea,
     at timestamptz not null,
     unit_id uuid,
     found_by uuid,
     storage_place text not null default '',
     guest_id uuid,
     reservation_id uuid,
     match_id uuid,
     keep_until date not null,
     disposal_told_at timestamptz,
     status text not null default 'open',
     outcome text,
     close_sealed bytea,
     closed_at timestamptz,
     texts_erased_at timestamptz,
     created_by jsonb not null,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint lost_item_number_once unique (tenant_id, number),
     constraint lost_item_direction check (direction in ('found', 'missed')),
     constraint lost_item_category check (category in ('electronics', 'clothing', 'jewellery', 'document', 'money', 'bag', 'other')),
     constraint lost_item_status check (status in ('open', 'closed')),
     constraint lost_item_closed check ((status = 'closed') = (closed_at is not null) and (status = 'closed') = (outcome is not null)),
     constraint lost_item_outcome check (outcome in ('returned', 'shipped', 'handed_to_authority', 'donated', 'discarded', 'found_by_owner', 'not_found')),
     constraint lost_item_match check (match_id <> id),
     constraint lost_item_matched_once unique (tenant_id, match_id) deferrable initially deferred,
     ${refers('property_id', 'property')},
     ${refers('unit_id', 'unit')},
     ${refers('guest_id', 'guest')},
     ${refers('reservation_id', 'reservation')},
     ${refers('match_id', 'lost_item')}`,
  )
  await touch(knex, 'lost_item')
  for (const [name, columns, condition] of [
    ['property', 'property_id, status, created_at', ''],
    ['unit', 'unit_id', 'where unit_id is not null'],
    ['guest', 'guest_id', 'where guest_id is not null'],
    ['reservation', 'reservation_id', 'where reservation_id is not null'],
  ])
    await knex.raw(`create index lost_item_by_${name} on lost_item (tenant_id, ${columns}) ${condition}`)
  await knex.raw(
    `create index lost_item_to_flag on lost_item (keep_until) where status = 'open' and disposal_told_at is null and direction = 'found'`,
  )
  await knex.raw(
    `create index lost_item_to_erase on lost_item (closed_at) where status = 'closed' and texts_erased_at is null`,
  )
  // An item and its match name each other, in opposite directions; judged at the commit, when both rows stand.
  await knex.raw(`create function lost_item_mutual() returns trigger language plpgsql as $$
    begin
      if exists (select from lost_item a left join lost_item b on b.tenant_id = a.tenant_id and b.id = a.match_id
          where a.tenant_id = new.tenant_id and a.id = new.id and a.match_id is not null
            and (b.match_id is distinct from a.id or b.direction = a.direction or b.property_id <> a.property_id)) then
        raise exception 'a match is mutual' using errcode = 'check_violation', constraint = 'lost_item_mutual';
      end if;
      return null;
    end $$`)
  await knex.raw(
    `create constraint trigger lost_item_mutual after insert or update of match_id, direction on lost_item
     deferrable initially deferred for each row execute function lost_item_mutual()`,
  )

  await tenantTable(
    knex,
    'issue_number',
    `kind text not null,
     last_number int not null,
     primary key (tenant_id, kind),
     constraint issue_number_kind check (kind in ('issue', 'lost_item'))`,
  )

  // A mail to staff reads what it says here: user mails belong to no tenant.
  await platformTable(
    knex,
    'issue_notice',
    `id uuid not null,
     tenant_id uuid not null references tenant (id),
     number int not null,
     property_name text not null,
     category_name text not null,
     priority text not null,
     level int not null,
     due_at timestamptz,
     created_at timestamptz not null default now(),
     primary key (tenant_id, id),
     constraint issue_notice_level check (level between 1 and 3)`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index issue_notice_by_id on issue_notice (id)`)
  await sweepFunction(
    knex,
    'issues_to_check(most int)',
    'tenant_id uuid, id uuid',
    `select i.tenant_id, i.id from issue i where i.check_at <= now() order by i.check_at limit most`,
  )
  await sweepFunction(
    knex,
    'issues_of_settled_stays(most int)',
    'tenant_id uuid, id uuid',
    `select i.tenant_id, i.id from issue i
     join reservation r on r.tenant_id = i.tenant_id and i.source_key = 'reservation:' || r.id
     where i.source_key like 'reservation:%' and i.status = 'open' and i.assignee_id is null
       and (r.status not in ('held', 'confirmed', 'checked_in') or (select coalesce(sum(a.ends_on - a.starts_on), 0) from unit_assignment a
         where a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.unit_id is not null and a.status in ('proposed', 'locked', 'occupied')) >= r.departure - r.arrival)
     limit most`,
  )
  await sweepFunction(
    knex,
    'issues_to_close(most int)',
    'tenant_id uuid, id uuid',
    `select i.tenant_id, i.id from issue i join property p on p.tenant_id = i.tenant_id and p.id = i.property_id
     where i.status = 'resolved' and i.resolved_at <= now() - interval '1 day'
       and i.resolved_at <= now() - make_interval(days => coalesce((p.settings #>> '{issues,closeAfterDays}')::int, 7))
     order by i.resolved_at limit most`,
  )
  await sweepFunction(
    knex,
    'lost_items_to_flag(most int)',
    'tenant_id uuid, id uuid',
    `select l.tenant_id, l.id from lost_item l join property p on p.tenant_id = l.tenant_id and p.id = l.property_id
     where l.status = 'open' and l.disposal_told_at is null and l.direction = 'found' and l.keep_until <= (now() at time zone p.timezone)::date
     order by l.keep_until limit most`,
  )
  await sweepFunction(
    knex,
    'issues_to_erase(most int)',
    'tenant_id uuid, id uuid',
    `select i.tenant_id, i.id from issue i join property p on p.tenant_id = i.tenant_id and p.id = i.property_id
     where i.status = 'closed' and i.texts_erased_at is null
       and i.closed_at <= now() - make_interval(months => coalesce((p.settings #>> '{issues,keepTextMonths}')::int, 24))
     order by i.closed_at limit most`,
  )
  await sweepFunction(
    knex,
    'lost_items_to_erase(most int)',
    'tenant_id uuid, id uuid',
    `select l.tenant_id, l.id from lost_item l join property p on p.tenant_id = l.tenant_id and p.id = l.property_id
     where l.status = 'closed' and l.texts_erased_at is null
       and l.closed_at <= now() - make_interval(months => coalesce((p.settings #>> '{issues,keepTextMonths}')::int, 24))
     order by l.closed_at limit most`,
  )
}
