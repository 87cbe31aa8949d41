import { randomUUID } from 'node:crypto'
import { addDays } from '../../../config/time.ts'
import { sql } from '../../../db/lib/connection.ts'
import type { Trx } from '../../../db/lib/connection.ts'
import { createExtra } from '../../../db/properties/terms/extras.ts'
import { changePortal } from '../../../db/lib/public-version.ts'
import { createRateChange } from '../../../db/properties/rates/rate-changes.ts'
import { createRatePlan } from '../../../db/properties/rates/rate-plans/create.ts'
import type { RateItem } from '../../../db/properties/rules/rate-items.ts'
import { createUnitType } from '../../../db/units/unit-types/create.ts'
import { makeHouse } from '../../support/factories.ts'
import type { House } from '../../support/factories.ts'
import type { PaperHouse } from './house.ts'
import type { RandomHouse } from './random.ts'
import { capacity, cellsOf, planNames, soldOf, typeNames } from './write-down.ts'

/** The house that every random one is written over; `ids` by the names on paper. */
export type Base = { house: House; ids: Record<string, string> }

/** Two types with pools of their own and one that takes of both; a line of four plans, and one behind a code. */
export const makeBase = async (): Promise<Base> => {
  const house = await makeHouse({ units: capacity.A, suite: true, settings: { portal: { holdShare: 10_000 } } })
  const { propertyId } = house
  const ids: Record<string, string> = { FLEX: house.ratePlanId, SAVER: house.saverPlanId, STD: house.unitTypeId }
  ids.SUITE = house.suiteTypeId ?? ''
  ids.A = house.poolId
  ids.B = house.suitePoolId ?? ''
  await house.inHouse(async (trx) => {
    const name = { 'pt-BR': 'Um', en: 'One' }
    const whole = await createUnitType(trx, {
      propertyId,
      name,
      code: 'WHOLE',
      kind: 'entire',
      baseOccupancy: 3,
      maxAdults: 3,
      maxChildren: 1,
      maxOccupancy: 4,
      pools: [
        { poolId: ids.A ?? '', quantity: 2 },
        { poolId: ids.B ?? '', quantity: 1 },
      ],
    })
    ids.WHOLE = whole.id
    const [like] = await sql<{ cancellationPolicyId: string; noShowPolicyId: string }>(
      trx,
      `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
      [house.ratePlanId],
    )
    const unitTypes = typeNames.map((type) => ({ unitTypeId: ids[type] ?? '' }))
    const rest = { propertyId, name, unitTypes, cancellationPolicyId: like?.cancellationPolicyId ?? '' }
    const derivation = { type: 'percent' as const, value: -500, roundTo: 1, mode: 'nearest' as const }
    const plan = (code: string, more: object) =>
      createRatePlan(trx, { ...rest, noShowPolicyId: like?.noShowPolicyId ?? '', code, ...more })
    ids.THIRD = await plan('THIRD', { parentId: ids.SAVER, derivation })
    ids.FOURTH = await plan('FOURTH', { parentId: ids.THIRD, derivation })
    ids.CODE = await plan('CODE', { visibility: 'code' })
    await sql(
      trx,
      `insert into rate_plan_unit_type (rate_plan_id, unit_type_id, extra_adult_amount) select p, t, 0 from unnest(?::uuid[]) p, unnest(?::uuid[]) t on conflict do nothing`,
      [planNames.map((one) => ids[one]), typeNames.map((one) => ids[one])],
    )
    const extra = { propertyId, name, category: 'other' as const, revenueGroup: 'other' as const, amount: 1 }
    ids.X0 = await createExtra(trx, { ...extra, code: 'X0', basis: 'per_stay' })
    ids.X1 = await createExtra(trx, { ...extra, code: 'X1', basis: 'per_stay', dailyLimit: capacity.X1 })
    const [pool] = await sql<{ id: string }>(trx, `select pool_id as id from extra where id = ?`, [ids.X1])
    ids['pool X1'] = pool?.id ?? ''
    for (const { id, code } of await sql<{ id: string; code: string }>(trx, `select id, code from age_category`))
      ids[code] = id
  })
  return { house, ids }
}

const records = (columns: string) => `jsonb_to_recordset(?::jsonb) as v (${columns})`

/** Writes all that makes a price: plans, ages, taxes, extras, code, season and cells. */
export const writePriced = async (
  trx: Trx,
  { house, ids }: Base,
  paper: PaperHouse,
  random: RandomHouse,
): Promise<void> => {
  const { propertyId } = house
  const named = (names: readonly string[]) => names.map((name) => ids[name])
  await sql(
    trx,
    `update rate_plan r set derivation = v.derivation, inherit_restrictions = v.inherits, los_discounts = v.los
     from ${records('id uuid, derivation jsonb, inherits boolean, los jsonb')} where r.id = v.id`,
    [JSON.stringify(paper.plans.map((plan) => ({ ...plan, id: ids[plan.name] })))],
  )
  await sql(
    trx,
    `update rate_plan_unit_type u set standard_amount = v.standard, adults = v.adults, extra_adult_amount = v.extra, children = v.children
     from ${records('plan uuid, type uuid, standard bigint, adults jsonb, extra bigint, children jsonb')}
     where u.rate_plan_id = v.plan and u.unit_type_id = v.type`,
    [
      JSON.stringify(
        Object.entries(paper.prices).map(([key, { standard, adults, extraAdult, children }]) => {
          const [plan = '', type = ''] = key.split(' ')
          const priced = children.map(({ category, ...child }) => ({ ...child, ageCategoryId: ids[category] }))
          return { plan: ids[plan], type: ids[type], standard, adults, extra: extraAdult, children: priced }
        }),
      ),
    ],
  )
  await sql(
    trx,
    `update age_category a set min_age = v."from", max_age = v."to", counts_in_occupancy = v.counts
     from ${records('id uuid, "from" int, "to" int, counts boolean')} where a.id = v.id`,
    [JSON.stringify(paper.ages.map((band) => ({ ...band, id: ids[band.name] })))],
  )
  await sql(
    trx,
    `insert into tax_rule (id, property_id, code, name, kind, basis, rate, amount, included, applies_to, exempt_age_category_ids, max_nights, valid_from, valid_to)
     select gen_random_uuid(), ?, v.code, '{"en": "Tax"}', 'tax', v.basis, case v.basis when 'percent' then v.value end, case v.basis when 'percent' then null else v.value end,
       v.included, v.applies, array(select jsonb_array_elements_text(v.exempt)::uuid), v.nights, v."from", v."to"
     from ${records('code text, basis text, value int, included boolean, applies text, exempt jsonb, nights int, "from" date, "to" date')}`,
    [
      propertyId,
      JSON.stringify(
        paper.taxes.map((rule) => ({
          ...rule,
          applies: rule.appliesTo,
          exempt: named(rule.exempt),
          nights: rule.maxNights,
        })),
      ),
    ],
  )
  await sql(
    trx,
    `update extra e set mandatory = true, basis = v.basis, amount = v.amount, unit_type_ids = array(select jsonb_array_elements_text(v.types)::uuid)
     from ${records('id uuid, basis text, amount bigint, types jsonb')} where e.id = v.id`,
    [JSON.stringify(paper.extras.map((extra) => ({ ...extra, id: ids[extra.name], types: named(extra.types) })))],
  )
  if (paper.promo)
    await sql(
      trx,
      `insert into promo_code (id, property_id, code, type, value, rate_plan_ids, unit_type_ids) values (gen_random_uuid(), ?, 'RANDOM', ?, ?, ?::uuid[], ?::uuid[])`,
      [propertyId, paper.promo.type, paper.promo.value, named(paper.promo.plans), named(paper.promo.types)],
    )
  const seasonId = randomUUID()
  const season = { from: house.day(random.season.from), to: house.day(random.season.from + random.season.length) }
  await sql(trx, `insert into season (id, property_id, code, name, colour) values (?, ?, 'HIGH', 'High', '#aa3300')`, [
    seasonId,
    propertyId,
  ])
  await sql(trx, `insert into season_range (season_id, property_id, "from", "to") values (?, ?, ?, ?)`, [
    seasonId,
    propertyId,
    season.from,
    season.to,
  ])
  const items = cellsOf(random, house, season).flatMap(
    ({ plan, type, from, to, inSeason, weekDays, amount, dates }): RateItem[] =>
      dates.length === 0
        ? []
        : [
            {
              ratePlanIds: [ids[plan] ?? ''],
              unitTypeIds: [ids[type] ?? ''],
              from,
              to,
              amount,
              ...(inSeason ? { seasonIds: [seasonId] } : {}),
              ...(weekDays ? { weekDays } : {}),
            },
          ],
  )
  if (items.length > 0) await createRateChange(trx, { propertyId, items })
  await changePortal(trx, propertyId)
}

/** Writes all that speaks against a stay: limits of plans, restrictions, what is sold. */
export const writeRefused = async (
  trx: Trx,
  { house, ids }: Base,
  paper: PaperHouse,
  random: RandomHouse,
): Promise<void> => {
  await sql(
    trx,
    `update rate_plan r set min_nights = v."minNights", max_nights = v."maxNights", min_advance_days = v."minAdvanceDays", max_advance_days = v."maxAdvanceDays",
       stay_from = v."stayFrom", stay_until = v."stayUntil", bookable_from = v."bookableFrom", bookable_until = v."bookableUntil"
     from ${records('id uuid, "minNights" int, "maxNights" int, "minAdvanceDays" int, "maxAdvanceDays" int, "stayFrom" date, "stayUntil" date, "bookableFrom" date, "bookableUntil" date')}
     where r.id = v.id`,
    [JSON.stringify(paper.plans.map((plan) => ({ ...plan, id: ids[plan.name] })))],
  )
  const items = random.rules.map(({ plan, type, from, length, says }): RateItem => ({
    ...(plan === null ? {} : { ratePlanIds: [ids[planNames[plan]!] ?? ''] }),
    ...(type === null ? {} : { unitTypeIds: [ids[typeNames[type]!] ?? ''] }),
    from: house.day(from),
    to: addDays(house.day(from), length),
    restrictions: says,
  }))
  if (items.length > 0) await createRateChange(trx, { propertyId: house.propertyId, items })
  await sql(
    trx,
    `update pool_night n set sold = v.units from ${records('pool uuid, date date, units int')} where n.pool_id = v.pool and n.night = v.date`,
    [
      JSON.stringify(
        soldOf(random, house).map(({ pool, ...one }) => ({ ...one, pool: pool === 'X1' ? ids['pool X1'] : ids[pool] })),
      ),
    ],
  )
  await changePortal(trx, house.propertyId)
}
