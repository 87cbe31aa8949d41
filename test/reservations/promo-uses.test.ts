import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createPromoCode } from '../../db/properties/terms/promo-codes.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { reinstate } from '../../db/reservations/reinstate.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { gatewaySays, startPayment } from '../support/pay.ts'
import { makeHold, outlive, readBooking } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('The uses of a promo code', () => {
  const world = useWorld()
  let house: House
  beforeEach(async () => {
    house = await makeHouse({ units: 4, settings: { portal: { holdShare: 10_000 } } })
    await forgetLimits(world)
  })
  const make = (code: string, limits: { maxRedemptions?: number; maxPerBooker?: number }) =>
    house.inHouse((trx) =>
      createPromoCode(trx, { propertyId: house.propertyId, code, type: 'percent', value: 1_000, ...limits }),
    )
  const redeemed = async () =>
    (await house.inHouse((trx) => sql<{ redeemed: number }>(trx, `select redeemed from promo_code`)))[0]?.redeemed
  const settle = (id: string) => house.inHouse((trx) => confirmPaid(trx, id))
  const cancel = (id: string, reservationIds?: string[]) =>
    house.inHouse((trx) => cancelReservations(trx, id, { reason: 'other', terms: 'free', reservationIds }))

  it('are given back by bookings that have one: not by one that late money has bought without', async () => {
    await make('SUN', { maxRedemptions: 1 })
    const late = await makeHold(house, { promoCode: 'SUN' })
    const paymentId = await startPayment(house, late)
    await outlive(house, late)
    await house.inHouse((trx) => expireHold(trx, late))
    const first = await makeHold(house, { promoCode: 'SUN' })
    await gatewaySays(house, paymentId, 'captured')
    expect(await settle(late)).to.equal('rescued')
    expect(await redeemed()).to.equal(1)
    await cancel(late)
    expect(await redeemed(), 'the other booking still has it').to.equal(1)
    await cancel(first)
    expect(await redeemed()).to.equal(0)
  })

  it('count a booking once, though a room of it comes back after another has left', async () => {
    house = await makeHouse({ units: 4, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    await make('SUN', { maxRedemptions: 5 })
    const confirmed = async (rooms: number) => {
      const id = await makeHold(house, { promoCode: 'SUN', rooms })
      await house.inHouse((trx) => confirmBooking(trx, id))
      return { id, rooms: (await readBooking(house, id)).rooms }
    }
    const comes = (id: string) => house.inHouse((trx) => reinstate(trx, id, { reason: 'comes after all' }))
    const { id, rooms } = await confirmed(2)
    const [stayed, back] = rooms
    await cancel(id, [back!.id])
    for (const moved of [
      `status = 'checked_in', actual_check_in_at = now(), check_in_business_date = arrival`,
      `status = 'checked_out', actual_check_out_at = now(), check_out_business_date = departure`,
    ])
      await house.inHouse((trx) => sql(trx, `update reservation set ${moved} where id = ?`, [stayed!.id]))
    await comes(back!.id)
    expect(await redeemed()).to.equal(1)
    const other = await confirmed(1)
    await cancel(other.id)
    expect(await redeemed()).to.equal(1)
    await comes(other.rooms[0]!.id)
    expect(await redeemed(), 'a booking that stands again counts again').to.equal(2)
  })

  it('are those of an e-mail, on the portal and at the desk', async () => {
    await make('ONCE', { maxPerBooker: 1 })
    const owner = await openDesk(world, house, 'owner')
    const held = await makeHold(house, { promoCode: 'ONCE', email: 'Ana@Example.com' })
    const book = () =>
      owner.send('POST', 'bookings', {
        propertyId: house.propertyId,
        booker: { firstName: 'Ana', lastName: 'Souza', email: 'ana@example.com' },
        source: 'phone',
        promoCode: 'ONCE',
        rooms: [
          {
            unitTypeId: house.unitTypeId,
            ratePlanId: house.ratePlanId,
            arrival: house.day(30),
            departure: house.day(31),
            adults: 2,
            childrenAges: [],
          },
        ],
        hold: { kind: 'option' },
      })
    const refused = await book()
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'promo_code_invalid'])
    await cancel(held)
    expect((await book()).status).to.equal(201)
  })

  it('of a quote are those of its code, and of no other', async () => {
    await make('SUN', {})
    await make('MOON', {})
    const owner = await openDesk(world, house, 'owner')
    const room = {
      unitTypeId: house.unitTypeId,
      ratePlanId: house.ratePlanId,
      arrival: house.day(30),
      departure: house.day(31),
      adults: 2,
      childrenAges: [],
    }
    const quote = await owner.send('POST', 'quotes', { propertyId: house.propertyId, rooms: [room], promoCode: 'SUN' })
    const book = (promoCode: string) =>
      owner.send('POST', 'bookings', {
        propertyId: house.propertyId,
        booker: { firstName: 'Ana', lastName: 'Souza' },
        source: 'phone',
        quoteId: quote.body.id,
        promoCode,
        hold: { kind: 'option' },
      })
    const other = await book('MOON')
    expect([other.status, other.body.errors?.[0].field]).to.deep.equal([400, 'promoCode'])
    expect((await book('sun')).status).to.equal(201)
    const { body } = await owner.get(`promo-codes?propertyId=${house.propertyId}`)
    expect(body.data.map((one: { code: string; redeemed: number }) => [one.code, one.redeemed])).to.deep.equal([
      ['MOON', 0],
      ['SUN', 1],
    ])
  })
})
