import { expect } from 'chai'
import { linkChain, searchOwnTrail, searchTrail, unchained, verifyChain } from '../../db/admin/index.ts'
import { audit } from '../../db/lib/audit.ts'
import type { Condition } from '../../db/lib/conditions.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { makeTenant } from '../auth/support.ts'
import { readsOf, visited } from '../lib/rows-visited.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

describe('the chain of the audit trail', function () {
  this.timeout(60_000)
  const world = useDatabase()
  const write = (tenantId: string, subjectId: string) =>
    inTenant(tenantId, (trx) => audit(trx, { action: 'thing.change', subjectType: 'Thing', subjectId }))
  const link = async () => {
    for (const chain of await inPlatform(unchained)) await inPlatform((trx) => linkChain(trx, chain))
  }
  const check = async (chain: string) => (await inPlatform((trx) => verifyChain(trx, chain, null))).problem
  /** As somebody who is beyond every wall: triggers off. */
  const forge = async (text: string, values: unknown[] | Record<string, unknown>) => {
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await sql(trx, text, values as never)
    })
  }

  it('is one without a gap, whoever writes at once, and leaves what is rolled back out', async () => {
    const tenantId = await makeTenant()
    await Promise.all([
      ...Array.from({ length: 200 }, (_, index) => write(tenantId, `s${index}`)),
      link(), link(), link(),
      inTenant(tenantId, async (trx) => {
        await audit(trx, { action: 'thing.never', subjectType: 'Thing' })
        throw new Error('taken back')
      }).catch(() => {}),
    ]) // oxfmt-ignore
    await Promise.all([link(), link()])
    await link()
    const rows = await sql<{ seq: number; hash: Buffer | null }>(
      world.database.admin,
      `select seq, hash from audit_entry where chain = ? order by seq`,
      [tenantId],
    )
    expect(rows.map(({ seq }) => seq)).to.deep.equal(rows.map((_, index) => index + 1))
    expect(rows.length).to.be.at.least(200)
    expect(await check(tenantId)).to.equal(null)
  })

  it('waits for a transaction that still runs, and what is younger waits with it', async () => {
    const tenantId = await makeTenant()
    await link()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let isWritten = false
    const open = inTenant(tenantId, async (trx) => {
      await audit(trx, { action: 'thing.slow', subjectType: 'Thing' })
      await sql(trx, `select 1`)
      isWritten = true
      await held
    })
    await until(() => isWritten)
    await write(tenantId, 'quick')
    await link()
    const waiting = () =>
      sql<{ action: string }>(world.database.admin, `select action from audit_entry where chain = ? and hash is null`, [
        tenantId,
      ])
    expect((await waiting()).length).to.equal(1)
    release()
    await open
    await link()
    expect(await waiting()).to.deep.equal([])
    expect(await check(tenantId)).to.equal(null)
  })

  it('is counted by days as its rows are, linked or not, whatever instants a search begins and ends at', async () => {
    const tenantId = await makeTenant()
    const entries = (subject: string, count: number) =>
      forge(
        `insert into audit_entry (chain, tenant_id, at, actor_type, action, subject_type, subject_id, request_id)
         select :tenantId, :tenantId, now() - make_interval(hours => n * 5), 'user', 'thing.change', 'Thing', :subject, 'x' from generate_series(1, :count) n`,
        { tenantId, subject, count },
      )
    await entries('linked', 90)
    await link()
    await entries('waiting', 60)
    const everything = { operator: 'and', value: [] } as unknown as Condition
    const differing: string[] = []
    const hourMs = 3_600_000
    const now = Date.now()
    for (const [hoursBack, hours] of [[480, 480], [451, 450], [300, 170], [200, 49], [96, 20], [30, 30], [5, 3]] as const) {
      const from = new Date(now - hoursBack * hourMs).toISOString()
      const to = new Date(now - (hoursBack - hours) * hourMs).toISOString()
      const asked = { from, to, page: 1, limit: 20 }
      const own = await inTenant(tenantId, (trx) => searchOwnTrail(trx, { ...asked, scope: everything, propertyIds: null }))
      const operators = await inPlatform((trx) => searchTrail(trx, { ...asked, tenantId }))
      const all = await inPlatform((trx) => searchTrail(trx, asked))
      const [rows] = await sql<{ own: number; all: number }>(
        world.database.admin,
        `select count(*) filter (where chain = :tenantId)::int as own, count(*)::int as all from audit_entry where at >= :from and at <= :to`,
        { tenantId, from, to },
      )
      const totals = [own.total, operators.total, all.total].join()
      if (totals !== [rows!.own, rows!.own, rows!.all].join()) differing.push(`${hoursBack} ${hours}: ${totals} ${JSON.stringify(rows)}`)
    } // oxfmt-ignore
    expect(differing).to.deep.equal([])
    const [kept] = await sql<{ n: number }>(
      world.database.admin,
      `select sum(n)::int as n from audit_day where chain = ?`,
      [tenantId],
    )
    expect(kept?.n).to.be.at.least(90)
  })

  it('cannot be changed by the service or the owner, and tells what was done to it beyond them', async () => {
    const tenantId = await makeTenant()
    for (const subject of ['a', 'b', 'c', 'd']) await write(tenantId, subject)
    await link()
    const place = (subject: string) => `where chain = '${tenantId}' and subject_id = '${subject}'`
    for (const text of [
      `update audit_entry set reason = 'x' ${place('b')}`,
      `delete from audit_entry ${place('b')}`,
      `truncate audit_entry`,
    ]) {
      await inPlatform((trx) => sql(trx, text)).then(
        () => expect.fail(`the service could: ${text}`),
        () => {},
      )
      await sql(world.database.admin, text).then(
        () => expect.fail(`beyond row-level security: ${text}`),
        () => {},
      )
    }
    expect(await check(tenantId)).to.equal(null)
    await forge(`update audit_entry set reason = 'another' ${place('b')}`, [])
    expect(await check(tenantId)).to.match(/was changed/)
    await forge(`update audit_entry set reason = null ${place('b')}`, [])
    expect(await check(tenantId)).to.equal(null)
    await forge(`update audit_entry set seq = seq + 1000000 ${place('c')}`, [])
    expect(await check(tenantId)).to.match(/missing/)
    await forge(`update audit_entry set seq = seq - 1000000 ${place('c')}`, [])
    await forge(
      `insert into audit_entry (chain, tenant_id, actor_type, action, subject_type, request_id, seq, previous_hash, hash)
       select chain, tenant_id, 'user', 'thing.forged', 'Thing', 'x', seq, previous_hash, hash from audit_entry ${place('c')}`,
      [],
    )
    expect(await check(tenantId)).to.not.equal(null)
    await forge(`delete from audit_entry where chain = ? and action = 'thing.forged'`, [tenantId])
    await forge(`delete from audit_entry ${place('d')}`, [])
    expect(await check(tenantId)).to.match(/ends at place/)
  })

  it('is read by a tenant of few entries past none of another that has many, by the plan that fits all', async () => {
    const [few, many] = [await makeTenant(), await makeTenant()]
    const made = (tenantId: string, count: number, days: number) =>
      sql(
        world.database.admin,
        `insert into audit_entry (chain, tenant_id, at, actor_type, action, subject_type, request_id)
         select :tenantId::text, :tenantId::uuid, now() - make_interval(days => :days, secs => n), 'system', 'thing.change', 'Thing', 'many' from generate_series(1, :count) n`,
        { tenantId, count, days },
      )
    await made(few, 100, 0)
    await made(many, 20_000, 60)
    await sql(world.database.admin, `analyze audit_entry`)
    const everything = { operator: 'and', value: [] } as unknown as Condition
    const asked = await readsOf(() =>
      inTenant(few, (trx) => searchOwnTrail(trx, { page: 1, limit: 20, scope: everything, propertyIds: null })),
    )
    const page = asked.find(({ sql: text }) => text.includes('order by e.at'))
    const values = (page?.bindings ?? []).map(
      (value) => `'${value instanceof Date ? value.toISOString() : String(value)}'`,
    )
    const plan = await world.database.admin.transaction(async (trx) => {
      await sql(trx, `set local plan_cache_mode = force_generic_plan`)
      await trx.raw(`prepare trail as ${page?.sql.replaceAll('?', String.raw`\?`)}`)
      const { rows } = await trx.raw(`explain (analyze, timing off, format json) execute trail (${values.join(', ')})`)
      return rows[0]['QUERY PLAN'][0].Plan
    })
    expect(visited(plan)).to.be.within(20, 200)
  })
})
