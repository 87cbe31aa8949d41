import { expect } from 'chai'
import { setPaymentMethods } from '../../db/properties/house/payment-methods.ts'
import type { House } from '../support/factories.ts'
import { useGuests } from './guests.ts'

describe('a guest who pays with a payment slip', () => {
  const guests = useGuests()
  const { world, hold, create, status } = guests
  let house: House
  before(() => {
    house = guests.house()
  })

  const slip = (number: string) => ({
    method: 'boleto',
    payer: { name: 'Ana Lima', document: { type: 'cpf', number } },
  })
  before(() =>
    house.inHouse((trx) =>
      setPaymentMethods(trx, house.propertyId, [
        { method: 'card', offeredTo: 'both', gatewayAccountId: house.gatewayAccountId, maxInstallments: 3 },
        { method: 'pix', offeredTo: 'both', gatewayAccountId: house.gatewayAccountId },
        { method: 'boleto', offeredTo: 'both', gatewayAccountId: house.gatewayAccountId },
      ]),
    ),
  )

  it('gets its line, and has one at a time', async () => {
    const [first, second] = [await hold(), await hold(33)]
    const made = await create(first.guest, slip('529.982.247-25'))
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    await world.drain({ kinds: ['payments.submit'] })
    const waiting = (await status(first.guest, made.body.paymentId)).body
    expect(waiting.action).to.include({ type: 'boleto' })
    expect(waiting.action.dueDate > house.today).to.equal(true)
    const refused = await create(second.guest, slip('52998224725'))
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'hold_limit'])
    expect((await create(second.guest, slip('111.444.777-35'))).status).to.equal(201)
  })

  it('asked for twice at once for two bookings is given once', async () => {
    const held = [await hold(36), await hold(39), await hold(42)]
    const replies = await Promise.all(held.map(({ guest }) => create(guest, slip('123.456.789-09'))))
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).to.deep.equal([201, 429, 429])
  })

  it('is not to be had shortly before the arrival', async () => {
    const { guest } = await hold(3)
    const reply = await create(guest, slip('935.411.347-80'))
    expect([reply.status, reply.body.code]).to.deep.equal([422, 'method_unavailable'])
  })
})
