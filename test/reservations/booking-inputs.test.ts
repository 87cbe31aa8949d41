import { expect } from 'chai'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

describe('A booking of several rooms', () => {
  const world = useWorld()
  let house: House
  let reception: Desk
  let manager: Desk
  before(async () => {
    house = await makeHouse({ units: 6, deposit: null })
    reception = await openDesk(world, house, 'receptionist')
    manager = await openDesk(world, house, 'manager')
  })
  const room = (change: object = {}) => ({
    unitTypeId: house.unitTypeId,
    ratePlanId: house.ratePlanId,
    arrival: house.day(3),
    departure: house.day(5),
    adults: 2,
    childrenAges: [],
    ...change,
  })
  const book = (rooms: object[]) =>
    reception.send('POST', 'bookings', {
      propertyId: house.propertyId,
      source: 'phone',
      booker: { firstName: 'Bia', lastName: 'Lima', email: 'bia@example.com' },
      rooms,
    })

  it('names the room whose days make no stay', async () => {
    const fields = ({
      status,
      body: said,
    }: {
      status: number
      body: { code?: string; errors?: { field: string }[] }
    }) => [status, said.code, said.errors?.map(({ field }) => field)]
    const long = room({ departure: house.day(400) })
    expect(fields(await book([room(), long]))).to.deep.equal([400, 'too_many_nights', ['rooms.1.departure']])
    const { body: made } = await book([room()])
    const add = (one: object) => reception.send('POST', `bookings/${made.id}/reservations`, one)
    expect(fields(await add(long))).to.deep.equal([400, 'too_many_nights', ['departure']])
    expect(fields(await add(room({ adults: 4 })))).to.deep.equal([422, 'occupancy_exceeded', ['unitTypeId']])
  })

  it('is cancelled for less than its policy asks, in all, by those who may: each room has its share', async () => {
    const { body: made } = await book([room(), room({ departure: house.day(4) })])
    const ids = (made.reservations as { id: string }[]).map((one) => one.id)
    const cancel = (fee: number) =>
      manager.send('POST', `bookings/${made.id}/cancel`, {
        reason: 'illness',
        fee,
        override: { rules: ['fee'], reason: 'a regular guest' },
      })
    const gone = await cancel(10_001)
    expect(gone.status, JSON.stringify(gone.body)).to.equal(200)
    const fees = []
    for (const id of ids) fees.push((await reception.get(`reservations/${id}`)).body.feeAmount)
    // Their policy asks for half of 40,000 and of 20,000 so shortly before.
    expect(fees).to.deep.equal([6_667, 3_334])
  })
})
