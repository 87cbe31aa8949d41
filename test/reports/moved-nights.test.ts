import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { report, verifyFacts } from '../../db/reports/index.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { arrive, closeOpenDay, makeLateHouse, makeStays } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { deskOf } from '../reservations/desk.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

type Row = Record<string, number | string | null> & { key: string }
type Answer = {
  data: (Row & { otherRevenueByCategory: { category: string; amount: number }[]; day: number; monthToDate: number })[]
  totals: Row
}
type Line = { id: string; kind: string; category: string }

// Six units of one type at 200.00 a night for two: 169.98 is the room, of which 9.52 is tax, and 30.02 breakfast.
const room = 16_998

describe('nights whose charges move between folios', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let stays: string[]
  let range: { startDate: string; endDate: string }
  const { folioOf, miss } = deskOf(() => house)

  const ask = async (report: string, query: Record<string, string>): Promise<Answer> => {
    const { status, body } = await owner.get(`reports/${report}?${new URLSearchParams(query).toString()}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as Answer
  }
  const send = async (method: string, path: string, sent: object) => {
    const { status, body } = await owner.send(method, path, sent, { headers: { 'idempotency-key': randomUUID() } })
    expect(status, JSON.stringify(body)).to.be.lessThan(300)
  }
  const lineOf = async (folioId: string, kind: string): Promise<string> => {
    const { body } = await owner.get(`folios/${folioId}/lines?limit=100`)
    return (body.data as Line[]).find((line) => line.kind === kind && line.category === 'room')?.id ?? ''
  }
  const told = ({ data }: Answer, ...names: string[]) =>
    Object.fromEntries(data.map((row) => [row.key, names.map((name) => row[name])]))

  before(async () => {
    house = await makeLateHouse(4, { units: 6, amount: 20_000 })
    owner = await openDesk(world, house, 'owner')
    stays = await makeStays(house, 5, { from: -4, nights: 3 })
    await house.inHouse((trx) => sql(trx, `select record_on_the_books(?::uuid[])`, [stays]))
    range = { startDate: house.day(-4), endDate: house.day(-2) }
  })

  it('stand on the books under the segment that a stay has now', async () => {
    const books = async () =>
      told(
        await ask('pace', { ...range, by: 'segment', asOf: house.day(-4), pickupSince: house.day(-5) }),
        'unitNights',
        'roomRevenue',
      )
    expect(await books()).to.deep.equal({ transient: [15, 15 * room] })
    await send('PATCH', `reservations/${stays[1]}`, { marketSegment: 'corporate' })
    await send('PATCH', `reservations/${stays[2]}`, { marketSegment: 'complimentary' })
    await send('PATCH', `reservations/${stays[2]}`, { purpose: 'business' })
    expect(await books()).to.deep.equal({
      complimentary: [3, 3 * room],
      corporate: [3, 3 * room],
      transient: [9, 9 * room],
    })
  })

  it('belong to the stay that slept them, however often they moved, and days sum up to the month', async () => {
    const [guest = '', colleague = '', free = '', neighbour = '', missing = ''] = stays
    await house.inHouse((trx) =>
      createBlock(trx, {
        propertyId: house.propertyId,
        unitIds: [house.unitIds[5] ?? ''],
        kind: 'out_of_order',
        reason: 'maintenance',
        from: house.day(-4),
        to: house.day(-3),
      }),
    )
    for (const id of [guest, colleague, free, neighbour]) await arrive(house, id)
    await miss(missing)
    await closeOpenDay(house)
    const [from, over, to] = [await folioOf(guest), await folioOf(neighbour), await folioOf(colleague)]
    const lines = async (folioId: string, kind: string) => [{ lineId: await lineOf(folioId, kind) }]
    await send('POST', `folios/${from.id}/transfers`, { toFolioId: over.id, lines: await lines(from.id, 'charge') })
    await send('POST', `folios/${over.id}/transfers`, { toFolioId: to.id, lines: await lines(over.id, 'transfer_in') })
    const [moved] = await lines(to.id, 'transfer_in')
    await send('POST', `folios/${to.id}/adjustments`, { ...moved, amount: 1_000, reason: 'A loud night' })
    const bed = { category: 'rooms', description: 'Extra bed', quantity: '1', unitAmount: 7_000 }
    await send('POST', `folios/${over.id}/charges`, bed)
    await closeOpenDay(house)
    await closeOpenDay(house)
    await world.drain({ kinds: ['financial.post-events'] })

    const production = await ask('production', { ...range, by: 'segment' })
    expect(told(production, 'unitNights', 'sold', 'roomRevenue', 'share')).to.deep.equal({
      transient: [6, 6, 6 * room - 1_000, '0.4976'],
      corporate: [3, 3, 3 * room, '0.2512'],
      complimentary: [3, 0, 3 * room, '0.2512'],
    })
    const other = production.data.find(({ key }) => key === 'transient')?.otherRevenueByCategory
    expect(other?.find(({ category }) => category === 'rooms')).to.deep.equal({ category: 'rooms', amount: 7_000 })

    // Files have a column for each category.
    const file = await house.inHouse(async (trx) => {
      const asked = { propertyId: [house.propertyId], ...range, by: 'segment' }
      const sight = { propertyIds: null, locale: 'en' as const }
      const { columns, rows, flat, foot } = await report('production').open(trx, asked, sight, null)
      const cells = [...[...(rows as Iterable<object>)].flatMap((row) => flat(row)), foot() ?? {}]
      const own = columns.filter(({ key }) => key.startsWith('other '))
      for (const cell of cells)
        expect(own.reduce((sum, { key }) => sum + Number(cell[key] ?? 0), 0)).to.equal(cell['otherRevenue'])
      return { titles: own.map(({ title }) => title), rooms: cells.at(-1)?.['other rooms'] }
    })
    expect(file.titles).to.include.members(['Other revenue: No-show fee', 'Other revenue: Rooms'])
    expect(file.rooms).to.equal(7_000)

    const occupancy = await ask('occupancy', range)
    const figures = [
      'available',
      'sold',
      'complimentary',
      'roomRevenue',
      'includedTax',
      'occupancy',
      'adr',
      'noShowRate',
    ]
    expect(told(occupancy, ...figures)).to.deep.equal({
      [house.day(-4)]: [5, 3, 1, 4 * room, 4 * 952, '0.6000', 22_664, '0.2000'],
      // A tax of 5.6 % goes with the 10.00 that were given back.
      [house.day(-3)]: [6, 3, 1, 4 * room - 1_000, 4 * 952 - 56, '0.5000', 22_331, null],
      [house.day(-2)]: [6, 3, 1, 4 * room, 4 * 952, '0.5000', 22_664, null],
    })
    const month: Record<string, number> = {}
    for (const day of [-4, -3, -2]) {
      const { data } = await ask('daily-revenue', { date: house.day(day) })
      for (const { key, unit, day: of, monthToDate, group } of data) {
        if (unit === 'ratio' || group === 'ledgers' || ['adr', 'adrNet', 'revpar', 'trevpar'].includes(key)) continue
        const begins = house.day(day).endsWith('-01') ? 0 : (month[key] ?? 0)
        month[key] = begins + of
        expect(month[key], `${key} up to ${house.day(day)}`).to.equal(monthToDate)
      }
    }
    expect(await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).to.deep.equal([])
  })
})
