import { settings } from '../../config/env.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { randomOf } from '../chaos/random.ts'
import type { Random } from '../chaos/random.ts'
import type { Violation } from '../race/checker.ts'
import { openTenant } from '../stories/inn.ts'
import { openWorld } from '../support/world.ts'
import type { World } from '../support/world.ts'
import {
  billCompany,
  buyFlowers,
  closeDrawer,
  collect,
  keepHouse,
  keepStock,
  openDrawer,
  payBills,
  settleDisputes,
} from './books.ts'
import { judgeGroup } from './checks.ts'
import { handOf, newTally } from './hand.ts'
import type { Tally } from './hand.ts'
import { openGroup, openHouse } from './house.ts'
import type { SimulatedHouse } from './house.ts'
import { bidFarewell, bookSome, changeSome, serve, welcome } from './stays.ts'

/** Totals of a run up to the end of a day. */
export type Mark = {
  day: number
  bookings: number
  /** Requests that were done. */
  requests: number
  ms: number
  pages: number
  rows: number
  bytes: number
  /** Rows read by table, one after the other and by an index, the bytes that it takes with its indexes, and the pages read of all that. */
  tables: Readonly<Record<string, [scanned: number, found: number, bytes: number, pages: number]>>
}
export type Outcome = { tally: Tally; marks: Mark[]; violations: Violation[]; postgres: string }

/** One day of a house, from its first guest to the close. Answers how many bookings it made. */
const liveDay = async (house: SimulatedHouse, random: Random): Promise<number> => {
  const { inn, group } = house
  await forgetLimits(group.tenant.world)
  const drawer = await openDrawer(house)
  let cash = await bidFarewell(house, random)
  await keepHouse(house, random)
  await welcome(house, random)
  const made = await bookSome(house, random)
  await changeSome(house, random)
  cash += await serve(house, random)
  await keepStock(house, random)
  await payBills(house, random)
  await billCompany(house, random)
  await collect(house, random)
  await settleDisputes(house, random)
  cash -= await buyFlowers(house, random)
  if (drawer) await closeDrawer(house, drawer, cash, random)
  await inn.work()
  const audit = await inn.audit(house.date)
  if (audit.status !== 'succeeded')
    group.hand.judge('GET', 'night-audits', { status: 500, body: { code: 'audit_failed', audit } })
  const { businessDate } = await group.hand.read(
    group.tenant.owner,
    `front-desk/summary?propertyId=${house.propertyId}`,
  )
  house.date = businessDate
  return made
}

const standing = async ({ database }: World): Promise<Omit<Mark, 'day' | 'bookings' | 'requests' | 'ms'>> => {
  const row = await sqlOne<{ pages: number; rows: number; bytes: number }>(
    database.admin,
    `select (blks_hit + blks_read)::float8 as pages, (tup_returned + tup_fetched)::float8 as rows, pg_database_size(datname)::float8 as bytes
     from pg_stat_database where datname = current_database()`,
  )
  if (!row) throw new Error('the database does not count')
  const tables = await sql<{ name: string; scanned: number; found: number; bytes: number; pages: number }>(
    database.admin,
    `select relname as name, coalesce(seq_tup_read, 0)::float8 as scanned, coalesce(idx_tup_fetch, 0)::float8 as found,
       pg_total_relation_size(relid)::float8 as bytes,
       (coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))::float8 as pages
     from pg_stat_user_tables join pg_statio_user_tables using (relid, schemaname, relname)
     union all
     select 'catalogue', 0, 0, 0, sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))::float8
     from pg_statio_sys_tables`,
  )
  return {
    ...row,
    tables: Object.fromEntries(
      tables.map(({ name, scanned, found, bytes, pages }) => [name, [scanned, found, bytes, pages]]),
    ),
  }
}

const daysBetween = 5

/**
 * Does what PostgreSQL does by itself within a minute of real life, since days pass in seconds: it gathers statistics, without which plans are for empty
 * tables, and clears away the rows that are dead of tables where they are a fifth. Answers the pages and rows that it read, which are no booking's.
 */
const keepUp = async (world: World): Promise<Pick<Mark, 'pages' | 'rows'>> => {
  const before = await standing(world)
  const full = await sql<{ name: string }>(
    world.database.admin,
    `select relid::regclass::text as name from pg_stat_user_tables where n_dead_tup > 50 + 0.2 * n_live_tup`,
  )
  for (const { name } of full) await sql(world.database.admin, `vacuum ${name}`)
  await sql(world.database.admin, `analyze`)
  const after = await standing(world)
  return { pages: after.pages - before.pages, rows: after.rows - before.rows }
}

/** Lives so many days in so many properties of one group, and judges what is left. */
export const simulate = async ({
  seed,
  properties,
  days,
}: {
  seed: number
  properties: number
  days: number
}): Promise<Outcome> => {
  settings.businessDayAhead = true
  settings.sandboxSecondMs = 20
  const { world, close } = await openWorld()
  try {
    settings.publicBaseUrl = world.baseUrl
    const tally = newTally()
    const tenant = await openTenant(world)
    const group = await openGroup(tenant, handOf(tally))
    const houses: SimulatedHouse[] = []
    for (let index = 0; index < properties; index += 1) houses.push(await openHouse(group))
    const began = performance.now()
    const marks: Mark[] = [{ day: 0, bookings: 0, requests: 0, ms: 0, ...(await standing(world)) }]
    let bookings = 0
    const apart = { pages: 0, rows: 0 }
    for (let day = 1; day <= days; day += 1) {
      for (const [index, house] of houses.entries())
        bookings += await liveDay(house, randomOf(seed, `house ${index} day ${day}`))
      const now = await standing(world)
      const ms = performance.now() - began
      const requests = Object.values(tally.done).reduce((sum, count) => sum + count, 0)
      marks.push({ day, bookings, requests, ms, ...now, pages: now.pages - apart.pages, rows: now.rows - apart.rows })
      if (day % daysBetween === 1) {
        const { pages, rows } = await keepUp(world)
        apart.pages += pages
        apart.rows += rows
      }
      if (day % 10 === 0) console.log(`day ${day}: ${bookings} bookings, ${tally.wrong.length} wrong replies`)
    }
    await world.drain({ starts: 50_000, aheadMs: 120_000 })
    await forgetLimits(world)
    const server = await sqlOne<{ version: string }>(
      world.database.admin,
      `select current_setting('server_version') as version`,
    )
    return { tally, marks, violations: await judgeGroup(group, houses), postgres: server?.version ?? '' }
  } finally {
    await close()
  }
}
