import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createCashAccount } from '../../db/cash/index.ts'
import { releaseMoney } from '../../db/payment/index.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { post } from '../financial/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'

describe('Money recorded at the desk', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let reception: Desk
  let registerId: string
  let bankId: string
  let sessionId: string

  const send = (desk: Desk, path: string, body: object = {}) =>
    desk.send('POST', path, body, { idempotencyKey: randomUUID() })
  const refused = async (desk: Desk, path: string, body: object = {}) => {
    const { status, body: said } = await send(desk, path, body)
    return [status, said.code]
  }
  const record = (more: object) => ({ propertyId: house.propertyId, currency: 'BRL', ...more })
  const session = async (): Promise<Parsed> => done(await owner.get(`cash/sessions/${sessionId}`))

  before(async () => {
    house = await makeHouse({ units: 1 })
    await forgetLimits(world)
    owner = await openDesk(world, house, 'owner')
    reception = await openDesk(world, house, 'receptionist')
    const { propertyId } = house
    registerId = await house.inHouse((trx) =>
      createCashAccount(trx, { kind: 'register', code: 'REG', name: 'Desk', propertyId }),
    )
    bankId = await house.inHouse((trx) =>
      createCashAccount(trx, { kind: 'bank', code: 'BANK', name: 'Bank', propertyId }),
    )
  })
  beforeEach(() => forgetLimits(world))

  it('cash needs a session, goes into its drawer, and pays the folio', async () => {
    const cash = record({ method: 'cash', amount: 5_000 })
    expect(await refused(reception, 'payments/record', cash)).to.deep.equal([422, 'session_required'])
    sessionId = done(await send(reception, 'cash/sessions', { registerId, count: {} }), 201).id
    const folioId = await house.inHouse((trx) => openFolio(trx, { propertyId: house.propertyId, kind: 'house' }))
    const charge = { category: 'spa', description: 'Massagem', quantity: '1', unitAmount: 4_000 }
    done(await send(owner, `folios/${folioId}/charges`, charge), 201)
    const paid = done(
      await send(reception, 'payments/record', { ...cash, targetType: 'folio', targetId: folioId }),
      201,
    )
    expect(paid).to.include({
      origin: 'recorded',
      status: 'captured',
      cashSessionId: sessionId,
      cashAccountId: registerId,
    })
    expect(paid.capturedAmount).to.equal(5_000)
    expect(paid.allocatedAmount).to.be.within(4_000, 5_000)
    expect((await session()).expected).to.equal(5_000)
    // Recorded wrongly: allocations, drawer and posting are as before.
    const turned = done(await send(owner, `payments/${paid.id}/cancel`, { reason: 'Paid by card' }))
    expect(turned).to.include({ status: 'reversed', allocatedAmount: 0 })
    expect((await session()).expected).to.equal(0)
  })

  it('a receipt of the terminal is recorded once, and counts in the session', async () => {
    const terminal = record({ method: 'terminal', amount: 7_000, cashAccountId: bankId, reference: 'NSU-1' })
    const first = done(await send(reception, 'payments/record', terminal), 201)
    const again = await send(reception, 'payments/record', terminal)
    expect([again.status, again.body.code, again.body.errors[0].message]).to.deep.equal([
      409,
      'duplicate_reference',
      first.id,
    ])
    const { totals } = await session()
    expect(totals).to.deep.include({ method: 'terminal', kind: 'guest_payment', in: 7_000, out: 0, count: 1 })
  })

  it('goes back by hand, from where it lies, and never twice', async () => {
    const cash = record({ method: 'cash', amount: 3_000 })
    const paid = done(await send(reception, 'payments/record', cash), 201)
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () =>
        refused(owner, `payments/${paid.id}/refunds`, { reason: 'error', cashSessionId: sessionId }),
      ),
    )
    expect(outcomes.filter(([status]) => status === 201)).to.have.length(1)
    expect(outcomes.filter(([, code]) => code === 'amount_exceeds_refundable')).to.have.length(4)
    const back = done(await owner.get(`payments/${paid.id}`))
    expect(back).to.include({ refundedAmount: 3_000, refundReserved: 3_000 })
    expect((await session()).expected).to.equal(0)
    expect(await refused(owner, `payments/${paid.id}/cancel`, { reason: 'Wrong' })).to.deep.equal([
      409,
      'invalid_transition',
    ])
  })

  it('is not turned on a later business date, nor taken for a folio that is closed', async () => {
    const cash = record({ method: 'cash', amount: 200 })
    const paid = done(await send(reception, 'payments/record', cash), 201)
    const move = (days: number) =>
      house.inHouse((trx) =>
        sql(trx, `update payment set business_date = business_date + cast(? as int) where id = ?`, [days, paid.id]),
      )
    await move(-1)
    expect(await refused(owner, `payments/${paid.id}/cancel`, { reason: 'Wrong' })).to.deep.equal([
      422,
      'not_same_business_date',
    ])
    await move(1)
    expect(done(await send(owner, `payments/${paid.id}/cancel`, { reason: 'Wrong' }))).to.include({
      status: 'reversed',
    })
    const folioId = await house.inHouse((trx) => openFolio(trx, { propertyId: house.propertyId, kind: 'house' }))
    done(await send(owner, `folios/${folioId}/close`))
    const target = { targetType: 'folio', targetId: folioId }
    expect(await refused(reception, 'payments/record', { ...cash, ...target })).to.deep.equal([422, 'target_closed'])
    const charge = { method: 'card', amount: 200, currency: 'BRL', ...target }
    expect(await refused(owner, 'payments', charge)).to.deep.equal([422, 'target_closed'])
    expect((await session()).expected).to.equal(0)
  })

  it('recorded money on a booking that is lost stands unallocated, and nothing fails', async () => {
    const bookingId = await makeHold(house, { from: 20 })
    const transfer = record({ method: 'bank_transfer', amount: 500, cashAccountId: bankId })
    const target = { targetType: 'booking', targetId: bookingId } as const
    const paid = done(await send(owner, 'payments/record', { ...transfer, ...target }), 201)
    expect(paid.allocatedAmount).to.equal(500)
    await house.inHouse((trx) => releaseMoney(trx, { ...target, amount: 500, reason: 'late_payment' }))
    expect(done(await owner.get(`payments/${paid.id}`))).to.include({ allocatedAmount: 0, refundReserved: 0 })
    const booking = await house.inHouse((trx) =>
      sqlOne<{ credit: number }>(trx, `select credit from booking where id = ?`, [bookingId]),
    )
    expect(booking?.credit).to.equal(0)
  })

  it('is refused on a counted session, and the ledger holds what the accounts say', async () => {
    const paid = done(await send(reception, 'payments/record', record({ method: 'cash', amount: 900 })), 201)
    const closing = { count: { '100': 9 }, declared: { terminal: 7_000 } }
    const closed = done(await send(reception, `cash/sessions/${sessionId}/close`, closing))
    expect(closed).to.include({ status: 'closed', expected: 900, difference: 0 })
    expect(await refused(owner, `payments/${paid.id}/cancel`, { reason: 'Wrong' })).to.deep.equal([
      422,
      'session_closed',
    ])
    const late = record({ method: 'cash', amount: 100, cashSessionId: sessionId })
    expect(await refused(reception, 'payments/record', late)).to.deep.equal([422, 'session_closed'])
    await post({ tenantId: house.tenantId, bookId: house.bookId, propertyId: house.propertyId, today: house.today })
    const rows = await house.inHouse((trx) =>
      sql<{ money: number; ledger: number }>(
        trx,
        `select c.balance as money, (select coalesce(sum(l.debit - l.credit), 0)::bigint from journal_line l where l.account_id = c.ledger_account_id) as ledger
         from cash_account c`,
      ),
    )
    expect(rows).to.have.length(2)
    for (const { money, ledger } of rows) expect(ledger).to.equal(money)
  })
})
