import { addOnBillingTypes } from '../../config/add-ons.ts'
import {
  Amount,
  Bool,
  Count,
  Currency,
  Day,
  Instant,
  Int,
  List,
  LocalText,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  PostalAddress,
  SignedAmount,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { Action } from '../payment/schemas.ts'

/** A decimal text of minor units with up to six places. */
export const UnitPrice = Matching('^(0|[1-9][0-9]{0,8})(\\.[0-9]{1,6})?$', 16)
export const Tiers = List(Obj({ upTo: Nullable(Int(1, 1_000_000_000)), unitPrice: UnitPrice }), { min: 1, max: 10 })
export const BillingType = OneOf([...addOnBillingTypes])

export const StoreEntry = Obj(
  {
    addOn: Obj({
      id: Uuid,
      key: Text(1, 40),
      name: LocalText,
      description: LocalText,
      feature: Text(1, 40),
      billingType: BillingType,
      meter: Nullable(Text(1, 40)),
    }),
    /** Of the purchase where it is held, else the present one. */
    price: Obj({
      priceId: Uuid,
      currency: Currency,
      amount: Opt(Amount),
      unitPrice: Opt(UnitPrice),
      tiers: Opt(Tiers),
    }),
    /** `included` in the plan; `trial`: given by the provider, and on sale. */
    state: OneOf(['available', 'owned', 'included', 'trial']),
    since: Nullable(Instant),
  },
  { title: 'StoreEntry' },
)

const invoiceFields = {
  /** `next` for what would be billed now. */
  id: Text(4, 36),
  tenantId: Uuid,
  number: Nullable(Text(1, 20)),
  status: OneOf(['next', 'issued', 'paid', 'void']),
  overdue: Bool,
  currency: Currency,
  periodStart: Day,
  periodEnd: Day,
  total: Amount,
  issuedAt: Nullable(Instant),
  dueOn: Nullable(Day),
  paidAt: Nullable(Instant),
  voidedAt: Nullable(Instant),
  reason: Nullable(Text(0, 500)),
}
export const InvoiceSummary = Obj(invoiceFields, { title: 'SubscriptionInvoiceSummary' })
export const Invoice = Obj(
  {
    ...invoiceFields,
    customer: Obj({
      name: Text(1, 120),
      legalName: Nullable(Text(0, 120)),
      document: Nullable(Text(0, 40, { cardNumber: 'document' })),
      billingEmail: Text(3, 254),
      billingAddress: Nullable(PostalAddress),
      country: Text(2, 2),
    }),
    lines: List(
      Obj({
        kind: OneOf(['plan', 'add_on', 'usage', 'adjustment', 'carried']),
        subjectId: Text(1, 100),
        description: Text(1, 500),
        from: Day,
        to: Day,
        quantity: Count,
        /** Null where units have several prices. */
        unitPrice: Nullable(Text(1, 20)),
        amount: SignedAmount,
        priceId: Nullable(Uuid),
      }),
      { max: 1_000 },
    ),
    /** Tries to collect it, the last first. */
    payments: List(
      Obj({
        id: Uuid,
        method: OneOf(['card', 'pix', 'boleto']),
        amount: Amount,
        status: OneOf(['created', 'unknown', 'requires_action', 'processing', 'captured', 'failed', 'cancelled']),
        /** The next step of the payer, such as a Pix code to be paid. */
        action: Nullable(Action),
        failureCode: Nullable(Text(0, 60)),
        failureMessage: Nullable(Text(0, 200)),
        createdAt: Instant,
        endedAt: Nullable(Instant),
      }),
      { max: 50 },
    ),
  },
  { title: 'SubscriptionInvoice' },
)

/** A tenant’s way to pay its bills. Brand and last digits are those of a card that has paid once. */
export const PaymentMethod = Obj({
  kind: OneOf(['card', 'pix', 'boleto', 'transfer']),
  status: OneOf(['pending', 'active', 'failed']),
  brand: Opt(Text(1, 40)),
  last4: Opt(Matching('^[0-9]{4}$', 4)),
})

export const Subscription = Obj(
  {
    plan: OneOf(['Starter', 'Professional', 'Enterprise']),
    planVersion: Count,
    price: Obj({ currency: Currency, amount: Amount }),
    anchorDay: Int(1, 31),
    periodStart: Day,
    periodEnd: Day,
    items: List(StoreEntry, { max: 100 }),
    entitlements: List(
      Obj({
        key: Text(1, 40),
        source: OneOf(['PLAN_DEFAULT', 'STORE_PURCHASE', 'N1_GRANT']),
        startsAt: Instant,
        expiresAt: Nullable(Instant),
      }),
      { max: 100 },
    ),
    usage: List(
      Obj({ meter: Text(1, 40), quantity: Count, days: List(Obj({ day: Day, quantity: Count }), { max: 31 }) }),
      { max: 20 },
    ),
    nextTotal: Amount,
    currency: Currency,
    paymentMethod: Nullable(PaymentMethod),
    /** The next step of the payer of an open invoice. */
    action: Nullable(Action),
    pastDueSince: Nullable(Instant),
    version: Count,
  },
  { title: 'Subscription' },
)
