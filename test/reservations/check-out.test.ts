import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { checkOut } from '../../db/reservations/check-out.ts'
import { createGroup } from '../../db/reservations/group/create.ts'
import { confirmGroup } from '../../db/reservations/group/status.ts'
import { balanceOf } from '../financial/support.ts'
import { linesOf, makeLateHouse, makeStays, payAll, readStay, setDay } from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { gatewaySays, startPayment } from '../support/pay.ts'
import { countersOf, eventsOf } from '../support/stay.ts'
import { refusal } from '../support/refusals.ts'
import { blockersOf, deskOf } from './desk.ts'

describe('At check-out', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 3 })
  })
  const { leave, change, folioOf, unitsOf, healthy } = deskOf(() => house)

  it('what is open is charged, folios without a balance are closed, and the unit is dirty', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1, checkedIn: true })
    await setDay(house, 0)
    expect(await blockersOf(leave(id))).to.deep.equal(['balance_not_zero'])
    expect(await linesOf(house, [id])).to.deep.equal([])
    await payAll(house, id)
    const asked = await Promise.all([leave(id), leave(id)])
    expect(asked.sort()).to.deep.equal(['already', 'checked_out'])
    const stay = await readStay(house, id)
    expect(stay).to.include({ status: 'checked_out', checkOutBusinessDate: house.today, postedTotal: stay.total })
    expect(await folioOf(id)).to.include({ status: 'closed', balance: 0, charges: stay.total })
    expect(await unitsOf(id)).to.deep.equal([{ status: 'ended', condition: 'dirty', name: '101' }])
    expect(await eventsOf(house, 'reservation.checked_out')).to.have.lengthOf(1)
    await healthy()
    expect(await balanceOf({ ...house }, 'guest_ledger')).to.equal(0)
  })

  it('a balance can be waived, and stays visible on the open folio', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1, checkedIn: true })
    await setDay(house, 0)
    expect(await leave(id, false, 'balance')).to.equal('checked_out')
    const { total } = await readStay(house, id)
    expect(await folioOf(id)).to.include({ status: 'open', balance: total })
  })

  it('who leaves early says so, pays for it what the policy says, and gives the nights and days of service back', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 5, checkedIn: true })
    await setDay(house, 0)
    expect(await blockersOf(leave(id))).to.deep.equal(['balance_not_zero', 'early_departure_not_confirmed'])
    const before = await readStay(house, id)
    expect(await leave(id, true, 'balance')).to.equal('checked_out')
    const stay = await readStay(house, id)
    // One night of the room, of those not stayed.
    const lines = await linesOf(house, [id])
    expect(lines.filter((line) => line.kind === 'fee').map((line) => [line.category, line.amount])).to.deep.equal([
      ['early_departure', 20_000],
    ])
    expect(stay.roomTotal).to.equal(20_000)
    expect(before.roomTotal).to.equal(100_000)
    expect(stay.extrasTotal).to.equal(1_003 + 2_999)
    expect(stay.postedTotal).to.equal(stay.total)
    expect((await folioOf(id)).charges).to.equal(stay.total + 20_000)
    const nights = await house.inHouse((trx) =>
      sql<{ status: string }>(trx, `select status from reservation_night where reservation_id = ? order by date`, [id]),
    )
    expect(nights.map((one) => one.status)).to.deep.equal(['charged', 'released', 'released', 'released', 'released'])
    await healthy()
  })

  it('who leaves early is asked for no installments beyond what the stay has come to', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 5, checkedIn: true })
    const { total } = await readStay(house, id)
    const [first, last] = [10_000, total - 10_000]
    await change(
      `insert into deposit (reservation_id, position, due_at, amount)
       select ?, v.position, now() - interval '1 day' * v.position, v.amount from (values (2, ?::bigint), (1, ?::bigint)) v (position, amount)`,
      [id, first, last],
    )
    await payAll(house, id)
    await setDay(house, 0)
    expect(await leave(id, true, 'balance')).to.equal('checked_out')
    const stay = await readStay(house, id)
    expect(stay.total).to.be.below(total)
    const deposits = await change(`select amount from deposit where reservation_id = ? order by due_at`, [id])
    expect(deposits).to.deep.equal([{ amount: first }, { amount: stay.total - first }])
    // Money that the guest has paid beyond it stays on the folio, for the desk to hand back.
    expect((await folioOf(id)).balance).to.equal(stay.total + 20_000 - total)
    await healthy()
  })

  it('who leaves after midnight has slept the night, whether the audit has closed its day or not', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1, checkedIn: true })
    expect(await blockersOf(leave(id))).to.deep.equal(['balance_not_zero'])
    await payAll(house, id)
    expect(await leave(id)).to.equal('checked_out')
    const stay = await readStay(house, id)
    expect(stay).to.include({ checkOutBusinessDate: house.day(-1), postedTotal: stay.total })
    expect((await linesOf(house, [id])).filter((line) => line.kind === 'fee')).to.deep.equal([])
    expect(await countersOf(house, -1)).to.include({ sold: 1 })
    expect(await folioOf(id)).to.include({ status: 'closed', charges: stay.total })
    await healthy()
  })

  it('a guest who comes and goes on one day pays for the night where the desk says so, and for nothing beyond it', async () => {
    await setDay(house, 0)
    const [id = ''] = await makeStays(house, 1, { from: 0, nights: 1, checkedIn: true })
    expect(await blockersOf(leave(id))).to.include('early_departure_not_confirmed')
    await payAll(house, id)
    const gone = () => house.inHouse((trx) => checkOut(trx, id, { chargeTonight: true }))
    expect(await Promise.all([gone(), gone()])).to.have.members(['checked_out', 'already'])
    const stay = await readStay(house, id)
    expect(await folioOf(id)).to.include({ status: 'closed', charges: stay.total })
    expect((await linesOf(house, [id])).filter((line) => line.kind === 'fee')).to.deep.equal([])
    expect(await countersOf(house, 0)).to.include({ sold: 1 })
    await healthy()
  })

  it('a payment that is being processed stands in the way', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1, checkedIn: true })
    const { bookingId } = await readStay(house, id)
    const paymentId = await startPayment(house, bookingId, 'all')
    await gatewaySays(house, paymentId, 'processing')
    await setDay(house, 0)
    expect(await blockersOf(leave(id))).to.deep.equal(['balance_not_zero', 'payment_in_progress'])
  })

  it('nights that the group pays are owed on its master folio, and the guest leaves without them', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1, checkedIn: true })
    const { bookingId } = await readStay(house, id)
    const { propertyId, ratePlanId } = house
    const groupId = await house.inHouse(async (trx) => {
      const made = await createGroup(trx, {
        propertyId,
        code: 'WEDDING',
        name: 'Wedding of the year',
        arrival: house.day(-1),
        departure: house.day(2),
        ratePlanId,
      })
      await confirmGroup(trx, made)
      await sql(trx, `update booking set group_id = ? where id = ?`, [made, bookingId])
      return made
    })
    await setDay(house, 0)
    const extras = (await readStay(house, id)).extrasTotal
    const error = await refusal(leave(id))
    expect((error.errors ?? []).map(({ message }) => message)).to.deep.equal([
      `Folio ${(await folioOf(id)).number} has a balance of ${extras}`,
    ])
    expect(await leave(id, false, 'balance')).to.equal('checked_out')
    expect(await folioOf(id)).to.include({ balance: extras })
    const stay = await readStay(house, id)
    const [master] = await change(`select balance from folio where group_id = ?`, [groupId])
    expect(master).to.deep.equal({ balance: stay.total - extras })
    expect(stay.postedTotal).to.equal(stay.total)
    await healthy()
  })

  it('only a guest in the house leaves', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1 })
    expect((await refusal(leave(id))).code).to.equal('invalid_transition')
  })
})
