import type { Knex } from 'knex'
import { sql } from '../db/lib/connection.ts'
import type { Trx } from '../db/lib/connection.ts'
import { createRatePlan } from '../db/properties/rates/rate-plans/create.ts'
import { writePrices } from '../db/properties/rates/rate-cells.ts'
import { createUnitType } from '../db/units/unit-types/create.ts'
import { addDays, daysIn } from '../config/time.ts'
import { makeHouse } from '../test/support/factories.ts'
import type { House } from '../test/support/factories.ts'
import { writeRestrictions } from '../test/support/restrictions.ts'
import { makeHold } from '../test/support/stay.ts'

export const typesOfHouse = 10
export const plansOfHouse = 6
const pricedNights = 400
/** Properties of one tenant; the first ones are those of the house itself. */
export const perTenant = 10

/** A house of ten types and six plans: two with prices of their own, four derived from them in up to three steps. */
export const makeTemplate = async (): Promise<House> => {
  const house = await makeHouse({ units: 5, taxes: true, pricedNights })
  await house.inHouse(async (trx: Trx) => {
    const [flexible] = await sql<{ cancellationPolicyId: string; noShowPolicyId: string }>(
      trx,
      `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
      [house.ratePlanId],
    )
    const policies = {
      cancellationPolicyId: flexible?.cancellationPolicyId ?? '',
      noShowPolicyId: flexible?.noShowPolicyId ?? '',
    }
    const types = [house.unitTypeId]
    for (let index = 1; index < typesOfHouse; index += 1) {
      const { id } = await createUnitType(trx, {
        propertyId: house.propertyId,
        code: `T${index}`,
        name: { 'pt-BR': `Tipo ${index}`, en: `Type ${index}` },
        kind: 'private',
        baseOccupancy: 2,
        maxAdults: 3,
        maxChildren: 2,
        maxOccupancy: 4,
      })
      types.push(id)
    }
    const entries = types.map((unitTypeId) => ({ unitTypeId, extraAdultAmount: 5_000 }))
    const plan = (code: string, more: object) =>
      createRatePlan(trx, {
        propertyId: house.propertyId,
        code,
        name: { 'pt-BR': code, en: code },
        ...policies,
        unitTypes: entries,
        ...more,
      })
    const off = (value: number) => ({ type: 'percent' as const, value, roundTo: 100, mode: 'nearest' as const })
    await sql(
      trx,
      `insert into rate_plan_unit_type (rate_plan_id, unit_type_id, extra_adult_amount)
       select p, t, 5000 from unnest(?::uuid[]) p, unnest(?::uuid[]) t on conflict do nothing`,
      [[house.ratePlanId, house.saverPlanId], types],
    )
    const corporateId = await plan('CORP', { losDiscounts: [{ minNights: 7, rate: 500 }] })
    const longId = await plan('LONG', { parentId: house.saverPlanId, derivation: off(-500) })
    await plan('LONGER', { parentId: longId, derivation: off(-300) })
    await plan('CORP-BB', { parentId: corporateId, derivation: off(1_000) })
    const days = daysIn(house.today, addDays(house.today, pricedNights))
    await writePrices(
      trx,
      house.propertyId,
      [house.ratePlanId, corporateId].flatMap((ratePlanId) =>
        types.flatMap((unitTypeId, index) =>
          days.map((date, day) => ({ ratePlanId, unitTypeId, date, amount: 20_000 + index * 1_000 + (day % 7) * 500 })),
        ),
      ),
    )
    await writeRestrictions(
      trx,
      house.propertyId,
      days.filter((_, day) => day % 7 === 5).map((date) => ({ date, unitTypeId: house.unitTypeId, minStayThrough: 2 })),
    )
  })
  return house
}

/** Columns that can be written, so without the generated ones. */
const columnsOf = async (trx: Knex, table: string) =>
  (
    await sql<{ name: string }>(
      trx,
      `select quote_ident(column_name) as name from information_schema.columns where table_name = ? and is_generated = 'NEVER' order by ordinal_position`,
      [table],
    )
  ).map((row) => row.name)
/** The beginning of a statement that copies rows `one` of a table into it, some of their columns changed. */
const copyRows = async (trx: Knex, table: string, changed: Record<string, string>) => {
  const columns = await columnsOf(trx, table)
  return `insert into ${table} (${columns.join(', ')})
    select ${columns.map((column) => changed[column] ?? `one.${column}`).join(', ')} from ${table} one`
}

const all = (columns: string) => columns.split(' ')
/** Tables of a house, and their columns that hold ids of it, in any order: nothing is checked while they are filled. */
const tables: [table: string, ids: string[]][] = [
  ['property', all('id')],
  ['policy', all('id property_id')],
  ['policy_version', all('id policy_id')],
  ['unit_type', all('id property_id')],
  ['unit_pool', all('id property_id')],
  ['unit_type_pool', all('unit_type_id unit_pool_id')],
  ['rate_plan', all('id property_id parent_id cancellation_policy_id no_show_policy_id deposit_policy_id')],
  ['rate_plan_unit_type', all('rate_plan_id unit_type_id')],
  ['tax_rule', all('id property_id')],
]

/**
 * Copies of a house, numbered `from` to `until` (not included), ten to a tenant, each with so many reservations. The rows are as they
 * should be; foreign keys and triggers of ten million of them are not what is measured.
 */
export const multiplyHouse = async (
  admin: Knex,
  house: House,
  { from, until, reservations }: { from: number; until: number; reservations: number },
): Promise<void> => {
  const numbers = `generate_series(${from}, ${until - 1}) n`
  const copied = (column: string) => `bench_copy(one.${column}, n)`
  const tenant = `bench_tenant(one.tenant_id, n)`
  const copies = (ids: string[]) => Object.fromEntries(ids.map((column) => [column, copied(column)]))
  const own = {
    property: `one.id = '${house.propertyId}'`,
    policy_version: `one.policy_id in (select id from policy where property_id = '${house.propertyId}')`,
    unit_type_pool: `one.unit_type_id in (select id from unit_type where property_id = '${house.propertyId}')`,
    rate_plan_unit_type: `one.rate_plan_id in (select id from rate_plan where property_id = '${house.propertyId}')`,
  } as Record<string, string>
  const fill = (work: (trx: Knex) => Promise<unknown>) =>
    admin.transaction(async (trx) => {
      await sql(trx, `set local session_replication_role = replica`)
      await work(trx)
    })
  const houses = async (trx: Knex) => {
    for (const [table, ids] of tables) {
      const named = table === 'property' ? { slug: `'copy-' || n`, code: `'C' || n` } : {}
      const copy = await copyRows(trx, table, { tenant_id: tenant, ...copies(ids), ...named })
      await sql(trx, `${copy}, ${numbers} where ${own[table] ?? `one.property_id = '${house.propertyId}'`}`)
    }
  }
  const numbered = `(select n, bench_tenant('${house.tenantId}', n) as tenant_id from ${numbers} offset 0) house`
  const calendar = async (trx: Knex) => {
    await sql(
      trx,
      `insert into rate_cell (tenant_id, rate_plan_id, unit_type_id, date, amount)
       select house.tenant_id, p.made, t.made, one.date, one.amount
       from ${numbered}
       cross join lateral (select id, bench_copy(id, n) as made from rate_plan where property_id = '${house.propertyId}' offset 0) p
       cross join lateral (select id, bench_copy(id, n) as made from unit_type where property_id = '${house.propertyId}' offset 0) t
       join rate_cell one on one.rate_plan_id = p.id and one.unit_type_id = t.id`,
    )
    await sql(
      trx,
      `insert into restriction_cell (tenant_id, property_id, unit_type_id, rate_plan_id, date, min_stay_through)
       select ${tenant}, ${copied('property_id')}, ${copied('unit_type_id')}, ${copied('rate_plan_id')}, one.date, one.min_stay_through
       from restriction_cell one, ${numbers} where one.property_id = '${house.propertyId}'`,
    )
    await sql(
      trx,
      `insert into pool_night (tenant_id, pool_id, night, capacity, sold)
       select house.tenant_id, p.made, one.night, one.capacity, 0
       from ${numbered}
       cross join lateral (select id, bench_copy(id, n) as made from unit_pool where property_id = '${house.propertyId}' offset 0) p
       join pool_night one on one.pool_id = p.id`,
    )
  }
  // Stays of two years around today, so that their indexes are as large as those of a chain of houses. What is the same for all of a house
  // is worked out once.
  const stays = (table: string, changed: Record<string, string>, ids: string[]) => async (trx: Knex) => {
    const ofHouse = Object.fromEntries(ids.map((column) => [column, `house.${column}`]))
    const copy = await copyRows(trx, table, { ...changed, ...ofHouse, tenant_id: 'house.tenant_id' })
    await sql(
      trx,
      `${copy}, lateral (select n, ${tenant} as tenant_id, ${ids.map((column) => `${copied(column)} as ${column}`).join(', ')}
           from ${numbers} offset 0) house, generate_series(1, ${reservations}) m
         where one.property_id = '${house.propertyId}'`,
    )
  }
  const stay = `house.n * 100000 + m`
  const bookings = stays(
    'booking',
    {
      id: `bench_copy(one.id, ${stay})`,
      number: `translate(lpad(to_hex(house.n * 10000 + m), 8, '0'), 'abcdef', 'ABCDEF')`,
      quote_id: 'null',
    },
    ['property_id'],
  )
  const reservationsOf = stays(
    'reservation',
    {
      id: `bench_copy(one.id, ${stay})`,
      booking_id: `bench_copy(one.booking_id, ${stay})`,
      arrival: 'one.arrival + m % 700 - 350',
      departure: 'one.departure + m % 700 - 350',
    },
    ['property_id', 'unit_type_id', 'rate_plan_id'],
  )
  await Promise.all([fill(houses), fill(calendar), fill(bookings), fill(reservationsOf)])
  await sql(admin, `vacuum analyze`)
  // Pages that are not on the disk yet would be written during a measurement.
  await sql(admin, `checkpoint`)
}

/** Creates the functions that make the ids of the copies by `multiplyHouse`, and one booking to copy. */
export const prepareCopies = async (admin: Knex, house: House): Promise<void> => {
  // Every type has units; that they have no doors plays no part.
  await sql(admin, `update pool_night set capacity = 5`)
  await makeHold(house, {})
  await sql(
    admin,
    `create function bench_copy(id uuid, n int) returns uuid language sql immutable parallel safe as
       $$ select overlay(overlay(md5(id::text || '-' || n) placing '4' from 13) placing '8' from 17)::uuid $$`,
  )
  await sql(
    admin,
    `create function bench_tenant(id uuid, n int) returns uuid language sql immutable parallel safe as
       $$ select case when n < ${perTenant} then id else bench_copy(id, n / ${perTenant}) end $$`,
  )
}

/** Tenant and id of some properties by their numbers, 0 being the house itself. */
export const copiesOf = async (admin: Knex, house: House, count: number) => [
  { tenantId: house.tenantId, propertyId: house.propertyId },
  ...(await sql<{ tenantId: string; propertyId: string }>(
    admin,
    `select bench_tenant(?, n) as tenant_id, bench_copy(?, n) as property_id from generate_series(1, ?::int) n`,
    [house.tenantId, house.propertyId, count - 1],
  )),
]
