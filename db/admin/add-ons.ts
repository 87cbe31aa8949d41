import type { AddOnBillingType, AddOnPrice } from '../../config/add-ons.ts'
import { isFeature } from '../../config/features.ts'
import { conflict, invalid, notFound, unprocessable, versionConflict } from '../../config/errors.ts'
import type { LocalText } from '../../config/local-text.ts'
import type { Plan } from '../../config/plans.ts'
import { tellHoldersOfPrice } from '../../jobs/admin.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { readPage } from '../lib/paging.ts'
import { tellOwners } from './notices.ts'
import { assertTiers } from './plans.ts'

export type Prices = Record<string, AddOnPrice>
export type PriceVersion = {
  priceId: string
  number: number
  effectiveFrom: Date
  applyToHolders: boolean
  prices: Prices
}
export type AddOn = {
  id: string
  key: string
  name: LocalText
  description: LocalText
  feature: string
  billingType: AddOnBillingType
  meter: string | null
  plans: Plan[]
  onSale: boolean
  holders: number
  prices: PriceVersion[]
  version: number
  createdAt: Date
  updatedAt: Date
}

const columns = `a.id, a.key, a.name, a.description, a.feature, a.billing_type, a.meter, a.plans, a.on_sale, a.version, a.created_at, a.updated_at,
  (select count(*) from subscription_item i where i.add_on_id = a.id and i.ends_at is null) as holders`

const withPrices = async (trx: PlatformTrx, rows: Omit<AddOn, 'prices'>[]): Promise<AddOn[]> => {
  const prices = await sql<PriceVersion & { addOnId: string }>(
    trx,
    `select add_on_id, id as price_id, number, effective_from, apply_to_holders, prices from add_on_price where add_on_id = any(?::uuid[]) order by number desc`,
    [rows.map(({ id }) => id)],
  )
  return rows.map((row) => ({
    ...row,
    prices: prices.filter(({ addOnId }) => addOnId === row.id).slice(0, 100),
  }))
}

/** All add-ons, also those that are not on sale, with their prices, newest first. */
export const listAddOns = async (trx: PlatformTrx, paging: Paging): Promise<Page<AddOn>> => {
  const { total, rows } = await readPage<Omit<AddOn, 'prices'>>(
    trx,
    { columns, from: 'add_on a', conditions: [], order: 'a.key, a.id' },
    paging,
  )
  return { total, rows: await withPrices(trx, rows) }
}

const readAddOn = async (trx: PlatformTrx, id: string): Promise<AddOn> => {
  const [row] = await sql<Omit<AddOn, 'prices'>>(trx, `select ${columns} from add_on a where a.id = ?`, [id])
  if (!row) throw notFound()
  return (await withPrices(trx, [row]))[0]!
}

const fields: Record<AddOnBillingType, 'amount' | 'unitPrice' | 'tiers' | null> = {
  FREE: null,
  FLAT_MONTHLY: 'amount',
  METERED: 'unitPrice',
  TIERED: 'tiers',
}

/** Each currency has just what the billing type asks for. 400, and 422 `plan_without_price` where there is no currency. */
const assertPrices = (billingType: AddOnBillingType, prices: Prices): void => {
  const wanted = fields[billingType]
  const currencies = Object.keys(prices)
  if (currencies.length === 0 && billingType !== 'FREE')
    throw unprocessable('plan_without_price', 'The add-on has no price', [
      { field: 'price.prices', message: 'is empty' },
    ])
  for (const currency of currencies) {
    const given = Object.keys(prices[currency] ?? {})
    if (wanted === null ? given.length > 0 : given.length !== 1 || given[0] !== wanted)
      throw invalid([
        {
          field: `price.prices.${currency}`,
          message: wanted === null ? 'must be empty for FREE' : `must have ${wanted} alone for ${billingType}`,
        },
      ])
    const { tiers } = prices[currency] ?? {}
    if (tiers) assertTiers(tiers, `price.prices.${currency}.tiers`)
  }
}

type NewPrice = {
  prices: Prices
  effectiveFrom?: string | undefined
  applyToHolders?: boolean | undefined
}

const noticeDays = 30

const addPrice = async (
  trx: PlatformTrx,
  addOn: Pick<AddOn, 'id' | 'billingType'>,
  { prices, effectiveFrom, applyToHolders = false }: NewPrice,
): Promise<string> => {
  assertPrices(addOn.billingType, prices)
  const clock = await sqlOne<{ past: boolean; soon: boolean }>(
    trx,
    `select coalesce(?::timestamptz < now() - interval '1 minute', false) as past,
       coalesce(?::timestamptz, now()) < now() + make_interval(days => ?) as soon`,
    [effectiveFrom ?? null, effectiveFrom ?? null, noticeDays],
  )
  if (clock?.past) throw invalid([{ field: 'price.effectiveFrom', message: 'must not be past' }])
  if (applyToHolders && clock?.soon)
    throw invalid([
      { field: 'price.effectiveFrom', message: `must be at least ${noticeDays} days ahead where holders pay it too` },
    ])
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into add_on_price (add_on_id, number, effective_from, prices, apply_to_holders, created_by)
     select :id, coalesce(max(number), 0) + 1, coalesce(:from::timestamptz, now()), :prices::jsonb, :holders, :by from add_on_price where add_on_id = :id
     returning id`,
    {
      id: addOn.id,
      from: effectiveFrom ?? null,
      prices: JSON.stringify(prices),
      holders: applyToHolders,
      by: contextOf(trx).actor.id,
    },
  )
  const priceId = row?.id ?? ''
  if (applyToHolders) await enqueue(trx, tellHoldersOfPrice, { priceId, after: null }, { uniqueKey: priceId })
  return priceId
}

export type NewAddOn = {
  key: string
  name: LocalText
  description: LocalText
  feature: string
  billingType: AddOnBillingType
  meter?: string | null | undefined
  plans?: Plan[] | undefined
  onSale: boolean
  price: NewPrice
}

/** Puts an add-on into the store. 409 `duplicate_key`; 422 `unknown_feature`. */
export const createAddOn = async (trx: PlatformTrx, given: NewAddOn): Promise<AddOn> => {
  const { key, name, description, feature, billingType, meter = null, plans = [], onSale, price } = given
  if (!isFeature(feature))
    throw unprocessable('unknown_feature', `There is no feature ${feature}`, [
      { field: 'feature', message: 'is not a feature' },
    ])
  const isCounted = billingType === 'METERED' || billingType === 'TIERED'
  if (isCounted !== (meter !== null))
    throw invalid([{ field: 'meter', message: isCounted ? 'is required' : `is not for ${billingType}` }])
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into add_on (key, name, description, feature, billing_type, meter, plans, on_sale)
     values (?, ?::jsonb, ?::jsonb, ?, ?, ?, ?::text[], ?) on conflict (key) do nothing returning id`,
    [key, JSON.stringify(name), JSON.stringify(description), feature, billingType, meter, plans, onSale],
  )
  if (!row) throw conflict('duplicate_key', `There is an add-on ${key}`)
  await addPrice(trx, { id: row.id, billingType }, price)
  await audit(trx, {
    tenantId: null,
    action: 'add_on.create',
    subjectType: 'AddOn',
    subjectId: row.id,
    changes: [
      { field: 'key', after: key },
      { field: 'billingType', after: billingType },
      { field: 'onSale', after: onSale },
      { field: 'prices', after: price.prices },
    ],
  })
  return readAddOn(trx, row.id)
}

export type AddOnChange = {
  name?: LocalText | undefined
  description?: LocalText | undefined
  plans?: Plan[] | undefined
  onSale?: boolean | undefined
  price?: NewPrice | undefined
}

/** Changes texts, sale or price of an add-on. A new price is a version: what was bought keeps its own, unless it applies to holders. */
export const changeAddOn = async (
  trx: PlatformTrx,
  id: string,
  { name, description, plans, onSale, price }: AddOnChange,
  expected: number | null,
): Promise<AddOn> => {
  await sql(trx, `select id from add_on where id = ? for no key update`, [id])
  const before = await readAddOn(trx, id)
  if (expected !== null && expected !== before.version) throw versionConflict(before.version)
  await sql(
    trx,
    `update add_on set name = coalesce(?::jsonb, name), description = coalesce(?::jsonb, description), plans = coalesce(?::text[], plans),
       on_sale = coalesce(?::boolean, on_sale), version = version + 1 where id = ?`,
    [
      name === undefined ? null : JSON.stringify(name),
      description === undefined ? null : JSON.stringify(description),
      plans ?? null,
      onSale ?? null,
      id,
    ],
  )
  if (price) await addPrice(trx, before, price)
  await audit(trx, {
    tenantId: null,
    action: 'add_on.update',
    subjectType: 'AddOn',
    subjectId: id,
    changes: [
      ...(name ? [{ field: 'name' }] : []),
      ...(description ? [{ field: 'description' }] : []),
      ...(plans ? [{ field: 'plans', before: before.plans, after: plans }] : []),
      ...(onSale === undefined ? [] : [{ field: 'onSale', before: before.onSale, after: onSale }]),
      ...(price ? [{ field: 'prices', before: before.prices[0]?.prices, after: price.prices }] : []),
    ],
  })
  return readAddOn(trx, id)
}

const toldAtOnce = 50

/** Tenants that hold an add-on whose price will change for them, some at a time. Answers where to go on. */
export const holdersToTell = (trx: PlatformTrx, priceId: string, after: string | null) =>
  sql<{ tenantId: string; key: string; day: string }>(
    trx,
    `select i.tenant_id, a.key, p.effective_from::date::text as day from add_on_price p join add_on a on a.id = p.add_on_id
     join subscription_item i on i.add_on_id = a.id and i.ends_at is null
     where p.id = ? and (?::uuid is null or i.tenant_id > ?::uuid) order by i.tenant_id limit ${toldAtOnce}`,
    [priceId, after, after],
  )

export const tellHolder = (trx: Trx, priceId: string, { key, day }: { key: string; day: string }) =>
  tellOwners(trx, 'add_on_price', priceId, { key, day })
