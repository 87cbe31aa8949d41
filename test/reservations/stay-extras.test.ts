import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { chargeExtras } from '../../db/reservations/charge-extras.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { useOwner } from '../properties/support.ts'
import { recountNights } from '../../db/units/recount.ts'
import { place } from '../units/stays.ts'

describe('Extras of a stay at the desk', () => {
  const here = useOwner({ units: 4, deposit: null }, { anew: false, more: () => ({}) })
  const ids: Record<string, string> = {}
  before(async () => {
    const { house } = here
    await house.inHouse(async (trx) => {
      const extra = {
        propertyId: house.propertyId,
        mandatory: false,
        category: 'meal' as const,
        revenueGroup: 'food' as const,
      }
      ids.breakfast = await createExtra(trx, {
        ...extra,
        code: 'BREAK',
        name: { en: 'Breakfast', 'pt-BR': 'Café' },
        amount: 3_001,
        basis: 'per_person_per_night',
        dailyLimit: 5,
      })
      ids.wine = await createExtra(trx, {
        ...extra,
        code: 'WINE',
        name: { en: 'Wine', 'pt-BR': 'Vinho' },
        amount: 9_000,
        basis: 'per_stay',
      })
      await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId])
      await sql(
        trx,
        `insert into pool_night (pool_id, night, capacity)
         select p.id, d.day::date, 5 from unit_pool p cross join lateral generate_series(?::date::timestamp, ?::date::timestamp, interval '1 day') as d (day)
         where p.property_id = ? and p.kind = 'extra' on conflict do nothing`,
        [house.day(0), house.day(30), house.propertyId],
      )
    })
  })
  const path = (stay: string, extra = '') => `reservations/${stay}/extras${extra && `/${extra}`}`
  const send = (method: string, address: string, body?: object, options = {}) =>
    here.owner.send(method, address, body, options)
  const miscounted = () =>
    here.house.inHouse((trx) => recountNights(trx, here.house.propertyId, here.house.day(0), here.house.day(30)))
  const read = async (stay: string) => (await here.owner.get(`reservations/${stay}`)).body
  type Line = { id: string; quantity: number; from: string; until: string; amount: number; status: string }
  const lines = async (stay: string): Promise<Line[]> => (await read(stay)).extras

  it('are sold at the price of today on the days that are named, and change the total to the cent', async () => {
    const stay = await place(here.house, { from: 3, nights: 3 })
    const before = await read(stay)
    const added = await send('POST', path(stay), {
      extraId: ids.breakfast,
      quantity: 1,
      from: here.house.day(4),
      until: here.house.day(5),
    })
    expect(added.status, JSON.stringify(added.body)).to.equal(201)
    const [line] = added.body.extras as Line[]
    const persons = before.adults as number
    expect(line).to.include({
      quantity: 1,
      amount: 2 * persons * 3_001,
      from: here.house.day(4),
      until: here.house.day(5),
    })
    expect(added.body.extrasTotal).to.equal(line?.amount)
    expect(added.body.version).to.equal(before.version + 1)
    const twice = await send('PATCH', path(stay, line?.id), { quantity: 2, until: here.house.day(4) })
    expect((twice.body.extras as Line[])[0]).to.include({ amount: 2 * persons * 3_001, until: here.house.day(4) })
    const gone = await send('DELETE', path(stay, line?.id))
    expect(gone.body).to.include({ extrasTotal: before.extrasTotal, taxTotal: before.taxTotal, total: before.total })
    expect((await send('DELETE', path(stay, line?.id))).status).to.equal(409)
    expect(await miscounted()).to.deep.equal([])
    const told = await here.house.inHouse((trx) =>
      sql<{ type: string }>(
        trx,
        `select type from event where type = 'reservation.extras_changed' and entity ->> 'id' = ?`,
        [stay],
      ),
    )
    expect(told).to.have.length(3)
  })

  it('are refused on other days, of other houses, in versions that are over, and above the limit of a day', async () => {
    const stay = await place(here.house, { from: 8, nights: 2 })
    const { version } = await read(stay)
    for (const [body, status] of [
      [{ extraId: ids.breakfast, quantity: 1, from: here.house.day(7) }, 400],
      [{ extraId: ids.breakfast, quantity: 1, until: here.house.day(10) }, 400],
      [{ extraId: ids.breakfast, quantity: 1, from: here.house.day(9), until: here.house.day(8) }, 400],
      [{ extraId: ids.wine, quantity: 1, from: here.house.day(8), until: here.house.day(9) }, 400],
      [{ extraId: ids.breakfast, quantity: 0 }, 400],
      [{ extraId: ids.breakfast, quantity: 100 }, 400],
      [{ extraId: randomUUID(), quantity: 1 }, 422],
      [{ extraId: ids.breakfast, quantity: 6 }, 409],
    ] as const) {
      const refused = await send('POST', path(stay), body)
      expect(refused.status, JSON.stringify([body, refused.body])).to.equal(status)
    }
    expect(
      (await send('POST', path(stay), { extraId: ids.wine, quantity: 1 }, { headers: { 'if-match': '"99"' } })).status,
    ).to.equal(409)
    expect((await read(stay)).version).to.equal(version)
    // Two desks at once: five breakfasts are all there are.
    const replies = await Promise.all(
      [1, 2, 3].map(() => send('POST', path(stay), { extraId: ids.breakfast, quantity: 2 })),
    )
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([201, 201, 409])
    expect(await miscounted()).to.deep.equal([])
    const late = await send('POST', path(stay), { extraId: ids.wine, quantity: 1, from: here.house.day(10) })
    expect(late.status, 'on the day of departure').to.equal(201)
  })

  it('of the day of departure stay there when something else of the stay changes, and go along with it', async () => {
    const { house } = here
    const stay = await place(house, { from: 5, nights: 3 })
    await send('POST', path(stay), { extraId: ids.wine, quantity: 1, from: house.day(8) })
    const amend = async (changes: object) => {
      const { body } = await send('POST', `reservations/${stay}/amendments`, { changes })
      expect((await send('POST', `reservations/${stay}/amendments/${body.amendmentId}/accept`)).status).to.equal(200)
      return (await lines(stay)).map(({ from, until, amount }) => [from, until, amount])
    }
    const on = (day: number) => [[house.day(day), house.day(day), 9_000]]
    expect(await amend({ adults: 1 })).to.deep.equal(on(8))
    expect(await amend({ departure: house.day(9) })).to.deep.equal(on(9))
    expect(await amend({ arrival: house.day(6), departure: house.day(7) })).to.deep.equal(on(7))
    expect(await miscounted()).to.deep.equal([])
  })

  it('keep the days that are charged, and split where later ones differ', async () => {
    const stay = await place(here.house, { from: 14, nights: 4 })
    const { body } = await send('POST', path(stay), { extraId: ids.breakfast, quantity: 1 })
    const [line] = body.extras as Line[]
    const daily = (line?.amount ?? 0) / 4
    await here.house.inHouse(async (trx) => {
      const [row] = await sql<never>(
        trx,
        `select r.*, b.number from reservation r join booking b on b.id = r.booking_id where r.id = ?`,
        [stay],
      )
      await chargeExtras(trx, { businessDate: here.house.today, stays: row ? [row] : [], through: here.house.day(15) })
    })
    const changed = await send('PATCH', path(stay, line?.id), { quantity: 2 })
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200)
    const parts = (await lines(stay)).sort((a, b) => (a.from < b.from ? -1 : 1))
    expect(parts.map(({ quantity, from, until, amount }) => [quantity, from, until, amount])).to.deep.equal([
      [1, here.house.day(14), here.house.day(15), 2 * daily],
      [2, here.house.day(16), here.house.day(17), 4 * daily],
    ])
    // What is charged stays, what is not goes.
    expect((await send('DELETE', path(stay, parts[0]?.id))).body.code).to.equal('invalid_transition')
    expect((await send('DELETE', path(stay, parts[1]?.id))).body.extrasTotal).to.equal(2 * daily)
    expect(await miscounted()).to.deep.equal([])
  })

  it('stay as they are once the stay has ended', async () => {
    const stay = await place(here.house, { from: 22, nights: 1 })
    const { body } = await send('POST', path(stay), { extraId: ids.wine, quantity: 1 })
    await send('POST', `reservations/${stay}/cancel`, { reason: 'test' })
    expect((await send('POST', path(stay), { extraId: ids.wine, quantity: 1 })).body.code).to.equal(
      'invalid_transition',
    )
    expect((await send('PATCH', path(stay, (body.extras as Line[])[0]?.id), { quantity: 3 })).body.code).to.equal(
      'invalid_transition',
    )
  })
})
