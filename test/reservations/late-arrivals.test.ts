import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { readGuestBooking } from '../../db/reservations/guest-booking.ts'
import { watchDeposits } from '../../db/reservations/watch-deposits.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { setDay } from '../night-audit/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { countersOf, eventsOf, miscounted } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { drift } from '../units/stays.ts'

type Shown = {
  status: number
  body: {
    id: string
    bookingId: string
    primaryGuest: { guestId: string }
    code?: string
    total: number
    nights: { date: string; status: string }[]
    extras: { from: string; until: string; amount: number; status: string }[]
    folioSummary: { balance: number; charges: number }
    fees: { cancelNow: number }
    amendmentId: string
  }
}

describe('A guest who did not come', () => {
  const world = useWorld()
  let house: House
  let reception: Desk
  let manager: Desk
  let breakfast: string
  let taxi: string
  const atTheDoor = { rules: ['early_check_in', 'unit_condition'], reason: 'the guest waits' }

  beforeEach(async () => {
    house = await makeHouse({
      units: 2,
      deposit: { installments: [{ due: 'booking', type: 'percent', value: 3000 }], graceHours: 24, ifUnpaid: 'cancel' },
      settings: { frontDesk: { noShowFrom: '00:00' } },
    })
    reception = await openDesk(world, house, 'receptionist')
    manager = await openDesk(world, house, 'manager')
    const { propertyId } = house
    await house.inHouse(async (trx) => {
      const extra = { propertyId, mandatory: false, name: { en: 'Extra', 'pt-BR': 'Extra' } }
      breakfast = await createExtra(trx, {
        ...extra,
        code: 'BREAK',
        category: 'meal',
        revenueGroup: 'food',
        amount: 1_000,
        basis: 'per_night',
      })
      taxi = await createExtra(trx, {
        ...extra,
        code: 'TAXI',
        category: 'other',
        revenueGroup: 'other',
        amount: 5_000,
        basis: 'per_stay',
      })
      await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [propertyId])
    })
  })
  afterEach(async () => {
    expect(await miscounted(house)).to.deep.equal([])
    expect(await drift(house)).to.deep.equal([])
  })

  const send = async (id: string, verb: string, body: object = {}, by = reception): Promise<Shown['body']> => {
    const reply = (await by.send('POST', `reservations/${id}/${verb}`, body)) as Shown
    expect(reply.status, JSON.stringify(reply.body)).to.be.oneOf([200, 201])
    return reply.body
  }
  const book = async (nights = 3): Promise<string> => {
    const { status, body } = await manager.send('POST', 'bookings', {
      propertyId: house.propertyId,
      source: 'phone',
      booker: { firstName: 'Bia', email: 'bia@example.com' },
      rooms: [
        {
          unitTypeId: house.unitTypeId,
          ratePlanId: house.ratePlanId,
          arrival: house.day(0),
          departure: house.day(nights),
          adults: 2,
          childrenAges: [],
          extras: [breakfast, taxi].map((extraId) => ({ extraId, quantity: 1 })),
        },
      ],
      override: { rules: ['deposit'], reason: 'pays at the desk' },
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.reservations[0].id as string
  }
  const nightsOf = ({ nights }: Shown['body']) => nights.map(({ date, status }) => [date, status])
  const soldOn = async (day: number) => (await countersOf(house, day)).sold

  it('and comes a day later pays neither the night that was given back nor its services, also when the stay is extended', async () => {
    const id = await book()
    await send(id, 'no-show')
    await setDay(house, 1)
    const back = await send(id, 'reinstate', { reason: 'a late bus' }, manager)
    expect(nightsOf(back)).to.deep.equal([
      [house.day(0), 'released'],
      [house.day(1), 'open'],
      [house.day(2), 'open'],
    ])
    const served = (stay: Shown['body']) => stay.extras.map(({ from, until, amount }) => [from, until, amount])
    expect(served(back)).to.have.deep.members([
      [house.day(1), house.day(2), 2_000],
      [house.day(1), house.day(1), 5_000],
    ])
    expect(back.total).to.equal(2 * 20_000 + 2_000 + 5_000)
    await send(id, 'check-in', { override: { ...atTheDoor, rules: [...atTheDoor.rules, 'deposit'] } }, manager)
    const { amendmentId } = await send(id, 'amendments', { changes: { departure: house.day(4) } })
    const longer = await send(id, `amendments/${amendmentId}/accept`)
    expect(nightsOf(longer)).to.deep.equal([
      [house.day(0), 'released'],
      [house.day(1), 'open'],
      [house.day(2), 'open'],
      [house.day(3), 'open'],
    ])
    expect(longer.total).to.equal(3 * 20_000 + 3_000 + 5_000)
    expect([await soldOn(0), await soldOn(1), await soldOn(3)]).to.deep.equal([0, 1, 1])
    const { statistics } = (await manager.get(`guests/${longer.primaryGuest.guestId}`)).body
    expect(statistics).to.include({ stays: 1, nights: 3 })
    const shown = await house.inHouse((trx) => readGuestBooking(trx, longer.bookingId))
    expect(shown?.rooms[0]?.nights.map(({ date }) => date)).to.deep.equal([1, 2, 3].map(house.day))
  })

  it('and comes a day later is asked for no installments beyond what is left of the price', async () => {
    const id = await book()
    const installments = [{ dueAt: `${house.day(1)}T12:00:00.000Z`, amount: 47_600 }]
    const asked = await manager.send('PUT', `reservations/${id}/deposits`, { installments })
    expect(asked.status, JSON.stringify(asked.body)).to.equal(200)
    await send(id, 'no-show')
    await setDay(house, 1)
    const back = await send(id, 'reinstate', { reason: 'a late bus' }, manager)
    const amounts = (back as unknown as { deposits: { amount: number }[] }).deposits.map(({ amount }) => amount)
    expect(amounts).to.deep.equal([20_400, back.total - 20_400])
  })

  it('and whose nights the fee has paid for leaves them free when the stay is cancelled after all, and pays them once', async () => {
    const id = await book()
    await send(id, 'no-show')
    const kept = await send(id, 'reinstate', { reason: 'a late bus', fee: 'keep' }, manager)
    expect(kept.nights.map(({ status }) => status)).to.deep.equal(['waived', 'waived', 'waived'])
    expect(await soldOn(0)).to.equal(1)
    const { cancelNow } = kept.fees
    const shown = await house.inHouse((trx) => readGuestBooking(trx, kept.bookingId))
    expect([shown?.total, shown?.balance]).to.deep.equal([kept.total + 68_000, kept.total + 68_000])
    const { total, projected } = (await manager.get(`bookings/${kept.bookingId}`)).body
    expect([total, projected]).to.deep.equal([kept.total + 68_000, kept.total + 68_000])
    const preview = await reception.get(`reservations/${id}/transitions`)
    const t11 = (preview.body.commands as { id: string; effects: { nightsReleased: string[] } }[]).find(
      (one) => one.id === 'T11',
    )
    expect(t11?.effects.nightsReleased).to.deep.equal([house.day(0), house.day(1), house.day(2)])
    const gone = await send(id, 'cancel', { reason: 'changed_plans', acceptedFee: cancelNow })
    expect(gone.nights.map(({ status }) => status)).to.deep.equal(['released', 'released', 'released'])
    expect([await soldOn(0), await soldOn(1), await soldOn(2)]).to.deep.equal([0, 0, 0])
  })

  it('and whose nights the fee has paid for gives those to come back where he leaves early, with their services, and has them again', async () => {
    const id = await book()
    await send(id, 'no-show')
    await send(id, 'reinstate', { reason: 'a late bus', fee: 'keep' }, manager)
    await send(id, 'check-in', { override: { ...atTheDoor, rules: [...atTheDoor.rules, 'deposit'] } }, manager)
    await setDay(house, 1)
    const leaving = (more: object = {}) =>
      manager.send('POST', `reservations/${id}/check-out`, {
        override: { rules: ['balance'], reason: 'pays later' },
        ...more,
      })
    const unsaid = await leaving()
    expect([unsaid.status, unsaid.body.errors?.map((one: { field: string }) => one.field)]).to.deep.equal([
      422,
      ['blockers.early_departure_not_confirmed'],
    ])
    const shown = async (stay: Shown['body']) => [
      stay.nights.map(({ status }) => status),
      stay.extras.map(({ amount }) => amount).toSorted((a, b) => a - b),
      stay.total,
      await soldOn(1),
      await soldOn(2),
    ]
    const left = await leaving({ early: true })
    expect(left.status, JSON.stringify(left.body)).to.equal(200)
    const gone = ['waived', 'released', 'released']
    expect(await shown(left.body)).to.deep.equal([gone, [1_000, 5_000], 6_000, 0, 0])
    expect(left.body.folioSummary.charges).to.equal(68_000 + 6_000)
    const back = await send(id, 'revert-check-out', { reason: 'only a walk' }, manager)
    expect(await shown(back)).to.deep.equal([['waived', 'waived', 'waived'], [3_000, 5_000], 8_000, 1, 1])
  })

  it('twice frees the nights that the first fee has paid for, too', async () => {
    const id = await book()
    await send(id, 'no-show')
    await send(id, 'reinstate', { reason: 'a late bus', fee: 'keep' }, manager)
    const preview = await reception.get(`reservations/${id}/transitions`)
    const t18 = (preview.body.commands as { id: string; effects: { nightsReleased: string[] } }[]).find(
      (one) => one.id === 'T18',
    )
    expect(t18?.effects.nightsReleased).to.deep.equal([house.day(0), house.day(1), house.day(2)])
    const gone = await send(id, 'no-show')
    expect(gone.nights.map(({ status }) => status)).to.deep.equal(['released', 'released', 'released'])
    expect(await soldOn(0)).to.equal(0)
  })

  it('twice is asked for each fee', async () => {
    const asked = () =>
      house.inHouse((trx) =>
        sql<{ requested: boolean }>(
          trx,
          `select r.fee_requested_at is not null as requested from jobs j join reservation r on r.id = (j.payload ->> 'reservationId')::uuid
           where j.kind = 'payments.collect-fee'`,
        ),
      )
    const id = await book()
    await send(id, 'no-show')
    await house.inHouse((trx) => sql(trx, `update reservation set fee_requested_at = now() where id = ?`, [id]))
    expect(await asked()).to.deep.equal([{ requested: true }])
    await send(id, 'reinstate', { reason: 'a late bus' }, manager)
    await send(id, 'no-show')
    expect(await asked()).to.deep.equal([{ requested: false }, { requested: false }])
  })

  it('or whose deposit was not paid has the grace once more where the stay comes back', async () => {
    const id = await book()
    const watch = () => house.inHouse((trx) => watchDeposits(trx, id))
    const status = async () => (await reception.get(`reservations/${id}`)).body.status
    await house.inHouse((trx) =>
      sql(trx, `update deposit set due_at = now() - interval '2 days' where reservation_id = ?`, [id]),
    )
    await watch()
    expect(await status()).to.equal('cancelled')
    await send(id, 'reinstate', { reason: 'the bank was late' }, manager)
    await watch()
    expect(await status()).to.equal('confirmed')
    expect(await eventsOf(house, 'deposit.due_date_reached')).to.have.lengthOf(2)
  })

  it('and is expected after all is told of an unpaid deposit, and not cancelled once the day of arrival is over', async () => {
    const id = await book()
    await send(id, 'no-show')
    await setDay(house, 1)
    await send(id, 'reinstate', { reason: 'a late bus' }, manager)
    await house.inHouse(async (trx) => {
      await sql(trx, `update deposit set due_at = now() - interval '2 days' where reservation_id = ?`, [id])
      await watchDeposits(trx, id)
    })
    expect(await eventsOf(house, 'deposit.due_date_reached')).to.have.lengthOf(1)
    expect((await reception.get(`reservations/${id}`)).body.status).to.equal('confirmed')
  })
})
