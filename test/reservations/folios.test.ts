import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { chargeNights } from '../../db/reservations/charge-nights.ts'
import { postCharged } from '../../db/reservations/folio/write.ts'
import { forgetLimits } from '../auth/support.ts'
import { balanceOf } from '../financial/support.ts'
import { closeOpenDay, makeLateHouse, makeStays, payAll, readStay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { gatewaySays, startPayment } from '../support/pay.ts'
import { eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { deskOf } from './desk.ts'

type Line = { id: string; kind: string; category: string; amount: number; taxes: { amount: number }[]; folioId: string }

describe('A folio over HTTP', () => {
  const world = useWorld()
  let house: House
  let manager: Desk
  let reception: Desk
  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeLateHouse(1, { units: 4 })
    manager = await openDesk(world, house, 'manager')
    reception = await openDesk(world, house, 'receptionist')
  })
  const { healthy, folioOf } = deskOf(() => house)

  const post = (desk: Desk, path: string, body: object, idempotencyKey: string = randomUUID()) =>
    desk.send('POST', path, body, { idempotencyKey })
  const charge = (id: string, change: object = {}, desk = reception) =>
    post(desk, `folios/${id}/charges`, {
      category: 'minibar',
      description: 'Water',
      quantity: '2',
      unitAmount: 600,
      ...change,
    })
  const adjust = (id: string, body: object, desk = manager) =>
    post(desk, `folios/${id}/adjustments`, { reason: 'not as it should be', ...body })
  const transfer = (id: string, toFolioId: string, lines: object[], desk = reception) =>
    post(desk, `folios/${id}/transfers`, { toFolioId, lines })
  const read = async (id: string) => (await manager.get(`folios/${id}`)).body
  const lineOf = ({ body }: Reply): Line => {
    const [line] = (body as { lines: Line[] }).lines
    if (!line) throw new Error(`no line: ${JSON.stringify(body)}`)
    return line
  }
  const stay = async (checkedIn = true) => {
    const [id = ''] = await makeStays(house, 1, { from: checkedIn ? -1 : 3, nights: 2, checkedIn })
    return { id, folio: await folioOf(id) }
  }
  const further = async (reservationId: string, kind = 'company') => {
    const { status, body } = await post(reception, 'folios', {
      propertyId: house.propertyId,
      kind,
      reservationId,
      label: 'Company',
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body
  }
  const refused = ({ status, body }: Reply) => [status, body.code]

  it('takes a charge with its taxes, once for each key, half up to the cent', async () => {
    const { folio } = await stay()
    const key = randomUUID()
    const body = { category: 'minibar', description: 'Water', quantity: '2', unitAmount: 600 }
    const [first, again] = [
      await post(reception, `folios/${folio.id}/charges`, body, key),
      await post(reception, `folios/${folio.id}/charges`, body, key),
    ]
    expect([first.status, again.status]).to.deep.equal([201, 201])
    expect(again.body).to.deep.equal(first.body)
    const line = lineOf(first)
    expect(line).to.include({ amount: 1200, unitAmount: 600, quantity: '2', kind: 'charge' })
    expect(line.taxes.map((tax) => tax.amount)).to.deep.equal([57])
    expect(first.body.folio.balance - folio.balance).to.equal(1200)
    expect(lineOf(await charge(folio.id, { quantity: '1.5', unitAmount: 333 })).amount).to.equal(500)
    const service = lineOf(await charge(folio.id, { category: 'service_charge', quantity: '1' }))
    expect(service).to.deep.include({ amount: 600, taxes: [] })
    const extraId = await house.inHouse((trx) =>
      createExtra(trx, {
        propertyId: house.propertyId,
        code: 'MASSAGE',
        name: { en: 'Massage', 'pt-BR': 'Massagem' },
        category: 'activity',
        revenueGroup: 'spa',
        amount: 15_000,
        basis: 'per_person',
      }),
    )
    const extra = await post(reception, `folios/${folio.id}/charges`, { extraId })
    expect(lineOf(extra)).to.include({ amount: 15_000, category: 'spa', description: 'Massage' })
    expect(await eventsOf(house, 'folio.charge_posted')).to.have.lengthOf(4)
    await healthy()
  })

  it('refuses what is no charge, and what it may not take', async () => {
    const { id, folio } = await stay()
    const elsewhere = await makeHouse({ units: 1 })
    const other = await openDesk(world, elsewhere, 'owner')
    for (const [body, code] of [
      [{ unitAmount: 0 }, 'validation_failed'],
      [{ quantity: '0' }, 'validation_failed'],
      [{ quantity: '1.23456' }, 'validation_failed'],
      [{ unitAmount: 1, quantity: '0.0001' }, 'validation_failed'],
      [{ unitAmount: 100_000_000_000, quantity: '999999' }, 'validation_failed'],
      [{ category: 'room' }, 'validation_failed'],
      [{ extraId: randomUUID() }, 'validation_failed'],
      [{ category: undefined, extraId: randomUUID() }, 'reference_not_found'],
      [{ description: '4111 1111 1111 1111' }, 'card_data_refused'],
    ] as const) {
      const { body: reply } = await charge(folio.id, body)
      expect(reply.code, JSON.stringify(body)).to.equal(code)
    }
    expect(refused(await charge(randomUUID()))).to.deep.equal([404, 'not_found'])
    expect(refused(await charge(folio.id, {}, other))).to.deep.equal([404, 'not_found'])
    await manager.send('PATCH', `folios/${folio.id}`, { creditLimit: folio.balance + 1199 })
    expect(refused(await charge(folio.id))).to.deep.equal([422, 'credit_limit_exceeded'])
    const override = { rules: ['credit_limit'], reason: 'The firm has called' }
    expect(refused(await charge(folio.id, { override }))).to.deep.equal([403, 'override_not_permitted'])
    expect((await charge(folio.id, { override, unitAmount: 1 }, manager)).status).to.equal(201)
    const history = async () => (await manager.get(`reservations/${id}/history`)).body.data
    expect(
      (await history()).map((one: { command: string }) => one.command),
      'within the limit',
    ).not.to.include('charge')
    expect((await charge(folio.id, { override }, manager)).status).to.equal(201)
    expect((await history())[0]).to.deep.include({ command: 'charge', override })
    await manager.send('PATCH', `folios/${folio.id}`, { creditLimit: folio.balance + 2402 })
    expect((await charge(folio.id)).status).to.equal(201)
    await manager.send('PATCH', `folios/${folio.id}`, { locked: true, creditLimit: null })
    expect(refused(await charge(folio.id))).to.deep.equal([422, 'folio_locked'])
    const house1 = (await post(reception, 'folios', { propertyId: house.propertyId, kind: 'house' })).body
    await post(manager, `folios/${house1.id}/close`, {})
    expect(refused(await charge(house1.id))).to.deep.equal([422, 'folio_closed'])
    expect((await read(folio.id)).balance).to.equal(folio.balance + 2402)
    await healthy()
  })

  it('adjusts a charge in parts, whose taxes come to those of the charge', async () => {
    const { folio } = await stay()
    const before = (await read(folio.id)).taxes.map((tax: object) => tax)
    const line = lineOf(await charge(folio.id, { quantity: '1', unitAmount: 100 }))
    expect(line.taxes[0]?.amount).to.equal(5)
    const parts = []
    for (const amount of [33, 33, 34]) parts.push(lineOf(await adjust(folio.id, { lineId: line.id, amount })))
    expect(parts.map((one) => one.amount)).to.deep.equal([-33, -33, -34])
    expect(parts.map((one) => one.taxes[0]?.amount)).to.deep.equal([-2, -2, -1])
    expect(refused(await adjust(folio.id, { lineId: line.id, amount: 1 }))).to.deep.equal([
      422,
      'adjustment_exceeds_charge',
    ])
    const { taxes } = await read(folio.id)
    expect(taxes.filter((tax: { amount: number }) => tax.amount !== 0)).to.deep.equal(before)
    await healthy()
  })

  it('lowers nights and their fixed taxes by their own lines', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 3, checkedIn: true })
    await closeOpenDay(house)
    const folio = await folioOf(id)
    const all: Line[] = (await manager.get(`folios/${folio.id}/lines?limit=100`)).body.data
    const room = all.find((one) => one.category === 'room')
    const fee = all.find((one) => one.category === 'tax')
    expect([room?.amount, fee?.amount]).to.deep.equal([20_000 - 3_002, 600])
    expect((await adjust(folio.id, { lineId: room?.id, rate: 5000 })).body.folio.balance).to.equal(
      folio.balance - (20_000 - 3_002) / 2,
    )
    expect((await adjust(folio.id, { lineId: fee?.id, rate: 10_000 })).status).to.equal(201)
    const { taxes } = await read(folio.id)
    expect(taxes.find((tax: { code: string }) => tax.code === 'TUR')?.amount).to.equal(0)
    await healthy()
  })

  it('lets a receptionist adjust a line up to the limit of the house, in all', async () => {
    const { folio } = await stay()
    const line = lineOf(await charge(folio.id, { unitAmount: 20_000 }))
    expect((await adjust(folio.id, { lineId: line.id, amount: 6_000 }, reception)).status).to.equal(201)
    expect(refused(await adjust(folio.id, { lineId: line.id, amount: 4_001 }, reception))).to.deep.equal([
      403,
      'override_not_permitted',
    ])
    expect((await adjust(folio.id, { lineId: line.id, amount: 4_000 }, reception)).status).to.equal(201)
    expect((await adjust(folio.id, { lineId: line.id, amount: 30_000 })).status).to.equal(201)
    expect(refused(await adjust(folio.id, { lineId: line.id }))).to.deep.equal([400, 'validation_failed'])
    expect(refused(await adjust(folio.id, { lineId: randomUUID(), amount: 1 }))).to.deep.equal([
      422,
      'reference_not_found',
    ])
    await healthy()
  })

  it('splits a charge in three, moves the parts on and brings them back, to the cent', async () => {
    const { id, folio } = await stay()
    const company = await further(id)
    expect(company).to.include({ number: folio.number.replace(/1$/, '2'), stage: 'guest', isPrimary: false })
    const line = lineOf(await charge(folio.id, { quantity: '1', unitAmount: 100 }))
    const moved: Line[] = []
    for (const amount of [33, 33, 34]) {
      const reply = await transfer(folio.id, company.id, [{ lineId: line.id, amount }])
      expect(reply.status, JSON.stringify(reply.body)).to.equal(201)
      moved.push(...(reply.body.lines as Line[]).filter((one) => one.kind === 'transfer_in'))
    }
    expect(moved.map((one) => [one.folioId, one.amount, one.taxes[0]?.amount])).to.deep.equal([
      [company.id, 33, 2],
      [company.id, 33, 1],
      [company.id, 34, 2],
    ])
    expect(refused(await transfer(folio.id, company.id, [{ lineId: line.id }]))).to.deep.equal([
      422,
      'line_not_transferable',
    ])
    expect(refused(await adjust(folio.id, { lineId: line.id, amount: 1 }))).to.deep.equal([
      422,
      'adjustment_exceeds_charge',
    ])
    expect((await adjust(company.id, { lineId: moved[0]?.id, amount: 3 })).status).to.equal(201)
    const back = await transfer(
      company.id,
      folio.id,
      moved.map((one) => ({ lineId: one.id })),
    )
    expect(back.body.folio.balance).to.equal(0)
    expect(back.body.toFolio.balance).to.equal(folio.balance + 97)
    expect(back.body.folio.taxes.filter((tax: { amount: number }) => tax.amount !== 0)).to.deep.equal([])
    await healthy()
  })

  it('moves payments within a booking by their allocations, so that a refund finds them', async () => {
    const { id, folio } = await stay(false)
    await payAll(house, id)
    const { total } = await readStay(house, id)
    const company = await further(id)
    expect(company.stage).to.equal('deposit')
    const lines: Line[] = (await manager.get(`folios/${folio.id}/lines`)).body.data
    const payment = lines[0]
    const reply = await transfer(folio.id, company.id, [{ lineId: payment?.id, amount: 10_000 }])
    expect(reply.body.toFolio).to.include({ credits: 10_000, balance: -10_000, stage: 'deposit' })
    expect(reply.body.folio).to.include({ credits: total - 10_000 })
    await healthy()
    expect(await balanceOf({ ...house }, 'deposits')).to.equal(total)
    const allocated = await house.inHouse((trx) =>
      sql<{ amount: number }>(
        trx,
        `select sum(amount)::bigint as amount from payment_allocation where target_id = ? and target_type = 'folio'`,
        [company.id],
      ),
    )
    expect(allocated[0]?.amount).to.equal(10_000)
    const [other = ''] = await makeStays(house, 1, { from: 3 })
    expect(
      refused(await transfer(folio.id, (await folioOf(other)).id, [{ lineId: payment?.id, amount: 1 }])),
    ).to.deep.equal([422, 'line_not_transferable'])
    // A charge above the credits that are left takes the folio out of deposits first.
    const charged = await charge(company.id, { unitAmount: 10_000 })
    expect(charged.body.folio).to.include({ stage: 'guest', balance: 10_000 })
    const inLine = (reply.body.lines as Line[]).find((one) => one.kind === 'transfer_in')
    const back = await transfer(company.id, folio.id, [{ lineId: inLine?.id, amount: 4_000 }])
    expect(back.body.folio).to.include({ credits: 6_000 })
    await healthy()
    expect(await balanceOf({ ...house }, 'deposits')).to.equal(total - 6_000)
  })

  it('keeps its sums whatever comes at once: charges, transfers in both directions, a close', async () => {
    const { id, folio } = await stay()
    const company = await further(id)
    const lines = await Promise.all(
      Array.from({ length: 10 }, (_, index) => charge(index % 2 ? company.id : folio.id, { unitAmount: 101 })),
    )
    const posted = lines.map(lineOf)
    const replies = await Promise.all(
      [...posted, ...posted].map((line) =>
        line.folioId === folio.id
          ? transfer(folio.id, company.id, [{ lineId: line.id, amount: 101 }])
          : transfer(company.id, folio.id, [{ lineId: line.id, amount: 101 }]),
      ),
    )
    expect(replies.map((one) => one.status)).to.deep.equal(Array.from({ length: 20 }, () => 201))
    expect(
      new Set(
        (
          await Promise.all(
            posted.map((line) =>
              transfer(line.folioId, line.folioId === folio.id ? company.id : folio.id, [{ lineId: line.id }]),
            ),
          )
        ).map((one) => one.body.code),
      ),
    ).to.deep.equal(new Set(['line_not_transferable']))
    const [one, two] = [await read(folio.id), await read(company.id)]
    expect(one.balance + two.balance).to.equal(folio.balance + 10 * 202)
    expect(two.balance).to.equal(5 * 202)
    await healthy()
    const spare = (await post(reception, 'folios', { propertyId: house.propertyId, kind: 'house' })).body
    const race = await Promise.all([post(reception, `folios/${spare.id}/close`, {}), charge(spare.id)])
    const after = await read(spare.id)
    const closed = after.status === 'closed'
    expect(race.map((one) => one.status)).to.deep.equal(closed ? [200, 422] : [422, 201])
    expect(after.balance).to.equal(closed ? 0 : 1200)
  })

  it('sends nights to the folio that its routing names, and says what each will owe', async () => {
    const { id, folio } = await stay(false)
    const company = await further(id)
    const total = (await readStay(house, id)).total
    expect(await read(folio.id)).to.include({ projected: total, balance: 0 })
    const reply = await reception.send('PUT', `reservations/${id}/routing`, {
      routes: [{ folioId: company.id, categories: ['room'], from: house.day(3), until: house.day(3) }],
    })
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200)
    expect(reply.body.routes).to.deep.equal([
      { folioId: company.id, categories: ['room'], from: house.day(3), until: house.day(3) },
    ])
    const night = 20_000 + 600
    expect(await read(company.id)).to.include({ projected: night })
    expect(await read(folio.id)).to.include({ projected: total - night })
    await house.inHouse(async (trx) => {
      const stays = [await readStay(house, id)]
      const charged = await chargeNights(trx, { businessDate: house.day(-1), stays, through: house.day(4) })
      await postCharged(trx, house.propertyId, charged)
    })
    expect(await read(company.id)).to.include({ balance: night, projected: night, stage: 'guest' })
    expect(await read(folio.id)).to.include({ balance: night, projected: total - night })
    await healthy()
    for (const [routes, code] of [
      [[{ folioId: randomUUID() }], 'reference_not_found'],
      [[{ folioId: company.id, categories: ['tax'] }], 'validation_failed'],
      [[{ folioId: company.id, from: house.day(4), until: house.day(3) }], 'rule_violated'],
    ] as const)
      expect((await reception.send('PUT', `reservations/${id}/routing`, { routes })).body.code).to.equal(code)
  })

  it('falls back to the primary folio where the other is closed, and that one opens again', async () => {
    const { id, folio } = await stay(false)
    const company = await further(id)
    await reception.send('PUT', `reservations/${id}/routing`, { routes: [{ folioId: company.id }] })
    const { total } = await readStay(house, id)
    expect(await read(company.id)).to.include({ projected: total })
    expect((await post(reception, `folios/${company.id}/close`, {})).status).to.equal(200)
    expect((await post(reception, `folios/${folio.id}/close`, {})).status).to.equal(200)
    expect(await read(company.id)).to.include({ projected: 0, status: 'closed' })
    await house.inHouse(async (trx) => {
      const stays = [await readStay(house, id)]
      const charged = await chargeNights(trx, { businessDate: house.day(-1), stays, through: house.day(3) })
      await postCharged(trx, house.propertyId, charged)
    })
    expect(await read(folio.id)).to.include({ status: 'open', balance: 20_600 })
    await healthy()
  })

  it('closes at zero alone, with no payment on its way, and opens again for those who may', async () => {
    const { id, folio } = await stay(false)
    const close = (of = folio.id) => post(reception, `folios/${of}/close`, {})
    const company = await further(id)
    await charge(company.id)
    expect(refused(await close(company.id))).to.deep.equal([422, 'folio_not_zero'])
    const { bookingId } = await readStay(house, id)
    const paymentId = await startPayment(house, bookingId, 'all')
    await gatewaySays(house, paymentId, 'processing')
    expect(refused(await close())).to.deep.equal([409, 'payment_in_progress'])
    await gatewaySays(house, paymentId, 'failed')
    const both = await Promise.all([close(), close()])
    expect(both.map((one) => one.status)).to.deep.equal([200, 200])
    expect(await eventsOf(house, 'folio.closed')).to.have.lengthOf(1)
    expect(refused(await manager.send('PATCH', `folios/${folio.id}`, { locked: true }))).to.deep.equal([
      422,
      'folio_closed',
    ])
    expect((await manager.send('PATCH', `folios/${folio.id}`, { label: 'Old' })).body.label).to.equal('Old')
    expect((await post(reception, `folios/${folio.id}/reopen`, {})).status).to.equal(403)
    expect((await post(manager, `folios/${folio.id}/reopen`, {})).body.status).to.equal('open')
    expect((await post(manager, `folios/${folio.id}/reopen`, {})).status).to.equal(200)
    expect(await eventsOf(house, 'folio.reopened')).to.have.lengthOf(1)
  })

  it('is found by stay, payer, state and balance', async () => {
    const { id, folio } = await stay()
    const company = await further(id)
    await charge(company.id)
    const found = async (query: string) =>
      ((await manager.get(`folios?${query}`)).body.data as { id: string }[]).map((one) => one.id)
    expect(await found(`reservationId=${id}`)).to.have.members([folio.id, company.id])
    expect(await found(`reservationId=${id}&kind=company`)).to.deep.equal([company.id])
    expect(await found(`reservationId=${id}&balance=due`)).to.include(company.id)
    expect(await found(`bookingId=${(await readStay(house, id)).bookingId}`)).to.have.lengthOf(2)
    expect(await found(`payerGuestId=${folio.payerGuestId}`)).to.deep.equal([folio.id])
    // Merged into another profile, the guest is found by both ids, and so are stays and requests.
    const survivor = (await post(manager, 'guests', { firstName: 'Ana' })).body.id as string
    const merged = await post(manager, `guests/${survivor}/merge`, {
      mergedGuestId: folio.payerGuestId,
      reason: 'One person',
    })
    expect(merged.status, JSON.stringify(merged.body)).to.equal(200)
    const wish = { propertyId: house.propertyId, guestId: folio.payerGuestId, arrival: house.day(3), adults: 2 }
    const { body: entry } = await post(manager, 'waitlist', { ...wish, departure: house.day(4) })
    for (const guestId of [survivor, folio.payerGuestId]) {
      expect(await found(`payerGuestId=${guestId}`)).to.deep.equal([folio.id])
      for (const [list, expected] of [
        ['reservations', id],
        ['waitlist', entry.id],
      ])
        expect(
          ((await manager.get(`${list}?guestId=${guestId}`)).body.data as { id: string }[]).map((one) => one.id),
          list,
        ).to.deep.equal([expected])
    }
    const lines = await manager.get(`folios/${company.id}/lines?category=minibar&kind=charge`)
    expect(lines.body.meta.total).to.equal(1)
  })
})
