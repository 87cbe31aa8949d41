import { audit } from '../../lib/audit.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { liveMoney } from '../../payment/index.ts'
import { hasMoved } from '../moving/moved.ts'
import { inOrderOfPurge, tenantTables } from './tables.ts'

export type PurgeStep = { table: string; place: number; deleted: number; isDone: boolean }

/**
 * Begins the purge of a tenant whose grace time is over, or goes on with it: the tables that go, in their order. Null where there is nothing to
 * purge. Where money is still on its way the deletion waits a day.
 */
export const beginPurge = async (trx: Trx, tenantId: string): Promise<PurgeStep[] | null> => {
  const tenant = await sqlOne<{ due: boolean }>(
    trx,
    `select status = 'deleting' and delete_after <= (now() at time zone 'UTC')::date as due from tenant where id = ? for no key update`,
    [tenantId],
  )
  if (!tenant?.due) return null
  const begun = await stepsOf(trx, tenantId)
  if (begun.length > 0) return begun
  const money = (await hasMoved(trx, tenantId)) ? [] : await liveMoney(trx)
  if (money.length > 0) {
    await sql(trx, `update tenant set delete_after = (now() at time zone 'UTC')::date + 1 where id = ?`, [tenantId])
    await audit(trx, {
      action: 'tenant.postpone_deletion',
      subjectType: 'Tenant',
      subjectId: tenantId,
      changes: money.map(({ what, count }) => ({ field: what, after: count })),
    })
    return null
  }
  const tables = (await tenantTables(trx)).filter(({ keep }) => keep === undefined).map(({ table }) => table)
  const ordered = await inOrderOfPurge(trx, tables)
  await sql(
    trx,
    `insert into tenant_purge (tenant_id, place, table_name) select ?, t.place, t.name from unnest(?::text[]) with ordinality as t (name, place)
     on conflict do nothing`,
    [tenantId, ordered],
  )
  return stepsOf(trx, tenantId)
}

const stepsOf = (trx: Trx, tenantId: string): Promise<PurgeStep[]> =>
  sql<PurgeStep>(
    trx,
    `select table_name as "table", place, deleted, done_at is not null as is_done from tenant_purge where tenant_id = ? order by place`,
    [tenantId],
  )

export const purgedAtOnce = 5_000

/** Deletes some rows of a table. Answers how many; 0 where the rest waits for other tables, or there is none. */
export const purgeSome = async (trx: Trx, tenantId: string, table: string): Promise<number> => {
  const row = await sqlOne<{ gone: number }>(trx, `select purge_tenant(?, ?, ?) as gone`, [
    tenantId,
    table,
    purgedAtOnce,
  ])
  const gone = row?.gone ?? 0
  if (gone > 0)
    await sql(trx, `update tenant_purge set deleted = deleted + ? where tenant_id = ? and table_name = ?`, [
      gone,
      tenantId,
      table,
    ])
  return gone
}

/** Cuts what rows of a table say of other tables, where they stand in each other's way. */
export const unlinkRows = async (trx: Trx, tenantId: string, table: string): Promise<void> => {
  await sql(trx, `select purge_unlink(?, ?)`, [tenantId, table])
}

/** Marks a table that has no row of the tenant left. */
export const closeStep = async (trx: Trx, tenantId: string, table: string): Promise<boolean> => {
  const row = await sqlOne<{ left: number }>(trx, `select purge_left(?, ?) as "left"`, [tenantId, table])
  if ((row?.left ?? 0) > 0) return false
  await sql(trx, `update tenant_purge set done_at = coalesce(done_at, now()) where tenant_id = ? and table_name = ?`, [
    tenantId,
    table,
  ])
  return true
}

/**
 * Empties the tenant's own row and writes the certificate: what was deleted, by table. A job that was under way may have written into a table after that was
 * found empty: such tables are answered, and nothing ends.
 */
export const endPurge = async (trx: Trx, tenantId: string): Promise<string[]> => {
  const again = await sql<{ table: string }>(
    trx,
    `update tenant_purge set done_at = null where tenant_id = ? and purge_left(tenant_id, table_name) > 0 returning table_name as "table"`,
    [tenantId],
  )
  if (again.length > 0) return again.map(({ table }) => table)
  const steps = await stepsOf(trx, tenantId)
  await sql(trx, `select purge_end(?)`, [tenantId])
  await audit(trx, {
    action: 'tenant.delete',
    subjectType: 'Tenant',
    subjectId: tenantId,
    changes: steps
      .filter(({ deleted }) => deleted > 0)
      .map(({ table, deleted }) => ({ field: table, before: deleted, after: 0 })),
  })
  return []
}
