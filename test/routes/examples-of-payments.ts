import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { applyPayout } from '../../db/payment/balance/payouts.ts'
import { applyDisputeSnapshot } from '../../db/payment/disputes/snapshot.ts'
import { openException } from '../../db/payment/exceptions.ts'
import { addSandboxAccount, applySnapshot, createPayment, nothingKnown, requestRefund } from '../../db/payment/index.ts'
import { insertMethod } from '../../db/payment/methods/save.ts'
import type { GatewayAccountRow } from '../../db/rows.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import type { Known } from './inputs.ts'

/** Payments in the states that commands start from, and what belongs to them. */
export const ofPayments = async (
  house: House,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  let from = 60
  const pay = async (status: 'authorised' | 'captured' | 'created') => {
    from += 3
    const bookingId = await makeHold(house, { from })
    return house.inHouse(async (trx) => {
      const { payment } = await createPayment(trx, {
        channel: 'desk',
        mode: status === 'authorised' ? 'authorise' : 'charge',
        method: 'card',
        amount: 5_000,
        currency: 'BRL',
        targetType: 'booking',
        targetId: bookingId,
        propertyId: house.propertyId,
      })
      if (status === 'created') return { id: payment.id, ref: '', bookingId }
      const ref = `ch_${randomUUID()}`
      await applySnapshot(trx, payment.id, {
        ...nothingKnown,
        status,
        externalId: ref,
        currency: 'BRL',
        authorisedAmount: status === 'authorised' ? 5_000 : 0,
        capturedAmount: status === 'captured' ? 5_000 : 0,
      })
      return { id: payment.id, ref, bookingId }
    })
  }
  const captured = await pay('captured')
  const refundable = await pay('captured')
  const allocated = await pay('captured')
  const authorised = await pay('authorised')
  const created = await pay('created')
  const made = await house.inHouse(async (trx) => {
    const account = await sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [
      house.gatewayAccountId,
    ])
    if (!account) throw new Error('the house has no account')
    const spare = await addSandboxAccount(trx, { bookId: house.bookId, country: 'BR', currency: 'BRL', label: 'Spare' })
    const [refund] = await requestRefund(trx, { paymentId: captured.id, amount: 100, reason: 'error' })
    const snapshot = {
      externalId: `dp_${randomUUID().slice(0, 8)}`,
      paymentRef: captured.ref,
      phase: 'dispute',
      status: 'needs_response',
      amount: 1_000,
      currency: 'BRL',
      reason: 'fraudulent',
      responseDueAt: new Date(Date.now() + 86_400_000),
      openedAt: new Date(),
    } as const
    await applyDisputeSnapshot(trx, account.id, snapshot)
    await openException(
      trx,
      'refund_failed',
      { type: 'payment', id: captured.id, propertyId: house.propertyId, currency: 'BRL', gatewayAccountId: account.id },
      100,
    )
    const payout = await applyPayout(trx, account, {
      externalId: `po_${randomUUID().slice(0, 8)}`,
      amount: 4_000,
      currency: 'BRL',
      status: 'paid',
      arrivesOn: house.day(1),
      complete: true,
      failure: null,
      createdAt: new Date(),
    })
    const method = await insertMethod(
      trx,
      account.id,
      { bookingId: captured.bookingId },
      { textVersion: '1', addressHash: null },
    )
    await sql(
      trx,
      `update payment_method set status = 'active', external_id = ?, brand = 'visa', last4 = '4242', exp_month = 1, exp_year = 2040 where id = ?`,
      [`pm_${randomUUID()}`, method.id],
    )
    const [dispute] = await sql<{ id: string }>(trx, `select id from dispute limit 1`)
    const [exception] = await sql<{ id: string }>(trx, `select id from payment_exception where status = 'open' limit 1`)
    return {
      spare,
      refundId: refund?.refundId ?? '',
      disputeId: dispute?.id ?? '',
      paymentExceptionId: exception?.id ?? '',
      payoutId: payout?.id ?? '',
      paymentMethodId: method.id,
    }
  })
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  return {
    known: {
      gatewayAccountId: one(house.gatewayAccountId),
      paymentId: one(captured.id),
      refundId: one(made.refundId),
      disputeId: one(made.disputeId),
      payoutId: one(made.payoutId),
      paymentMethodId: one(made.paymentMethodId),
      paymentExceptionId: one(made.paymentExceptionId),
      targetId: one(created.bookingId),
      currency: one('BRL', 'BRL', 'BRL', 'USD'),
      consentTextVersion: one('2026-11'),
      date: one(yesterday),
      'payments.capture paymentId': one(authorised.id),
      'payments.cancel paymentId': one(created.id),
      'payments.refund paymentId': one(refundable.id),
      'payments.allocate paymentId': one(allocated.id),
      'gatewayAccounts.disconnect gatewayAccountId': one(made.spare),
    },
    examples: {
      'gatewayAccounts.onboardingLink': [{ returnUrl: 'https://portal.example/back' }],
      'payments.allocate': [{ allocations: [] }],
      'reconciliations.create': [{ gatewayAccountId: house.gatewayAccountId, date: yesterday }],
    },
    records: {
      gatewayAccountId: house.gatewayAccountId,
      paymentId: captured.id,
      refundId: made.refundId,
      disputeId: made.disputeId,
      payoutId: made.payoutId,
      paymentMethodId: made.paymentMethodId,
      paymentExceptionId: made.paymentExceptionId,
    },
  }
}
