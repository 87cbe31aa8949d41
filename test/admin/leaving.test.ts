import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { tenantData } from '../../config/tenant-data/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits, makeSuperuser, makeUser, signIn } from '../auth/support.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { createGroup } from '../../db/reservations/group/create.ts'
import { useWorld } from '../support/world.ts'

describe('a tenant that leaves', function () {
  this.timeout(180_000)
  const world = useWorld()
  let n1: string
  let house: House
  let neighbour: House
  before(async () => {
    n1 = (await signIn(world, await makeSuperuser('N1'))).token
    house = await makeHouse()
    neighbour = await makeHouse()
    for (const each of [house, neighbour]) {
      await makeHold(each)
      await each.inHouse((trx) =>
        createGroup(trx, {
          propertyId: each.propertyId,
          code: 'CLUB',
          name: 'Club',
          arrival: each.day(40),
          departure: each.day(41),
          ratePlanId: each.ratePlanId,
        }),
      )
      await makeUser({ [each.tenantId]: 'owner' })
    }
  })
  beforeEach(() => forgetLimits(world))

  const operate = (method: string, path: string, body?: unknown) =>
    world.request(method, `/superuser/tenants/${house.tenantId}${path}`, {
      token: n1,
      ...(body === undefined ? {} : { body }),
    })
  const countOf = async (tenantId: string): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {}
    for (const { table } of tenantData) {
      const [row] = await sql<{ n: number }>(
        world.database.admin,
        `select count(*) as n from "${table}" where tenant_id = ?`,
        [tenantId],
      )
      if (row && row.n > 0) counts[table] = row.n
    }
    return counts
  }

  it('takes all its data along, in parts that can be checked, with what was sealed open', async () => {
    const asked = await operate('POST', '/export', { reason: 'they asked for it' })
    expect([asked.status, asked.body.status], JSON.stringify(asked.body)).to.deep.equal([201, 'queued'])
    expect((await operate('POST', '/export', { reason: 'again' })).body.id).to.equal(asked.body.id)
    expect((await operate('GET', '/export?part=1')).status).to.equal(409)
    await drain({ kinds: ['privacy.export-tenant'] })
    const ready = (await operate('GET', '/export')).body as {
      status: string
      parts: number
      sha256: string
      records: number
      tables: number
      tablesDone: number
    }
    expect(ready.status, JSON.stringify(ready)).to.equal('ready')
    expect(ready.tablesDone).to.equal(ready.tables)
    const rows = await sql<{ bytes: Buffer }>(
      world.database.admin,
      `select bytes from tenant_export_part where export_id = ? order by number`,
      [asked.body.id],
    )
    const whole = Buffer.concat(rows.map(({ bytes }) => bytes))
    expect([rows.length, createHash('sha256').update(whole).digest('hex')]).to.deep.equal([ready.parts, ready.sha256])
    const lines = gunzipSync(whole)
      .toString('utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { table?: string; row?: Record<string, unknown> })
    expect(lines.length - 1).to.equal(ready.records)
    const counts = await countOf(house.tenantId)
    for (const { table, leave } of tenantData) {
      const written = lines.filter((line) => line.table === table)
      if (leave === undefined && !['event', 'audit_entry'].includes(table))
        expect(written.length, table).to.equal(counts[table] ?? 0)
      if (leave !== undefined) expect(written.length, table).to.equal(0)
    }
    const booking = lines.find((line) => line.table === 'booking')?.row
    expect(booking?.sealed).to.be.an('object')
    expect(lines.some((line) => JSON.stringify(line).includes(neighbour.tenantId))).to.equal(false)
    const part = await operate('GET', '/export?part=1')
    expect([part.status, part.headers['content-type']]).to.deep.equal([200, 'application/gzip'])
    expect((await operate('GET', '/export?part=99')).status).to.equal(400)
  })

  it('is asked for by its name, with a time to change one’s mind', async () => {
    const plan = (body: object) => operate('DELETE', '', { reason: 'the contract ended', ...body })
    expect((await plan({ confirmName: 'Another' })).body.code).to.equal('name_not_confirmed')
    const { name } = (await operate('GET', '')).body as { name: string }
    expect((await plan({ confirmName: name, graceDays: 3 })).status).to.equal(400)
    const planned = await plan({ confirmName: name, graceDays: 7 })
    expect([planned.status, planned.body.status], JSON.stringify(planned.body)).to.deep.equal([200, 'deleting'])
    await drain({ kinds: ['privacy.purge-tenant'] })
    expect((await operate('POST', '/reactivate', { reason: 'a mistake' })).body.status).to.equal('active')
    await plan({ confirmName: name, graceDays: 7 })
  })

  it('is gone on its day from every table, whenever that is interrupted, and leaves its neighbour whole', async () => {
    const before = await countOf(neighbour.tenantId)
    await sql(world.database.admin, `update tenant set delete_after = current_date - 1 where id = ?`, [house.tenantId])
    await sql(world.database.admin, `delete from jobs where kind like 'privacy.%'`)
    const { purgeTenant } = await import('../../jobs/admin.ts')
    const { enqueue } = await import('../../db/lib/enqueue.ts')
    const { beginPurge, closeStep, purgeSome } = await import('../../db/admin/index.ts')
    const { inTenant } = await import('../../db/lib/connection.ts')
    const { tenantId } = house
    // What a process has done before it was killed, in the middle of a table.
    const steps = await inTenant(tenantId, (trx) => beginPurge(trx, tenantId))
    for (const { table } of (steps ?? []).slice(0, 20)) {
      await inTenant(tenantId, (trx) => purgeSome(trx, tenantId, table))
      await inTenant(tenantId, (trx) => closeStep(trx, tenantId, table))
    }
    expect((await operate('POST', '/reactivate', { reason: 'too late' })).status).to.equal(409)
    // A job that was under way has written into a table that was found empty.
    await inTenant(tenantId, async (trx) => {
      const [done] = await sql(trx, `select 1 from tenant_purge where table_name = 'blob' and done_at is not null`)
      if (!done) await closeStep(trx, tenantId, 'blob')
      await sql(trx, `insert into blob (bytes) values ('\\x00'::bytea)`)
    })
    await inTenant(tenantId, (trx) => enqueue(trx, purgeTenant, { tenantId }))
    const done = await drain({ kinds: ['privacy.purge-tenant'] })
    expect(done.map(({ outcome }) => outcome)).to.deep.equal(['done'])
    const kept = new Set(tenantData.filter(({ keep }) => keep !== undefined).map(({ table }) => table))
    const left = Object.keys(await countOf(tenantId)).filter((table) => !kept.has(table) && table !== 'job_archive')
    expect(left).to.deep.equal([])
    const [row] = await sql<{ status: string; name: string; document: string | null }>(
      world.database.admin,
      `select status, name, document from tenant where id = ?`,
      [tenantId],
    )
    expect(row).to.deep.equal({ status: 'deleted', name: 'deleted', document: null })
    const [certificate] = await sql<{ changes: { field: string; before: number }[] }>(
      world.database.admin,
      `select changes from audit_entry where chain = ? and action = 'tenant.delete'`,
      [tenantId],
    )
    expect(certificate?.changes.find(({ field }) => field === 'booking')?.before).to.equal(1)
    expect(await countOf(neighbour.tenantId)).to.deep.equal(before)
    expect((await operate('POST', '/suspend', { reason: 'gone' })).status).to.equal(409)
  })

  it('stays where money is still on its way, and where nobody planned it', async () => {
    await sql(
      world.database.admin,
      `insert into payment (tenant_id, origin, channel, method, gateway_account_id, property_id, amount, currency, status)
       select tenant_id, 'gateway', 'desk', 'pix', id, ?, 100, currency, 'requires_action' from gateway_account where tenant_id = ? limit 1`,
      [neighbour.propertyId, neighbour.tenantId],
    )
    const theirs = `/superuser/tenants/${neighbour.tenantId}`
    const { name } = (await world.request('GET', theirs, { token: n1 })).body as { name: string }
    const asked = await world.request('DELETE', theirs, {
      token: n1,
      body: { reason: 'the contract ended', confirmName: name },
    })
    expect([asked.status, asked.body.code]).to.deep.equal([422, 'tenant_has_live_money'])
    expect((await world.request('GET', theirs, { token: n1 })).body.status).to.equal('active')
    const { inTenant } = await import('../../db/lib/connection.ts')
    const refused = await inTenant(neighbour.tenantId, (trx) =>
      sql(trx, `select purge_tenant(?, 'booking', 10)`, [neighbour.tenantId]),
    ).then(
      () => 'deleted',
      (error: { code: string }) => error.code,
    )
    expect(refused).to.equal('PL011')
  })
})
