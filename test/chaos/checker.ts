import type { Knex } from 'knex'
import { queueNames } from '../../config/queues.ts'
import { sql } from '../../db/lib/connection.ts'
import { deskChecks } from './desk-checks.ts'
import { isDeskAction } from './desk-commands.ts'
import { missedAfterMs, none } from './evidence.ts'
import type { Check, Evidence } from './evidence.ts'
import { hookChecks } from './hooks.ts'
import { letterChecks } from './letter-checks.ts'
import { messageChecks } from './message-checks.ts'
import { moneyChecks } from './money-checks.ts'
import { refusalChecks } from './refusal-checks.ts'

export type Violation = { rule: string; count: number; examples: unknown[] }

const missedAfterSeconds = Object.fromEntries(queueNames.map((name) => [name, missedAfterMs(name) / 1_000]))

export const checks: Record<string, Check> = {
  ...moneyChecks,
  ...hookChecks,
  ...deskChecks,
  ...messageChecks,
  ...letterChecks,
  ...refusalChecks,
  'no payment, refund or hold is left open': none(
    `select 'payment' as what, id, status from payment where status in ('created', 'unknown', 'requires_action', 'processing')
     union all select 'refund', id, status from refund where status in ('requested', 'unknown', 'processing')
     union all select 'hold', r.id, r.status from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
       where r.status = 'held' and (b.hold_expires_at is null or b.hold_expires_at < now())`,
  ),
  'no unit has two stays': none(
    `select a.unit_id, a.id, b.id as other, a.during, b.during as other_during from unit_assignment a
     join unit_assignment b on b.tenant_id = a.tenant_id and b.unit_id = a.unit_id and b.id > a.id and a.during && b.during
     where a.status not in ('released', 'ended') and b.status not in ('released', 'ended')`,
  ),
  'no night is sold beyond what there is': none(
    `select n.pool_id, n.night, n.sold, n.held, n.capacity, n.oversell from pool_night n
     where n.sold + n.held + n.allotted + n.blocked > n.capacity + n.oversell`,
  ),
  'counters equal a recount': none(
    `select coalesce(c.pool_id, x.pool_id) as pool_id, coalesce(c.night, x.night) as night, c.sold, c.held, x.sold as true_sold, x.held as true_held
     from pool_night c full join (
       select p.unit_pool_id as pool_id, n.date as night, coalesce(sum(p.quantity) filter (where r.status <> 'held'), 0)::int as sold,
         coalesce(sum(p.quantity) filter (where r.status = 'held'), 0)::int as held
       from reservation_night n join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
       join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id
       where n.status <> 'released' group by 1, 2) x on x.pool_id = c.pool_id and x.night = c.night
     where (coalesce(c.sold, 0), coalesce(c.held, 0)) is distinct from (coalesce(x.sold, 0), coalesce(x.held, 0))`,
  ),
  'what has ended holds no night and no unit': none(
    `select r.id, r.status from reservation r where r.status in ('cancelled', 'expired')
       and (exists (select from reservation_night n where n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status not in ('released', 'charged', 'waived'))
         or exists (select from unit_assignment a where a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status not in ('released', 'ended')))`,
  ),
  'no live job is past its horizon': (database) =>
    sql(
      database,
      `select id, kind, status, run_at, attempts, starts, last_error->>'code' as code from jobs
       where status <> 'dead' and run_at < now() - make_interval(secs => case when status = 'running'
         then greatest(30, cast(cast(:missedAfter as jsonb)->>queue as float8)) else 30 end)`,
      { missedAfter: JSON.stringify(missedAfterSeconds) },
    ),
  'nothing is dead but what was made to die': async (database, { left }) => {
    const rows = await sql<{ kind: string; key: string | null; code: string }>(
      database,
      `select id, kind, payload->>'key' as key, last_error->>'code' as code, last_error->>'message' as message from jobs where status = 'dead'`,
    )
    const poisoned = rows.filter((row) => row.kind === 'chaos.poison' && row.code === 'poison').map((row) => row.key)
    return [
      ...rows.filter((row) => row.kind !== 'chaos.poison' || row.code !== 'poison'),
      ...left.poisoned.filter((key) => !poisoned.includes(key)).map((key) => ({ key, lacks: 'its death' })),
    ]
  },
  'no job ends twice, and none that has ended lives': none(
    `select id, kind, count(*) as ends from job_archive group by id, kind having count(*) > 1
     union all select a.id, a.kind, 1 from job_archive a join jobs j on j.id = a.id where j.status <> 'dead'`,
  ),
  'no slot of the clock runs twice': none(
    `select kind, unique_key, count(*) as jobs from (
       select kind, unique_key from job_archive where unique_key like 'slot:%' union all select kind, unique_key from jobs where unique_key like 'slot:%') s
     group by 1, 2 having count(*) > 1`,
  ),
  'a missed slot is made up for': async (database, { left }) => {
    const rows = await sql<{ kind: string }>(
      database,
      `select distinct kind from job_archive where unique_key like 'slot:%' and outcome = 'done'`,
    )
    return left.missed.filter(({ kind }) => !rows.some((row) => row.kind === kind))
  },
  'every effect asked for came once': async (database, { left }) => {
    const rows = await sql<{ key: string; count: number }>(
      database,
      `select key, count(*)::int as count from chaos_effect group by key`,
    )
    const counts = new Map(rows.map((row) => [row.key, row.count]))
    return left.effects.filter((key) => counts.get(key) !== 1).map((key) => ({ key, count: counts.get(key) ?? 0 }))
  },
  'every accepted command has one effect, and no other has more': async (database, { commands }) => {
    const rows = await sql<{ requestId: string; action: string; count: number }>(
      database,
      `select request_id, action, count(*)::int as count from audit_entry where request_id like 'chaos-%' group by 1, 2`,
    )
    const counts = new Map(rows.map((row) => [`${row.requestId} ${row.action}`, row.count]))
    return commands.flatMap(({ requestId, action, outcome, status, code, subject, tries }) => {
      const count = counts.get(`${requestId} ${action}`) ?? 0
      const isRight = outcome === 'accepted' ? count === 1 : outcome === 'refused' ? count === 0 : count <= 1
      return isRight ? [] : [{ requestId, action, outcome, status, code, subject, tries, effects: count }]
    })
  },
  'what was promised is there': async (database, { commands }) => {
    const [bookings, payments, cancelled] = await Promise.all([
      sql<{ id: string }>(database, `select id from booking`),
      sql<{ id: string }>(database, `select id from payment`),
      sql<{ id: string }>(
        database,
        `select booking_id as id from reservation group by tenant_id, booking_id having bool_and(status in ('cancelled', 'expired'))`,
      ),
    ])
    const there = {
      'public.reservations.hold': new Set(bookings.map((row) => row.id)),
      'bookings.create': new Set(bookings.map((row) => row.id)),
      'public.createPayment': new Set(payments.map((row) => row.id)),
      'public.reservations.cancel': new Set(cancelled.map((row) => row.id)),
    }
    return commands.filter(
      ({ action, outcome, subject }) =>
        outcome === 'accepted' && !isDeskAction(action) && !(subject !== null && there[action].has(subject)),
    )
  },
  'nothing was booked or paid that nobody asked for': async (database, { commands }) => {
    const rows = await sql<{ what: string; id: string; requestId: string | null }>(
      database,
      `select 'booking' as what, b.id, (select request_id from audit_entry a where a.action in ('public.reservations.hold', 'bookings.create') and a.request_id in (
           select e.request_id from event e where e.tenant_id = b.tenant_id and e.type in ('reservation.held', 'reservation.confirmed') and e.data->>'bookingId' = b.id::text) limit 1) as request_id
       from booking b`,
    )
    const asked = new Set(commands.map((command) => command.requestId))
    return rows.filter((row) => row.requestId === null || !asked.has(row.requestId))
  },
  'the same key has the same answer': (_database, { commands }) =>
    Promise.resolve(commands.filter((command) => command.differing > 0)),
  'no answer is 5xx but 503': (_database, { wrong }) => Promise.resolve([...wrong]),
}

const mostExamples = 5

/** Every rule over a database that has come to rest, and what the world outside knows. Reads only. */
export const check = async (database: Knex, evidence: Evidence): Promise<Violation[]> => {
  const violations: Violation[] = []
  for (const [rule, find] of Object.entries(checks)) {
    const found = await find(database, evidence)
    if (found.length > 0) violations.push({ rule, count: found.length, examples: found.slice(0, mostExamples) })
  }
  return violations
}
