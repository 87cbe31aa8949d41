import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { closeRedis } from '../../api/lib/redis.ts'
import { connectRedis } from '../support/redis.ts'
import { useWorld } from '../support/world.ts'
import { forgetLimits } from '../auth/support.ts'
import { deadIn, fill, hostile, lastAct, makeOperator } from './ops-support.ts'
import { base, visitsOf } from './ops-visit.ts'

const places = [
  '/acts',
  '',
  '/database',
  '/queues',
  '/queues/messages',
  '/tenants',
  '/dead',
  '/schedules',
  '/providers',
  '/workers',
  '/jobs',
]

describe('the operations pages', () => {
  const world = useWorld()
  let userId: string
  before(async () => void (userId = await makeOperator()))
  beforeEach(() => forgetLimits(world))
  const { send, enter, get, post } = visitsOf(() => world.baseUrl)

  it('are shown to signed-in N1 alone', async () => {
    for (const path of [...places, '/nothing', '/style.css']) {
      const reply = await send('GET', `${base}${path}`)
      expect(reply.status, path).to.equal(401)
      expect(reply.body, path).to.match(/<form method="post" action="\/superuser\/ops\/sign-in"/)
    }
    expect((await send('POST', `${base}/queues/messages/pause`, { form: { reason: 'for fun' } })).status).to.equal(401)
    expect((await send('GET', `/api${base}/queues`)).headers.location).to.equal(`${base}/queues`)
  })

  it('stand on an empty database, and without Redis', async () => {
    await enter()
    closeRedis()
    try {
      for (const path of places) {
        const { status, body, headers } = await get(path)
        expect(status, path).to.equal(200)
        expect(body, path).to.match(/<!doctype html>\s*<html lang="en">/)
        expect(body, path).to.match(/<h1>/)
        expect(headers['content-security-policy'], path).to.equal(
          "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        )
        expect(headers['cache-control'], path).to.equal('no-store')
      }
    } finally {
      await connectRedis()
    }
    expect((await get('/nothing')).status).to.equal(404)
    expect((await get('/queues/nothing')).status).to.equal(404)
    expect((await get('/jobs/nothing')).status).to.equal(404)
    expect((await get('/jobs?tenantId=nothing')).status).to.equal(400)
  })

  describe('with something to show', () => {
    let given: Awaited<ReturnType<typeof fill>>
    before(async () => {
      given = await fill(world)
    })
    const deadIds = () => deadIn(world)

    it('write what others wrote as text, whatever it is', async () => {
      const group = '/dead/group?queue=messages&kind=messages.trigger&error=ECONNREFUSED'
      for (const path of [...places, group, `/jobs/${given.jobId}`, `/jobs?kind=${encodeURIComponent(hostile)}`]) {
        const { status, body } = await get(path)
        expect(status, path).to.equal(200)
        expect(body, path).not.to.match(/<script|<img|onerror=alert\(2\)>/i)
      }
      expect((await get('/tenants')).body).to.include('Casa &#60;script&#62;alert(1)&#60;/script&#62;')
      expect((await get(group)).body).to.include('connect refused &#60;script&#62;')
    })

    it('tell the story of one job, from its request to its effects', async () => {
      const body = (await get(`/jobs/${given.jobId}`)).body.replace(/\s+/g, ' ')
      for (const part of [
        'Asked for by',
        'request-of-a-booking',
        'Try 1 failed',
        'Given up',
        'Call to sandbox: submit',
        'sandbox submit: succeeded',
        'guest.created',
        'payments.process-callback',
        'Discard for good',
        '2 starts ended without a word: the process died or was lost',
        'the next try after 4 s',
        'succeeded after 0 s (HTTP 200)',
      ])
        expect(body, part).to.include(part)
      const over = await get(`/jobs/${given.done}`)
      expect(over.body).to.include('Ended: done').and.include('Run again as a new job')
    })

    it('lead from each warning, check and count of the overview to its page, and from the counts of a queue to its jobs', async () => {
      const { admin } = world.database
      await admin.raw(`update jobs set status = 'running', leased_until = now() + interval '1 minute', worker = 'w'
        where id = (select id from jobs where status = 'dispatched' order by seq limit 1)`)
      const { body } = await get('')
      const bare = (pattern: RegExp, text = body) =>
        [...text.matchAll(pattern)].filter(([, inner = '']) => !/<a href="[^"]+"/.test(inner))
      const counts = [...body.matchAll(/<dd>([^]*?)<\/dd>/g)]
      expect(counts.length).to.be.at.least(8)
      expect(bare(/<dd>([^]*?)<\/dd>/g), 'counts').to.deep.equal([])
      expect(bare(/<th scope="row">([^]*?)<\/th>/g, body.slice(body.indexOf('<h2>Checks'))), 'checks').to.deep.equal([])
      expect(bare(/<br \/>([^:]*):/g), 'warnings').to.deep.equal([])
      const pages = new Set([...body.matchAll(/<a href="(\/superuser\/ops\/[^"#]+)"/g)].map(([, path = '']) => path))
      for (const path of pages) {
        if (path.endsWith('/sign-out')) continue
        expect(
          (await get(path.slice(base.length).replaceAll('&#38;', '&').replaceAll('&amp;', '&'))).status,
          path,
        ).to.equal(200)
      }
      const queues = (await get('/queues')).body.replaceAll('&#38;', '&')
      expect(queues).to.include(`${base}/jobs?queue=messages&status=pending&clock=1`)
      expect((await get('/jobs?queue=messages&status=pending&clock=1')).body).to.include('messages.deliver')
      expect((await get('/database')).body)
        .to.include('Open transactions')
        .and.include('all applied')
    })

    it('refuse forms of other origins, and without their token', async () => {
      const before = await deadIds()
      for (const options of [{ origin: 'https://evil.example' }, { origin: null }])
        expect((await post('/queues/messages/pause', { reason: 'for fun' }, options)).status).to.equal(403)
      const { cookie } = await enter()
      const bare = await send('POST', `${base}/queues/messages/pause`, { cookie, form: { reason: 'for fun' } })
      expect(bare.status).to.equal(403)
      const other = await send('POST', `${base}/dead/replay`, {
        cookie,
        form: { formToken: 'x'.repeat(32), queue: 'messages', reason: 'for fun' },
      })
      expect(other.status).to.equal(403)
      expect((await get('/queues/messages/pause')).status, 'an action is no page').to.equal(404)
      expect(await sql(world.database.admin, `select 1 from queue_control`)).to.deep.equal([])
      expect(await deadIds()).to.deep.equal(before)
    })

    it('act through the commands of the API: with a reason, audited, and not again on a reload', async () => {
      const blank = await post('/queues/messages/pause', { reason: '  ' })
      expect(blank.status).to.equal(400)
      expect(blank.body).to.include('must be 3 to 500 characters')
      const paused = await post('/queues/messages/pause', { reason: 'the provider asks for it', minutes: '5' })
      expect([paused.status, paused.headers.location]).to.deep.equal([303, `${base}/queues/messages?done=paused`])
      expect((await lastAct(world))[0]).to.deep.equal({
        action: 'queue.pause',
        reason: 'the provider asks for it',
        actorId: userId,
        actorType: 'superuser',
      })
      const resumed = await post('/queues/messages/resume', { reason: 'it is well' })
      expect(resumed.headers.location).to.equal(`${base}/queues/messages?done=resumed`)
      expect(await sql(world.database.admin, `select 1 from queue_control`)).to.deep.equal([])
      await post('/providers/pause', { provider: 'smtp', reason: 'it is down' })
      expect((await get('/providers')).body).to.include('Resume smtp')
      await post('/providers/resume', { provider: 'smtp', reason: 'it is back' })
      await post('/providers/open', { gate: 'sandbox:acct_1', reason: 'they told us' })
      expect((await get('/providers')).body).not.to.include('Open the gate now')
      expect((await lastAct(world))[0]).to.include({ action: 'provider.open', reason: 'they told us' })
      await post('/providers/rate', { gate: 'kind:messages.deliver', perSecond: '20', reason: 'their new limit' })
      const unknown = await post('/providers/rate', {
        gate: 'kind:nothing',
        perSecond: '20',
        reason: 'their new limit',
      })
      expect(unknown.status).to.equal(404)
      const rates = await sql(
        world.database.admin,
        `select gate, rate_per_second from provider_gate where rate_per_second > 0`,
      )
      expect(rates).to.deep.equal([{ gate: 'kind:messages.deliver', ratePerSecond: 20 }])
    })

    it('name the calls without an outcome, those of yesterday too, and lead to their jobs', async () => {
      const jobs = [randomUUID(), randomUUID(), randomUUID()]
      await sql(
        world.database.admin,
        `insert into external_call (job_id, provider, operation, idempotency_key, state, code, started_at)
         select unnest(?::uuid[]), 'sandbox', unnest(array['submit', 'refund', 'send']), gen_random_uuid(), unnest(array['unknown', 'started', 'unknown']),
           unnest(array['TimeoutError', null, null]), now() - interval '1 day'`,
        [jobs],
      )
      const { body } = await get('/providers')
      expect(jobs.map((id) => body.includes(`${base}/jobs/${id}`))).to.deep.equal([true, true, false])
      expect(body).to.include('TimeoutError').and.to.include('its process may have died')
    })

    it('say why a job waits, on its page and on that of its queue, and never open and closed of one provider', async () => {
      const { admin } = world.database
      const [job] = await sql<{ id: string }>(
        admin,
        `update jobs set gate = 'twilio' where id = (select id from jobs where status = 'pending' and kind = 'messages.deliver' order by seq limit 1) returning id`,
      )
      await admin.raw(
        `insert into provider_gate (gate, provider, state, closed_at, closed_until, reason, failures, closures)
         values ('twilio', 'twilio', 'closed', now(), now() + interval '1 minute', 'credentials_refused', 1, 1)`,
      )
      for (const path of [`/jobs/${job?.id}`, '/queues/messages', '/providers']) {
        const { body } = await get(path)
        expect(body, path).to.include('it refuses our credentials')
        expect(body, path).not.to.match(/class="tag \w*">(open|closed)</)
      }
      const overview = (await get('')).body
      expect(overview).to.match(/<a href="\/superuser\/ops\/providers">credentials<\/a>: refused/)
      await admin.raw(`delete from provider_gate where gate = 'twilio'`)
    })

    it('find by one field, refresh by themselves where nothing is filled in, and can be held', async () => {
      for (const path of ['', '/queues', '/tenants', '/workers', '/schedules']) {
        expect((await get(path)).body, path).to.include('<meta http-equiv="refresh"')
        const held = (await get(`${path}?hold=1`)).body
        expect(held, path).not.to.include('http-equiv="refresh"')
        expect(held, path).to.include('Let it refresh')
      }
      const [pending] = await sql<{ id: string }>(
        world.database.admin,
        `select id from jobs where status = 'pending' limit 1`,
      )
      for (const path of ['/providers', '/queues/messages', '/jobs', `/jobs/${given.jobId}`]) {
        const still = (await get(path)).body
        expect(still, path).not.to.include('http-equiv="refresh"')
        expect(still, 'what is being filled in is not lost').to.include(`${base}${path}?hold=0">Let it refresh`)
        const going = (await get(`${path}?hold=0`)).body
        expect(going, path).to.include('http-equiv="refresh"').and.to.include(`${base}${path}">Hold it`)
      }
      expect((await get(`/jobs/${pending?.id}`)).body, 'a job to look at alone').to.include('http-equiv="refresh"')
      const short = (await get(`/jobs?q=${given.jobId.slice(0, 8)}`)).body
      expect(short).to.include(`/superuser/ops/jobs/${given.jobId}`)
      expect((await get(`/jobs?q=${encodeURIComponent(hostile)}`)).status).to.equal(200)
      expect((await get('/jobs?kind=messages.&errorText=refused')).body).to.include('messages.trigger')
    })

    it('ask the gateway now of a payment whose outcome nobody knows, once, and with a reason', async () => {
      const { admin } = world.database
      const paymentId = randomUUID()
      const [known, ended] = await sql<{ id: string }>(
        admin,
        `insert into external_call (tenant_id, job_id, provider, operation, idempotency_key, state, started_at) values
           (?, cast(? as uuid), 'sandbox', 'submit', ?, 'unknown', now() - interval '1 hour'),
           (?, gen_random_uuid(), 'sandbox', 'submit', ?, 'succeeded', now() - interval '1 hour') returning id`,
        [given.tenantId, given.jobId, `pay-${paymentId}`, given.tenantId, `pay-${randomUUID()}`],
      )
      for (const path of ['/providers', `/jobs/${given.jobId}`])
        expect((await get(path)).body, path).to.include('Ask the gateway now')
      const asked = await post('/providers/ask', { callId: known?.id ?? '', reason: 'the guest is on the phone' })
      expect(asked.headers.location).to.match(/^\/superuser\/ops\/jobs\/[0-9a-f-]{36}$/)
      const again = await post('/providers/ask', { callId: known?.id ?? '', reason: 'the guest is on the phone' })
      expect(again.headers.location).to.equal(`${base}/providers?done=asking`)
      const jobs = await sql<{ payload: object }>(
        admin,
        `select payload from jobs where kind = 'payments.read' and payload->>'paymentId' = ?`,
        [paymentId],
      )
      expect(jobs).to.deep.equal([{ payload: { tenantId: given.tenantId, paymentId } }])
      expect((await post('/providers/ask', { callId: ended?.id ?? '', reason: 'once more' })).status).to.equal(404)
      const [entry] = await sql(
        admin,
        `select action, subject_id, reason from audit_entry where action = 'provider.ask' order by at limit 1`,
      )
      expect(entry).to.deep.equal({
        action: 'provider.ask',
        subjectId: paymentId,
        reason: 'the guest is on the phone',
      })
    })

    it('replay and discard what is marked', async () => {
      const [first = '', second = '', third = ''] = await deadIds()
      const group = { queue: 'messages', kind: 'messages.trigger', error: 'ECONNREFUSED' }
      const fields = Object.entries(group)
      const none = await post('/dead/selected', { ...group, verb: 'replay', reason: 'mended' })
      expect(none.status).to.equal(400)
      const replayed = await post('/dead/selected', [
        ...fields,
        ['verb', 'replay'],
        ['reason', 'mended'],
        ['jobId', first],
        ['jobId', second],
      ])
      expect(replayed.headers.location).to.match(/done=replayed&count=2&kept=0$/)
      const gone = await post(`/jobs/${third}/act`, { verb: 'discard', reason: 'obsolete' })
      expect(gone.headers.location).to.equal(`${base}/jobs/${third}?done=discarded&count=1`)
      expect((await get(`/jobs/${third}`)).body).to.include('Ended: discarded')
      const left = await deadIds()
      expect(left).not.to.include.members([first])
      expect(left).to.have.lengthOf(12)
    })
  })
})
