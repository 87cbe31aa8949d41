import { conflict, notFound, unprocessable } from '../../../config/errors.ts'
import { addOnCancelled, addOnPurchased } from '../../../config/events/admin.ts'
import type { AddOnBillingType, AddOnPrice } from '../../../config/add-ons.ts'
import type { LocalText } from '../../../config/local-text.ts'
import { audit } from '../../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import { moveGrants } from '../grants.ts'

type AddOnRow = {
  id: string
  key: string
  name: LocalText
  description: LocalText
  feature: string
  billingType: AddOnBillingType
  meter: string | null
  onSale: boolean
  plans: string[]
  priceId: string
  prices: Record<string, AddOnPrice>
  itemId: string | null
  itemPriceId: string | null
  itemPrices: Record<string, AddOnPrice> | null
  since: Date | null
  sources: string[]
}

/** The price of an add-on now, what the tenant holds of it, and what else makes its feature active. */
const offers = (condition: string) => `
  select a.id, a.key, a.name, a.description, a.feature, a.billing_type, a.meter, a.on_sale, a.plans, p.id as price_id, p.prices,
    i.id as item_id, i.price_id as item_price_id, q.prices as item_prices, i.starts_at as since,
    coalesce((select array_agg(g.source) from entitlement_grant g where g.tenant_id = :tenantId and g.key = a.feature and g.ended_at is null
      and (g.expires_at is null or g.expires_at > now())), '{}') as sources
  from add_on a
  join lateral (select id, prices from add_on_price where add_on_id = a.id and effective_from <= now() order by number desc limit 1) p on true
  left join subscription_item i on i.tenant_id = :tenantId and i.add_on_id = a.id and i.ends_at is null
  left join add_on_price q on q.id = i.price_id
  where ${condition} order by a.key`

type Owner = { plan: string; currency: string }

const ownerOf = async (trx: Trx): Promise<Owner & { tenantId: string }> => {
  const { tenantId } = contextOf(trx)
  const row = await sqlOne<Owner>(trx, `select plan, currency from tenant where id = ?`, [tenantId])
  if (!row || tenantId === null) throw notFound()
  return { ...row, tenantId }
}

const isFor = ({ plans, prices, onSale }: AddOnRow, { plan, currency }: Owner) =>
  onSale && (plans.length === 0 || plans.includes(plan)) && prices[currency] !== undefined

/** `included`: active by the plan, or by another add-on that is held. `trial`: active by a superuser's grant alone, so that it may be bought. */
const stateOf = ({ itemId, sources }: AddOnRow): 'owned' | 'included' | 'trial' | 'available' => {
  if (itemId !== null) return 'owned'
  if (sources.includes('PLAN_DEFAULT') || sources.includes('STORE_PURCHASE')) return 'included'
  return sources.includes('N1_GRANT') ? 'trial' : 'available'
}

const shown = (row: AddOnRow, { currency }: Owner) => ({
  addOn: {
    id: row.id,
    key: row.key,
    name: row.name,
    description: row.description,
    feature: row.feature,
    billingType: row.billingType,
    meter: row.meter,
  },
  price: {
    priceId: row.itemPriceId ?? row.priceId,
    currency,
    ...(row.itemPrices ?? row.prices)[currency],
  },
  state: stateOf(row),
  since: row.since,
})
export type StoreEntry = ReturnType<typeof shown>

/** Add-ons that the tenant can buy, or holds. */
export const listStore = async (trx: Trx, { page, limit }: Paging): Promise<Page<StoreEntry>> => {
  const owner = await ownerOf(trx)
  const rows = await sql<AddOnRow>(trx, offers('true'), { tenantId: owner.tenantId })
  const seen = rows.filter((row) => row.itemId !== null || isFor(row, owner))
  return { total: seen.length, rows: seen.slice((page - 1) * limit, page * limit).map((row) => shown(row, owner)) }
}

const offerOf = async (trx: Trx, tenantId: string, addOnId: string): Promise<AddOnRow> => {
  const row = await sqlOne<AddOnRow>(trx, offers('a.id = :addOnId'), { tenantId, addOnId })
  if (!row) throw notFound()
  return row
}

/** The subscription, then the tenant: what is bought, what is granted and what is billed follow one another. */
const lockBilling = async (trx: Trx, tenantId: string): Promise<void> => {
  await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantId])
  await sql(trx, `select id from tenant where id = ? for no key update`, [tenantId])
}

/** The quantity that the tenant's meter shows today, in the tenant's time zone. It is 0 without a meter. */
const usedToday = async (trx: Trx, tenantId: string, meter: string | null): Promise<number> => {
  if (meter === null) return 0
  const row = await sqlOne<{ quantity: number }>(
    trx,
    `select u.quantity from usage_day u join tenant t on t.id = u.tenant_id
     where u.tenant_id = ? and u.meter = ? and u.day = (now() at time zone t.time_zone)::date`,
    [tenantId, meter],
  )
  return row?.quantity ?? 0
}

const byOf = (trx: Trx) => contextOf(trx).actor.id

/**
 * Buys an add-on at the price that was shown; it takes effect with the commit, and is on the next invoice. 409 `price_changed` and
 * `feature_already_active`; 422 `add_on_not_available`.
 */
export const purchaseAddOn = async (trx: Trx, addOnId: string, priceId: string): Promise<StoreEntry> => {
  const before = await ownerOf(trx)
  const { tenantId } = before
  await lockBilling(trx, tenantId)
  const owner = await ownerOf(trx)
  const offer = await offerOf(trx, tenantId, addOnId)
  if (stateOf(offer) === 'owned' || stateOf(offer) === 'included')
    throw conflict('feature_already_active', 'The feature is active by your plan or a purchase')
  if (!isFor(offer, owner))
    throw unprocessable('add_on_not_available', 'The add-on is not on sale for your plan and currency')
  if (offer.priceId !== priceId)
    throw conflict('price_changed', 'The price has changed; read the add-ons again and confirm the new one')
  const [item] = await sql<{ id: string }>(
    trx,
    `insert into subscription_item (tenant_id, add_on_id, price_id, starts_at, usage_before, bought_by)
     values (?, ?, ?, clock_timestamp(), ?, ?) returning id`,
    [tenantId, addOnId, priceId, await usedToday(trx, tenantId, offer.meter), byOf(trx)],
  )
  const itemId = item?.id ?? ''
  await moveGrants(trx, tenantId, { begin: [{ key: offer.feature, source: 'STORE_PURCHASE', itemId }], by: byOf(trx) })
  await audit(trx, {
    action: 'add_on.purchase',
    subjectType: 'AddOn',
    subjectId: addOnId,
    changes: [
      { field: 'key', after: offer.key },
      { field: 'priceId', after: priceId },
    ],
  })
  await emit(trx, addOnPurchased, {
    propertyId: null,
    id: addOnId,
    version: null,
    data: { addOnId, key: offer.key, billingType: offer.billingType },
  })
  return shown(await offerOf(trx, tenantId, addOnId), owner)
}

export type HeldItem = {
  itemId: string
  addOnId: string
  key: string
  billingType: AddOnBillingType
  meter: string | null
}

/** Ends what a tenant holds of an add-on, at once; its monthly line leaves the next invoice. The caller has locked subscription and tenant. */
export const endItem = async (
  trx: Trx,
  tenantId: string,
  { itemId, addOnId, key, billingType, meter }: HeldItem,
): Promise<void> => {
  await sql(
    trx,
    `update subscription_item set ends_at = greatest(starts_at, clock_timestamp()), usage_at_end = ?, ended_by = ? where id = ? and ends_at is null`,
    [meter === null ? null : await usedToday(trx, tenantId, meter), byOf(trx), itemId],
  )
  await emit(trx, addOnCancelled, { propertyId: null, id: addOnId, version: null, data: { addOnId, key, billingType } })
}

/** Cancels an add-on at once, without penalty. One that is not held stays as it is. */
export const cancelAddOn = async (trx: Trx, addOnId: string): Promise<StoreEntry> => {
  const { tenantId } = await ownerOf(trx)
  await lockBilling(trx, tenantId)
  const owner = await ownerOf(trx)
  const offer = await offerOf(trx, tenantId, addOnId)
  if (offer.itemId === null) return shown(offer, owner)
  const grants = await sql<{ id: string }>(
    trx,
    `select id from entitlement_grant where tenant_id = ? and subscription_item_id = ? and ended_at is null`,
    [tenantId, offer.itemId],
  )
  await moveGrants(trx, tenantId, { end: grants.map(({ id }) => id), cause: 'cancelled', by: byOf(trx) })
  await endItem(trx, tenantId, { ...offer, itemId: offer.itemId, addOnId })
  await audit(trx, {
    action: 'add_on.cancel',
    subjectType: 'AddOn',
    subjectId: addOnId,
    changes: [{ field: 'key', before: offer.key, after: null }],
  })
  return shown(await offerOf(trx, tenantId, addOnId), owner)
}
