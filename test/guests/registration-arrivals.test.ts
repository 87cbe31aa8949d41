import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { forgetLimits } from '../auth/support.ts'
import { wrongTotals } from '../support/counts.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { useGuests } from './support.ts'

describe('Arrivals of registration forms', function () {
  this.timeout(60_000)
  const world = useWorld()
  const desk = useGuests(world, { settings: { registration: { mode: 'strict' } } })
  const { call, rows } = desk
  beforeEach(() => forgetLimits(world))

  const hold = (from: number) =>
    makeHold(desk.house, {
      from,
      nights: 1,
      words: { booker: { firstName: 'Rosa', lastName: 'Lins', email: `rosa${from}@example.com` } },
    })
  const expectRight = async () => {
    expect(
      await rows(
        `select f.id from guest_registration f join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id where f.arrival <> r.arrival`,
      ),
    ).to.deep.equal([])
    expect(await sql(world.database.admin, wrongTotals)).to.deep.equal([])
  }

  it('are those of their stays, also where a stay moves while its form is made', async () => {
    const bookings = await Promise.all([3, 4, 5, 6].map(hold))
    const move = (days: number) =>
      desk.house.inHouse((trx) =>
        sql(
          trx,
          `update reservation set arrival = arrival + cast(:days as int), departure = departure + cast(:days as int)
           where id in (select id from reservation where booking_id = any(cast(:bookings as uuid[])) order by id for no key update)`,
          { days, bookings },
        ),
      )
    await Promise.all([
      ...bookings.map((bookingId) => desk.house.inHouse((trx) => confirmBooking(trx, bookingId))),
      move(40),
      move(1),
    ])
    await expectRight()
    await move(-2)
    await expectRight()
    const path = 'guest-registrations?limit=10'
    const found = async (more: string) => (await call('GET', `${path}${more}`)).body
    const all = await found('')
    const arrivals: string[] = all.data.map(({ arrival }: { arrival: string }) => arrival)
    expect(arrivals).to.deep.equal(arrivals.toSorted()).and.to.have.length(4)
    const [first, last] = [arrivals[0]!, arrivals[3]!]
    expect((await found(`&arrivalFrom=${first}&arrivalTo=${last}`)).meta.total).to.equal(4)
    expect((await found(`&arrivalFrom=${addDays(first, 1)}`)).meta.total).to.equal(3)
    expect((await found(`&arrivalTo=${addDays(first, -1)}`)).meta.total).to.equal(0)
    expect((await found(`&arrivalFrom=${addDays(first, -400)}&arrivalTo=${addDays(last, -1)}`)).meta.total).to.equal(3)
  })
})
