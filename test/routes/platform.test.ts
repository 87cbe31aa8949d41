import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, signIn } from '../auth/support.ts'
import { useWorld } from '../support/world.ts'

describe('what the platform does for every endpoint', () => {
  const world = useWorld()
  let tenantId: string
  let owner: string
  let superuser: string

  before(async () => {
    tenantId = await makeTenant('Starter')
    owner = (await signIn(world, await makeUser({ [tenantId]: 'owner' }))).token
    superuser = (await signIn(world, await makeSuperuser('N1'))).token
  })
  beforeEach(() => forgetLimits(world))

  const change = (body: unknown, headers: Record<string, string> = {}) =>
    world.request('PATCH', `/api/tenants/${tenantId}`, { token: owner, body, headers })
  const read = () => world.request('GET', `/api/tenants/${tenantId}`, { token: owner })
  const grants = `/superuser/tenants`
  const grant = (body: unknown, idempotencyKey?: string) =>
    world.request('POST', `${grants}/${tenantId}/entitlements`, {
      token: superuser,
      body,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
  const count = async (table: string, condition: string) => {
    const row = await sqlOne<{ n: number }>(
      world.database.admin,
      `select count(*)::int as n from ${table} where ${condition}`,
    )
    return row?.n ?? 0
  }

  describe('If-Match', () => {
    it('lets the version that was read through, once: of twenty changes at once one wins', async () => {
      const { headers } = await read()
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, n) => change({ name: `House ${n}` }, { 'if-match': headers.etag ?? '' })),
      )
      expect(replies.filter(({ status }) => status === 200).length).to.equal(1)
      const refused = replies.filter(({ status }) => status !== 200)
      expect(refused.every(({ status, body }) => status === 409 && body.code === 'version_conflict')).to.equal(true)
      expect((await read()).body.version).to.equal(Number(headers.etag?.replaceAll('"', '')) + 1)
    })

    it('refuses a stale version before anything changes, and a malformed one as such', async () => {
      const before = (await read()).body
      const stale = await change({ name: 'Never' }, { 'if-match': '"1"' })
      expect([stale.status, stale.body.code]).to.deep.equal([409, 'version_conflict'])
      const malformed = await change({ name: 'Never' }, { 'if-match': '1' })
      expect([malformed.status, malformed.body.errors[0].field]).to.deep.equal([400, 'If-Match'])
      expect((await read()).body).to.deep.equal(before)
    })

    it('changes the fields sent and no others, and of the settings the keys sent', async () => {
      await change({ settings: { guests: { inactiveYears: 7 } } })
      const { status, body } = await change({ settings: { guests: { revealsPerHour: 30 } }, locale: 'en' })
      expect([status, body.locale, body.settings]).to.deep.equal([
        200,
        'en',
        { guests: { inactiveYears: 7, revealsPerHour: 30 }, support: { access: 'write' } },
      ])
    })
  })

  describe('Idempotency-Key', () => {
    it('acts once and replays the first reply, for twenty requests at once too', async () => {
      const key = randomUUID()
      const body = { key: 'pos', reason: 'a trial for the season' }
      const replies = await Promise.all(Array.from({ length: 20 }, () => grant(body, key)))
      for (const reply of replies)
        if (reply.status !== 201) expect([reply.status, reply.body.code]).to.deep.equal([409, 'request_in_progress'])
      const again = await grant(body, key)
      expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([201, 'true'])
      const first = replies.find(({ status, headers }) => status === 201 && !headers['idempotent-replayed'])
      expect(again.body).to.deep.equal(first?.body)
      expect(await count('entitlement_grant', `tenant_id = '${tenantId}' and key = 'pos'`)).to.equal(1)
    })

    it('answers a kept reply to several who ask for it at one moment', async () => {
      const key = randomUUID()
      const body = { key: 'sla', reason: 'a trial for the season' }
      expect((await grant(body, key)).status).to.equal(201)
      const again = await world.database.admin.transaction(async (trx) => {
        // Holds the key as the request of another does that is answered with it.
        await trx.raw(`select pg_advisory_xact_lock(hashtextextended(caller || ' ' || key, 7)) from kept_reply where key = ?`, [
          key,
        ]) // oxfmt-ignore
        return grant(body, key)
      })
      expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([201, 'true'])
    })

    it('is refused with 422 for another body, and counts per caller', async () => {
      const key = randomUUID()
      expect((await grant({ key: 'suppliers', reason: 'first' }, key)).status).to.equal(201)
      const other = await grant({ key: 'suppliers', reason: 'second' }, key)
      expect([other.status, other.body.code]).to.deep.equal([422, 'idempotency_key_reused'])
      const colleague = (await signIn(world, await makeSuperuser('N1'))).token
      const theirs = await world.request('POST', `${grants}/${tenantId}/entitlements`, {
        token: colleague,
        body: { key: 'suppliers', reason: 'second' },
        idempotencyKey: key,
      })
      expect([theirs.status, theirs.headers['idempotent-replayed']]).to.deep.equal([201, undefined])
    })

    it('replays the reply of a command that named the version it had read: it has changed that itself', async () => {
      const { userId } = await makeUser({ [tenantId]: 'receptionist' })
      const leave = (version: number, idempotencyKey: string) =>
        world.request('POST', `/api/tenants/${tenantId}/users/${userId}/deactivate`, {
          token: owner,
          body: {},
          headers: { 'if-match': `"${version}"` },
          idempotencyKey,
        })
      const first = await leave(1, 'leave-once')
      expect([first.status, first.body.version]).to.deep.equal([200, 2])
      const again = await leave(1, 'leave-once')
      expect([again.status, again.headers['idempotent-replayed'], again.body]).to.deep.equal([200, 'true', first.body])
      const other = await leave(1, 'leave-anew')
      expect([other.status, other.body.code]).to.deep.equal([409, 'version_conflict'])
    })

    it('of a trial is not that of the act, which differs in its query alone', async () => {
      const entry = {
        description: 'Bank fees of March',
        lines: [
          { accountCode: '5.1.09', debit: 1_250 },
          { accountCode: '1.1.3.80', credit: 1_250 },
        ],
      }
      const post = (query: string, idempotencyKey: string) =>
        world.request('POST', `/api/tenants/${tenantId}/financial/ledger-entries${query}`, {
          token: owner,
          body: entry,
          idempotencyKey,
        })
      expect((await post('?dryRun=true', 'march')).status).to.equal(200)
      const act = await post('', 'march')
      expect([act.status, act.body.code]).to.deep.equal([422, 'idempotency_key_reused'])
      const made = await post('', 'march-posted')
      expect([made.status, typeof made.body.id]).to.deep.equal([201, 'string'])
      const again = await post('', 'march-posted')
      expect([again.status, again.headers['idempotent-replayed'], again.body.id]).to.deep.equal([
        201,
        'true',
        made.body.id,
      ])
      const trial = await post('?dryRun=true', 'march-posted')
      expect([trial.status, trial.body.code]).to.deep.equal([422, 'idempotency_key_reused'])
    })

    it('keeps nothing of a refused request: its repetition is judged afresh', async () => {
      const key = randomUUID()
      expect((await grant({ key: 'nothing', reason: 'unknown' }, key)).status).to.be.oneOf([400, 422])
      expect((await grant({ key: 'sla', reason: 'known' }, key)).status).to.equal(201)
    })

    it('keeps replies sealed, so that no stored reply shows what it says', async () => {
      await grant({ key: 'channels', reason: 'a secret reason that nobody finds' }, randomUUID())
      const rows = await sql<{ body: Buffer }>(world.database.admin, `select body from kept_reply`)
      expect(rows.length).to.be.greaterThan(0)
      for (const row of rows) expect(row.body.toString('latin1')).not.to.include('secret reason')
    })
  })

  describe('the trail', () => {
    it('holds one entry per write, with who, what and the request, and none for a write that was refused', async () => {
      const requestId = `trail-${randomUUID()}`
      await change({ name: 'Trailed' }, { 'x-request-id': requestId })
      expect(
        await count(
          'audit_entry',
          `request_id = '${requestId}' and action = 'tenant.update' and actor_type = 'user' and tenant_id = '${tenantId}'`,
        ),
      ).to.equal(1)
      const refused = `trail-${randomUUID()}`
      await change({ name: '' }, { 'x-request-id': refused })
      expect(await count('audit_entry', `request_id = '${refused}'`)).to.equal(0)
    })

    it('cannot be changed or emptied, by the service or by the owner of the table', async () => {
      for (const statement of [
        `update audit_entry set action = 'x'`,
        `delete from audit_entry`,
        `truncate audit_entry`,
      ]) {
        const refused = await world.database.admin.raw(statement).then(
          () => 'done',
          (error: { code: string }) => error.code,
        )
        expect(refused, statement).to.equal('PL010')
        const asService = await world.database.service.raw(statement).then(
          () => 'done',
          (error: { code: string }) => error.code,
        )
        expect(asService, statement).to.equal('42501')
      }
    })
  })

  it('leaves a suspended tenant its own record to read, and nothing else', async () => {
    await world.database.admin.raw(`update tenant set status = 'suspended', reason = 'unpaid' where id = ?`, [tenantId])
    try {
      expect([(await read()).status, (await read()).body.status]).to.deep.equal([200, 'suspended'])
      for (const { status, body } of [
        await change({ name: 'Never' }),
        await world.request('GET', `/api/tenants/${tenantId}/guests`, { token: owner }),
      ])
        expect([status, body.code, body.error]).to.deep.equal([403, 'tenant_suspended', 'ForbiddenException'])
    } finally {
      await world.database.admin.raw(`update tenant set status = 'active', reason = null where id = ?`, [tenantId])
    }
  })

  describe('the edge', () => {
    const post = (raw: string | Buffer, headers: Record<string, string> = {}) =>
      world.request('POST', '/api/auth/sign-in/email', { raw, headers })

    it('refuses bodies that are not plain JSON objects of bounded size, depth and keys, without a 500', async () => {
      const bad: [string, string | Buffer, Record<string, string>?][] = [
        ['no JSON', '{"email":'],
        ['a scalar', '42'],
        ['a key twice', '{"email":"a@b.co","email":"c@d.co","password":"x"}'],
        ['a key twice, escaped', '{"email":"a@b.co","\\u0065mail":"c@d.co","password":"x"}'],
        ['a prototype', '{"__proto__":{"polluted":1}}'],
        ['depth 21', `{"email":${'['.repeat(20)}${']'.repeat(20)}}`],
        ['many values', `{"email":[${'1,'.repeat(50_001)}1]}`],
        ['U+0000', '{"email":"a\\u0000@b.co","password":"x"}'],
        ['half a surrogate', '{"email":"a@b.co","password":"\\ud800"}'],
        ['other bytes than UTF-8', Buffer.from('7b22656d61696c223a22ff227d', 'hex')],
        ['over 32 kibibytes, without a credential', Buffer.alloc(32 * 1024 + 1, 32)],
        ['a form', 'email=a', { 'content-type': 'application/x-www-form-urlencoded' }],
        ['another charset', '{}', { 'content-type': 'application/json; charset=latin1' }],
        ['an encoding', '{}', { 'content-encoding': 'gzip' }],
      ]
      for (const [what, raw, headers] of bad) {
        const { status, body } = await post(raw, headers)
        expect([status, body.code], what).to.deep.equal([400, 'body_invalid'])
      }
      expect(({} as { polluted?: number }).polluted).to.equal(undefined)
    })

    it('takes depth 20, and 32 kibibytes without a credential, and then judges the fields', async () => {
      const deep = await post(`{"email":${'['.repeat(19)}${']'.repeat(19)}}`)
      expect([deep.status, deep.body.code]).to.deep.equal([400, 'validation_failed'])
      const large = await post(`{"email":"${'a'.repeat(32 * 1024 - 12)}"}`)
      expect([large.status, large.body.code]).to.deep.equal([400, 'validation_failed'])
    })

    it('refuses the number of a card wherever it stands, and lets the digits of a phone through', async () => {
      const { status, body } = await change({ name: 'Card 4111 1111-1111 1111' })
      expect([status, body.code, body.errors[0].field]).to.deep.equal([400, 'card_data_refused', 'name'])
      expect((await change({ legalName: '4111 1111 1111 1112' })).status).to.equal(200)
    })

    it('keeps a client’s request id where it is well-formed, and makes one where it is not', async () => {
      const good = await world.request('GET', '/healthz', { headers: { 'x-request-id': 'abcDEF-12345' } })
      expect(good.headers['x-request-id']).to.equal('abcDEF-12345')
      const bad = await world.request('GET', '/healthz', { headers: { 'x-request-id': 'short' } })
      expect(bad.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/)
    })

    it('answers what the parser refuses with the error body, and closes', async () => {
      const { port } = new URL(world.baseUrl)
      for (const raw of [
        'nonsense\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
        `GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(9_000)}\r\n\r\n`,
      ]) {
        const reply = await new Promise<string>((resolve, reject) => {
          const socket = connect(Number(port), '127.0.0.1', () => socket.write(raw))
          let text = ''
          socket.on('data', (part) => {
            text += part.toString()
            if (text.includes('requestId') || text.includes('request_invalid')) socket.end()
          })
          socket.on('close', () => resolve(text))
          socket.on('error', reject)
          socket.setTimeout(30_000, () => socket.destroy())
        })
        expect(reply.split('\r\n')[0]).to.equal('HTTP/1.1 400 Bad Request')
        expect(reply).to.include('request_invalid')
      }
    })

    it('lets any origin read public endpoints and none the signed-in ones, never with credentials', async () => {
      const open = await world.request('GET', `/api/public/property/${randomUUID()}/config`, {
        headers: { origin: 'https://portal.example' },
      })
      expect(open.headers['access-control-allow-origin']).to.equal('*')
      const closed = await world.request('GET', `/api/tenants/${tenantId}`, {
        token: owner,
        headers: { origin: 'https://portal.example' },
      })
      expect(closed.headers['access-control-allow-origin']).to.equal(undefined)
      for (const { headers } of [open, closed]) expect(headers['access-control-allow-credentials']).to.equal(undefined)
    })

    it('carries the headers of safety on every reply, errors included', async () => {
      for (const path of ['/healthz', '/nothing', `/api/tenants/${tenantId}`]) {
        const { headers } = await world.request('GET', path)
        expect(headers['x-content-type-options'], path).to.equal('nosniff')
        expect(headers['content-security-policy'], path).to.equal("default-src 'none'; frame-ancestors 'none'")
        expect(headers['referrer-policy'], path).to.equal('no-referrer')
        expect(headers['cache-control'], path).to.equal('no-store')
        expect(headers.server, path).to.equal(undefined)
      }
    })

    it('says nothing of the inside when something unexpected breaks', async () => {
      await world.database.admin.raw(`alter table tenant rename column locale to locale_away`)
      try {
        const { status, body } = await read()
        expect([status, body.code]).to.deep.equal([500, 'internal_error'])
        expect(JSON.stringify(body)).not.to.match(/locale|column|select/)
      } finally {
        await world.database.admin.raw(`alter table tenant rename column locale_away to locale`)
      }
    })
  })
})
