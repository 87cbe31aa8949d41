import type { Doctored } from './doctored.ts'

/** Ways to break the rules of stays and their folios. */
export const doctoredDesk: readonly Doctored[] = [
  {
    what: 'who is in the house is in no unit',
    rule: 'a guest in the house has a unit, and nobody else is in one',
    statements: [
      `update reservation set status = 'checked_in', actual_check_out_at = null, check_out_business_date = null where status = 'checked_out'`,
    ],
  },
  {
    what: 'who has left is in a unit still',
    rule: 'a guest in the house has a unit, and nobody else is in one',
    statements: [
      `insert into unit_assignment (tenant_id, unit_id, reservation_id, during, status)
       select a.tenant_id, a.unit_id, a.reservation_id, daterange('2199-01-01', '2199-01-02'), 'occupied'
       from unit_assignment a join reservation r on r.id = a.reservation_id where r.status = 'checked_out' limit 1`,
    ],
  },
  {
    what: 'who has left owes a cent',
    rule: 'a stay that has left owes nothing, and its nights are charged once or given back',
    statements: [
      `alter table folio drop constraint folio_closed_is_zero`,
      `update folio set charges = charges + 1 where reservation_id in (select id from reservation where status = 'checked_out')`,
    ],
  },
  {
    what: 'a night was charged and is on no folio',
    rule: 'a stay that has left owes nothing, and its nights are charged once or given back',
    statements: [`update reservation_night set status = 'charged' where status = 'released'`],
  },
  {
    what: 'a line of a folio is gone',
    rule: 'a folio is the sum of its lines',
    statements: [`delete from folio_line where id = (select id from folio_line where payment_id is not null limit 1)`],
  },
  {
    what: 'a stay has left, and its history knows nothing of it',
    rule: 'the history of a stay leads to where it is',
    statements: [`delete from reservation_event where transition = 'T16'`],
  },
  {
    what: 'a guest was checked in twice by one command',
    rule: 'a command moves a stay once at most, and one that was refused not at all',
    statements: [
      `create temporary table twice as select * from reservation_event where transition = 'T13'`,
      `update twice set id = gen_random_uuid()`,
      `insert into reservation_event select * from twice`,
    ],
  },
  {
    what: 'a check-in that was refused has happened',
    rule: 'a command moves a stay once at most, and one that was refused not at all',
    evidence: (evidence) => ({
      ...evidence,
      commands: evidence.commands.map((command) => ({ ...command, outcome: 'refused' })),
    }),
  },
  {
    what: 'a move that the desk was told has not happened',
    rule: 'what the desk was told has happened',
    statements: [`delete from reservation_event where transition = 'T15'`],
  },
]
