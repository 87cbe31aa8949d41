import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import type { House } from '../support/factories.ts'
import { makeMoney } from '../support/money.ts'
import { makePayables } from '../support/payables.ts'
import { makeReceipts } from '../support/receipts.ts'
import { makeReceivables } from '../support/receivables.ts'
import { makeStore } from '../support/stock.ts'
import { ofBlocks } from './examples-of-blocks.ts'
import { ofCash } from './examples-of-cash.ts'
import { ofChannels } from './examples-of-channels.ts'
import { ofDesk } from './examples-of-desk.ts'
import { ofFolios } from './examples-of-folios.ts'
import { ofHousekeeping } from './examples-of-housekeeping.ts'
import { ofInventory } from './examples-of-inventory.ts'
import { ofIssues } from './examples-of-issues.ts'
import { ofMessages } from './examples-of-messages.ts'
import { ofPayments } from './examples-of-payments.ts'
import { ofProperties } from './examples-of-properties.ts'
import { ofReports } from './examples-of-reports.ts'
import { ofUnits } from './examples-of-units.ts'

/** Names that stand once in a tenant, or in all: those that are there make room for the same ones of another house. */
const renamed = [
  `update property_directory set slug = left(slug, 20) || '-' || left(property_id::text, 8) where slug !~ '-[0-9a-f]{8}$'`,
  `update property set code = left(upper(translate(id::text, '-', '')), 10), slug = left(slug, 20) || '-' || left(id::text, 8) where slug !~ '-[0-9a-f]{8}$'`,
  `update cash_account set code = left(upper(translate(id::text, '-', '')), 10)`,
]

/** Makes records of all modules in a house, as the examples of requests need them. */
export const fill = async (admin: Knex, house: House): Promise<void> => {
  for (const statement of renamed) await sql(admin, statement)
  for (const make of [ofProperties, ofChannels, ofMessages, ofUnits, ofBlocks, ofHousekeeping, ofDesk, ofReports])
    await make(house)
  for (const make of [ofFolios, ofIssues, ofPayments]) await make(house)
  const store = await makeStore(house)
  await ofInventory(house, store)
  const money = await makeMoney(house)
  await ofCash(house, money)
  await makePayables(house)
  await makeReceipts(house)
  await makeReceivables(house)
}

export type Kept = { table: string; tenantId: string; propertyId: string | null }

/** All records of these tenants by their ids, each with its house: its own, or that of the record that it belongs to. */
export const recordsOf = async (admin: Knex, tenantIds: readonly string[]): Promise<Map<string, Kept>> => {
  const tables = await sql<{ name: string; hasHouse: boolean; parents: { name: string; key: string }[] }>(
    admin,
    `select c.relname as name, bool_or(p.attname is not null) as has_house,
       coalesce(jsonb_agg(distinct jsonb_build_object('name', o.relname, 'key', k.attname)) filter (where o.relname is not null), '[]') as parents
     from pg_class c join pg_attribute i on i.attrelid = c.oid and i.attname = 'id' and i.atttypid = 'uuid'::regtype
     join pg_attribute t on t.attrelid = c.oid and t.attname = 'tenant_id'
     left join pg_attribute p on p.attrelid = c.oid and p.attname = 'property_id'
     left join (pg_constraint f join pg_class o on o.oid = f.confrelid and o.relname <> 'property'
       join pg_attribute h on h.attrelid = o.oid and h.attname = 'property_id'
       join pg_attribute k on k.attrelid = f.conrelid and k.attnum = any(f.conkey) and k.attname <> 'tenant_id' and k.attnotnull)
       on f.conrelid = c.oid and f.contype = 'f' and cardinality(f.conkey) = 2
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition group by c.relname`,
  )
  const found = new Map<string, Kept>()
  for (const { name, hasHouse, parents } of tables) {
    const [parent] = parents
    const house =
      name === 'property'
        ? 'c.id'
        : hasHouse
          ? 'c.property_id'
          : parent
            ? `(select p.property_id from ${parent.name} p where p.tenant_id = c.tenant_id and p.id = c.${parent.key})`
            : 'null::uuid'
    const rows = await sql<{ id: string; tenantId: string; propertyId: string | null }>(
      admin,
      `select c.id, c.tenant_id, ${house} as property_id from ${name} c where c.tenant_id = any(?::uuid[]) order by c.id`,
      [tenantIds],
    )
    for (const { id, ...row } of rows) found.set(id, { table: name, ...row })
  }
  return found
}
