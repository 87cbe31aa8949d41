import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { foldCounts } from '../../db/lib/counts.ts'
import { purgeQuotes } from '../../db/reservations/quotes.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import { wrongTotals } from '../support/counts.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { deliverAll, makeConfirmed } from '../support/messages.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { grantWebhooks, makeDelivery } from '../webhooks/support.ts'

/** Copies of the row of a table, each with values of its own: SQL over the number `n` of the copy. */
const copies = (table: string, values: Readonly<Record<string, string>>, many: number) =>
  `insert into ${table} select made.* from (select * from ${table} where id = :id) one, generate_series(1, ${many}) n,
     lateral jsonb_populate_record(one::${table}, jsonb_build_object('copy', n, ${Object.entries(values)
       .map(([column, value]) => `'${column}', ${value}`)
       .join(', ')})) made`

describe('Counts by day', function () {
  this.timeout(60_000)
  const world = useWorld()
  let house: House
  let owner: Desk

  beforeEach(async () => {
    house = await makeHouse({ units: 2, deposit: null })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })

  const rows = <Row = Record<string, unknown>>(text: string, values: Record<string, unknown> = {}) =>
    sql<Row>(world.database.admin, text, { tenantId: house.tenantId, ...values })
  const expectRight = async () => expect(await rows(wrongTotals)).to.deep.equal([])
  const totalOf = async (path: string): Promise<number> => done(await owner.get(path)).meta.total
  /** Adds up changes, however few wait, while something else is done. */
  const whileFolding = async (work: Promise<unknown>[]) => {
    let isOver = false
    const folding = (async () => {
      do await inPlatform((trx) => sql(trx, `select fold_list_counts(1)`))
      while (!isOver)
    })()
    await Promise.all(work).finally(() => (isOver = true))
    await folding
  }

  describe('of deliveries', () => {
    let made: { webhookEndpointId: string; webhookDeliveryId: string }
    const deliveries = 'webhooks/deliveries?limit=1'
    const copy = (at: string, many: number, status = 'pending') =>
      rows(
        copies(
          'webhook_delivery',
          {
            id: 'gen_random_uuid()',
            event_id: 'gen_random_uuid()',
            event_at: at,
            status: `'${status}'`,
            delivered_at: status === 'delivered' ? 'now()' : 'null',
          },
          many,
        ),
        { id: made.webhookDeliveryId },
      )
    beforeEach(async () => {
      await grantWebhooks(house.tenantId)
      made = await makeDelivery(house)
    })

    it('are what there is, by endpoint, state and type, while senders write and changes are added up', async () => {
      const month = `date_trunc('month', now()) - interval '1 month' * (n % 3)`
      await copy(month, 60)
      const state = (status: string, rest: number) =>
        house.inHouse((trx) =>
          sql(
            trx,
            `update webhook_delivery set status = ?, delivered_at = now() where id in
               (select id from webhook_delivery where status = 'pending' and hashtext(id::text) % 4 in (?, ?) order by id)`,
            [status, rest, -rest],
          ),
        )
      await whileFolding([
        state('delivered', 0),
        state('dropped', 1),
        state('dead', 2),
        copy(month, 20, 'delivered'),
        house.inHouse((trx) =>
          sql(trx, `delete from webhook_delivery where status = 'pending' and hashtext(id::text) % 4 in (3, -3)`),
        ),
      ])
      await expectRight()
      const [found] = await rows<Record<string, number>>(
        `select count(*)::int as all, count(*) filter (where status = 'dead')::int as dead, count(*) filter (where status = 'delivered')::int as delivered
         from webhook_delivery where tenant_id = :tenantId`,
      )
      expect(await totalOf(deliveries)).to.equal(found?.['all'])
      for (const status of ['dead', 'delivered'])
        expect(await totalOf(`${deliveries}&status=${status}`), status)
          .to.equal(found?.[status])
          .above(0)
      expect(await totalOf(`${deliveries}&webhookEndpointId=${made.webhookEndpointId}`)).to.equal(found?.['all'])
      expect(await totalOf(`${deliveries}&webhookEndpointId=${house.propertyId}`)).to.equal(0)
      expect(await totalOf(`${deliveries}&type=promo_code.created&status=dead`)).to.equal(found?.['dead'])
      expect(await totalOf(`${deliveries}&type=promo_code.changed`)).to.equal(0)
    })

    it('go with the month that is dropped, though it was written to and added up until then', async () => {
      const [old] = await rows<{ name: string; first: string; end: string }>(
        `select to_char(m, '"webhook_delivery_"YYYYMM') as name, m::text as first, (m + interval '1 month')::text as end
         from date_trunc('month', now() at time zone 'UTC' - interval '8 months') m`,
      )
      const { name, first, end } = old!
      await rows(`create table ${name} partition of webhook_delivery for values from ('${first}+00') to ('${end}+00')`)
      await copy(`'${first}+00'::timestamptz + n * interval '1 hour'`, 40)
      const counted = () =>
        rows<{ n: number }>(
          `select sum(n)::int as n from list_count where list = 'webhook_delivery' and day = :first::date`,
          { first },
        )
      expect(await counted()).to.deep.equal([{ n: 40 }])
      await whileFolding([
        copy(`'${first}+00'::timestamptz + n * interval '1 second'`, 30),
        inPlatform((trx) => sql(trx, `select drop_event_partitions()`)),
      ]).catch((error: unknown) => {
        // Rows of a month without a partition lie in the one for all others, unless it was dropped under their statement.
        if (!String(error).includes(name)) throw error
      })
      expect(await rows(`select to_regclass('${name}') as found`)).to.deep.equal([{ found: null }])
      await expectRight()
      await inPlatform(foldCounts)
      await expectRight()
    })
  })

  describe('of quotes', () => {
    let quoteId: string
    /** A number that no other record has. */
    const number = `upper(left(md5(gen_random_uuid()::text), 8))`
    const room = () => ({
      unitTypeId: house.unitTypeId,
      ratePlanId: house.ratePlanId,
      arrival: house.day(10),
      departure: house.day(11),
      adults: 2,
      childrenAges: [],
    })
    const ask = async () =>
      done(await owner.send('POST', 'quotes', { propertyId: house.propertyId, rooms: [room()] }), 201).id as string
    const copy = (expiresAt: string, many: number) =>
      rows(
        copies(
          'quote',
          {
            id: 'gen_random_uuid()',
            number,
            expires_at: expiresAt,
          },
          many,
        ),
        { id: quoteId },
      )
    const book = (id: string) =>
      owner.send('POST', 'bookings', {
        propertyId: house.propertyId,
        booker: { firstName: 'Ana', lastName: 'Souza' },
        source: 'phone',
        quoteId: id,
      })
    const byStatus = async () =>
      Object.fromEntries(
        await Promise.all(
          ['open', 'used', 'expired'].map(async (status) => [status, await totalOf(`quotes?limit=1&status=${status}`)]),
        ),
      )
    beforeEach(async () => {
      quoteId = await ask()
    })

    it('tell those that are open, used and expired to the moment, at the ends of the day too', async () => {
      const midnight = `date_trunc('day', now(), 'UTC')`
      const times = [
        "now() + interval '1 hour'",
        "now() - interval '1 millisecond'",
        `${midnight} - interval '1 microsecond'`,
        midnight,
        `${midnight} + interval '1 day'`,
        `${midnight} + interval '1 day' - interval '1 microsecond'`,
        `${midnight} - n * interval '1 day'`,
        `${midnight} + n * interval '2 days'`,
      ]
      for (const time of times) await copy(time, 3)
      await book(quoteId)
      await expectRight()
      const [found] = await rows(
        `select count(*) filter (where b.id is not null)::int as used, count(*) filter (where b.id is null and q.expires_at > now())::int as open,
           count(*) filter (where b.id is null and q.expires_at <= now())::int as expired
         from quote q left join booking b on b.tenant_id = q.tenant_id and b.quote_id = q.id where q.tenant_id = :tenantId`,
      )
      expect(await byStatus()).to.deep.equal(found)
      expect(found).to.include({ used: 1 })
      expect(await totalOf(`quotes?limit=1&status=expired&propertyId=${house.propertyId}`)).to.equal(found?.['expired'])
    })

    it('stay right where a quote is booked while old ones are deleted', async () => {
      await copy(`now() - interval '181 days'`, 40)
      const old = await rows<{ id: string }>(
        `select id from quote where tenant_id = :tenantId and expires_at < now() - interval '180 days'`,
      )
      const ids = old.map(({ id }) => id)
      const bookingId = (done(await book(quoteId), 201) as { id: string }).id
      const [taken, ...free] = ids
      const booking = copies('booking', { id: 'gen_random_uuid()', quote_id: 'cast(:quoteId as uuid)', number }, 1)
      const trx = await world.database.admin.transaction()
      await sql(trx, booking, { id: bookingId, quoteId: taken })
      // It has found no booking, and waits for that which counts the quote.
      const purging = house.inHouse((own) => purgeQuotes(own, ids))
      await until(async () => {
        const waiting = await rows(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'delete from quote%'`,
        )
        return waiting.length > 0
      })
      await trx.commit()
      await whileFolding([purging, ...free.slice(0, 6).map((id) => rows(booking, { id: bookingId, quoteId: id }))])
      await expectRight()
      await rows(`update booking set quote_id = null where tenant_id = :tenantId and quote_id = :quoteId`, { quoteId })
      await expectRight()
      expect(await totalOf('quotes?limit=1&status=open')).to.equal(1)
    })
  })

  describe('of messages', () => {
    it('of an automation are those of thirty days to the moment, by what came of them', async () => {
      await makeConfirmed(house)
      await deliverAll()
      const [one] = await rows<{ id: string; automationId: string }>(
        `select id, automation_id from message where tenant_id = :tenantId and automation_id is not null order by id limit 1`,
      )
      const { id, automationId } = one!
      const states = `(array['scheduled', 'sent', 'delivered', 'read', 'failed', 'suppressed'])[1 + n % 6]`
      const times = [
        `now() - interval '30 days' + interval '1 minute'`,
        `now() - interval '30 days' - interval '1 minute'`,
        `now() - interval '31 days'`,
        `date_trunc('day', now() - interval '30 days', 'UTC') + interval '1 day'`,
        `date_trunc('day', now() - interval '30 days', 'UTC')`,
        `now() - n * interval '20 hours'`,
      ]
      for (const time of times)
        await rows(
          copies(
            'message',
            {
              id: 'gen_random_uuid()',
              dedupe_key: 'gen_random_uuid()',
              created_at: time,
              status: states,
              reason: `case when ${states} in ('failed', 'suppressed') then 'no_address' end`,
              sent_at: `case when ${states} in ('sent', 'delivered', 'read') then now() end`,
            },
            50,
          ),
          { id },
        )
      const shown = async () =>
        (
          done(await owner.get('ocp/automations?limit=100')).data as {
            id: string
            last30Days: Record<string, number>
          }[]
        ).find((automation) => automation.id === automationId)!.last30Days
      const recount = async () =>
        (
          await rows(
            `select count(*)::int as queued, count(*) filter (where sent_at is not null)::int as sent,
               count(*) filter (where status in ('delivered', 'read'))::int as delivered, count(*) filter (where status = 'failed')::int as failed,
               count(*) filter (where status = 'suppressed')::int as suppressed
             from message where automation_id = :automationId and created_at > now() - interval '30 days'`,
            { automationId },
          )
        )[0]
      await expectRight()
      expect(await shown()).to.deep.equal(await recount())
      const change = (set: string, rest: number) =>
        rows(
          `update message set ${set} where automation_id = :automationId and abs(hashtext(id::text)) % 5 = :rest and sent_at is not null`,
          { automationId, rest },
        )
      await whileFolding([
        change(`status = 'delivered'`, 0),
        change(`status = 'failed', reason = 'no_address'`, 1),
        change(`status = 'scheduled', sent_at = null, reason = null`, 2),
        // A message that was tried stays: its attempts point to it.
        rows(
          `delete from message m where automation_id = :automationId and abs(hashtext(id::text)) % 5 = 3
             and not exists (select from message_attempt a where a.tenant_id = m.tenant_id and a.message_id = m.id)`,
          { automationId },
        ),
      ])
      await expectRight()
      const after = await shown()
      expect(after).to.deep.equal(await recount())
      expect(Math.min(...Object.values(after))).to.be.above(0)
      done(await owner.send('DELETE', `ocp/automations/${automationId}`))
      await expectRight()
    })
  })
})
