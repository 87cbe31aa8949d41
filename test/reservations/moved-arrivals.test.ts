import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { writeRestrictions } from '../support/restrictions.ts'
import { miscounted } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('A stay whose arrival or type changes', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeHouse({ units: 2, suite: true, deposit: null })
    owner = await openDesk(world, house, 'owner')
  })
  afterEach(async () => {
    expect(await miscounted(house)).to.deep.equal([])
  })

  const send = (id: string, verb: string, body: object = {}) => owner.send('POST', `reservations/${id}/${verb}`, body)
  const book = async (from: number, to: number, guests: object[] = []): Promise<string> => {
    const { unitTypeId, ratePlanId, propertyId } = house
    const room = {
      unitTypeId,
      ratePlanId,
      arrival: house.day(from),
      departure: house.day(to),
      childrenAges: [],
      guests,
    }
    const { status, body } = await owner.send('POST', 'bookings', {
      propertyId,
      source: 'phone',
      booker: { firstName: 'Bia' },
      rooms: [{ ...room, adults: 2 }],
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.reservations[0].id as string
  }
  const amend = async (id: string, changes: object, override?: object) => {
    const { status, body: proposal } = await send(id, 'amendments', { changes })
    expect(status, JSON.stringify(proposal)).to.equal(201)
    const accepted = await send(id, `amendments/${proposal.amendmentId}/accept`, override ? { override } : {})
    return { needs: proposal.needsOverride as string[], status: accepted.status, body: accepted.body }
  }
  const waiving = { rules: ['restriction'], reason: 'the manager agrees' }

  it('begins on no day that is closed to arrival, or asks for more nights, unless that is set aside', async () => {
    const stay = await book(10, 14)
    await house.inHouse((trx) =>
      writeRestrictions(trx, house.propertyId, [
        { date: house.day(12), closedToArrival: true },
        { date: house.day(13), minStayArrival: 3 },
      ]),
    )
    for (const [day, code] of [
      [12, 'closed_to_arrival'],
      [13, 'min_stay_arrival'],
    ] as const) {
      const { needs, status, body } = await amend(stay, { arrival: house.day(day) })
      expect([needs, status, body.code]).to.deep.equal([['restriction'], 422, 'restriction_violated'])
      expect(body.errors[0]).to.include({ field: `nights.${house.day(day)}` })
      expect(body.errors[0].message).to.match(new RegExp(`^${code}: `))
    }
    expect(await amend(stay, { adults: 1, arrival: house.day(11) })).to.include({ status: 200 })
    expect(await amend(stay, { arrival: house.day(12) }, waiving)).to.include({ status: 200 })
  })

  it('has guests of the age that they are on the new day, over a birthday; an age that was said stays', async () => {
    // A year without 29 February has no birthday on it.
    const birthday = house.day(21).endsWith('-02-29') ? 22 : 21
    const day = house.day(birthday)
    const birthDate = `${Number(day.slice(0, 4)) - 18}${day.slice(4)}`
    const make = async (firstName: string) =>
      (await owner.send('POST', 'guests', { firstName, birthDate })).body.id as string
    const [eva, leo] = [await make('Eva'), await make('Leo')]
    const stay = await book(birthday - 1, birthday + 3, [{ guestId: eva }, { guestId: leo, age: 12 }])
    const ages = async () => {
      const { guests } = (await owner.get(`reservations/${stay}`)).body as {
        guests: { guestId: string; age: number }[]
      }
      return [eva, leo].map((id) => guests.find((one) => one.guestId === id)?.age)
    }
    expect(await ages()).to.deep.equal([17, 12])
    expect(await amend(stay, { arrival: day })).to.include({ status: 200 })
    expect(await ages()).to.deep.equal([18, 12])
    expect(await amend(stay, { arrival: house.day(birthday - 1) })).to.include({ status: 200 })
    expect(await ages()).to.deep.equal([17, 12])
  })

  it('is sold the extras of the type that its nights have by now, and not those of the booked one', async () => {
    const { propertyId } = house
    const extraOf = (code: string, unitTypeId: string) =>
      house.inHouse(async (trx) => {
        const id = await createExtra(trx, {
          propertyId,
          code,
          name: { en: code, 'pt-BR': code },
          category: 'other',
          revenueGroup: 'other',
          mandatory: false,
          amount: 1_000,
          basis: 'per_stay',
          unitTypeIds: [unitTypeId],
        })
        await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [propertyId])
        return id
      })
    const suite = house.suiteTypeId ?? ''
    const [view, bath] = [await extraOf('VIEW', house.unitTypeId), await extraOf('BATH', suite)]
    const stay = await book(0, 3)
    const override = { rules: ['early_check_in', 'unit_condition'], reason: 'the guest waits' }
    expect((await send(stay, 'check-in', { override })).status).to.equal(200)
    const answers = async () => {
      const made: number[] = []
      for (const extraId of [view, bath]) made.push((await send(stay, 'extras', { extraId, quantity: 1 })).status)
      return made
    }
    expect(await answers()).to.deep.equal([201, 422])
    const { body } = await owner.get(
      `units/available?propertyId=${propertyId}&from=${house.day(0)}&to=${house.day(3)}&unitTypeId=${suite}`,
    )
    const [unit] = (body.data ?? body) as { unitId: string }[]
    const moved = await send(stay, 'move', {
      unitId: unit?.unitId,
      reason: 'upgrade',
      override: { rules: ['unit_condition'], reason: 'the guest waits' },
    })
    expect(moved.status, JSON.stringify(moved.body)).to.equal(200)
    expect(await answers()).to.deep.equal([422, 201])
  })
})
