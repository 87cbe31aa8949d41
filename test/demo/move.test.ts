import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync, readFileSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import type { Knex } from 'knex'
import { mailedToken } from '../../config/derived-secrets.ts'
import { settings } from '../../config/env.ts'
import {
  askForPurges,
  importTenantFrom,
  makeTicket,
  planDeletion,
  reactivateTenant,
  suspendTenant,
} from '../../db/admin/index.ts'
import { sequencesOf } from '../../db/admin/moving/checks.ts'
import { sumInDatabase } from '../../db/admin/moving/format.ts'
import { macOf } from '../../db/admin/moving/mac.ts'
import { movedTables } from '../../db/admin/moving/tables.ts'
import { hashPassword, createUser } from '../../db/auth/index.ts'
import { lua, sol } from '../../db/demo/ids.ts'
import { liveSol } from '../../db/demo/life/index.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import type { Demo } from '../../db/demo/seed.ts'
import { inPlatform, inTenant, makeKnex, openDatabase, sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { checks } from '../chaos/checker.ts'
import { built } from '../support/built.ts'
import { clientOf } from '../support/client.ts'
import type { Parsed } from '../support/client.ts'
import { wrongTotals } from '../support/counts.ts'
import { makeHouse } from '../support/factories.ts'
import { createTestDatabase } from '../support/services.ts'
import type { TestDatabase } from '../support/services.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

const run = promisify(execFile)
const { tenantId } = sol
const password = 'other-installation-2026'
const clara = 'clara.monteiro@guests.example'

/** An installation: its database and its secrets. */
type Side = { url: string; ownerUrl: string; admin: Knex; owner: Knex; keys: Partial<typeof settings> }

describe('a tenant that moves to another installation', function () {
  this.timeout(240_000)
  const world = useWorld()
  const before_ = {
    dataKeys: settings.dataKeys,
    indexKey: settings.indexKey,
    tokenKey: settings.tokenKey,
    peppers: settings.peppers,
  }
  const folder = mkdtempSync(join(tmpdir(), 'move-'))
  const { databaseUrl } = settings
  let demo: Demo
  let made: TestDatabase
  let source: Side
  let target: Side
  let told: Record<string, unknown>
  let waiting: string[]
  let neighbours: { side: Side; tenantId: string; sums: string[] }[]

  /** This process, as a process of one installation: its API, its jobs and its keys. */
  const at = async ({ url, keys }: Side) => {
    Object.assign(settings, keys, { databaseUrl: url })
    await openDatabase(url)
    await forgetLimits(world)
  }
  const named = (keys: Side['keys']) => ({
    DATA_KEY: (keys.dataKeys ?? []).map(({ id, key }) => `${id}:${key.toString('base64url')}`).join(),
    INDEX_KEY: keys.indexKey?.toString('base64url') ?? '',
  })
  const command = async (side: Side, given: string[]) => ({
    file: [join(await built(), 'scripts/tenant.js'), ...given],
    options: { env: { ...process.env, DATABASE_OWNER_URL: side.ownerUrl, ...named(side.keys) } },
  })
  const cliWith = async (variables: NodeJS.ProcessEnv, side: Side, ...given: string[]): Promise<string> => {
    const { file, options } = await command(side, given)
    return run(process.execPath, file, { env: { ...options.env, ...variables } }).then(
      ({ stdout }) => stdout.trim(),
      (error: unknown) => `refused: ${(error as { stderr: string }).stderr.trim()}`,
    )
  }
  const cli = (side: Side, ...given: string[]) => cliWith({}, side, ...given)
  /** Kills a command once it has come so far; a table is locked meanwhile, so that it comes no further. */
  const killed = async (side: Side, table: string, given: string[], soFar: string) => {
    const lock = await side.admin.transaction()
    try {
      await lock.raw(`lock table ${table} in access exclusive mode`)
      const { file, options } = await command(side, given)
      const child = spawn(process.execPath, file, { ...options, stdio: 'inherit' })
      const gone = new Promise((resolve) => child.once('exit', resolve))
      await until(async () => (await sql(side.admin, soFar)).length > 0, { withinMs: 60_000, what: soFar })
      child.kill('SIGKILL')
      await gone
    } finally {
      await lock.rollback()
    }
  }
  const ask = async (method: string, path: string, options: object = {}) =>
    clientOf(world.baseUrl)<Parsed>(method, path, options)
  const signIn = async (email: string, word: string): Promise<string> => {
    const { status, body } = await ask('POST', '/api/auth/sign-in/email', { body: { email, password: word } })
    expect(status, JSON.stringify(body)).to.equal(200)
    return body.token as string
  }
  const inside = async (token: string, path: string): Promise<Parsed> => {
    const { status, body } = await ask('GET', `/api/tenants/${tenantId}/${path}`, { token })
    expect(status, `${path} ${JSON.stringify(body)}`).to.equal(200)
    return body
  }
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'not refused',
      (error: Error) => error.message,
    )
  const platform = (work: Parameters<typeof inPlatform>[0]) => inPlatform(work as never)
  const sumsOf = async (side: Side, of: string): Promise<string[]> => {
    const sums: string[] = []
    for (const table of await movedTables(side.owner))
      sums.push(`${table} ${await sumInDatabase(side.owner, table, of)}`)
    return sums
  }
  /** Statements, lists and a guest found by an address, as people of the house see them. */
  const tell = async (token: string): Promise<Record<string, unknown>> => {
    const [book] = (await inside(token, 'financial/books')).data as Parsed[]
    const year = new Date().getUTCFullYear()
    const range = `bookId=${book.id}&startDate=${year - 1}-01-01&endDate=${year - 1}-12-31`
    const now = `bookId=${book.id}&startDate=${year}-01-01&endDate=${year}-12-31`
    const paths = [
      `reports/trial-balance?${range}`,
      `reports/trial-balance?${now}`,
      `reports/balance-sheet?bookId=${book.id}&asOf=${year}-12-31`,
      `reports/cash-flow?${now}`,
      `reservations?limit=100`,
      `payments?limit=100`,
      `ocp/messages?limit=100`,
      `inventory/items?limit=100`,
      `issues?limit=100`,
      `guests?email=${encodeURIComponent(clara)}`,
    ]
    const said: Record<string, unknown> = {}
    for (const path of paths) {
      const body = await inside(token, path)
      // The minutes that an issue has left are those of the clock.
      const data: unknown = JSON.parse(
        JSON.stringify(body.data, (name, value: unknown) => (name === 'dueInMinutes' ? undefined : value)),
      )
      said[path] = { data, totals: body.totals, total: body.meta?.total }
    }
    const [guest] = (said[paths.at(-1) ?? ''] as Parsed).data as Parsed[]
    const shown = await ask('POST', `/api/tenants/${tenantId}/guests/${guest?.id}/reveal`, {
      token,
      body: { reason: 'check_in', fields: ['email', 'phone'] },
    })
    expect(shown.body.fields?.email, 'a guest is found by an address, and shown').to.equal(clara)
    return { ...said, shown: shown.body }
  }

  before(async () => {
    const key = (letter: string) => Buffer.alloc(32, letter)
    demo = await seedDemo()
    expect(await liveSol(() => world.drain({ queues: ['inventory', 'payments', 'ledger'] }))).to.equal(true)
    const { database } = world
    await database.admin.raw(`grant set on parameter session_replication_role to pousada_owner`)
    made = await createTestDatabase()
    const sideOf = ({ url, ownerUrl, adminUrl }: TestDatabase, keys: Side['keys']): Side => ({
      url, ownerUrl, keys, admin: makeKnex(adminUrl, 3), owner: makeKnex(ownerUrl, 3),
    }) // oxfmt-ignore
    source = sideOf(database, before_)
    target = sideOf(made, {
      dataKeys: [{ id: 'other', key: key('D') }],
      indexKey: key('I'),
      tokenKey: key('T'),
      peppers: [{ id: 'other', key: key('P') }, ...settings.peppers],
    })
    await at(target)
    const there = await makeHouse()
    const hash = await hashPassword(password)
    await inPlatform((trx) => createUser(trx, { email: 'owner@sol.example', name: 'Olívia', locale: 'pt-BR', hash }))
    await at(source)
    neighbours = [
      { side: source, tenantId: lua.tenantId, sums: [] },
      { side: target, tenantId: there.tenantId, sums: [] },
    ]
    for (const one of neighbours) one.sums = await sumsOf(one.side, one.tenantId)
    told = await tell(await signIn('owner@sol.example', demo.password))
  })
  after(async () => {
    Object.assign(settings, before_, { databaseUrl })
    for (const { admin, owner } of [source, target]) await Promise.all([admin.destroy(), owner.destroy()])
    await openDatabase(source.url)
    await made.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('leaves once it is suspended, for one installation, and is shut where it was', async () => {
    const ticket = await cli(target, 'ticket')
    const leave = ['export', '--tenant', tenantId, '--ticket', ticket, '--to', join(folder, 'sol')]
    expect(await cli(source, ...leave)).to.contain('suspend it first')
    await platform((trx) => suspendTenant(trx, tenantId, 'it moves'))
    const last = ticket.at(-3) === 'A' ? 'B' : 'A'
    const altered = ticket.slice(0, -3) + last + ticket.slice(-2)
    for (const [variables, given] of [
      [{}, altered],
      [{ MOVE_KEY: Buffer.alloc(32, 'x').toString('base64url') }, ticket],
    ] as const)
      expect(await cliWith(variables, source, ...leave.map((one) => (one === ticket ? given : one)))).to.contain(
        'the ticket was altered, or made with another MOVE_KEY',
      )
    expect(await cliWith({ MOVE_KEY: '' }, source, ...leave)).to.contain('MOVE_KEY: is not set')
    expect(await sql(source.admin, `select 1 from tenant_move`), 'nothing was shut').to.deep.equal([])
    await killed(source, 'inventory_item', leave, `select 1 from tenant_move`)
    expect(await cli(target, 'import', '--from', join(folder, 'sol'))).to.contain('was not finished')
    const [row] = await sql<{ ids: string[] }>(
      source.admin,
      `select array_agg(id order by id) as ids from jobs where tenant_id = ? and status <> 'dead'`,
      [tenantId],
    )
    waiting = row?.ids ?? []
    expect(waiting.length, 'jobs that wait').to.be.above(0)
    expect(await cli(source, ...leave)).to.match(/^\d+ rows of \d+ tables/)
    expect(await refusal(inTenant(tenantId, (trx) => sql(trx, `select 1`)))).to.contain('another installation')
    expect(await refusal(platform((trx) => reactivateTenant(trx, tenantId, 'again')))).to.contain('exported')
    expect(await refusal(source.admin.raw(`update tenant set status = 'active' where id = '${tenantId}'`))).to.contain(
      'moved',
    )
    await world.drain()
    const [ran] = await sql<{ n: number }>(source.admin, `select count(*) as n from job_archive where id = any(?)`, [
      waiting,
    ])
    expect(ran?.n, 'jobs that ran where the tenant is shut').to.equal(0)
    const second = await cli(target, 'ticket')
    expect(await cli(source, ...leave.map((one) => (one === ticket ? second : one)))).to.contain('take it back first')
  })

  it('carries no key that anybody but that installation can open', async () => {
    const other = await createTestDatabase()
    const owner = makeKnex(other.ownerUrl, 2)
    try {
      expect(await refusal(importTenantFrom(owner, join(folder, 'sol')))).to.contain('another installation')
    } finally {
      await owner.destroy()
      await other.drop()
    }
  })

  it('arrives whole or not at all, and once', async () => {
    const from = ['import', '--from', join(folder, 'sol')]
    const manifest = join(folder, 'sol', 'manifest.json')
    const text = readFileSync(manifest, 'utf8')
    const mac = join(folder, 'sol', 'manifest.mac')
    const code = readFileSync(mac, 'utf8')
    const sealed = (words: string) => {
      writeFileSync(manifest, words)
      writeFileSync(mac, macOf('manifest', Buffer.from(words)).toString('hex'))
    }
    sealed(text.replace(/"schema": "[^"]+"/, '"schema": "0001_platform 00"'))
    expect(await cli(target, ...from)).to.contain('both must run one release')
    const sums = [...text.matchAll(/"table": "(\w+)",\s+"file": "([^"]+)",\s+"rows": \d+,\s+"sum": "([^"]+)"/g)]
    const [, , name = '', journal = ''] = sums.find(([, table]) => table === 'journal_line') ?? []
    const other = text.replace(
      journal,
      journal.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10)),
    )
    sealed(other)
    expect(await cli(target, ...from)).to.contain('is not what was exported')
    writeFileSync(mac, code)
    for (const one of ['import', 'withdraw'])
      expect(await cli(target, one, '--from', join(folder, 'sol'))).to.contain('manifest.json is not what was exported')
    writeFileSync(manifest, text)
    rmSync(mac)
    expect(await cli(target, ...from)).to.contain('has no manifest.mac')
    writeFileSync(mac, code)
    const theirs = { MOVE_KEY: Buffer.alloc(32, 'x').toString('base64url') }
    expect(await cliWith(theirs, target, ...from)).to.contain('exported with another MOVE_KEY')
    // Lines in another order have the same sum.
    const file = join(folder, 'sol', name)
    const bytes = readFileSync(file)
    const lines = gunzipSync(bytes).toString('utf8').split('\n').slice(0, -1)
    writeFileSync(file, gzipSync(`${lines.toReversed().join('\n')}\n`))
    expect(await cli(target, ...from)).to.contain(`${name} is not what was exported`)
    writeFileSync(file, bytes)
    await killed(
      target,
      'reservation',
      from,
      `select 1 from pg_locks where relation = 'reservation'::regclass and not granted`,
    )
    await until(async () => (await sql(target.admin, `select 1 from tenant where id = '${tenantId}'`)).length === 0)
    expect(await cli(target, ...from)).to.contain('is here, suspended')
    expect(await cli(target, ...from)).to.contain('the ticket is used')
    expect(await cli(target, 'withdraw', '--from', join(folder, 'sol'))).to.contain('the ticket is used')
    const again = await makeTicket(target.owner)
    expect(again).to.match(/^move_/)
  })

  it('is what it was: statements, lists, sealed words, and what was waiting, once', async () => {
    await at(target)
    const token = await signIn('owner@sol.example', password)
    await platform((trx) => reactivateTenant(trx, tenantId, 'it has moved'))
    const now = await tell(token)
    for (const [path, said] of Object.entries(now)) expect(said, path).to.deep.equal(told[path])
    expect(await sql(target.admin, wrongTotals)).to.deep.equal([])
    expect(Object.keys(now)).to.deep.equal(Object.keys(told))
    await world.drain({ starts: 3_000 })
    const twice = await sql(
      target.admin,
      `select j.id from unnest(?::uuid[]) w (id) left join job_archive j on j.id = w.id left join jobs l on l.id = w.id
       group by w.id, j.id, l.id having count(j.id) + count(l.id) <> 1`,
      [waiting],
    )
    expect(twice).to.deep.equal([])
    for (const rule of [
      'debits equal credits',
      'balances equal their lines',
      'every posting has one entry',
      'counters equal a recount',
    ])
      expect(await checks[rule]?.(target.admin, {} as never), rule).to.deep.equal([])
    const [book] = (await inside(token, 'financial/books')).data as Parsed[]
    await ask('POST', `/api/tenants/${tenantId}/financial/integrity-checks/run`, { token, body: { bookId: book.id } })
    await world.drain({ kinds: ['ledger.check-integrity'] })
    const { data } = await inside(token, `financial/integrity-checks?bookId=${book.id}`)
    expect((data as Parsed[]).filter(({ status }) => status !== 'passed')).to.deep.equal([])
    expect(await ask('GET', `/api/tenants/${tenantId}/reservations`, { key: demo.sol.apiKey })).to.include({
      status: 401,
    })
  })

  it('lets people in who are new there once they have set a password', async () => {
    const email = 'manager@sol.example'
    expect(
      (await ask('POST', '/api/auth/sign-in/email', { body: { email, password: demo.password } })).status,
    ).to.equal(401)
    await ask('POST', '/api/auth/password/forgot', { body: { email } })
    await world.drain()
    const [link] = await sql<{ id: string }>(
      target.admin,
      `select t.id from one_time_token t join app_user u on u.id = t.user_id where u.email_key = ? and t.purpose = 'password_reset'`,
      [email],
    )
    const token = mailedToken('password_reset', link?.id ?? '')
    await ask('POST', '/api/auth/password/reset', { body: { token, newPassword: password } })
    expect((await inside(await signIn(email, password), 'reservations')).data.length).to.be.above(0)
  })

  it('changes nothing of other tenants, on either side', async () => {
    // Jobs of theirs that fell due meanwhile have run, as they do beside any other.
    const withoutJobs = (sums: string[]) => sums.filter((sum) => !/^job(s|_archive) /.test(sum))
    for (const { side, tenantId: other, sums } of neighbours)
      expect(withoutJobs(await sumsOf(side, other))).to.deep.equal(withoutJobs(sums))
    const names = (await sequencesOf(target.owner))
      .filter(({ table }) => table === null)
      .map(({ sequence }) => sequence)
    expect(names, 'say in db/admin/moving/checks.ts which column they fill').to.deep.equal([])
  })

  it('comes back only by the receipt of the installation that gave it up', async () => {
    await at(source)
    await platform((trx) => suspendTenant(trx, lua.tenantId, 'it moves'))
    const ticket = await cli(target, 'ticket')
    const to = join(folder, 'lua')
    expect(await cli(source, 'export', '--tenant', lua.tenantId, '--ticket', ticket, '--to', to)).to.contain(
      'shut here',
    )
    expect(await cli(source, 'take-back', '--tenant', lua.tenantId, '--receipt', 'x'.repeat(43))).to.contain(
      'not the receipt',
    )
    // A receipt may begin with a dash.
    expect(await cli(source, 'take-back', '--tenant', lua.tenantId, '--receipt', `-${'x'.repeat(42)}`)).to.contain(
      'not the receipt',
    )
    const receipt = await cli(target, 'withdraw', '--from', to)
    expect(await cli(target, 'import', '--from', to)).to.contain('the ticket is withdrawn')
    expect(await cli(source, 'take-back', '--tenant', lua.tenantId, '--receipt', receipt)).to.contain('open here again')
    await platform((trx) => reactivateTenant(trx, lua.tenantId, 'it stays'))
    const token = await signIn('owner@lua.example', demo.password)
    expect((await ask('GET', `/api/tenants/${lua.tenantId}`, { token })).status).to.equal(200)
  })

  it('is deleted where it was, though money was on its way', async () => {
    const [{ name } = { name: '' }] = await sql<{ name: string }>(
      source.admin,
      `select name from tenant where id = ?`,
      [tenantId],
    )
    await platform((trx) => planDeletion(trx, tenantId, { reason: 'it has moved', confirmName: name }))
    await source.admin.raw(`update tenant set delete_after = current_date - 1 where id = '${tenantId}'`)
    await platform((trx) => askForPurges(trx))
    await world.drain({ kinds: ['privacy.purge-tenant'] })
    expect(await sql(source.admin, `select status from tenant where id = ?`, [tenantId])).to.deep.equal([
      { status: 'deleted' },
    ])
    expect(await sql(source.admin, `select id from booking where tenant_id = ?`, [tenantId])).to.deep.equal([])
    expect(existsSync(join(folder, 'sol')) && readdirSync(join(folder, 'sol')).length).to.be.above(100)
  })
})
