import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { blockAgainst } from '../../db/guests/blocks.ts'
import { listGuests } from '../../db/guests/list.ts'
import type { GuestFilter } from '../../db/guests/list.ts'
import { createGuest } from '../../db/guests/create.ts'
import { always } from '../../db/lib/conditions.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold, readBooking } from '../support/stay.ts'

describe('What is told of guests in houses that are on different days', () => {
  useDatabase()
  /** Days apart, so that no clock's day is that of both. */
  let ahead: House
  let behind: House
  let today: string

  const setDay = (house: House, day: string) =>
    house.inHouse((trx) => sql(trx, `update property set business_date = ? where id = ?`, [day, house.propertyId]))
  const person = (lastName: string) =>
    ahead.inHouse((trx) => createGuest(trx, { firstName: 'Guest', lastName, language: null, source: 'staff' }))
  const block = (guestId: string, house: House | null, from: string, to: string | null) =>
    ahead.inHouse((trx) =>
      sql(
        trx,
        `insert into guest_block (guest_id, level, property_id, starts_on, ends_on, sealed, created_by) values (?, 'refuse', ?, ?, ?, 'x', gen_random_uuid())`,
        [guestId, house?.propertyId ?? null, from, to],
      ),
    )
  const list = (filter: Partial<GuestFilter> = {}) =>
    ahead.inHouse((trx) =>
      listGuests(trx, { page: 1, limit: 50, status: 'active', sort: [], scope: always, ...filter }),
    )

  before(async () => {
    ahead = await makeHouse({ deposit: null })
    behind = await makeHouse({ deposit: null, tenantId: ahead.tenantId })
    ;({ today } = ahead)
    await setDay(ahead, addDays(today, 2))
    await setDay(behind, addDays(today, -2))
  })

  it('a block holds in each house by the day of that house, and a list tells those that hold in one of them', async () => {
    const far = { past: addDays(today, -9), yesterday: addDays(today, -2), tomorrow: addDays(today, 2) }
    const blocks: [House | null, string, string | null, 'none' | 'refuse'][] = [
      [behind, far.past, far.yesterday, 'refuse'],
      [behind, today, null, 'none'],
      [ahead, far.tomorrow, null, 'refuse'],
      [ahead, far.past, today, 'none'],
      [null, far.past, far.yesterday, 'refuse'],
      [null, far.tomorrow, far.tomorrow, 'refuse'],
      [null, today, today, 'none'],
      [null, addDays(today, 3), null, 'none'],
    ]
    const expected = new Map<string, string>()
    for (const [house, from, to, level] of blocks) {
      const id = await person(`Blocked ${expected.size}`)
      await block(id, house, from, to)
      expected.set(id, level)
    }
    const { rows } = await list()
    expect(rows.map(({ id, blocked }) => [id, blocked])).to.have.deep.members([...expected])
    const refused = await list({ blocked: 'refuse' })
    expect(refused.total).to.equal(4)
    expect(refused.rows.every((row) => expected.get(row.id) === 'refuse')).to.equal(true)
    for (const [id, level] of expected) {
      const levels = await Promise.all(
        [ahead, behind].map(({ propertyId }) =>
          ahead.inHouse((trx) => blockAgainst(trx, propertyId, { guestIds: [id] })),
        ),
      )
      expect(levels.some((one) => one === 'refuse') ? 'refuse' : 'none', id).to.equal(level)
    }
  })

  it('a closed house, whose day stands still, bars nobody', async () => {
    const id = await person('Of a closed house')
    await block(id, behind, addDays(today, -9), addDays(today, -2))
    const answer = async () => (await list({ blocked: 'refuse' })).rows.some((row) => row.id === id)
    expect(await answer()).to.equal(true)
    const setStatus = (status: string) =>
      behind.inHouse((trx) => sql(trx, `update property set status = ? where id = ?`, [status, behind.propertyId]))
    await setStatus('archived')
    expect(await answer()).to.equal(false)
    await setStatus('live')
  })

  it('an arrival is expected until the day of its house is past it', async () => {
    await setDay(behind, today)
    const bookingId = await makeHold(behind, { from: 5 })
    await behind.inHouse((trx) => confirmBooking(trx, bookingId))
    const arrival = (await readBooking(behind, bookingId)).rooms[0]?.arrival
    const nextArrival = async () => (await list()).rows.find((row) => row.firstName === 'Ana')?.nextArrival
    await setDay(behind, behind.day(5))
    expect(await nextArrival()).to.equal(arrival)
    await setDay(behind, behind.day(6))
    expect(await nextArrival()).to.equal(null)
  })
})
