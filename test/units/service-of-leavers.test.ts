import { expect } from 'chai'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { setDay } from '../night-audit/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { beginDay, summary } from './housekeepers.ts'

describe('The service of a guest who leaves a unit before it is done', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let stay: string
  let unitId: string
  const override = { rules: ['early_check_in', 'unit_condition', 'balance'], reason: 'the guest waits' }

  beforeEach(async () => {
    house = await makeHouse({ units: 2, deposit: null })
    owner = await openDesk(world, house, 'owner')
    const { unitTypeId, ratePlanId, propertyId } = house
    const room = { unitTypeId, ratePlanId, arrival: house.day(0), departure: house.day(3), adults: 1, childrenAges: [] }
    const { status, body } = await owner.send('POST', 'bookings', {
      propertyId,
      source: 'walk_in',
      booker: { firstName: 'Bia' },
      rooms: [room],
      checkIn: {},
      override,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    stay = body.reservations[0].id as string
    const { body: read } = await owner.get(`reservations/${stay}`)
    unitId = read.assignments[0].unitId as string
    await beginDay(house, 1)
    await setDay(house, 1)
    expect(await summary(house, unitId)).to.deep.equal([`${house.day(1)} stayover open`])
  })

  const send = async (verb: string, body: object) => {
    const reply = await owner.send('POST', `reservations/${stay}/${verb}`, body)
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200)
  }
  const turndown = async (reservationId?: string) => {
    const task = { unitId, date: house.day(1), kind: 'turndown', ...(reservationId ? { reservationId } : {}) }
    expect((await owner.send('POST', 'housekeeping/tasks', task)).status).to.equal(201)
  }
  const day = () => house.day(1)

  it('is not needed, and the departure is cleaned; what is for the next guest stays, and a guest who stays after all has it', async () => {
    await turndown(stay)
    await turndown()
    await send('check-out', { early: true, override })
    expect(await summary(house, unitId)).to.have.members([
      `${day()} stayover skipped not_needed`,
      `${day()} turndown skipped not_needed`,
      `${day()} turndown open`,
      `${day()} departure open`,
    ])
    await send('revert-check-out', { reason: 'only a walk' })
    expect(await summary(house, unitId)).to.have.members([
      `${day()} stayover skipped not_needed`,
      `${day()} turndown skipped not_needed`,
      `${day()} turndown open`,
      `${day()} departure skipped not_needed`,
      `${day()} stayover open`,
      `${day()} turndown open`,
    ])
  })

  it('is not needed in the unit that a guest is moved out of, also where it was begun', async () => {
    const { body } = await owner.get(`housekeeping/tasks?propertyId=${house.propertyId}`)
    const [task] = body.data as { id: string }[]
    expect((await owner.send('POST', `housekeeping/tasks/${task?.id}/start`)).status).to.equal(200)
    const other = house.unitIds.find((one) => one !== unitId)
    await send('move', {
      unitId: other,
      reason: 'noise',
      override: { rules: ['unit_condition'], reason: 'the guest waits' },
    })
    expect(await summary(house, unitId)).to.have.members([
      `${day()} stayover skipped not_needed`,
      `${day()} departure open`,
    ])
    const { body: unit } = await owner.get(`units/${unitId}`)
    expect([unit.condition, unit.occupancy]).to.deep.equal(['dirty', 'vacant'])
  })
})
