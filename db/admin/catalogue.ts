import type { Knex } from 'knex'
import { features } from '../../config/features.ts'
import { shippedAddOns } from '../../config/add-ons.ts'
import { firstPlanVersions, plans } from '../../config/plans.ts'
import { sql } from '../lib/connection.ts'

/** Brings features, add-ons and the first version of each plan from the code into the database; harmless when repeated. Later versions stay. */
export const syncCatalogue = async (knex: Knex): Promise<void> => {
  const rows = Object.entries(features).map(([key, { name, description }], position) => ({
    key,
    name,
    description,
    position,
  }))
  await sql(
    knex,
    `insert into feature (key, name, description, position)
     select key, name, description, position from jsonb_to_recordset(?::jsonb) as f (key text, name text, description text, position int)
     on conflict (key) do update set name = excluded.name, description = excluded.description, position = excluded.position
       where (feature.name, feature.description, feature.position) is distinct from (excluded.name, excluded.description, excluded.position)`,
    [JSON.stringify(rows)],
  )
  for (const { key, feature, name, description, billingType, meter = null, prices } of shippedAddOns)
    await sql(
      knex,
      `with made as (
         insert into add_on (key, name, description, feature, billing_type, meter) values (?, ?::jsonb, ?::jsonb, ?, ?, ?)
         on conflict (key) do nothing returning id)
       insert into add_on_price (add_on_id, number, prices) select id, 1, ?::jsonb from made`,
      [key, JSON.stringify(name), JSON.stringify(description), feature, billingType, meter, JSON.stringify(prices)],
    )
  for (const plan of plans) {
    const { features: included, prices, platformFeeRate } = firstPlanVersions[plan]
    await sql(
      knex,
      `insert into plan_version (plan, number, features, prices, platform_fee_rate, note) values (?, 1, ?::jsonb, ?::jsonb, ?, 'First version')
       on conflict (plan, number) do nothing`,
      [plan, JSON.stringify(included), JSON.stringify(prices), platformFeeRate],
    )
  }
}
