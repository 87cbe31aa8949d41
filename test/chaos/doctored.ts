import { randomUUID } from 'node:crypto'
import { doctoredDesk } from './doctored-desk.ts'
import { doctoredLetters } from './doctored-letters.ts'
import { doctoredMessages } from './doctored-messages.ts'
import type { Command } from './ledger.ts'
import type { Evidence } from './evidence.ts'

export type Doctored = {
  what: string
  rule: string
  statements?: readonly string[]
  evidence?: (evidence: Evidence) => Evidence
}

const charge = (evidence: Evidence) => {
  const found = evidence.deeds.find((one) => one.deed === 'charged')
  if (found?.deed !== 'charged') throw new Error('nothing was charged')
  return found
}
const withCommand = (change: (command: Command) => Command) => (evidence: Evidence) => ({
  ...evidence,
  commands: evidence.commands.map((command, index) => (index === 0 ? change(command) : command)),
})
/** One way to break each rule of the checker. */
export const doctored: readonly Doctored[] = [
  {
    what: 'a line of an entry is gone',
    rule: 'debits equal credits',
    statements: [`delete from journal_line where id = (select id from journal_line limit 1)`],
  },
  {
    what: 'a balance has a cent more',
    rule: 'balances equal their lines',
    statements: [`update account_balance set debit = debit + 1 where id = (select id from account_balance limit 1)`],
  },
  {
    what: 'a posting waits',
    rule: 'every posting event is posted',
    statements: [
      `update posting_event set status = 'failed', entry_id = null where id = (select id from posting_event limit 1)`,
    ],
  },
  {
    what: 'an entry of a posting is gone',
    rule: 'every posting has one entry',
    statements: [`delete from journal_entry where source_type = 'payment.payment_captured'`],
  },
  {
    what: 'a posting is gone and its entry stays',
    rule: 'every entry comes of a posting',
    statements: [`delete from posting_event where event = 'payment.payment_captured'`],
  },
  {
    what: 'the posting of a capture is gone',
    rule: 'every capture is posted once',
    statements: [`delete from posting_event where event = 'payment.payment_captured'`],
  },
  {
    what: 'the posting of a refund is gone',
    rule: 'every refund is posted once',
    statements: [`delete from posting_event where event = 'payment.refund_succeeded'`],
  },
  {
    what: 'a refund is not wholly counted on its payment',
    rule: 'payments stand at what their refunds say',
    statements: [`update payment set refunded_amount = refunded_amount - 1 where refunded_amount > 0`],
  },
  {
    what: 'the gateway took another amount',
    rule: 'every charge at the gateway is a captured payment, and the reverse',
    evidence: (evidence) => ({
      ...evidence,
      deeds: evidence.deeds.map((one) => (one.deed === 'charged' ? { ...one, amount: one.amount + 1 } : one)),
    }),
  },
  {
    what: 'the gateway was paid for a payment that we do not know',
    rule: 'every charge at the gateway is a captured payment, and the reverse',
    evidence: (evidence) => ({
      ...evidence,
      deeds: [...evidence.deeds, { ...charge(evidence), id: 'ch_other', ourId: randomUUID() }],
    }),
  },
  {
    what: 'the gateway never charged what we call captured',
    rule: 'every charge at the gateway is a captured payment, and the reverse',
    evidence: (evidence) => ({ ...evidence, deeds: evidence.deeds.filter((one) => one.deed !== 'charged') }),
  },
  {
    what: 'a guest was charged twice',
    rule: 'no payment is charged twice',
    evidence: (evidence) => ({ ...evidence, deeds: [...evidence.deeds, { ...charge(evidence), id: 'ch_again' }] }),
  },
  {
    what: 'a refund went out twice',
    rule: 'every refund at the gateway is a refund here, and the reverse',
    evidence: (evidence) => ({
      ...evidence,
      deeds: [...evidence.deeds, ...evidence.deeds.filter((one) => one.deed === 'refunded')],
    }),
  },
  {
    what: 'a captured payment is not in the list of the gateway',
    rule: 'the last reconciliation finds no difference with the gateway',
    statements: [`delete from balance_transaction where kind = 'charge'`],
  },
  {
    what: 'a day is not balanced',
    rule: 'the last reconciliation finds no difference with the gateway',
    statements: [`update reconciliation set status = 'exceptions'`],
  },
  {
    what: 'a refund is still open',
    rule: 'no payment, refund or hold is left open',
    statements: [`update refund set status = 'unknown'`],
  },
  {
    what: 'a hold outlived its time',
    rule: 'no payment, refund or hold is left open',
    statements: [
      `update reservation set status = 'held' where status = 'confirmed'`,
      `update booking set hold_kind = 'checkout', hold_expires_at = now() - interval '1 hour', hold_cap_at = now(), hold_version = 1`,
    ],
  },
  {
    what: 'two stays have one unit',
    rule: 'no unit has two stays',
    statements: [
      `do $$ declare name text; begin
         for name in select conname from pg_constraint where conrelid = 'unit_assignment'::regclass and contype = 'x' loop
           execute format('alter table unit_assignment drop constraint %I', name);
         end loop;
       end $$`,
      `insert into unit_assignment (tenant_id, unit_id, reservation_id, during, status)
       select tenant_id, unit_id, reservation_id, during, status from unit_assignment where status not in ('released', 'ended') limit 1`,
    ],
  },
  {
    what: 'a night has no capacity for what was sold',
    rule: 'no night is sold beyond what there is',
    statements: [
      `alter table pool_night drop constraint pool_night_within_capacity`,
      `update pool_night set capacity = 0 where sold > 0`,
    ],
  },
  {
    what: 'a counter is one too high',
    rule: 'counters equal a recount',
    statements: [`update pool_night set sold = sold + 1 where ctid = (select min(ctid) from pool_night)`],
  },
  {
    what: 'a cancelled stay keeps its nights',
    rule: 'what has ended holds no night and no unit',
    statements: [
      `update reservation_night set status = 'open' where reservation_id in (select id from reservation where status = 'cancelled')`,
    ],
  },
  {
    what: 'a job should have run an hour ago',
    rule: 'no live job is past its horizon',
    statements: [
      `insert into jobs (id, queue, kind, payload, run_at, request_id, actor)
       values (gen_random_uuid(), 'ledger', 'ledger.post', '{}', now() - interval '1 hour', 'r', '{}')`,
    ],
  },
  {
    what: 'a job was given up',
    rule: 'nothing is dead but what was made to die',
    statements: [
      `insert into jobs (id, queue, kind, payload, status, last_error, request_id, actor)
       values (gen_random_uuid(), 'ledger', 'ledger.post', '{}', 'dead', '{"code": "timeout"}', 'r', '{}')`,
    ],
  },
  {
    what: 'a poison job lives',
    rule: 'nothing is dead but what was made to die',
    evidence: (evidence) => ({ ...evidence, left: { ...evidence.left, poisoned: ['poison-1'] } }),
  },
  {
    what: 'a job ended twice',
    rule: 'no job ends twice, and none that has ended lives',
    statements: [
      `create temporary table again as select * from job_archive limit 1`,
      `update again set finished_at = finished_at + interval '1 second'`,
      `insert into job_archive select * from again`,
    ],
  },
  {
    what: 'a slot ran twice',
    rule: 'no slot of the clock runs twice',
    statements: [
      `create temporary table slots as select * from job_archive limit 2`,
      `update slots set id = gen_random_uuid(), kind = 'ledger.ensure-years', unique_key = 'slot:2026-11-21T00:40:00.000Z'`,
      `insert into job_archive select * from slots`,
    ],
  },
  {
    what: 'a missed slot stays missed',
    rule: 'a missed slot is made up for',
    evidence: (evidence) => ({
      ...evidence,
      left: { ...evidence.left, missed: [{ kind: 'ledger.ensure-years', slot: '2026-11-21T00:40:00.000Z' }] },
    }),
  },
  {
    what: 'an effect came twice',
    rule: 'every effect asked for came once',
    statements: [`insert into chaos_effect (key) values ('note-1'), ('note-1')`],
    evidence: (evidence) => ({ ...evidence, left: { ...evidence.left, effects: ['note-1'] } }),
  },
  {
    what: 'an accepted command left no trace',
    rule: 'every accepted command has one effect, and no other has more',
    evidence: withCommand((command) => ({ ...command, requestId: 'chaos-never-heard-of' })),
  },
  {
    what: 'a command was carried out twice',
    rule: 'every accepted command has one effect, and no other has more',
    statements: [
      `create temporary table trail as select * from audit_entry where request_id like 'chaos-%' limit 1`,
      `update trail set id = gen_random_uuid()`,
      `insert into audit_entry select * from trail`,
    ],
  },
  {
    what: 'a booking that was promised is not there',
    rule: 'what was promised is there',
    evidence: withCommand((command) => ({ ...command, subject: randomUUID() })),
  },
  {
    what: 'a booking is there that nobody asked for',
    rule: 'nothing was booked or paid that nobody asked for',
    evidence: (evidence) => ({ ...evidence, commands: evidence.commands.slice(1) }),
  },
  {
    what: 'one key had two answers',
    rule: 'the same key has the same answer',
    evidence: withCommand((command) => ({ ...command, differing: 1 })),
  },
  {
    what: 'a reply was 500',
    rule: 'no answer is 5xx but 503',
    evidence: (evidence) => ({
      ...evidence,
      wrong: [{ at: '', method: 'GET', path: '/', status: 500, body: '', requestId: '' }],
    }),
  },
  {
    what: 'a number of the feed is missing',
    rule: 'each event of the feed is there once, in order',
    statements: [`delete from event where sequence = 2`],
  },
  {
    what: 'an event has no number',
    rule: 'each event of the feed is there once, in order',
    statements: [`update event set sequence = null where sequence = (select max(sequence) from event)`],
  },
  {
    what: 'a webhook that is called delivered never came',
    rule: 'each delivery comes at least once, and never after its endpoint was removed',
    statements: [
      `insert into webhook_endpoint (tenant_id, id, url, types, subjects, secret, created_at)
       select id, '7b0c2f6e-5d1a-4c3e-9f28-0a1b2c3d4e5f', 'http://127.0.0.1/stays', '{x}', '{}', '', now() from tenant limit 1`,
      `insert into webhook_delivery (tenant_id, webhook_endpoint_id, event_id, event_at, sequence, type, status, delivered_at)
       select id, '7b0c2f6e-5d1a-4c3e-9f28-0a1b2c3d4e5f', gen_random_uuid(), now(), 1, 'x', 'delivered', now() from tenant limit 1`,
    ],
  },
  {
    what: 'a webhook came long after its endpoint was removed',
    rule: 'each delivery comes at least once, and never after its endpoint was removed',
    evidence: (evidence) => ({
      ...evidence,
      hooks: [{ path: '/leaves', id: 'x', at: 100_000, status: 204 }],
      removed: [{ path: '/leaves', at: 1_000 }],
    }),
  },
  ...doctoredMessages,
  ...doctoredLetters,
  ...doctoredDesk,
]
