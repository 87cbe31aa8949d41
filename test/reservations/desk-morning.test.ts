import { expect } from 'chai'
import { expireHold } from '../../db/reservations/expire.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { pay } from '../support/pay.ts'
import { countersOf, eventsOf, makeHold, outlive } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('A family waits, is quoted, and pays its deposit', () => {
  const world = useWorld()
  let house: House
  let reception: Desk
  before(async () => {
    // One room of 20,000 a night; 30 % is due at booking.
    house = await makeHouse({ units: 1, taxes: true, settings: { portal: { holdShare: 10_000 } } })
    reception = await openDesk(world, house, 'receptionist')
  })
  beforeEach(() => forgetLimits(world))
  const done = ({ status, body }: { status: number; body: unknown }, expected = 200) => {
    expect(status, JSON.stringify(body)).to.equal(expected)
    return body as Record<string, never> & { id: string; token: string | null; reservations: { id: string }[] }
  }

  it('from the waitlist to the list of arrivals, to the cent', async () => {
    const inTheWay = await makeHold(house, { from: 30 })
    const { id: entry } = done(
      await reception.send('POST', 'waitlist', {
        propertyId: house.propertyId,
        contact: { name: 'Família Prates', phone: '+5524999991234' },
        arrival: house.day(30),
        departure: house.day(32),
        adults: 2,
      }),
      201,
    )
    const matched = async () =>
      (await reception.get('waitlist?matched=true')).body.data.map((one: { id: string }) => one.id)
    await world.drain()
    expect(await matched()).to.deep.equal([])
    done(await reception.send('POST', `bookings/${inTheWay}/cancel`, { reason: 'changed_plans' }))
    await world.drain()
    expect(await matched()).to.deep.equal([entry])

    const quote = async () =>
      done(
        await reception.send('POST', 'quotes', {
          propertyId: house.propertyId,
          rooms: [
            {
              unitTypeId: house.unitTypeId,
              ratePlanId: house.ratePlanId,
              arrival: house.day(30),
              departure: house.day(32),
              adults: 2,
              childrenAges: [],
            },
          ],
        }),
        201,
      )
    // Two nights of 20,000, and 300 for each of two persons and nights.
    const first = await quote()
    expect(first).to.include({ total: 41_200, dueNow: 12_360, status: 'open', feasible: true })
    const hold = async (quoteId: string) =>
      done(
        await reception.send('POST', 'bookings', {
          propertyId: house.propertyId,
          source: 'phone',
          booker: { firstName: 'Clara', lastName: 'Prates', email: 'clara@example.com' },
          quoteId,
          waitlistEntryId: entry,
          hold: { kind: 'option', until: `${house.day(2)}T12:00:00.000Z` },
        }),
        201,
      )
    const option = await hold(first.id)
    expect(option).to.include({ status: 'held', total: 41_200, quoteId: first.id, balance: 0, projected: 41_200 })
    expect((await countersOf(house, 30)).held).to.equal(1)
    expect((await reception.get('waitlist?status=booked')).body.data[0]).to.include({ id: entry, bookingId: option.id })

    // The option runs out: the family waits again, and the quote is not good for a second time.
    await outlive(house, option.id)
    await house.inHouse((trx) => expireHold(trx, option.id))
    await world.drain()
    const expired = await quote()
    await world.drain()
    expect((await countersOf(house, 30)).held).to.equal(0)
    expect(await matched()).to.deep.equal([entry])
    const again = await reception.send('POST', 'bookings', {
      propertyId: house.propertyId,
      source: 'phone',
      booker: { firstName: 'Clara' },
      quoteId: first.id,
    })
    expect(again.body.code).to.equal('quote_used')

    const booked = await hold(expired.id)
    const [stay] = booked.reservations
    await pay(house, booked.id, 'due')
    await world.drain()
    const record = done(await reception.get(`reservations/${stay?.id}`))
    expect(record).to.include({ status: 'confirmed', total: 41_200, guarantee: 'deposit' })
    expect(record['folioSummary']).to.include({
      charges: 0,
      credits: 12_360,
      balance: -12_360,
      projected: 28_840,
      depositDue: 0,
    })
    expect(record['deposits']).to.have.lengthOf(1)
    expect(record['deposits']?.[0]).to.include({ amount: 12_360, covered: 12_360, status: 'covered' })
    expect(await eventsOf(house, 'deposit.covered')).to.have.lengthOf(1)
    expect(await eventsOf(house, 'quote.used')).to.have.lengthOf(2)

    done(
      await reception.send('PUT', `reservations/${stay?.id}/deposits`, {
        installments: [{ dueAt: `${house.day(20)}T12:00:00.000Z`, amount: 28_840 }],
      }),
    )
    done(
      await reception.send('POST', `reservations/${stay?.id}/notes`, {
        text: 'A cot for the baby',
        audience: 'front_desk',
        alertAt: 'check_in',
      }),
      201,
    )
    const { data } = done(
      await reception.get(`front-desk/arrivals?propertyId=${house.propertyId}&date=${house.day(30)}`),
    ) as unknown as { data: Record<string, unknown>[] }
    expect(data).to.have.lengthOf(1)
    expect(data[0]).to.include({ reservationId: stay?.id, balance: -12_360, depositDue: 0, done: false })
    expect(data[0]?.['alerts']).to.have.nested.property('0.text', 'A cot for the baby')
    const summary = done(await reception.get(`front-desk/summary?propertyId=${house.propertyId}&date=${house.day(30)}`))
    expect(summary['arrivals']).to.include({ expected: 1, done: 0, overdue: 0 })
    expect(summary['occupancy']).to.deep.equal({ sold: 1, capacity: 1, blocked: 0, rate: 10_000 })
    expect((await reception.get('waitlist')).body.data).to.deep.equal([])
  })
})
