import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits, makeSuperuser, makeTenant, signIn } from '../auth/support.ts'
import { useWorld } from '../support/world.ts'
import { archiveJobs, putJobs } from './support.ts'

type Row = {
  id: string
  status: string
  attempts: number
  starts: number
  runAt: Date
  payload: unknown
  lastError: { code: string } | null
  history: { what: string; reason: string; by: { id: string }; of: string | null }[]
}

describe('dead letters', () => {
  const world = useWorld()
  let n1: string
  let n2: string
  let n2Id: string
  before(async () => {
    n1 = (await signIn(world, await makeSuperuser('N1'))).token
    const person = await makeSuperuser('N2')
    n2Id = person.userId
    n2 = (await signIn(world, person)).token
  })
  beforeEach(() => forgetLimits(world))
  afterEach(() => world.database.admin.raw(`delete from jobs; delete from job_archive`))

  const replay = (body: unknown, token = n2) => world.request('POST', '/superuser/jobs/replay', { token, body })
  const discard = (body: unknown, token = n2) => world.request('POST', '/superuser/jobs/discard', { token, body })
  const rows = () => sql<Row>(world.database.admin, `select * from jobs order by seq`)
  const fingerprint = async () =>
    (
      await sql<{ all: string }>(
        world.database.admin,
        `select md5(string_agg(jobs::text, '' order by seq)) as all from jobs`,
      )
    )[0]?.all
  const trail = (action: string) =>
    sql<{ reason: string; changes: { field: string; after: unknown }[]; actorId: string }>(
      world.database.admin,
      `select reason, changes, actor_id from audit_entry where action = ? order by at desc limit 1`,
      [action],
    )

  it('come back by filter, the oldest first, one by one at the rate asked for; a dry run changes nothing', async () => {
    await putJobs(world, 10_050)
    await putJobs(world, 5, { code: 'other_error' })
    const before = await rows()
    const body = {
      reason: '  the provider is back  ',
      filter: { queue: 'messages', kind: 'messages.trigger', errorCode: 'ECONNREFUSED' },
      limit: 10_000,
      perMinute: 600,
    }
    const seen = await fingerprint()
    const dry = await replay({ ...body, dryRun: true })
    expect([dry.status, dry.body]).to.deep.equal([200, { count: 10_000, kept: 0 }])
    expect(await fingerprint()).to.equal(seen)
    const real = await replay(body)
    expect([real.status, real.body]).to.deep.equal([200, { count: 10_000, kept: 0 }])
    const after = await rows()
    const back = after.filter((row) => row.status === 'pending')
    expect(back.map((row) => row.id).join()).to.equal(
      before
        .slice(0, 10_000)
        .map((row) => row.id)
        .join(),
    )
    const first = back[0]?.runAt.getTime() ?? 0
    const late = back.filter((row, place) => Math.abs(row.runAt.getTime() - first - place * 100) > 1)
    expect(late).to.deep.equal([])
    expect(after.filter((row) => row.status === 'dead')).to.deep.equal(before.slice(10_000))
    const [one] = back
    expect(one).to.deep.include({ attempts: 0, starts: 0 })
    expect(one?.payload).to.deep.equal(before[0]?.payload)
    expect(one?.lastError).to.deep.equal(before[0]?.lastError)
    expect(one?.history.map(({ what, reason, by }) => ({ what, reason, by: by.id }))).to.deep.equal([
      { what: 'replayed', reason: 'the provider is back', by: n2Id },
    ])
    const [entry] = await trail('job.replay')
    expect(entry).to.include({ reason: 'the provider is back', actorId: n2Id })
    expect(entry?.changes).to.deep.include({ field: 'count', after: 10_000 })
  })

  it('of one unique key come back once, and not beside a live one', async () => {
    const free = await putJobs(world, 3, { uniqueKey: 'free' })
    const taken = await putJobs(world, 2, { uniqueKey: 'taken' })
    await putJobs(world, 1, { uniqueKey: 'taken', status: 'pending' })
    const { body } = await replay({ reason: 'mended', jobIds: [...free, ...taken] })
    expect(body).to.deep.equal({ count: 1, kept: 4 })
  })

  it('are replayed twice at once without coming back twice', async () => {
    const ids = await putJobs(world, 200)
    const replies = await Promise.all([1, 2, 3, 4].map(() => replay({ reason: 'mended', jobIds: ids })))
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200])
    expect(replies.reduce((sum, { body }) => sum + (body.count as number), 0)).to.equal(200)
    expect((await rows()).every((row) => row.history.length === 1)).to.equal(true)
  })

  it('are asked for by ids or by filter with a limit, with a reason, or not at all', async () => {
    const [id = ''] = await putJobs(world, 1)
    const filter = { queue: 'messages' }
    for (const body of [
      { reason: 'mended' },
      { reason: 'mended', jobIds: [id], filter, limit: 10 },
      { reason: 'mended', filter },
      { reason: 'mended', filter, limit: 10_001 },
      { reason: 'mended', jobIds: [] },
      { reason: 'mended', jobIds: [id, id] },
      { reason: '   ', jobIds: [id] },
      { reason: 'x'.repeat(501), jobIds: [id] },
      { jobIds: [id] },
    ]) {
      const { status, body: reply } = await replay(body)
      expect([status, reply.code], JSON.stringify(body)).to.deep.equal([400, 'validation_failed'])
    }
    expect((await replay({ reason: 'mended', jobIds: [randomUUID()] })).status).to.equal(404)
    expect((await rows())[0]?.status).to.equal('dead')
  })

  it('that are done run again as new jobs, by N1, where their kind says so', async () => {
    const [again = ''] = await putJobs(world, 1, {
      queue: 'payments',
      kind: 'payments.process-callback',
      payload: { callbackId: randomUUID() },
    })
    const [never = ''] = await putJobs(world, 1, { queue: 'payments', kind: 'payments.submit' })
    await archiveJobs(world, [again, never])
    const refused = await replay({ reason: 'once more', jobIds: [never] }, n1)
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'not_replayable'])
    const lower = await replay({ reason: 'once more', jobIds: [again] })
    expect([lower.status, lower.body.code]).to.deep.equal([403, 'level_required'])
    expect(await rows()).to.deep.equal([])
    const { status, body } = await replay({ reason: 'once more', jobIds: [again] }, n1)
    expect([status, body]).to.deep.equal([200, { count: 1, kept: 0 }])
    const [made] = await rows()
    expect(made).to.include({ status: 'pending', attempts: 0 })
    expect(made?.id).not.to.equal(again)
    expect(made?.history.at(-1)).to.include({ what: 'replayed', of: again })
    expect(await sql(world.database.admin, `select 1 from job_archive where id = ?`, [again])).to.have.lengthOf(1)
  })

  it('are put away for good with a reason; of money queues by N1 alone', async () => {
    const [money = ''] = await putJobs(world, 1, { queue: 'ledger', kind: 'ledger.post' })
    const [other = '', live = ''] = [...(await putJobs(world, 1)), ...(await putJobs(world, 1, { status: 'pending' }))]
    const lower = await discard({ jobIds: [money, other], reason: 'obsolete' })
    expect([lower.status, lower.body.code]).to.deep.equal([403, 'level_required'])
    const moved = await discard({ jobIds: [other, live], reason: 'obsolete' })
    expect([moved.status, moved.body.code]).to.deep.equal([409, 'invalid_transition'])
    expect(await rows()).to.have.lengthOf(3)
    expect((await discard({ jobIds: [other], reason: 'obsolete' })).body).to.deep.equal({ count: 1 })
    expect((await discard({ jobIds: [other], reason: 'obsolete' })).body).to.deep.equal({ count: 0 })
    expect((await discard({ jobIds: [money], reason: 'obsolete' }, n1)).body).to.deep.equal({ count: 1 })
    const gone = await sql(
      world.database.admin,
      `select outcome, reason, last_error->>'code' as code from job_archive order by queue`,
    )
    expect(gone).to.deep.equal([
      { outcome: 'discarded', reason: 'obsolete', code: 'ECONNREFUSED' },
      { outcome: 'discarded', reason: 'obsolete', code: 'ECONNREFUSED' },
    ])
    expect((await trail('job.discard'))[0]).to.include({ reason: 'obsolete' })
  })
})

describe('the list of jobs', () => {
  const world = useWorld()
  const subject = randomUUID()
  const requestId = randomUUID()
  let token: string
  let tenantId: string
  before(async () => {
    token = (await signIn(world, await makeSuperuser('N2'))).token
    tenantId = await makeTenant()
    await world.database.admin.raw(`delete from jobs`)
    await putJobs(world, 30, { status: 'pending', createdAt: '2026-11-10T00:00:00Z' })
    await putJobs(world, 3, { status: 'pending', payload: { paymentId: subject }, createdAt: '2026-11-10T01:00:00Z' })
    await putJobs(world, 4, { queue: 'payments', kind: 'payments.submit', code: 'poison', tenantId })
    await archiveJobs(world, await putJobs(world, 5, { requestId, createdAt: '2026-11-11T00:00:00Z' }))
    await archiveJobs(world, await putJobs(world, 2, { payload: { paymentId: subject } }), 'skipped')
  })

  const list = async (query: string) => {
    const { status, body } = await world.request('GET', `/superuser/jobs?${query}`, { token })
    expect(status, query).to.equal(200)
    return body as { data: { id: string; status: string; createdAt: string }[]; meta: { total: number } }
  }

  it('shows live and archived ones under every filter', async () => {
    for (const [query, total] of [
      ['', 44],
      ['status=pending', 33],
      ['status=dead', 4],
      ['status=done', 5],
      ['status=skipped', 2],
      ['status=running', 0],
      ['queue=payments', 4],
      ['queue=messages', 40],
      ['kind=payments.submit', 4],
      ['errorCode=poison', 4],
      ['errorCode=none', 0],
      [`tenantId=${tenantId}`, 4],
      [`requestId=${requestId}`, 5],
      [`subjectId=${subject}`, 5],
      [`subjectId=${subject}&status=skipped`, 2],
      ['from=2026-11-10T00:00:00Z&to=2026-11-10T12:00:00Z', 33],
      ['from=2026-11-11T00:00:00Z', 5],
      ['to=2026-11-09T00:00:00Z', 6],
      ['queue=messages&status=done&from=2026-11-11T00:00:00Z', 5],
    ] as const)
      expect((await list(query)).meta.total, query).to.equal(total)
  })

  it('pages through all of them once, what happened last first', async () => {
    const seen: string[] = []
    for (let page = 1; page <= 5; page += 1)
      seen.push(...(await list(`limit=10&page=${page}`)).data.map(({ id }) => id))
    expect(new Set(seen).size).to.equal(44)
    const pending = (await list('status=pending&limit=100')).data.map(({ createdAt }) => createdAt)
    expect(pending).to.deep.equal(pending.toSorted().toReversed())
  })
})
