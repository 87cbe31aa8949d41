import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createAutomation } from '../../db/ocp/index.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeConfirmed } from '../support/messages.ts'
import { makeTemplate } from './records.ts'

const stays = 520
/** Every so many stays, by id, are long enough for the automation. */
const every = 20

describe('an automation of more stays than one step plans', function () {
  this.timeout(120_000)
  const world = useDatabase()

  /** Confirmed stays that sell nothing: copies of one, row by row. */
  const multiply = async (house: House) => {
    const bookingId = await makeConfirmed(house, { from: 30 })
    const { admin } = world.database
    const copied = async (table: string, source: string, changed: Record<string, string>) => {
      const { rows } = await admin.raw<{ rows: { name: string }[] }>(
        `select attname as name from pg_attribute where attrelid = ?::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
        [table],
      )
      const names = rows.map(({ name }) => name)
      return `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')})
        select ${names.map((name) => changed[name] ?? `o."${name}"`).join(', ')} from ${source}`
    }
    const booking = await copied('booking', 'booking o, generate_series(2, ?) n where o.id = ?', {
      id: 'gen_random_uuid()',
      number: `lpad(translate(n::text, '0189', 'ABCD'), 8, 'Z')`,
      quote_id: 'gen_random_uuid()',
    })
    const reservation = await copied(
      'reservation',
      'reservation o, booking c where o.booking_id = ? and c.id <> o.booking_id and c.property_id = o.property_id',
      { id: 'gen_random_uuid()', booking_id: 'c.id' },
    )
    await admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(booking, [stays, bookingId])
      await trx.raw(reservation, [bookingId])
      await trx.raw(
        `update reservation r set departure = r.arrival + 9 from (select id, row_number() over (order by id) as n from reservation) o
         where o.id = r.id and (o.n % ? = 0)`,
        [every],
      )
    })
    // Rows that come in one statement are unknown to the planner of queries until then.
    await admin.raw('analyze booking; analyze reservation')
  }

  it('that dies between two steps has written to each of them once', async () => {
    const { admin } = world.database
    const house = await makeHouse({ deposit: null })
    await multiply(house)
    await house.inHouse((trx) => sql(trx, `update automation set enabled = false`))
    const automationId = await house.inHouse(async (trx) => {
      const templateId = await makeTemplate(trx, { context: 'reservation' })
      const trigger = { anchor: 'arrival' as const, days: -7, at: '10:00' }
      return createAutomation(trx, { name: 'Soon', templateId, trigger, conditions: { minNights: 9 } })
    })
    // The end of the first step, with which the second is asked for, is not written.
    await admin.raw(`
      create sequence deaths;
      create function die_between_steps() returns trigger language plpgsql security definer as $$
      begin
        if nextval('deaths') <= 1 then raise exception 'died'; end if;
        return new;
      end $$;
      create trigger die_between_steps before insert on jobs for each row
        when (new.kind = 'messages.plan-automation' and new.payload ->> 'cursor' is not null) execute function die_between_steps();
    `)
    try {
      const runs = await drain({ kinds: ['messages.plan-automation'] })
      expect(runs.map(({ outcome }) => outcome)).to.deep.equal(['again', 'done', 'done'])
    } finally {
      await admin.raw(`drop trigger die_between_steps on jobs; drop function die_between_steps; drop sequence deaths`)
    }
    const counts = await house.inHouse((trx) =>
      sql(
        trx,
        `select n.count as messages, count(*) as stays from reservation r
         cross join lateral (select count(*) from message m where m.reservation_id = r.id and m.automation_id = ? and m.status = 'scheduled') n
         where r.departure - r.arrival = 9 group by 1`,
        [automationId],
      ),
    )
    expect(counts).to.deep.equal([{ messages: 1, stays: stays / every }])
  })
})
