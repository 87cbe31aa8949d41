import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createCustomer } from '../../db/accounts-receivable/index.ts'
import { createCompany } from '../../db/guests/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { postCharges } from '../../db/reservations/index.ts'
import { makeLateHouse, makeStays, setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { deskOf } from '../reservations/desk.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

describe('A check-out that is billed', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: House
  let manager: Desk
  let reception: Desk
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 3 })
    manager = await openDesk(world, house, 'manager')
    reception = await openDesk(world, house, 'receptionist')
  })
  const { folioOf, healthy } = deskOf(() => house)

  const customerOf = (creditLimit: number | null) =>
    house.inHouse(async (trx) => {
      const customerId = await createCustomer(trx, {
        kind: 'agency',
        legalName: 'Viagens da Serra Ltda',
        currency: 'BRL',
        creditLimit,
      })
      const payerCompanyId = await createCompany(trx, { kind: 'agency', legalName: 'Viagens da Serra', customerId })
      return { customerId, payerCompanyId }
    })
  const stayOf = async (payerCompanyId: string): Promise<{ id: string; folioId: string }> => {
    const [id = ''] = await makeStays(house, 1, { from: -1, nights: 1, checkedIn: true })
    const folio = await folioOf(id)
    const { status } = await reception.send('PATCH', `folios/${folio.id}`, { payerCompanyId })
    expect(status).to.equal(200)
    return { id, folioId: folio.id }
  }
  const exposureOf = async (customerId: string): Promise<number> =>
    (await manager.send('GET', `accounts-receivable/customers/${customerId}`)).body.exposure

  it('moves what the guest owes to the firm, and closes the folio', async () => {
    const { customerId, payerCompanyId } = await customerOf(null)
    const { id, folioId } = await stayOf(payerCompanyId)
    await setDay(house, 0)
    const open = await reception.send('POST', `reservations/${id}/check-out`, {})
    expect([open.status, open.body.code]).to.deep.equal([422, 'transition_blocked'])
    const strange = await reception.send('POST', `reservations/${id}/check-out`, { invoice: [randomUUID()] })
    expect(strange.status).to.equal(422)
    const left = await reception.send('POST', `reservations/${id}/check-out`, { invoice: [folioId] })
    expect([left.status, left.body.status], JSON.stringify(left.body)).to.deep.equal([200, 'checked_out'])
    const folio = await folioOf(id)
    expect(folio).to.include({ status: 'closed', balance: 0 })
    const { body } = await manager.send('GET', `accounts-receivable/receivables/${folio.receivableId}`)
    expect(body).to.include({ kind: 'stay', total: folio.charges, customerId })
    expect(await exposureOf(customerId)).to.equal(folio.charges)
    await world.drain()
    await healthy()
    // The guest comes back: what comes then stands on a new folio.
    const back = await manager.send('POST', `reservations/${id}/revert-check-out`, { reason: 'The guest came back' })
    expect(back.status, JSON.stringify(back.body)).to.equal(200)
    const { folioIds } = await house.inHouse((trx) =>
      postCharges(trx, {
        to: { reservationId: id },
        source: { type: 'pos_order', id: randomUUID() },
        lines: [{ category: 'beverage', description: 'Coffee', amount: 900 }],
      }),
    )
    const renewed = await folioOf(id)
    expect(folioIds).to.deep.equal([renewed.id])
    expect(renewed).to.include({ balance: 900, status: 'open' })
    expect(renewed.id).not.to.equal(folioId)
  })

  it('keeps to the limit of the firm, which some may override', async () => {
    const { customerId, payerCompanyId } = await customerOf(1)
    const { id, folioId } = await stayOf(payerCompanyId)
    await setDay(house, 0)
    const asked = { invoice: [folioId] }
    const refused = await reception.send('POST', `reservations/${id}/check-out`, asked)
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'credit_limit_exceeded'])
    const override = { rules: ['credit_limit'], reason: 'The firm pays in advance' }
    const not = await reception.send('POST', `reservations/${id}/check-out`, { ...asked, override })
    expect(not.status).to.equal(403)
    const left = await manager.send('POST', `reservations/${id}/check-out`, { ...asked, override })
    expect(left.status, JSON.stringify(left.body)).to.equal(200)
    expect(await exposureOf(customerId)).to.equal((await folioOf(id)).charges)
    await world.drain()
    await healthy()
  })

  it('and a collective bill at the same time bill its folio once', async () => {
    const { customerId, payerCompanyId } = await customerOf(null)
    const stays = [await stayOf(payerCompanyId), await stayOf(payerCompanyId)]
    await setDay(house, 0)
    const folioIds = stays.map(({ folioId }) => folioId)
    // Nights are charged as the guests leave: something stands on the folios before.
    for (const folioId of folioIds)
      await reception.send(
        'POST',
        `folios/${folioId}/charges`,
        { category: 'other', description: 'Tour', unitAmount: 5_000 },
        { idempotencyKey: randomUUID() },
      )
    const replies = await Promise.all([
      ...stays.map(({ id, folioId }) => reception.send('POST', `reservations/${id}/check-out`, { invoice: [folioId] })),
      manager.send('POST', 'accounts-receivable/receivables/from-folios', { customerId, folioIds }),
      manager.send('POST', 'accounts-receivable/receivables/from-folios', { customerId, folioIds }),
    ])
    for (const { status, body } of replies) expect([200, 201, 409, 422], JSON.stringify(body)).to.include(status)
    const twice = await sql<{ id: string }>(
      world.database.admin,
      `select folio_id as id from receivable_line where folio_id = any(?::uuid[]) and live group by 1 having count(*) > 1`,
      [folioIds],
    )
    expect(twice).to.deep.equal([])
    const [billed] = await sql<{ total: number }>(
      world.database.admin,
      `select coalesce(sum(r.open), 0)::int as total from receivable r where r.customer_id = ?`,
      [customerId],
    )
    expect(await exposureOf(customerId)).to.equal(billed?.total)
    expect(billed?.total).to.be.above(0)
    await world.drain()
    await healthy()
  })
})
