import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import type { PaymentMethodRow } from '../../db/rows.ts'
import { payForBooking } from '../../db/reservations/payments.ts'
import { makeHouse } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

describe('a guest of the portal who agrees that a card is kept', () => {
  const world = useWorld()

  it('has it saved with the payment, for the booking first and for the booker once it is confirmed', async () => {
    settings.sandboxSecondMs = 20
    settings.publicBaseUrl = world.baseUrl
    const house = await makeHouse({ units: 2 })
    const bookingId = await makeHold(house, { from: 5 })
    await house.inHouse((trx) => payForBooking(trx, bookingId, { method: 'card', amount: 'all', saveMethod: true }))
    const read = () => house.inHouse((trx) => sqlOne<PaymentMethodRow>(trx, `select * from payment_method`))
    expect(await read()).to.include({ status: 'pending', bookingId, consentTextVersion: house.termsVersion })
    const saved = await until(
      async () => {
        await world.drain()
        const method = await read()
        return method?.status === 'active' && method.guestId !== null && method
      },
      { withinMs: 15_000, what: 'the card being saved' },
    )
    expect(saved).to.include({ brand: 'visa', last4: '4242', bookingId: null })
  })
})
