import { isCnpj } from '../../../config/tax-ids.ts'
import { settingsOf } from '../../../config/property-settings.ts'
import type { StoredSettings } from '../../../config/property-settings.ts'
import { addDays, todayIn } from '../../../config/time.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PropertyAddress } from '../sale/catalogue.ts'
import { portalMethods } from './payment-methods.ts'

export type Blocker = { code: string; message: string }

type Facts = {
  address: PropertyAddress
  checkInFrom: string | null
  checkOutUntil: string | null
  legalDocument: string | null
  settings: StoredSettings
  timezone: string
  now: Date
  types: number
  units: number
  plans: number
  cancellations: number
  taxes: number
}

const nearNights = 90

type Gap = { plan: string; type: string; from: string; to: string }
const gapText = ({ plan, type, from, to }: Gap) =>
  `${plan} has no price for ${type} ${from === to ? `on ${from}` : `from ${from} to ${to}`}`

/** Nights of `[from, until]` on which a public plan has no price for one of its types, neighbours together; the first 10 ranges. */
const missingPrices = (trx: Trx, propertyId: string, from: string, until: string) =>
  sql<Gap>(
    trx,
    `with recursive line as (
       select r.id as plan_id, r.code, r.id as standard_id, r.parent_id from rate_plan r
       where r.property_id = :propertyId and r.status = 'active' and r.visibility = 'public'
       union all
       select l.plan_id, l.code, p.id, p.parent_id from line l join rate_plan p on p.id = l.parent_id)
     select g.plan, g.type, min(g.date) as "from", max(g.date) as "to" from (
       select d.date::date as date, l.code as plan, t.code as type,
         d.date::date - (row_number() over (partition by l.plan_id, t.id order by d.date))::int as stretch
       from line l
       join rate_plan_unit_type own on own.rate_plan_id = l.plan_id
       join unit_type t on t.tenant_id = own.tenant_id and t.id = own.unit_type_id and t.status = 'active' and t.bookable
       left join rate_plan_unit_type s on s.tenant_id = own.tenant_id and s.rate_plan_id = l.standard_id and s.unit_type_id = t.id
       cross join generate_series(cast(:from as timestamp), cast(:until as timestamp), interval '1 day') as d (date)
       where l.parent_id is null and (s.rate_plan_id is null or (s.standard_amount is null and not exists (
         select from rate_cell c where c.tenant_id = s.tenant_id and c.rate_plan_id = s.rate_plan_id and c.unit_type_id = s.unit_type_id and c.date = d.date::date)))) g
     group by g.plan, g.type, g.stretch order by min(g.date), g.plan, g.type limit 10`,
    { propertyId, from, until },
  )

/** Blockers of going live (R26). */
export const blockersOf = async (trx: Trx, propertyId: string): Promise<Blocker[]> => {
  const facts = await sqlOne<Facts>(
    trx,
    `select p.address, p.check_in_from, p.check_out_until, p.legal_document, p.settings, p.timezone, now() as now,
       (select count(*)::int from unit_type t where t.tenant_id = p.tenant_id and t.property_id = p.id and t.status = 'active') as types,
       (select count(*)::int from unit u where u.tenant_id = p.tenant_id and u.property_id = p.id and u.status = 'active') as units,
       (select count(*)::int from rate_plan r where r.tenant_id = p.tenant_id and r.property_id = p.id and r.status = 'active'
          and exists (select from rate_plan_unit_type x where x.tenant_id = r.tenant_id and x.rate_plan_id = r.id)) as plans,
       (select count(*)::int from policy c where c.tenant_id = p.tenant_id and c.property_id = p.id and c.kind = 'cancellation' and c.status = 'active') as cancellations,
       (select count(*)::int from tax_rule x where x.tenant_id = p.tenant_id and x.property_id = p.id) as taxes
     from property p where p.id = ?`,
    [propertyId],
  )
  if (!facts) return []
  const { portal, taxes } = settingsOf(facts.settings)
  const { line1, city, postalCode, countryCode } = facts.address
  const today = todayIn(facts.timezone, facts.now)
  const prices =
    facts.plans > 0 && facts.types > 0
      ? await missingPrices(trx, propertyId, today, addDays(today, nearNights - 1))
      : []
  const methods = portal.enabled ? await portalMethods(trx, propertyId) : []
  const checks: [boolean, string, string][] = [
    [facts.types === 0, 'unit_type_missing', 'add a unit type'],
    [facts.units === 0, 'unit_missing', 'add a unit'],
    [facts.plans === 0, 'rate_plan_missing', 'add a rate plan that sells a unit type'],
    ...prices.map((gap): [boolean, string, string] => [true, 'price_missing', gapText(gap)]),
    [facts.cancellations === 0, 'cancellation_policy_missing', 'add a cancellation policy'],
    [
      !line1 || !city || !postalCode || !countryCode,
      'address_incomplete',
      'needs line1, city, postalCode and countryCode',
    ],
    [
      facts.checkInFrom === null || facts.checkOutUntil === null,
      'hours_missing',
      'needs checkInFrom and checkOutUntil',
    ],
    [facts.taxes === 0 && !taxes.none, 'tax_undeclared', 'add a tax rule, or declare that none is charged'],
    [countryCode === 'BR' && !isCnpj(facts.legalDocument ?? ''), 'legal_document_invalid', 'needs a valid CNPJ'],
    [portal.enabled && methods.length === 0, 'payment_method_missing', 'offer a payment method to the portal'],
    [
      portal.enabled && Object.keys(portal.terms).length === 0,
      'portal_terms_missing',
      'write the terms that guests accept',
    ],
  ]
  return checks.flatMap(([blocks, code, message]) => (blocks ? [{ code, message }] : []))
}

type WarningFacts = Pick<Facts, 'address' | 'checkInFrom' | 'checkOutUntil' | 'settings' | 'timezone' | 'now'> & {
  kind: string
  registryNumber: string | null
  lateOrEarly: number
  images: number
  bareTypes: number
  unmappedTypes: number
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** Warnings about a property that never block going live (R27). */
export const warningsOf = async (trx: Trx, propertyId: string): Promise<Blocker[]> => {
  const facts = await sqlOne<WarningFacts>(
    trx,
    `select p.kind, p.address, p.check_in_from, p.check_out_until, p.registry_number, p.settings, p.timezone, now() as now,
       (select count(*)::int from extra e where e.tenant_id = p.tenant_id and e.property_id = p.id and e.status = 'active'
          and e.category in ('early_check_in', 'late_check_out')) as late_or_early,
       (select count(*)::int from gallery_image i where i.tenant_id = p.tenant_id and i.property_id = p.id and i.status = 'ready') as images,
       (select count(*)::int from unit_type t where t.tenant_id = p.tenant_id and t.property_id = p.id and t.status = 'active' and not exists (
          select from gallery_image i where i.tenant_id = t.tenant_id and i.unit_type_id = t.id and i.status = 'ready')) as bare_types,
       (select count(distinct t.id)::int from unit_type t join channel_connection c on c.tenant_id = t.tenant_id and c.property_id = t.property_id
          and c.status <> 'disconnected'
        where t.tenant_id = p.tenant_id and t.property_id = p.id and t.status = 'active' and t.bookable and not exists (
          select from channel_mapping m where m.tenant_id = c.tenant_id and m.channel_connection_id = c.id and m.unit_type_id = t.id and m.enabled)) as unmapped_types
     from property p where p.id = ?`,
    [propertyId],
  )
  if (!facts) return []
  const brazilian = facts.address.countryCode === 'BR'
  const gap =
    facts.checkInFrom && facts.checkOutUntil ? minutesOf(facts.checkInFrom) - minutesOf(facts.checkOutUntil) : 0
  const later = addDays(todayIn(facts.timezone, facts.now), nearNights)
  const { portal, registration } = settingsOf(facts.settings)
  const furthest = Math.max(nearNights, portal.maxAdvanceDays)
  const missing = await missingPrices(trx, propertyId, later, addDays(later, furthest - nearNights))
  const checks: [boolean, string, string][] = [
    [
      brazilian && facts.kind !== 'vacation_rental' && gap > 180,
      'cleaning_gap_over_3h',
      'more than three hours lie between check-out and check-in',
    ],
    [facts.lateOrEarly === 0, 'early_late_fee_undeclared', 'add extras for early check-in and late check-out'],
    [brazilian && !facts.registryNumber, 'registry_number_missing', 'add the number of the Cadastur'],
    [
      brazilian && registration.authority === 'none',
      'guest_registration_not_connected',
      'connect the authority that guests are reported to',
    ],
    [facts.images < 3 || facts.bareTypes > 0, 'gallery_small', 'show at least three images, and one of each unit type'],
    [facts.unmappedTypes > 0, 'channel_unmapped', 'map each unit type with the channels that are connected'],
    ...missing.slice(0, 1).map((gap): [boolean, string, string] => [true, 'price_missing_later', gapText(gap)]),
  ]
  return checks.flatMap(([holds, code, message]) => (holds ? [{ code, message }] : []))
}
