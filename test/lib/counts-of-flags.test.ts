import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import { wrongTotals } from '../support/counts.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

/** Issues that are marked other than those of their unit and category within 90 days tell. */
const wronglyMarked = `
  select i.id, i.recurring from issue i where i.recurring <> (i.unit_id is not null and (select count(*) from issue s where s.tenant_id = i.tenant_id
    and s.unit_id = i.unit_id and s.category_id = i.category_id and s.id <> i.id
    and abs(extract(epoch from s.created_at - i.created_at)) < 90 * 86400) >= 3)`

describe('Counts of flags', function () {
  this.timeout(60_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let categories: string[]

  beforeEach(async () => {
    house = await makeHouse({ units: 3, deposit: null })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
    const { data } = done(await owner.get('issues/categories?limit=100'))
    categories = data.map(({ id }: { id: string }) => id)
  })

  const rows = <Row = Record<string, unknown>>(text: string, values: Record<string, unknown> = {}) =>
    sql<Row>(world.database.admin, text, { tenantId: house.tenantId, ...values })
  const expectRight = async () => {
    expect(await rows(wrongTotals)).to.deep.equal([])
    await inPlatform((trx) => sql(trx, `select fold_list_counts(1)`))
    expect(await rows(wrongTotals)).to.deep.equal([])
  }
  const totalOf = async (path: string): Promise<number> => done(await owner.get(`${path}&limit=1`)).meta.total
  /** The flag of a list is true of some rows and false of the others, and both totals are what their rows say. */
  const expectFlag = async (list: string, flag: string, from: string, condition: string) => {
    const [found] = await rows<{ yes: number; no: number }>(
      `select count(*) filter (where ${condition})::int as yes, count(*) filter (where (${condition}) is not true)::int as no
       from ${from} r join property p on p.tenant_id = r.tenant_id where r.tenant_id = :tenantId`,
    )
    const { yes, no } = found!
    const totals = [await totalOf(`${list}?${flag}=true`), await totalOf(`${list}?${flag}=false`)]
    expect(totals, flag).to.deep.equal([yes, no])
    expect(Math.min(yes, no), flag).to.be.above(0)
  }
  describe('of issues', () => {
    const open = async (unit: number, category = 0) =>
      done(
        await owner.send('POST', 'issues', {
          propertyId: house.propertyId,
          categoryId: categories[category],
          title: 'A noise',
          unitId: house.unitIds[unit],
        }),
        201,
      ).id as string

    it('recur as their units and categories say, while they come, move and go at once', async () => {
      const first: string[] = []
      for (const unit of [0, 0, 0, 1, 1, 2]) first.push(await open(unit))
      await forgetLimits(world)
      const move = (id: string, change: object) => owner.send('PATCH', `issues/${id}`, change)
      await Promise.all([
        ...[0, 0, 1, 1, 2].map((unit) => open(unit)),
        move(first[0]!, { unitId: house.unitIds[1] }),
        move(first[3]!, { unitId: house.unitIds[0] }),
        move(first[1]!, { categoryId: categories[1] }),
        move(first[5]!, { unitId: null }),
      ])
      expect(await rows(wronglyMarked)).to.deep.equal([])
      await expectFlag('issues', 'recurring', 'issue', 'r.recurring')
      await expectRight()
      const [one] = await rows<{ id: string; version: number; updatedAt: Date }>(
        `select id, version, updated_at from issue where tenant_id = :tenantId and recurring order by id limit 1`,
      )
      await rows(`update issue set created_at = created_at - interval '91 days' where id = :id`, { id: one?.id })
      expect(await rows(wronglyMarked)).to.deep.equal([])
      await rows(`update issue set unit_id = null where tenant_id = :tenantId and unit_id = :unitId`, {
        unitId: house.unitIds[1],
      })
      expect(await rows(wronglyMarked)).to.deep.equal([])
      await expectRight()
      expect(await deadlocks()).to.equal(0)
    })

    it('are marked by others without a change of their version and time', async () => {
      const id = await open(0)
      const read = async () => done(await owner.get(`issues/${id}`))
      const { version, updatedAt } = await read()
      for (let more = 0; more < 3; more += 1) await open(0)
      expect(await read()).to.include({ recurring: true, version, updatedAt })
    })

    it('are late and escalated as their rows say', async () => {
      const ids = [await open(0), await open(1), await open(2), await open(2, 1)]
      await rows(
        `update issue set next_due_at = now() - interval '1 second', escalation = 1 where id = any(string_to_array(:ids, ',')::uuid[])`,
        { ids: ids.slice(0, 2).join() },
      )
      done(await owner.send('POST', `issues/${ids[1]}/close`, { outcome: 'withdrawn', reason: 'It went away' }))
      await expectFlag('issues', 'escalated', 'issue', 'r.escalation > 0')
      await expectFlag('issues', 'late', 'issue', `r.status <> 'closed' and r.next_due_at < now()`)
      expect(await totalOf(`issues?late=false&escalated=true&propertyId=${house.propertyId}`)).to.equal(1)
      await expectRight()
    })
  })

  it('of items, conversations, addresses, requests and bookings are what their rows say', async () => {
    const { propertyId } = house
    for (const days of [-3, -1, 0, 1, 30])
      for (const [direction, status] of [
        ['found', 'open'],
        ['missed', 'open'],
        ['found', 'closed'],
      ])
        await rows(
          `insert into lost_item (tenant_id, number, property_id, direction, category, at, keep_until, status, outcome, closed_at, created_by)
           values (:tenantId, (select coalesce(max(number), 0) + 1 from lost_item where tenant_id = :tenantId), :propertyId, :direction, 'other', now(), cast(:day as date),
             :status, case when :status = 'closed' then 'returned' end, case when :status = 'closed' then now() end, '{"type": "system", "id": null}')`,
          { propertyId, direction, status, day: house.day(days) },
        )
    await expectFlag(
      'issues/lost-items',
      'disposalDue',
      'lost_item',
      `r.status = 'open' and r.direction = 'found' and r.keep_until <= (now() at time zone p.timezone)::date`,
    )
    for (const [wrote, answered, status] of [
      ['now()', 'null', 'open'],
      ['now()', `now() - interval '1 hour'`, 'open'],
      [`now() - interval '1 hour'`, 'now()', 'open'],
      ['now()', 'null', 'closed'],
      ['null', 'null', 'open'],
    ])
      await rows(
        `insert into conversation (tenant_id, property_id, kind, address_index, last_inbound_at, answered_at, status, closed_at)
         values (:tenantId, :propertyId, 'email', uuid_send(gen_random_uuid()), ${wrote}, ${answered}, '${status}',
           ${status === 'closed' ? 'now()' : 'null'})`,
        { propertyId },
      )
    await expectFlag(
      'ocp/conversations',
      'unanswered',
      'conversation',
      `r.status = 'open' and r.last_inbound_at is not null and (r.answered_at is null or r.answered_at < r.last_inbound_at)`,
    )
    for (const kind of ['email', 'email', 'sms'])
      await rows(
        `insert into suppression (tenant_id, kind, address_index, scope, cause) values (:tenantId, :kind, uuid_send(gen_random_uuid()), 'all', 'manual')`,
        { kind },
      )
    const [{ id } = { id: '' }] = done(await owner.get('ocp/suppressions?kind=email')).data as { id: string }[]
    done(await owner.send('POST', `ocp/suppressions/${id}/lift`, { reason: 'asked at the desk' }))
    await expectFlag('ocp/suppressions', 'lifted', 'suppression', 'r.lifted_at is not null')
    for (const adults of [1, 2, 2]) {
      const wish = { propertyId, arrival: house.day(20), departure: house.day(21), adults }
      const contact = { name: 'Ana Souza', email: 'ana@example.com' }
      done(await owner.send('POST', 'waitlist', { ...wish, contact }), 201)
    }
    await rows(`update waitlist_entry set matched_at = now() where tenant_id = :tenantId and adults = 1`)
    await expectFlag('waitlist', 'matched', 'waitlist_entry', 'r.matched_at is not null')
    for (const expires of [true, false]) {
      const bookingId = await makeHold(house, {})
      if (!expires)
        await rows(
          `update booking set hold_kind = null, hold_expires_at = null, hold_cap_at = null, hold_version = null where id = :bookingId`,
          { bookingId },
        )
    }
    await expectFlag('bookings', 'held', 'booking', 'r.hold_expires_at is not null')
    await expectRight()
  })
})
