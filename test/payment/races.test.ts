import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { requestRefund } from '../../db/payment/index.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import type { PaymentRow } from '../../db/rows.ts'
import { readPayment, sweepPayments } from '../../jobs/payment.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { startPayment } from '../support/pay.ts'
import { makeHold, miscounted, outlive, readBooking } from '../support/stay.ts'
import { until } from '../support/until.ts'

const kinds = [
  'payments.submit',
  'payments.read',
  'payments.cancel',
  'payments.refund',
  'payments.read-refund',
  'payments.sweep',
  'inventory.confirm-paid',
  'inventory.assign',
  'ledger.post',
]

/** Balances of the accounts of roles, on their normal sides, of the house's book. */
const balances = (house: House, roles: string[]) =>
  house.inHouse(async (trx) => {
    const rows = await sql<{ role: string; balance: string }>(
      trx,
      `select a.role, coalesce(sum(case when a.side = 'debit' then b.debit - b.credit else b.credit - b.debit end), 0) as balance
       from account a left join account_balance b on b.tenant_id = a.tenant_id and b.account_id = a.id where a.role = any(?) group by a.role`,
      [roles],
    )
    return Object.fromEntries(rows.map((row) => [row.role, Number(row.balance)]))
  })

describe('money that meets something else in the same instant', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    settings.sandboxSecondMs = 40
    house = await makeHouse({ units: 1 })
  })

  const payments = (bookingId: string) =>
    house.inHouse((trx) =>
      sql<PaymentRow>(trx, `select * from payment where target_id = ? order by created_at`, [bookingId]),
    )

  /** Runs all that is due, and reads again what waits at the gateway, until nothing is open. */
  const settle = () =>
    until(
      async () => {
        await house.inHouse((trx) =>
          sql(
            trx,
            `update payment set next_read_at = now() where status not in ('captured', 'failed', 'cancelled', 'expired')`,
          ),
        )
        await house.inHouse((trx) =>
          sql(trx, `update refund set next_read_at = now() where status not in ('succeeded', 'failed')`),
        )
        await inPlatform((trx) => enqueue(trx, sweepPayments, {}))
        await drain({ kinds })
        const open = await house.inHouse((trx) =>
          sql(
            trx,
            `select id from payment where status not in ('captured', 'failed', 'cancelled', 'expired')
             union all select id from refund where status not in ('succeeded', 'failed')`,
          ),
        )
        return open.length === 0
      },
      { withinMs: 30_000, what: 'every payment to end' },
    )

  /** Checks the end of every story: all money is on a folio, or has gone back, and the ledger agrees. */
  const isAccountedFor = async (bookingIds: string[]) => {
    let kept = 0
    for (const id of bookingIds) {
      const booking = await readBooking(house, id)
      const made = await payments(id)
      const captured = made.reduce((sum, one) => sum + one.capturedAmount, 0)
      const returned = made.reduce((sum, one) => sum + one.refundedAmount, 0)
      const onFolios = booking.folios.reduce((sum, folio) => sum + folio.credits, 0)
      expect(booking.credit, 'nothing waits as credit').to.equal(0)
      expect(onFolios + returned, `booking ${booking.number}`).to.equal(captured)
      const [room] = booking.rooms
      expect(['confirmed', 'expired']).to.include(room?.status)
      if (room?.status === 'expired') expect(returned, 'an expired booking keeps nothing').to.equal(captured)
      kept += onFolios
    }
    expect(
      await balances(house, ['gateway_clearing', 'deposits', 'unallocated_receipts', 'refunds_payable']),
    ).to.deep.equal({
      gateway_clearing: kept,
      deposits: kept,
      unallocated_receipts: 0,
      refunds_payable: 0,
    })
    expect(await miscounted(house)).to.deep.equal([])
  }

  it('the end of the hold: each ends in exactly one of confirmed and refunded', async function () {
    this.timeout(120_000)
    const ids: string[] = []
    for (let round = 0; round < 8; round += 1) {
      const bookingId = await makeHold(house, { from: 10 + 3 * round })
      ids.push(bookingId)
      const paymentId = await startPayment(house, bookingId, 'due', 'pix')
      await drain({ kinds: ['payments.submit'] })
      await wait(4 * settings.sandboxSecondMs)
      await outlive(house, bookingId)
      await house.inHouse((trx) => enqueue(trx, readPayment, { tenantId: house.tenantId, paymentId }))
      const expire = () => house.inHouse((trx) => expireHold(trx, bookingId))
      await Promise.all([
        wait(round % 4).then(expire),
        drain({ kinds }),
        drain({ kinds }),
        wait(2 * (round % 4)).then(expire),
      ])
    }
    await settle()
    await isAccountedFor(ids)
  })

  it('the sale of its night to another: the late one goes back in full', async () => {
    const late = await makeHold(house, { from: 20 })
    const paymentId = await startPayment(house, late, 'due', 'pix')
    await drain({ kinds: ['payments.submit'] })
    await outlive(house, late)
    await house.inHouse((trx) => sql(trx, `update booking set hold_cap_at = hold_expires_at where id = ?`, [late]))
    expect(await house.inHouse((trx) => expireHold(trx, late))).to.equal('expired')
    const other = await makeHold(house, { from: 20 })
    await startPayment(house, other)
    await wait(4 * settings.sandboxSecondMs)
    await house.inHouse((trx) => enqueue(trx, readPayment, { tenantId: house.tenantId, paymentId }))
    await settle()
    expect((await readBooking(house, other)).rooms[0]?.status).to.equal('confirmed')
    expect((await readBooking(house, late)).rooms[0]?.status).to.equal('expired')
    expect((await payments(late))[0]).to.include({ late: true, refundReserved: 6_000 * 2 })
    await isAccountedFor([late, other])
  })

  it('its own refund, asked for by many in parts: no more goes back than came', async () => {
    const bookingId = await makeHold(house, { from: 30 })
    await startPayment(house, bookingId, 'all')
    await settle()
    const [payment] = await payments(bookingId)
    const asked = await Promise.allSettled(
      Array.from({ length: 15 }, () =>
        house.inHouse((trx) => requestRefund(trx, { paymentId: payment!.id, amount: 3_000, reason: 'guest_request' })),
      ),
    )
    expect(asked.filter((one) => one.status === 'fulfilled')).to.have.length(13)
    await settle()
    expect((await payments(bookingId))[0]).to.include({
      refundedAmount: 39_000,
      refundReserved: 39_000,
      allocatedAmount: 1_000,
    })
    expect((await readBooking(house, bookingId)).folios[0]?.credits).to.equal(1_000)
    await isAccountedFor([bookingId])
  })
})
