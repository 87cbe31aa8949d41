import { LRUCache } from 'lru-cache'
import type { BedKind } from '../../../config/amenities.ts'
import type { LocalText } from '../../../config/local-text.ts'
import type { CancellationRules, DepositRules, NoShowRules } from '../../../config/policy-rules.ts'
import { settingsOf } from '../../../config/property-settings.ts'
import type { PropertySettings, StoredSettings } from '../../../config/property-settings.ts'
import type { ExtraBasis } from '../../../config/quote.ts'
import { contextOf, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PropertyRow as PropertyRecord } from '../../rows.ts'
import type { PoolShare } from '../../units/index.ts'
import type { Derivation, LosDiscount, OccupancyPrices } from '../rules/prices.ts'
import type { PlanLimits } from '../rules/restrictions.ts'
import type { TaxRule } from '../rules/taxes.ts'

export type PropertyAddress = {
  line1?: string
  line2?: string
  district?: string
  city?: string
  region?: string
  postalCode?: string
  countryCode?: string
}

export type SaleProperty = {
  id: string
  slug: string
  name: string
  description: LocalText
  kind: PropertyRecord['kind']
  status: 'draft' | 'live' | 'suspended' | 'archived'
  timezone: string
  currency: string
  locales: string[]
  address: PropertyAddress
  latitude: string | null
  longitude: string | null
  phone: string | null
  email: string | null
  website: string | null
  bookId: string
  checkInFrom: string
  checkInUntil: string | null
  checkOutUntil: string
  cleaningMinutes: number
  amenities: string[]
  houseRules: LocalText
  businessDate: string | null
  publicVersion: number
  settings: PropertySettings
  /** The database's clock. */
  now: Date
  /** Changes with every change of the row. */
  revision: string
}

export type PolicyVersion<Rules> = { policyId: string; versionId: string; rules: Rules; hash: string }

export type SaleType = {
  id: string
  code: string
  name: LocalText
  description: LocalText
  kind: 'private' | 'shared' | 'entire'
  baseOccupancy: number
  maxAdults: number
  maxChildren: number
  maxOccupancy: number
  beds: { kind: BedKind; count: number }[]
  sizeM2: number | null
  amenities: string[]
  bookable: boolean
  pools: PoolShare[]
}

export type PlanPrices = Omit<OccupancyPrices, 'baseOccupancy'> & { unitTypeId: string; standardAmount: number | null }

export type SalePlan = PlanLimits & {
  id: string
  code: string
  name: LocalText
  description: LocalText
  parentId: string | null
  derivation: Derivation | null
  inheritRestrictions: boolean
  marketSegment: string
  mealPlan: 'none' | 'breakfast' | 'half_board' | 'full_board' | 'all_inclusive'
  includedExtras: { extraId: string; quantity: number }[]
  visibility: 'public' | 'code' | 'private'
  losDiscounts: LosDiscount[]
  cancellation: PolicyVersion<CancellationRules>
  noShow: PolicyVersion<NoShowRules>
  deposit: PolicyVersion<DepositRules> | null
  unitTypes: PlanPrices[]
}

export type SaleExtra = {
  id: string
  code: string
  name: LocalText
  description: LocalText
  category: string
  amount: number
  basis: ExtraBasis
  mandatory: boolean
  bookableOnline: boolean
  unitTypeIds: string[]
  maxQuantity: number
  cutoffHours: number
  poolId: string | null
}

export type AgeCategory = {
  id: string | null
  code: string
  name: LocalText
  minAge: number
  maxAge: number | null
  kind: 'infant' | 'child' | 'adult'
  countsInOccupancy: boolean
}

export type SaleTaxRule = Omit<TaxRule, 'name'> & { name: LocalText; kind: 'tax' | 'fee' }

/** Everything a property sells, apart from the calendar: active records, in display order. */
export type Catalogue = {
  unitTypes: SaleType[]
  ratePlans: SalePlan[]
  extras: SaleExtra[]
  taxRules: SaleTaxRule[]
  ageCategories: AgeCategory[]
}

type PropertyRow = Omit<SaleProperty, 'settings' | 'checkInFrom' | 'checkOutUntil'> & {
  settings: StoredSettings
  checkInFrom: string | null
  checkOutUntil: string | null
}

/** The property as a sale sees it; null where the tenant has none of that id. Hours that a draft lacks are 14:00 and 12:00. */
export const readProperty = async (trx: Trx, propertyId: string): Promise<SaleProperty | null> => {
  const row = await preparedOne<PropertyRow>(
    trx,
    `select id, slug, name, description, kind, status, timezone, currency, locales, address, latitude, longitude, phone, email, website,
       book_id, check_in_from, check_in_until, check_out_until, cleaning_minutes, amenities, house_rules, business_date, public_version, settings,
       now() as now, extract(epoch from updated_at)::text as revision
     from property where id = ?`,
    [propertyId],
  )
  return (
    row && {
      ...row,
      settings: settingsOf(row.settings),
      checkInFrom: row.checkInFrom ?? '14:00',
      checkOutUntil: row.checkOutUntil ?? '12:00',
    }
  )
}

const policy = (alias: string, column: string) => `
  (select jsonb_build_object('policyId', p.id, 'versionId', v.id, 'rules', v.rules, 'hash', v.hash)
   from policy p join policy_version v on v.tenant_id = p.tenant_id and v.policy_id = p.id and v.number = p.current_version
   where p.tenant_id = ${alias}.tenant_id and p.id = ${alias}.${column})`

const query = `
  select
    (select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'code', t.code, 'name', t.name, 'description', t.description, 'kind', t.kind,
        'baseOccupancy', t.base_occupancy, 'maxAdults', t.max_adults, 'maxChildren', t.max_children, 'maxOccupancy', t.max_occupancy, 'beds', t.beds,
        'sizeM2', t.size_m2, 'amenities', t.amenities, 'bookable', t.bookable, 'pools',
        (select coalesce(jsonb_agg(jsonb_build_object('poolId', s.unit_pool_id, 'quantity', s.quantity) order by s.unit_pool_id), '[]')
         from unit_type_pool s where s.tenant_id = t.tenant_id and s.unit_type_id = t.id)) order by t.position, t.code), '[]')
     from unit_type t where t.property_id = :propertyId and t.status = 'active') as unit_types,
    (select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'code', r.code, 'name', r.name, 'description', r.description, 'parentId', r.parent_id,
        'derivation', r.derivation, 'inheritRestrictions', r.inherit_restrictions, 'marketSegment', r.market_segment, 'mealPlan', r.meal_plan,
        'includedExtras', r.included_extras, 'visibility', r.visibility, 'bookableFrom', r.bookable_from, 'bookableUntil', r.bookable_until,
        'stayFrom', r.stay_from, 'stayUntil', r.stay_until, 'minAdvanceDays', r.min_advance_days, 'maxAdvanceDays', r.max_advance_days,
        'minNights', r.min_nights, 'maxNights', r.max_nights, 'losDiscounts', r.los_discounts, 'cancellation', ${policy('r', 'cancellation_policy_id')},
        'noShow', ${policy('r', 'no_show_policy_id')}, 'deposit', ${policy('r', 'deposit_policy_id')}, 'unitTypes',
        (select coalesce(jsonb_agg(jsonb_build_object('unitTypeId', u.unit_type_id, 'standardAmount', u.standard_amount, 'adults', u.adults,
           'extraAdultAmount', u.extra_adult_amount, 'children', u.children)), '[]')
         from rate_plan_unit_type u where u.tenant_id = r.tenant_id and u.rate_plan_id = r.id)) order by r.code), '[]')
     from rate_plan r where r.property_id = :propertyId and r.status = 'active') as rate_plans,
    (select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'code', e.code, 'name', e.name, 'description', e.description, 'category', e.category,
        'amount', e.amount, 'basis', e.basis, 'mandatory', e.mandatory, 'bookableOnline', e.bookable_online, 'unitTypeIds', e.unit_type_ids,
        'maxQuantity', e.max_quantity, 'cutoffHours', e.cutoff_hours, 'poolId', e.pool_id) order by e.code), '[]')
     from extra e where e.property_id = :propertyId and e.status = 'active') as extras,
    (select coalesce(jsonb_agg(jsonb_build_object('id', x.id, 'code', x.code, 'name', x.name, 'kind', x.kind, 'basis', x.basis, 'rate', x.rate,
        'amount', x.amount, 'included', x.included, 'appliesTo', x.applies_to, 'exemptAgeCategoryIds', x.exempt_age_category_ids,
        'maxNights', x.max_nights, 'validFrom', x.valid_from, 'validTo', x.valid_to) order by x.code, x.valid_from), '[]')
     from tax_rule x where x.property_id = :propertyId) as tax_rules,
    (select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'code', a.code, 'name', a.name, 'minAge', a.min_age, 'maxAge', a.max_age,
        'kind', a.kind, 'countsInOccupancy', a.counts_in_occupancy) order by a.min_age), '[]')
     from age_category a where a.property_id = :propertyId) as age_categories`

/** Default age bands of a property without its own. */
export const usualAges: AgeCategory[] = [
  {
    id: null,
    code: 'INFANT',
    name: { en: 'Infant', pt: 'Bebê', es: 'Bebé' },
    minAge: 0,
    maxAge: 1,
    kind: 'infant',
    countsInOccupancy: false,
  },
  {
    id: null,
    code: 'CHILD',
    name: { en: 'Child', pt: 'Criança', es: 'Niño' },
    minAge: 2,
    maxAge: 11,
    kind: 'child',
    countsInOccupancy: true,
  },
  {
    id: null,
    code: 'ADULT',
    name: { en: 'Adult', pt: 'Adulto', es: 'Adulto' },
    minAge: 12,
    maxAge: null,
    kind: 'adult',
    countsInOccupancy: true,
  },
]

/** The number of records of a catalogue. */
const weightOf = ({ unitTypes, ratePlans, extras, taxRules }: Catalogue) =>
  10 +
  unitTypes.length +
  extras.length +
  taxRules.length +
  ratePlans.reduce((all, plan) => all + 2 + plan.unitTypes.length, 0)

const kept = new LRUCache<string, { revision: string; catalogue: Catalogue }>({
  // About 0.3 kB each: some 50 MB, or fifteen hundred houses of ten types and six plans.
  maxSize: 150_000,
  sizeCalculation: ({ catalogue }) => weightOf(catalogue),
})

const keyOf = (trx: Trx, propertyId: string) => `${contextOf(trx).tenantId} ${propertyId}`

/** The catalogue as this process last read it. The caller must check that its version still holds. */
export const keptCatalogue = (trx: Trx, propertyId: string): Catalogue | undefined =>
  kept.get(keyOf(trx, propertyId))?.catalogue

/**
 * Everything that a property sells, in one query; kept per process until the property's row changes, which every command that
 * changes what is sold sees to by raising `publicVersion`.
 */
export const catalogueOf = async (
  trx: Trx,
  property: Pick<SaleProperty, 'id' | 'revision' | 'publicVersion'>,
): Promise<Catalogue> => {
  const key = keyOf(trx, property.id)
  const revision = `${property.publicVersion} ${property.revision}`
  const known = kept.get(key)
  if (known?.revision === revision) return known.catalogue
  const row = await preparedOne<Catalogue>(trx, query, { propertyId: property.id })
  if (!row) throw new Error('the catalogue query answers one row')
  const catalogue = row.ageCategories.length > 0 ? row : { ...row, ageCategories: usualAges }
  kept.set(key, { revision, catalogue })
  return catalogue
}
