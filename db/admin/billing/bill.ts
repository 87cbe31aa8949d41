import type { Plan } from '../../../config/plans.ts'
import { notFound } from '../../../config/errors.ts'
import { textIn } from '../../../config/local-text.ts'
import type { LocalText } from '../../../config/local-text.ts'
import type { AddOnBillingType, AddOnPrice, PriceTier } from '../../../config/add-ons.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Action } from '../../payment/index.ts'
import { linesOf } from '../rules/lines.ts'
import type { Adjustment, Item, Line, Period, UsageDay } from '../rules/lines.ts'
import type { BillingAddress } from '../tenants.ts'
import type { KeptMethod } from './collect/shared.ts'

type PlanFeature = { key: string; billingType: string; meters?: Record<string, Record<string, PriceTier[]>> }

export type SubscriptionFacts = {
  tenantId: string
  plan: Plan
  planVersionId: string
  /** The plan that the period is billed at: the one of its end, where the plan was changed since. */
  billedPlan: { id: string; name: string; features: PlanFeature[]; prices: Record<string, number> }
  anchorDay: number
  periodStart: string
  periodEnd: string
  /** The instant at which the period ends in the tenant's zone. */
  endsAt: Date
  action: Action | null
  paymentMethod: KeptMethod | null
  pastDueSince: Date | null
  version: number
  currency: string
  locale: string
  timeZone: string
  country: string
  name: string
  legalName: string | null
  document: string | null
  billingEmail: string
  billingAddress: BillingAddress | null
  versionNumber: number
  prices: Record<string, number>
}

const facts = `
  select s.tenant_id, s.plan, s.plan_version_id, s.anchor_day, s.period_start::text as period_start, s.period_end::text as period_end,
    s.period_end::timestamp at time zone t.time_zone as ends_at, s.payment_method, s.action, s.past_due_since, s.version, t.currency, t.locale, t.time_zone,
    t.country, t.name, t.legal_name, t.document, t.billing_email, t.billing_address, v.number as version_number, v.prices,
    jsonb_build_object('id', b.id, 'name', b.plan, 'features', b.features, 'prices', b.prices) as billed_plan
  from subscription s join tenant t on t.id = s.tenant_id join plan_version v on v.id = s.plan_version_id
  join plan_version b on b.id = case when s.plan_changed_at >= s.period_end::timestamp at time zone t.time_zone then s.former_plan_version_id else s.plan_version_id end
  where s.tenant_id = ?`

/** The subscription of a tenant with what its invoice is made of. `lock` holds it until the end of the transaction. 404. */
export const readFacts = async (trx: Trx, tenantId: string, { lock = false } = {}): Promise<SubscriptionFacts> => {
  // Locked before it is read: of a plan that changed while a joined statement waited, that would find no version.
  if (lock) await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantId])
  const row = await sqlOne<SubscriptionFacts>(trx, facts, [tenantId])
  if (!row) throw notFound()
  return row
}

/** The customer as an invoice keeps them. */
export const customerOf = ({
  name,
  legalName,
  document,
  billingEmail,
  billingAddress,
  country,
}: SubscriptionFacts) => ({ name, legalName, document, billingEmail, billingAddress, country })

type ItemRow = Omit<Item, 'price' | 'name'> & {
  prices: Record<string, AddOnPrice>
  name: LocalText
  billingType: AddOnBillingType
}

/** Add-ons held at some time of the period; one that ends after it is held at its end. */
const itemsOf = async (
  trx: Trx,
  { tenantId, currency, locale, timeZone }: SubscriptionFacts,
  { start, end }: Period,
): Promise<Item[]> => {
  const rows = await sql<ItemRow>(
    trx,
    `select i.add_on_id, a.key, a.name, a.billing_type, a.meter, p.id as price_id, p.prices, (i.starts_at at time zone :zone)::date::text as starts_on,
       case when i.ends_at < :end::timestamp at time zone :zone then (i.ends_at at time zone :zone)::date::text end as ends_on,
       i.usage_before, i.usage_at_end
     from subscription_item i join add_on a on a.id = i.add_on_id join add_on_price own on own.id = i.price_id
     -- A later price that holders pay, too, counts from their first period on that begins after it.
     join lateral (select o.id, o.prices from add_on_price o where o.add_on_id = i.add_on_id and (o.id = own.id
       or (o.apply_to_holders and o.number > own.number and o.effective_from <= :start::timestamp at time zone :zone and o.prices -> :currency::text is not null))
       order by o.number desc limit 1) p on true
     where i.tenant_id = :tenantId and i.starts_at < :end::timestamp at time zone :zone
       and (i.ends_at is null or i.ends_at >= :start::timestamp at time zone :zone)
     order by i.starts_at, i.id`,
    { tenantId, start, end, zone: timeZone, currency },
  )
  return rows.map(({ prices, name, ...row }) => ({
    ...row,
    name: textIn(name, locale, 'en'),
    price: prices[currency] ?? {},
  }))
}

const usageOf = (trx: Trx, tenantId: string, { start, end }: Period): Promise<UsageDay[]> =>
  sql<UsageDay>(
    trx,
    `select meter, day::text as day, quantity from usage_day where tenant_id = ? and day >= ?::date and day < ?::date order by meter, day`,
    [tenantId, start, end],
  )

export const openAdjustments = (trx: Trx, tenantId: string): Promise<Adjustment[]> =>
  sql<Adjustment>(
    trx,
    `select id, kind, amount, description from billing_adjustment where tenant_id = ? and invoice_id is null order by created_at, id limit 500`,
    [tenantId],
  )

export type Bill = { lines: Line[]; usage: UsageDay[]; adjustments: Adjustment[] }

/** Lines of the present period as they would be billed now: for reading and for the close alike. */
export const billOf = async (trx: Trx, subscription: SubscriptionFacts): Promise<Bill> => {
  const { tenantId, periodStart, periodEnd, billedPlan, currency } = subscription
  const period = { start: periodStart, end: periodEnd }
  const [items, usage, adjustments] = await Promise.all([
    itemsOf(trx, subscription, period),
    usageOf(trx, tenantId, period),
    openAdjustments(trx, tenantId),
  ])
  const meters = Object.fromEntries(
    billedPlan.features.flatMap(({ meters: priced = {} }) =>
      Object.entries(priced).map(([meter, inCurrencies]) => [meter, inCurrencies[currency] ?? []] as const),
    ),
  )
  const lines = linesOf({
    period,
    plan: { versionId: billedPlan.id, name: billedPlan.name, amount: billedPlan.prices[currency] ?? 0, meters },
    items,
    usage,
    adjustments,
  })
  return { lines, usage, adjustments }
}
