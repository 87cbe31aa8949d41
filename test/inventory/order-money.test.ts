import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { gatewaySays } from '../support/pay.ts'
import { done } from '../stories/inn.ts'
import { useWorld } from '../support/world.ts'
import type { Bar } from './bar.ts'
import { useOrders } from './orders-support.ts'
import { codeOf } from './support.ts'

describe('What settles orders of an outlet', function () {
  this.timeout(120_000)
  const world = useWorld()
  const { gins, close, cancel, made } = useOrders(world, { stocked: true })
  let house: Bar
  let gin: string
  before(() => {
    ;({ house, gin } = made())
  })

  it('is paid in cash and by card, and a void turns what the open session took', async () => {
    const { propertyId, manager, reception } = house
    const keyed = (path: string, body: object, by = manager) =>
      by.send('POST', path, body, { idempotencyKey: randomUUID() })
    const account = async (kind: string) =>
      done(
        await keyed(
          'cash/accounts',
          {
            kind,
            code: kind.toUpperCase(),
            name: kind,
            propertyId,
            opening: { amount: 0, on: house.house.today },
          },
          house.owner,
        ),
        201,
      ).id as string
    const [register, bank] = [await account('register'), await account('bank')]
    const session = done(await keyed('cash/sessions', { registerId: register, count: {} }, reception), 201).id
    const order = await house.order(gins('2'))
    expect(codeOf(await close(order.id, []))).to.deep.equal([422, 'settlement_mismatch'])
    const half = { type: 'payment', method: 'card', cashAccountId: bank, amount: 2_000 }
    expect(codeOf(await close(order.id, [half, { type: 'payment', method: 'cash', amount: 1_000 }]))).to.deep.equal([
      422,
      'settlement_mismatch',
    ])
    expect(codeOf(await close(order.id, [{ type: 'folio' }]))).to.deep.equal([422, 'not_in_house'])
    expect(codeOf(await close(order.id, [half, { type: 'house', reason: 'Friends' }]))).to.deep.equal([
      403,
      'forbidden',
    ])
    expect((await house.read(order.id)).paidAmount).to.equal(0)
    const closed = done(await close(order.id, [half, { type: 'payment', method: 'cash', cashSessionId: session }]))
    expect(closed).to.include({ status: 'closed', total: 5_500, paidAmount: 5_500 })
    expect(
      closed.settlements.map(({ type, amount }: { type: string; amount: number }) => [type, amount]),
    ).to.deep.equal([
      ['payment', 2_000],
      ['payment', 3_500],
    ])
    const stock = await house.store.of(gin)
    const voided = done(await cancel(order.id))
    expect(voided).to.include({ status: 'voided', paidAmount: 0 })
    const payments = await house.rows<{ method: string; status: string; allocatedAmount: number }>(
      `select p.method, p.status, p.allocated_amount from payment p join pos_settlement s on s.payment_id = p.id where s.order_id = ? order by p.method`,
      [order.id],
    )
    expect(payments).to.deep.equal([
      { method: 'card', status: 'reversed', allocatedAmount: 0 },
      { method: 'cash', status: 'reversed', allocatedAmount: 0 },
    ])
    expect((await house.store.of(gin))[0]).to.equal(String(Number(stock[0]) + 100))
    expect(done(await house.owner.get(`cash/accounts/${register}`)).balance).to.equal(0)
    // A payment that no session counts stays, and pays for nothing.
    const other = await house.order(gins('1'), manager)
    done(await close(other.id, [{ type: 'payment', method: 'card', cashAccountId: bank }], manager))
    done(await cancel(other.id))
    const [left] = await house.rows<{ status: string; allocatedAmount: number }>(
      `select p.status, p.allocated_amount from payment p join pos_settlement s on s.payment_id = p.id where s.order_id = ?`,
      [other.id],
    )
    expect(left).to.deep.equal({ status: 'captured', allocatedAmount: 0 })
  })

  it('takes a payment while it is open, keeps its guest, and is cancelled only without money', async () => {
    const guest = await house.stay()
    const order = await house.order({ ...gins('1'), reservationId: guest.id })
    const [bank] = await house.rows<{ id: string }>(`select id from cash_account where kind = 'bank' limit 1`)
    done(
      await house.manager.send(
        'POST',
        'payments/record',
        {
          propertyId: house.propertyId,
          method: 'pix',
          amount: 1_000,
          currency: 'BRL',
          cashAccountId: bank?.id,
          targetType: 'pos_order',
          targetId: order.id,
        },
        { idempotencyKey: randomUUID() },
      ),
      201,
    )
    expect(await house.read(order.id)).to.include({ paidAmount: 1_000, status: 'open' })
    const left = await house.reception.send('POST', `reservations/${guest.id}/check-out`, {})
    expect(JSON.stringify(left.body)).to.include('open_checks')
    expect(codeOf(await cancel(order.id))).to.deep.equal([422, 'in_use'])
    const closed = done(await close(order.id, [{ type: 'folio' }]))
    expect(
      closed.settlements.map(({ type, amount }: { type: string; amount: number }) => [type, amount]),
    ).to.deep.equal([
      ['payment', 1_000],
      ['folio', 1_750],
    ])
  })

  it('parts what the house gives from what is sold, in revenue and in cost', async () => {
    const [revenue, free, cost] = [
      await house.ledger('revenue_beverage'),
      await house.ledger('cost_complimentary'),
      await house.ledger('cost_beverage'),
    ]
    const guest = await house.stay()
    const order = await house.order({ ...gins('2'), serviceCharge: false, reservationId: guest.id })
    done(
      await close(
        order.id,
        [{ type: 'house', reason: 'A long wait', amount: 1_250 }, { type: 'folio' }],
        house.manager,
      ),
    )
    expect(await house.ledger('revenue_beverage')).to.equal(revenue + 3_750)
    const given = (await house.ledger('cost_complimentary')) - free
    const sold = (await house.ledger('cost_beverage')) - cost
    expect(given * 3).to.be.closeTo(sold, 3)
    done(await cancel(order.id, { wasted: true }))
    expect([await house.ledger('cost_complimentary'), await house.ledger('cost_beverage')]).to.deep.equal([free, cost])
    const waste = done(
      await house.manager.get(`inventory/consumptions?propertyId=${house.propertyId}&kind=waste&itemId=${gin}`),
    ).data
    expect(waste.map(({ orderId, reason }: { orderId: string; reason: string }) => [orderId, reason])).to.deep.include([
      order.id,
      'returned',
    ])
  })
  it('is settled by Pix at the gateway, by folio and by the house at once, and voided whole', async () => {
    const guest = await house.stay()
    const folio = await house.balance(guest.folioId)
    const order = await house.order({ ...gins('4'), serviceCharge: false, reservationId: guest.id })
    const pix = done(
      await house.manager.send(
        'POST',
        'payments',
        { method: 'pix', amount: 4_000, currency: 'BRL', targetType: 'pos_order', targetId: order.id },
        { idempotencyKey: randomUUID() },
      ),
      201,
    ).id as string
    await gatewaySays(house.house, pix, 'captured')
    expect(await house.read(order.id)).to.include({ paidAmount: 4_000 })
    const stock = await house.store.of(gin)
    const settlements = [{ type: 'house', reason: 'A birthday', amount: 1_000 }, { type: 'folio' }]
    expect(done(await close(order.id, settlements, house.manager)).status).to.equal('closed')
    expect(await house.balance(guest.folioId)).to.equal(folio + 5_000)
    const many = await Promise.all([cancel(order.id), cancel(order.id)])
    expect(many.map(({ body: { status } }) => status as string)).to.deep.equal(['voided', 'voided'])
    expect(await house.balance(guest.folioId)).to.equal(folio)
    expect(await house.store.of(gin)).to.deep.equal(stock)
    const [left] = await house.rows<{ status: string; allocatedAmount: number }>(
      `select status, allocated_amount from payment where id = ?`,
      [pix],
    )
    expect(left).to.deep.equal({ status: 'captured', allocatedAmount: 0 })
  })

  it('stays where a charge of it was adjusted, and on a later business date', async () => {
    const guest = await house.stay()
    const order = await house.order({ ...gins('1'), reservationId: guest.id })
    const closed = done(await close(order.id, [{ type: 'folio' }]))
    const [lineId] = closed.settlements[0].folioLineIds as string[]
    const adjusted = { lineId, amount: 100, reason: 'Too much ice' }
    const key = { idempotencyKey: randomUUID() }
    done(await house.manager.send('POST', `folios/${guest.folioId}/adjustments`, adjusted, key), 201)
    expect(codeOf(await cancel(order.id))).to.deep.equal([422, 'in_use'])
    const other = await house.order({ ...gins('1'), reservationId: guest.id })
    done(await close(other.id, [{ type: 'folio' }]))
    await house.rows(`update pos_order set business_date = business_date - 1 where id = ?`, [other.id])
    expect(codeOf(await cancel(other.id))).to.deep.equal([422, 'not_same_business_date'])
  })
})
