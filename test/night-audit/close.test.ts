import { expect } from 'chai'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { postWaiting } from '../../db/financial/waiting.ts'
import { previewNightAudit } from '../../db/night-audit/request.ts'
import { adjustCharge } from '../../db/reservations/folio/adjust.ts'
import type { FolioRow } from '../../db/rows.ts'
import { useDatabase } from '../support/database.ts'
import { balanceOf } from '../financial/support.ts'
import { eventsOf, miscounted } from '../support/stay.ts'
import type { House } from '../support/factories.ts'
import {
  arrive,
  closeOpenDay,
  linesOf,
  makeLateHouse,
  makeStays,
  openDay,
  readAudit,
  readStay,
  request,
  runAudit,
  unposted,
} from './support.ts'

const categories = (lines: Awaited<ReturnType<typeof linesOf>>) =>
  lines.map(({ category, amount }) => [category, amount])

describe('The night audit', () => {
  const world = useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(1)
  })
  const foliosOf = (ids: readonly string[]) =>
    house.inHouse((trx) =>
      sql<FolioRow>(trx, `select * from folio where reservation_id = any(?::uuid[]) order by id`, [ids]),
    )
  const facts = () =>
    house.inHouse((trx) =>
      sql(
        trx,
        `select kind, source_type, unit_nights, adults, free, room_revenue, included_tax, stay_date, business_date from night_fact order by stay_date, room_revenue`,
      ),
    )
  const healthy = async () => {
    await house.inHouse((trx) => postWaiting(house.bookId, (work) => work(trx)))
    const results = await house.inHouse((trx) => checkBook(trx, house.bookId))
    expect(results.filter((one) => one.status !== 'passed')).to.deep.equal([])
  }

  it('charges each night with what is in it, each day of service and their taxes once, and opens the next day', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, checkedIn: true })
    const audit = await closeOpenDay(house)
    expect(await readAudit(house, audit)).to.include({
      status: 'succeeded',
      step: 'roll',
      error: null,
      leaseOwner: null,
    })
    expect(await openDay(house)).to.equal(house.today)
    const lines = await linesOf(house, [id])
    expect(lines.every((line) => line.businessDate === house.day(-1))).to.equal(true)
    // Two guests: 2 × 1,501 of the night are breakfast; the fee is 300 each; parking is for the day, the welcome for the stay.
    expect(new Set(categories(lines).map(String))).to.deep.equal(
      new Set(
        [
          ['room', 16_998],
          ['food', 3_002],
          ['tax', 600],
          ['parking', 1_003],
          ['beverage', 2_999],
        ].map(String),
      ),
    )
    const stay = await readStay(house, id)
    expect(stay.postedTotal).to.equal(24_602)
    await closeDayAgain()
    expect((await readStay(house, id)).postedTotal).to.equal(24_602)
    expect(await unposted(house)).to.deep.equal([])
    expect(await miscounted(house)).to.deep.equal([])
  })

  const closeDayAgain = async () => {
    const { id, isNew } = await request(house, house.day(-1))
    expect(isNew).to.equal(false)
    expect(await runAudit(house, id)).to.equal(1)
  }

  it('leaves a ledger whose debits equal its credits, and whose guest ledger is what the folios owe', async () => {
    const ids = await makeStays(house, 3, { from: -1, checkedIn: true })
    await makeStays(house, 1, { from: -1 })
    await closeOpenDay(house)
    await healthy()
    const folios = await house.inHouse((trx) => sql<FolioRow>(trx, `select * from folio`))
    const owed = folios.reduce((sum, one) => sum + one.balance, 0)
    const ledgerHouse = { ...house, today: house.today }
    expect(await balanceOf(ledgerHouse, 'guest_ledger')).to.equal(owed)
    expect(await balanceOf(ledgerHouse, 'revenue_food')).to.equal(3 * 3_002)
    expect(await balanceOf(ledgerHouse, 'tourism_fees_payable')).to.equal(3 * 600)
    expect((await foliosOf(ids)).map((one) => one.stage)).to.deep.equal(['guest', 'guest', 'guest'])
  })

  it('counts guests who have not come as no-shows, charges their fee and gives the nights back', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 3 })
    await closeOpenDay(house)
    const stay = await readStay(house, id)
    expect(stay).to.include({ status: 'no_show', feeAmount: stay.total })
    expect(categories(await linesOf(house, [id]))).to.deep.equal([['no_show', stay.total]])
    expect(await miscounted(house)).to.deep.equal([])
    expect(await eventsOf(house, 'reservation.no_show_recorded')).to.have.lengthOf(1)
    expect(await unposted(house)).to.deep.equal([])
    await healthy()
  })

  it('finds stays past their departure day after day, stops for none, and invents no night for them', async () => {
    house = await makeLateHouse(3)
    const [id = ''] = await makeStays(house, 1, { from: -4, nights: 1, checkedIn: false })
    await house.inHouse((trx) =>
      sql(trx, `update business_day set date = ? where property_id = ?`, [house.day(-4), house.propertyId]),
    )
    await house.inHouse((trx) =>
      sql(trx, `update property set business_date = ? where id = ?`, [house.day(-4), house.propertyId]),
    )
    await arrive(house, id)
    const first = await readAudit(house, await closeOpenDay(house))
    expect(first.exceptions).to.deep.equal([])
    const lines = await linesOf(house, [id])
    for (let day = -3; day < -1; day += 1) {
      const audit = await readAudit(house, await closeOpenDay(house))
      expect(audit).to.include({ status: 'succeeded', exceptionCount: 1 })
      expect(
        (audit.exceptions as { code: string; reservationId: string }[]).map((one) => [one.code, one.reservationId]),
      ).to.deep.equal([['overdue_departure', id]])
    }
    expect(await linesOf(house, [id])).to.deep.equal(lines)
    expect(
      (await eventsOf(house, 'reservation.departure_missed')).map((one) => one.data['businessDate']),
    ).to.deep.equal([house.day(-3), house.day(-2)])
    expect((await readStay(house, id)).status).to.equal('checked_in')
  })

  it('charges who comes into the house after rooms were charged, before the day closes', async () => {
    const early = await makeStays(house, 1, { from: -1, checkedIn: true })
    const late = await makeStays(house, 1, { from: -2, nights: 3 })
    const { id } = await request(house, house.day(-1))
    const { advanceNightAudit } = await import('../../db/night-audit/advance.ts')
    const runner = id
    const step = () => house.inHouse((trx) => advanceNightAudit(trx, id, runner))
    await step()
    // The no-show step has passed this guest; the no-show is reverted and the guest arrives.
    await house.inHouse((trx) =>
      sql(trx, `update reservation set arrival = arrival + 30, departure = departure + 30 where id = any(?::uuid[])`, [
        late,
      ]),
    )
    for (const _ of ['no_shows', 'room_charges', 'extra_charges', 'snapshot']) await step()
    await house.inHouse((trx) =>
      sql(trx, `update reservation set arrival = arrival - 30, departure = departure - 30 where id = any(?::uuid[])`, [
        late,
      ]),
    )
    await arrive(house, late[0]!)
    await runAudit(house, id, { runner })
    for (const stay of [...early, ...late]) {
      const open = await house.inHouse((trx) =>
        sql(trx, `select date from reservation_night where reservation_id = ? and date <= ? and status = 'open'`, [
          stay,
          house.day(-1),
        ]),
      )
      expect(open).to.deep.equal([])
    }
    const rooms = (await linesOf(house, late)).filter((line) => line.category === 'room')
    expect(rooms.map((line) => line.key.slice(0, 10))).to.deep.equal([house.day(-2), house.day(-1)])
    // The night before the arrival has revenue today, and was not slept in.
    const slept = (await facts()).map((one) => [one['stayDate'], one['unitNights']])
    expect(slept).to.deep.include([house.day(-2), 0])
    expect(slept.filter(([, units]) => units === 1)).to.have.lengthOf(2)
  })

  it('keeps the facts of the day: sold and free rooms, what moved, and totals that a check can count again', async () => {
    const [, free = ''] = await makeStays(house, 2, { from: -1, checkedIn: false })
    await house.inHouse(async (trx) => {
      await sql(
        trx,
        `update reservation_night set amount = 0, taxes = '[]', components = '[]' where reservation_id = ?`,
        [free],
      )
      await sql(
        trx,
        `update reservation set market_segment = 'complimentary', room_total = 0, tax_total = 0, total = extras_total where id = ?`,
        [free],
      )
    })
    const ids = await house.inHouse((trx) => sql<{ id: string }>(trx, `select id from reservation`))
    for (const { id } of ids) await arrive(house, id)
    await closeOpenDay(house)
    expect(
      (await facts()).map(({ sourceType, unitNights, adults, free: of, roomRevenue, includedTax }) => [
        sourceType,
        unitNights,
        adults,
        of,
        roomRevenue,
        includedTax,
      ]),
    ).to.deep.equal([
      ['reservation_night', 1, 2, 'complimentary', 0, 0],
      ['folio_line', 1, 2, 'none', 16_998, 952],
    ])
    const day = await house.inHouse((trx) =>
      sqlOne(
        trx,
        `select c.*, d.units, d.out_of_order from property_day_count c join property_day d on d.date = c.date and d.property_id = c.property_id`,
      ),
    )
    expect(day).to.include({
      date: house.day(-1),
      arrivals: 2,
      departures: 0,
      noShows: 0,
      guestsInHouse: 4,
      units: 6,
      outOfOrder: 0,
    })
    const totals = await house.inHouse((trx) =>
      sqlOne<{ totals: { lineSum: number; rooms: object; ledgers: object } }>(
        trx,
        `select totals from business_day where status = 'closed'`,
      ),
    )
    const owed = (await house.inHouse((trx) => sql<FolioRow>(trx, `select * from folio`))).reduce(
      (sum, one) => sum + one.balance,
      0,
    )
    expect(totals?.totals.lineSum).to.equal(owed)
    expect(totals?.totals.ledgers).to.deep.equal({ guest: owed, deposit: 0 })
    expect(totals?.totals.rooms).to.deep.equal({
      sold: 1,
      complimentary: 1,
      houseUse: 0,
      revenue: 16_998,
      includedTax: 952,
    })
    await healthy()
  })

  it('freezes the taxes of a day less those that its adjustments took off', async () => {
    house = await makeLateHouse(2)
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 1, checkedIn: true })
    await closeOpenDay(house)
    const [folio] = await foliosOf([id])
    const [room] = await house.inHouse((trx) =>
      sql<{ id: string; amount: number; taxes: { included: boolean; amount: number }[] }>(
        trx,
        `select id, amount, taxes from folio_line where folio_id = ? and category = 'room'`,
        [folio?.id],
      ),
    )
    const { id: lineId = '', amount = 0, taxes = [] } = room ?? {}
    await house.inHouse((trx) =>
      adjustCharge(trx, folio?.id ?? '', { lineId, amount, reason: 'the water was cold' }, { limited: false }),
    )
    await closeOpenDay(house)
    const day = await house.inHouse((trx) =>
      sqlOne<{ taxes: { amount: number }[] }>(
        trx,
        `select totals -> 'taxes' as taxes from business_day where date = ?`,
        [house.day(-1)],
      ),
    )
    // A tax of a fixed amount stays when its charge is lowered.
    const shrunk = taxes.filter((tax) => tax.included).map((tax) => -tax.amount)
    expect(shrunk).to.have.lengthOf(1)
    expect(day?.taxes.map((tax) => tax.amount)).to.deep.equal(shrunk)
  })

  it('freezes a tax of a fixed amount that was adjusted by its own line', async () => {
    house = await makeLateHouse(2)
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 1, checkedIn: true })
    await closeOpenDay(house)
    const [folio] = await foliosOf([id])
    const [tax] = await house.inHouse((trx) =>
      sql<{ id: string; amount: number; code: string }>(
        trx,
        `select l.id, l.amount, x.code from folio_line l join tax_rule x on x.tenant_id = l.tenant_id and x.id = l.tax_rule_id
         where l.folio_id = ? and l.category = 'tax' and x.basis <> 'percent' limit 1`,
        [folio?.id],
      ),
    )
    const { id: lineId = '', amount = 0, code } = tax ?? {}
    await house.inHouse((trx) =>
      adjustCharge(trx, folio?.id ?? '', { lineId, amount, reason: 'a child' }, { limited: false }),
    )
    await closeOpenDay(house)
    const day = await house.inHouse((trx) =>
      sqlOne<{ taxes: object[] }>(trx, `select totals -> 'taxes' as taxes from business_day where date = ?`, [
        house.day(-1),
      ]),
    )
    expect(day?.taxes).to.deep.equal([{ code, included: false, amount: -amount }])
  })

  it('leaves a day whose change is found, where somebody with the rights of the database made one', async () => {
    await makeStays(house, 1, { from: -1, checkedIn: true })
    await closeOpenDay(house)
    await healthy()
    await world.database.admin.transaction(async (trx) => {
      await sql(trx, `set local session_replication_role = replica`)
      await sql(
        trx,
        `insert into folio_line (tenant_id, folio_id, kind, category, description, unit_amount, amount, business_date, source_type, source_id, posted_by)
         select tenant_id, id, 'charge', 'other', 'Late', 100, 100, ?, 'late', id, '{}' from folio where tenant_id = ?`,
        [house.day(-1), house.tenantId],
      )
    })
    const results = await house.inHouse((trx) => checkBook(trx, house.bookId))
    expect(results.filter((one) => one.status !== 'passed').map(({ check, count }) => [check, count])).to.deep.equal([
      ['day_frozen', 1],
    ])
  })

  it('is shown by a dry run, which stores nothing', async () => {
    await makeStays(house, 2, { from: -1, checkedIn: true })
    await makeStays(house, 1, { from: -1 })
    const preview = await house.inHouse((trx) =>
      previewNightAudit(trx, { propertyId: house.propertyId, businessDate: house.day(-1) }),
    )
    expect(preview).to.deep.include({ noShows: 1, charges: { nights: 2, extras: 4 }, exceptionCount: 0 })
    expect(await house.inHouse((trx) => sql(trx, `select id from night_audit`))).to.deep.equal([])
    expect(await house.inHouse((trx) => sql(trx, `select id from folio_line`))).to.deep.equal([])
    await closeOpenDay(house)
    const charged = await house.inHouse((trx) =>
      sql<{ source: string; count: number }>(
        trx,
        `select source_type as source, count(*) as count from folio_line where original_line_id is null and category <> 'food' group by 1 order by 1`,
      ),
    )
    expect(charged).to.deep.equal([
      { source: 'no_show_fee', count: 1 },
      { source: 'reservation_extra', count: 4 },
      { source: 'reservation_night', count: 2 },
    ])
  })
})
