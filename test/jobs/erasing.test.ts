import { expect } from 'chai'
import { inPlatform, inTenant, sql, TenantMoved } from '../../db/lib/connection.ts'
import type { PlatformTrx, Trx } from '../../db/lib/connection.ts'
import { eraseDue } from '../../workers/lib/erasing.ts'
import { makeTenant } from '../auth/support.ts'
import { useDatabase } from '../support/database.ts'

describe('erasing what is due', () => {
  const held = useDatabase()
  const tenants: string[] = []
  before(async () => {
    await sql(
      held.database.admin,
      `create table secret (tenant_id uuid, id uuid default gen_random_uuid(), words text)`,
    )
    await sql(held.database.admin, `grant all on secret to pousada_service`)
    tenants.push(await makeTenant(), await makeTenant())
  })
  beforeEach(() =>
    sql(
      held.database.admin,
      `with emptied as (delete from secret)
       insert into secret (tenant_id, words) select t::uuid, case n when 1 then 'sticks' else 'goes' end
       from unnest(?::text[]) t, generate_series(1, 4) n`,
      [tenants],
    ),
  )

  const find = (trx: PlatformTrx) =>
    sql<{ tenantId: string; id: string }>(
      trx,
      `select tenant_id, id from secret where words is not null order by words desc limit ?`,
      [3],
    )
  const erase = (trx: Trx, ids: readonly string[], stuck: string) =>
    sql(trx, `update secret set words = null where id = any(?::uuid[]) and words <> ?`, [ids, stuck])
  const run = (stuck: string, signal = new AbortController().signal) => {
    let looks = 0
    const context = {
      effect: <T>(work: (trx: never) => Promise<T>) => {
        looks += 1
        if (looks > 20) throw new Error('it looks for ever')
        return inPlatform(work as (trx: PlatformTrx) => Promise<T>)
      },
      inTenant: <T>(tenantId: string, work: (trx: Trx) => Promise<T>) =>
        inTenant(tenantId, work).catch((error: unknown) => {
          // As the context of a job that goes through tenants does.
          if (error instanceof TenantMoved) return undefined as never
          throw error
        }),
      signal,
    }
    return eraseDue(context, find, (trx, ids) => erase(trx, ids, stuck))
  }
  const left = async () =>
    (await sql<{ words: string }>(held.database.admin, `select words from secret where words is not null`)).map(
      (row) => row.words,
    )

  it('goes on, some at a time, until nothing of any tenant is left', async () => {
    await run('nothing')
    expect(await left()).to.deep.equal([])
  })

  it('ends, and says so, where what was erased is found again; all others are erased', async () => {
    const ended = await run('sticks').then(String, (error: unknown) => (error as Error).message)
    expect(ended).to.match(/^2 records were erased and are due all the same, the first is [\da-f-]{36}$/)
    expect(await left()).to.deep.equal(['sticks', 'sticks'])
  })

  it('leaves what is of a tenant that has moved to another installation, and ends well', async () => {
    await sql(
      held.database.admin,
      `insert into tenant_move (tenant_id, direction, ticket_id, receipt_hash) values (?, 'out', gen_random_uuid(), '\\x00'::bytea)`,
      [tenants[0]],
    )
    await sql(held.database.admin, `delete from secret where tenant_id = ? and words = 'goes'`, [tenants[0]])
    await run('nothing')
    expect(await left()).to.deep.equal(['sticks'])
    await sql(held.database.admin, `delete from tenant_move`)
  })

  it('erases no more once it is told to stop', async () => {
    await run('nothing', AbortSignal.abort())
    expect(await left()).to.have.lengthOf(8)
  })
})
