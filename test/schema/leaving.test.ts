import { expect } from 'chai'
import { tenantData } from '../../config/tenant-data/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { inOrderOfPurge, tenantTables } from '../../db/admin/leaving/tables.ts'
import { makeTenant } from '../auth/support.ts'
import { useDatabase } from '../support/database.ts'

describe('the registry of tenants’ data', () => {
  const world = useDatabase()
  const found = async (text: string, values: unknown[] = []) =>
    (await sql<{ found: string }>(world.database.admin, text, values)).map((row) => row.found)
  const known = tenantData.map(({ table }) => table)
  const withTenant = `select c.relname as found from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped) order by 1`
  /** Goes with the user, and is emptied at the end of a purge. */
  const elsewhere = new Set(['one_time_token'])

  it('names every table that has rows of tenants, once', async () => {
    const forgotten = (await found(withTenant)).filter((table) => !known.includes(table) && !elsewhere.has(table))
    expect(
      forgotten,
      `add ${forgotten.join(', ')} to the list of its module in config/tenant-data: rows() if it is exported and deleted, sealed() with what is sealed, inner() with why it is not exported`,
    ).to.deep.equal([])
    expect(new Set(known).size).to.equal(known.length)
  })

  it('names tables and columns that are there', async () => {
    const there = new Set(await found(withTenant))
    expect(known.filter((table) => !there.has(table))).to.deep.equal([])
    const columns = new Set(
      await found(
        `select c.relname || '.' || a.attname as found from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relnamespace = 'public'::regnamespace`,
      ),
    )
    for (const { table, open = {} } of tenantData)
      for (const [column, { guest, row = 'id' }] of Object.entries(open))
        for (const name of [column, row, ...(guest ? [guest.column] : [])])
          expect(columns, `${table} in config/tenant-data`).to.include(`${table}.${name}`)
  })

  it('opens every sealed column of a table that is exported, or says that it is a hash, a key or a secret', async () => {
    const shut = /[._](hash|sha256|index|indexes|key|credentials|secret|token|submission|body_hash|callback)$/
    const bytes = await found(
      `select c.relname || '.' || a.attname as found from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.atttypid = 'bytea'::regtype and c.relname = any(?)
       order by 1`,
      [tenantData.filter(({ leave }) => leave === undefined).map(({ table }) => table)],
    )
    const opened = new Set(
      tenantData.flatMap(({ table, open = {} }) => Object.keys(open).map((one) => `${table}.${one}`)),
    )
    expect(
      bytes.filter((name) => !opened.has(name) && !shut.test(name)),
      'say in config/tenant-data how these columns are opened',
    ).to.deep.equal([])
  })

  it('has an order for the purge in which all tables stand, and no wall is in its way', async () => {
    const tenantId = await makeTenant()
    const { tables, ordered } = await inTenant(tenantId, async (trx) => {
      const all = (await tenantTables(trx)).filter(({ keep }) => keep === undefined).map(({ table }) => table)
      return { tables: all, ordered: await inOrderOfPurge(trx, all) }
    })
    expect(ordered.toSorted()).to.deep.equal(tables.toSorted())
    expect(ordered.slice(0, 2)).to.deep.equal(['guest_key', 'tenant_key'])
    const walls = await found(
      `select t.tgrelid::regclass || '.' || t.tgname as found from pg_trigger t where not t.tgisinternal and t.tgparentid = 0 and (t.tgtype & 8) > 0
         and exists (select from pg_attribute a where a.attrelid = t.tgrelid and a.attname = 'tenant_id') and pg_get_triggerdef(t.oid) not like '%purging()%'`,
    )
    expect(walls).to.deep.equal([])
  })
})
