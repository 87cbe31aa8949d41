import { expect } from 'chai'
import { up } from '../../db/migrations/1183_taxes_of_their_own.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { report, verifyFacts } from '../../db/reports/index.ts'
import { adjustCharge } from '../../db/reservations/folio/adjust.ts'
import { closeOpenDay, makeLateHouse, makeStays } from '../night-audit/support.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { sumDays } from './recounts.ts'

type Row = { kind: string; code: string; key: string; group: string; base: number; tax: number; day: number }

describe('taxes of prices that no charge tells of', () => {
  const world = useWorld()
  let house: House
  let fee: number

  const rowsOf = (key: 'taxes' | 'daily_revenue', asked: object) =>
    house.inHouse(async (trx) => {
      const reading = await report(key).open(
        trx,
        { propertyId: house.propertyId, ...asked },
        { propertyIds: null },
        null,
      )
      return [...(reading.rows as Iterable<Row>)]
    })
  const told = async (day: string) => {
    const rules = (await rowsOf('taxes', { startDate: day, endDate: day })).filter(({ kind }) => kind === 'rule')
    const daily = (await rowsOf('daily_revenue', { date: day })).filter(
      ({ group, key }) => group === 'taxes' && key === 'TUR',
    )
    return {
      rule: rules.filter(({ code }) => code === 'TUR').map(({ base, tax }) => [base, tax]),
      daily: daily.map((row) => row.day),
    }
  }

  before(async () => {
    house = await makeLateHouse(2, { units: 2, taxes: true })
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 1, checkedIn: true })
    await closeOpenDay(house)
    await house.inHouse(async (trx) => {
      const line = await sqlOne<{ id: string; folioId: string; amount: number }>(
        trx,
        `select l.id, l.folio_id, l.amount from folio_line l join folio f on f.tenant_id = l.tenant_id and f.id = l.folio_id
         join tax_rule x on x.tenant_id = l.tenant_id and x.id = l.tax_rule_id and x.code = 'TUR' where f.reservation_id = ? and l.category = 'tax'`,
        [id],
      )
      fee = line?.amount ?? 0
      const lowering = { lineId: line?.id ?? '', amount: 200, reason: 'a child' }
      await adjustCharge(trx, line?.folioId ?? '', lowering, { limited: false })
      // For the document of another module.
      const source = { type: 'issue', id: house.propertyId }
      await adjustCharge(trx, line?.folioId ?? '', { ...lowering, amount: 50, source }, { limited: false })
    })
    // A night without a price has the line of its tax alone.
    await world.database.admin.transaction(async (trx) => {
      await sql(trx, `set local session_replication_role = replica`)
      await sql(
        trx,
        `insert into folio_line (tenant_id, property_id, folio_id, kind, category, description, unit_amount, amount, business_date, source_type, source_id, source_key,
           tax_rule_id, posted_by)
         select f.tenant_id, f.property_id, f.id, 'charge', 'tax', 'TUR', 300, 300, ?, 'reservation_night', f.id, 'night:tax', x.id, '{}' from folio f
         join tax_rule x on x.tenant_id = f.tenant_id and x.code = 'TUR' where f.reservation_id = ?`,
        [house.day(-1), id],
      )
    })
  })

  it('are told by the summary of taxes and by the day, while it is open, when it has closed, and when it is summed up', async () => {
    expect(fee).to.equal(600)
    const known = { rule: [[0, 50]], daily: [50] }
    expect(await told(house.day(-1))).to.deep.equal(known)
    await closeOpenDay(house)
    expect(await told(house.day(-1))).to.deep.equal(known)
    expect(await sumDays(house)).to.be.above(0)
    expect(await told(house.day(-1))).to.deep.equal(known)
    const [first] = (await told(house.day(-2))).rule
    expect(first?.[1]).to.equal(fee)
  })

  it('are added to the sums of days that were summed up without them', async () => {
    await sql(world.database.admin, `delete from price_tax_sum where date = ? and code = 'TUR'`, [house.day(-1)])
    expect((await told(house.day(-1))).rule).to.deep.equal([])
    await world.database.admin.transaction(up)
    expect((await told(house.day(-1))).rule).to.deep.equal([[0, 50]])
    expect(await sumDays(house)).to.equal(1)
    expect((await told(house.day(-1))).rule).to.deep.equal([[0, 50]])
    const drifts = await house.inHouse((trx) => verifyFacts(trx, house.propertyId))
    expect(drifts.filter((one) => one.report === 'taxes')).to.deep.equal([])
  })
})
