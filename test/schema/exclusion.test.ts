import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'

/** Decision 26: a scan of a GiST index that is begun again may mark entries of live rows dead. */
describe('indexes of exclusion constraints', () => {
  const held = useDatabase()

  it('have keys that no query asks for', async () => {
    const found = await sql(
      held.database.admin,
      `select i.indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
       where m.amname = 'gist' and (exists (select from unnest(i.indkey::int2[]) key where key <> 0)
         or pg_get_expr(i.indpred, i.indrelid) not like '%|| ''''::text%')`,
    )
    expect(found).to.deep.equal([])
  })

  it('serve no read, even where nothing else would', async () => {
    const plan = await held.database.admin.transaction(async (trx) => {
      await sql(trx, `set local enable_seqscan = off`)
      return sql(
        trx,
        `explain select id from unit_assignment
         where tenant_id = gen_random_uuid() and unit_id = gen_random_uuid() and during && daterange('2026-01-01', '2026-01-02')
           and status in ('proposed', 'locked', 'occupied', 'blocked')`,
      )
    })
    expect(JSON.stringify(plan)).not.to.include('no_overlap')
  })

  it('still keep two stays out of one unit', async () => {
    const { admin } = held.database
    const constraints = await sql<{ definition: string }>(
      admin,
      `select pg_get_constraintdef(oid) as definition from pg_constraint where contype = 'x' and connamespace = 'public'::regnamespace`,
    )
    expect(constraints.length).to.be.at.least(9)
    for (const { definition } of constraints) expect(definition).to.match(/WITH =.*WITH &&/)
  })
})
