import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { addDays } from '../../config/time.ts'
import { inPlatform, inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { addSandboxAccount, createPayment } from '../../db/payment/index.ts'
import type { NewPayment } from '../../db/payment/index.ts'
import { createPolicy } from '../../db/properties/terms/policies.ts'
import { createRatePlan } from '../../db/properties/rates/rate-plans/create.ts'
import type { PaymentRow, RefundRow } from '../../db/rows.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { sweepPayments } from '../../jobs/payment.ts'
import { makeHouse } from '../financial/support.ts'
import type { House } from '../financial/support.ts'
import { drain } from '../support/drain.ts'
import { until } from '../support/until.ts'
import { stripeContract } from './stripe/contract.ts'
import { startStripePeer } from './stripe/peer.ts'
import type { Peer } from './stripe/peer.ts'

export const providers = ['sandbox', 'stripe'] as const
export type Provider = (typeof providers)[number]

export type Till = House & {
  accountId: string
  unitTypeId: string
  ratePlanId: string
  /** The peer that speaks as Stripe does, where the account is one of Stripe. */
  stripe: Peer | null
}

let stripePeer: Promise<Peer> | null = null

/** A gateway of the kind for the surrounding describe. */
export const useProvider = (provider: Provider): void => {
  if (provider !== 'stripe') return
  let former: typeof settings.stripe
  before(async function () {
    this.timeout(120_000)
    stripePeer = stripeContract().then(startStripePeer)
    const { url } = await stripePeer
    former = settings.stripe
    settings.stripe = { ...former, secretKey: 'sk_test_x', publishableKey: 'pk_test_x', apiBase: url }
  })
  after(async () => {
    settings.stripe = former
    await (await stripePeer)?.close()
    stripePeer = null
  })
}

const free = { type: 'none', value: 0, of: 'total' } as const

/** The sandbox's second in tests. */
export const secondMs = 40

/** An account at Stripe that is connected, and takes every method. */
const addStripeAccount = async (trx: Trx, bookId: string): Promise<string> => {
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into gateway_account (provider, label, book_id, country, currency, is_default, status, external_id, capabilities, charges_enabled, payouts_enabled)
     values ('stripe', 'Stripe', ?, 'BR', 'BRL', true, 'active', 'acct_' || replace(gen_random_uuid()::text, '-', ''),
       '{"card": "active", "pix": "active", "boleto": "active"}', true, true) returning id`,
    [bookId],
  )
  if (!row) throw new Error('the account was not written')
  return row.id
}

const slipPayer = {
  name: 'Ana Souza',
  email: 'ana@guests.example',
  document: { type: 'cpf', number: '529.982.247-25' },
  address: { street: 'Rua A', number: '1', city: 'Rio', region: 'RJ', postalCode: '20000-000', country: 'BR' },
} as const

/** A house with something to sell and an account at the sandbox gateway, whose callbacks go to `baseUrl`. */
export const makeTill = async (baseUrl = 'http://127.0.0.1:9', provider: Provider = 'sandbox'): Promise<Till> => {
  const stripe = provider === 'stripe' ? await stripePeer : null
  if (stripe) stripe.plans.secondMs = () => settings.sandboxSecondMs
  settings.sandboxSecondMs = secondMs
  settings.publicBaseUrl = baseUrl
  const house = await makeHouse()
  return inTenant(house.tenantId, async (trx) => {
    const { propertyId, bookId } = house
    const accountId = stripe
      ? await addStripeAccount(trx, bookId)
      : await addSandboxAccount(trx, { bookId, country: 'BR', currency: 'BRL' })
    const { id: unitTypeId } = await createUnitType(trx, {
      propertyId,
      code: 'STD',
      name: { 'pt-BR': 'Quarto' },
      kind: 'private',
      baseOccupancy: 2,
      maxAdults: 2,
      maxChildren: 0,
      maxOccupancy: 2,
    })
    const cancellationPolicyId = await createPolicy(trx, {
      propertyId,
      code: 'FREE',
      name: 'Free',
      kind: 'cancellation',
      rules: { tiers: [], after: free, graceHoursAfterBooking: 0, earlyDeparture: free },
    })
    const noShowPolicyId = await createPolicy(trx, {
      propertyId,
      code: 'NOSHOW',
      name: 'No-show',
      kind: 'no_show',
      rules: { fee: free, releaseRemaining: true },
    })
    const ratePlanId = await createRatePlan(trx, {
      propertyId,
      code: 'BAR',
      name: { 'pt-BR': 'Tarifa' },
      cancellationPolicyId,
      noShowPolicyId,
      unitTypes: [{ unitTypeId, standardAmount: 10_000 }],
    })
    return { ...house, accountId, unitTypeId, ratePlanId, stripe }
  })
}

let bookings = 0
/** A booking of one held room at a price, as a hold leaves it. */
export const makeBooking = (till: Till, total = 20_000): Promise<string> =>
  inTenant(till.tenantId, async (trx) => {
    const bookingId = randomUUID()
    const number = `A${String((bookings += 1)).padStart(7, '0')}`
    await sql(
      trx,
      `insert into booking (id, property_id, number, source, currency, language, hold_kind, hold_expires_at, hold_cap_at, hold_version)
       values (?, ?, ?, 'portal', 'BRL', 'pt-BR', 'checkout', now() + interval '10 minutes', now() + interval '45 minutes', 1)`,
      [bookingId, till.propertyId, number],
    )
    await sql(
      trx,
      `insert into reservation (booking_id, position, property_id, status, unit_type_id, rate_plan_id, arrival, departure, adults, policies, currency,
         room_total, extras_total, tax_total, total, market_segment)
       values (?, 1, ?, 'held', ?, ?, ?, ?, 2, '{}', 'BRL', ?, 0, 0, ?, 'transient')`,
      [
        bookingId,
        till.propertyId,
        till.unitTypeId,
        till.ratePlanId,
        addDays(till.today, 30),
        addDays(till.today, 32),
        total,
        total,
      ],
    )
    await sql(
      trx,
      `insert into reservation_night (reservation_id, date, unit_type_id, rate_plan_id, amount)
       select id, arrival + n, unit_type_id, rate_plan_id, case n when 0 then ? else 0 end from reservation, generate_series(0, 1) n where booking_id = ?`,
      [total, bookingId],
    )
    return bookingId
  })

export const endBooking = (till: Pick<Till, 'tenantId'>, bookingId: string, status: 'expired' | 'cancelled') =>
  inTenant(till.tenantId, async (trx) => {
    await sql(
      trx,
      `update reservation set status = ?, cancelled_at = case when ? = 'cancelled' then now() end,
         cancel_reason = case when ? = 'cancelled' then 'changed_plans' end where booking_id = ?`,
      [status, status, status, bookingId],
    )
    await sql(
      trx,
      `update booking set hold_kind = null, hold_expires_at = null, hold_cap_at = null, hold_version = null, ended_at = now() where id = ?`,
      [bookingId],
    )
  })

export const pay = (till: Till, bookingId: string, wanted: Partial<NewPayment> & { token?: string } = {}) =>
  inTenant(till.tenantId, async (trx) => {
    const { token, ...rest } = wanted
    const { payment, repeated } = await createPayment(trx, {
      channel: 'portal',
      method: 'card',
      amount: 20_000,
      currency: 'BRL',
      targetType: 'booking',
      targetId: bookingId,
      propertyId: till.propertyId,
      // Stripe takes no card that its owner has not given, and no slip without an address.
      ...((token ?? till.stripe) ? { cardToken: token ?? 'success' } : {}),
      ...(till.stripe && rest.method === 'boleto' ? { payer: slipPayer } : {}),
      ...rest,
    })
    if (!repeated) till.stripe?.plans.tokens.set(payment.id, token ?? 'success')
    return { id: payment.id, repeated }
  })

export const paymentKinds = [
  'payments.submit',
  'payments.capture',
  'payments.read',
  'payments.cancel',
  'payments.expire',
  'payments.refund',
  'payments.read-refund',
  'payments.process-callback',
]

/** Runs the jobs of this module, and the postings. */
export const work = () => drain({ kinds: [...paymentKinds, 'ledger.post'] })

export const paymentOf = (till: Till, id: string): Promise<PaymentRow> =>
  inTenant(till.tenantId, async (trx) => (await sqlOne<PaymentRow>(trx, `select * from payment where id = ?`, [id]))!)

export const refundsOf = (till: Till, paymentId: string): Promise<RefundRow[]> =>
  inTenant(till.tenantId, (trx) =>
    sql<RefundRow>(trx, `select * from refund where payment_id = ? order by created_at`, [paymentId]),
  )

export const creditOf = (till: Till, bookingId: string): Promise<number> =>
  inTenant(
    till.tenantId,
    async (trx) =>
      (await sqlOne<{ credit: number }>(trx, `select credit from booking where id = ?`, [bookingId]))!.credit,
  )

export const exceptionsOf = (till: Till, subjectId: string): Promise<string[]> =>
  inTenant(till.tenantId, async (trx) =>
    (
      await sql<{ kind: string }>(
        trx,
        `select kind from payment_exception where subject_id = ? and status = 'open' order by kind`,
        [subjectId],
      )
    ).map((row) => row.kind),
  )

export const within = <T>(till: Till, run: (trx: Trx) => Promise<T>) => inTenant(till.tenantId, run)

/** Runs the sweep of payments, as the schedule does every five seconds. */
export const sweep = async () => {
  await inPlatform((trx) => enqueue(trx, sweepPayments, {}))
  await drain({ kinds: ['payments.sweep'] })
}

/** Makes every scheduled read due, and runs what follows, until the payment is so. */
export const bring = (till: Till, id: string, status: PaymentRow['status'], withinMs = 30_000): Promise<PaymentRow> =>
  until(
    async () => {
      await within(till, (trx) =>
        sql(trx, `update payment set next_read_at = now(), read_count = 0 where id = ? and next_read_at is not null`, [
          id,
        ]),
      )
      await sweep()
      await work()
      const payment = await paymentOf(till, id)
      return payment.status === status && payment
    },
    { withinMs, what: `the payment being ${status}` },
  )

/** Charges at the gateway for a payment of ours, as its table has them. */
export const chargesOf = async (till: Till, id: string): Promise<{ amount: number; cancelledAt: number | null }[]> => {
  const { stripe } = till
  if (stripe) return [...stripe.plans.charges.values()].filter((one) => one.ourId === id)
  return within(till, async (trx) =>
    (
      await sql<{ state: { amount: number; cancelledAt: number | null } }>(
        trx,
        `select state from sandbox_object where kind = 'charge' and our_id = ?`,
        [id],
      )
    ).map((row) => row.state),
  )
}
