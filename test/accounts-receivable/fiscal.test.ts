import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { beginCall } from '../../db/jobs/index.ts'
import { beginSend } from '../../db/accounts-receivable/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { eraseFiscalJob } from '../../jobs/fiscal.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables, paulista } from './desk.ts'
import type { CustomerInput, Receivables } from './desk.ts'

const fiscal = {
  adapter: 'sandbox',
  cityCode: '3550308',
  serviceCode: '0901',
  issRate: 500,
  cityRegistration: '998877',
}

describe('fiscal documents', function () {
  this.timeout(120_000)
  const world = useWorld()
  const second = settings.sandboxSecondMs
  let a: Receivables
  before(async () => {
    settings.sandboxSecondMs = 20
    a = await openReceivables(world)
    await a.set({ fiscal })
  })
  after(() => {
    settings.sandboxSecondMs = second
  })

  const request = async (more: CustomerInput = {}): Promise<string> => {
    const receivableId = await a.issued(await a.customer(more), [[a.day(30), 100_000]])
    const made = await a.good(a.finance, 'POST', 'fiscal-documents', { receivableId })
    expect(made).to.include({ status: 'queued', rpsNumber: null, total: 100_000 })
    return made.id as string
  }
  const read = (id: string) => a.good(a.finance, 'GET', `fiscal-documents/${id}`)
  const log = (document: Parsed) =>
    (document.log as Parsed[]).map(({ operation, outcome }) => `${operation} ${outcome}`)
  /** Lets the schedule of readings find what waits. */
  const readNow = async (id: string) => {
    await a.rows(`update fiscal_document set next_read_at = now() where id = :id and next_read_at is not null`, { id })
    await inTenant(a.house.tenantId, async (trx) => {
      const { requestReads } = await import('../../db/accounts-receivable/index.ts')
      await requestReads(trx, [id])
    })
    await world.drain()
  }
  const atAuthority = async (id: string) =>
    a.rows<{ state: Parsed }>(
      `select o.state from sandbox_object o join fiscal_document d on o.account_ref = d.book_id::text and o.our_id = d.series || '-' || d.rps_number
       where o.kind = 'nfse' and d.id = :id`,
      { id },
    )

  it('is numbered before it is sent, authorised, and shows what was exchanged', async () => {
    const id = await request()
    await world.drain()
    const done = await read(id)
    expect(done).to.include({ status: 'authorised', series: '1', rpsNumber: 1, nextReadAt: null })
    expect(done.accessKey).to.match(/^[0-9]{50}$/)
    expect(done.snapshot.amounts).to.include({ total: 100_000, base: 100_000, issRate: 500, iss: 5_000 })
    expect(done.snapshot.issuer).to.include({ cityRegistration: '998877' })
    expect(done.snapshot.taker).to.include({ name: 'Firma Ltda' })
    expect(log(done)).to.deep.equal(['send authorised'])
    const { data } = await a.good(a.finance, 'GET', `fiscal-documents?q=${done.accessKey}`)
    expect(data.map((one: Parsed) => one.id)).to.deep.equal([id])
  })

  it('keeps what it said for eleven years, and names nobody afterwards', async () => {
    const id = await request()
    await world.drain()
    const before = await read(id)
    const { admin } = world.database
    const refusal = (change: string) =>
      sql(admin, `update fiscal_document set ${change} where id = ?`, [id]).then(
        () => 'done',
        (error: { constraint?: string }) => error.constraint,
      )
    for (const change of [`snapshot = '\\x00'`, 'erased_at = now()', 'rps_number = 999'])
      expect(await refusal(change), change).to.equal('fiscal_document_kept')
    const erase = async () => {
      await inPlatform((trx) => enqueue(trx, eraseFiscalJob, {}))
      await world.drain({ kinds: ['maintenance.erase-fiscal'] })
      return read(id)
    }
    await sql(
      admin,
      `update fiscal_document set created_at = now() - interval '11 years' + interval '1 day' where id = ?`,
      [id],
    )
    expect((await erase()).snapshot).to.deep.equal(before.snapshot)
    await sql(admin, `update fiscal_document set created_at = now() - interval '11 years' where id = ?`, [id])
    const after = await erase()
    expect(after.snapshot.taker).to.include({ name: 'erased', document: null, email: null, address: null })
    expect(after.snapshot.amounts).to.deep.equal(before.snapshot.amounts)
    for (const field of ['rpsNumber', 'accessKey', 'authorityNumber', 'status', 'total'])
      expect(after[field], field).to.equal(before[field])
    expect(log(after)).to.deep.equal(log(before))
  })

  it('is rejected, and goes again under its number with what its source says now', async () => {
    const customerId = await a.customer({ email: 'reject@firma.example' })
    const receivableId = await a.issued(customerId, [[a.day(30), 5_000]])
    const { id } = await a.good(a.finance, 'POST', 'fiscal-documents', { receivableId })
    await world.drain()
    const first = await read(id)
    expect(first).to.include({ status: 'rejected' })
    expect(first.rejection).to.include({ code: 'E160' })
    await inTenant(a.house.tenantId, async (trx) => {
      const { sealContacts } = await import('../../db/documents/index.ts')
      const contacts = { email: 'ok@firma.example', phone: null, address: paulista, contacts: [] }
      await sql(trx, `update customer set sealed = ? where id = ?`, [
        await sealContacts(trx, 'customer', customerId, contacts),
        customerId,
      ])
    })
    expect(await a.good(a.finance, 'POST', `fiscal-documents/${id}/retry`, {})).to.include({
      status: 'queued',
      rejection: null,
      rpsNumber: first.rpsNumber,
    })
    await world.drain()
    const then = await read(id)
    expect(then).to.include({ status: 'authorised', rpsNumber: first.rpsNumber })
    expect(then.snapshot.taker.email).to.equal('ok@firma.example')
    expect(log(then)).to.deep.equal(['send rejected', 'send authorised'])
    expect(await a.good(a.finance, 'POST', `fiscal-documents/${id}/cancel`, { reason: 'Wrong customer' })).to.include({
      status: 'cancel_requested',
    })
    await world.drain()
    expect(await read(id)).to.include({
      status: 'cancelled',
      rpsNumber: first.rpsNumber,
      cancelReason: 'Wrong customer',
    })
  })

  it('is worked on for a while by a slow authority, and found authorised', async () => {
    const id = await request({ email: 'slow@firma.example' })
    await world.drain()
    expect(await read(id)).to.include({ status: 'sending' })
    await new Promise((resolve) => setTimeout(resolve, 10 * settings.sandboxSecondMs + 20))
    await readNow(id)
    const done = await read(id)
    expect(done).to.include({ status: 'authorised' })
    expect(log(done)).to.deep.equal(['send processing', 'read authorised'])
  })

  it('is never sent twice where the answer was lost', async () => {
    const id = await request({ email: 'lost@firma.example' })
    await world.drain()
    const lost = await read(id)
    expect(lost).to.include({ status: 'unknown' })
    expect(Date.parse(lost.nextReadAt) - Date.now()).to.be.within(40_000, 61_000)
    await world.drain()
    await readNow(id)
    const done = await read(id)
    expect(done).to.include({ status: 'authorised' })
    expect(log(done)).to.deep.equal(['send unknown', 'read authorised'])
    expect(await atAuthority(id)).to.have.length(1)
  })

  it('is sent again only once a reading says that the authority never saw it', async () => {
    const id = await request({ email: 'nothing@firma.example' })
    await world.drain()
    expect(await read(id)).to.include({ status: 'unknown' })
    await readNow(id)
    const done = await read(id)
    expect(done).to.include({ status: 'authorised', attempts: 2 })
    expect(log(done)).to.deep.equal(['send unknown', 'read not_found', 'send authorised'])
    expect(await atAuthority(id)).to.have.length(1)
  })

  it('stays authorised where the authority refuses to cancel, and is not cancelled after its time', async () => {
    const id = await request({ email: 'cancel-refused@firma.example' })
    await world.drain()
    await a.good(a.finance, 'POST', `fiscal-documents/${id}/cancel`, { reason: 'Wrong amount' })
    await world.drain()
    const kept = await read(id)
    expect(kept).to.include({ status: 'authorised', cancelReason: null })
    expect(log(kept)).to.deep.equal(['send authorised', 'cancel refused'])
    const late = await request()
    await world.drain()
    const age = (minutes: number) =>
      a.rows(`update fiscal_document set authorised_at = now() - make_interval(mins => :minutes) where id = :late`, {
        minutes,
        late,
      })
    await age(24 * 60)
    expect(await a.refused(a.finance, 'POST', `fiscal-documents/${late}/cancel`, { reason: 'Too late' })).to.deep.equal(
      [422, 'cancel_window_passed'],
    )
    await age(24 * 60 - 1)
    await a.good(a.finance, 'POST', `fiscal-documents/${late}/cancel`, { reason: 'In the last minute' })
    await world.drain()
    expect(await read(late)).to.include({ status: 'cancelled' })
  })

  it('survives a worker that dies between number and sending, and between sending and answer', async () => {
    const id = await request()
    const call = await inTenant(a.house.tenantId, (trx) => beginSend(trx, id))
    expect(await read(id)).to.include({ status: 'sending', rpsNumber: call?.rps.number })
    await world.drain()
    expect(await read(id)).to.include({ status: 'authorised', rpsNumber: call?.rps.number, attempts: 1 })

    const other = await request()
    const begun = await inTenant(a.house.tenantId, (trx) => beginSend(trx, other))
    const [job] = await a.rows<{ id: string }>(
      `select id from jobs where kind = 'payments.send-fiscal' and payload->>'fiscalDocumentId' = :other`,
      { other },
    )
    await inTenant(a.house.tenantId, (trx) =>
      beginCall(trx, {
        provider: 'fiscal-sandbox',
        operation: 'send',
        key: begun?.key ?? '',
        jobId: job?.id ?? '',
        tenantId: a.house.tenantId,
        requestHash: null,
      }),
    )
    await world.drain()
    expect(await read(other)).to.include({ status: 'unknown' })
    expect(await atAuthority(other)).to.have.length(0)
    await readNow(other)
    const done = await read(other)
    expect(done).to.include({ status: 'authorised', rpsNumber: begun?.rps.number })
    expect(await atAuthority(other)).to.have.length(1)
  })

  it('waits at the gate while the authority refuses the credentials of the book', async () => {
    await a.set({ fiscal: { credentials: 'refused' } })
    const id = await request()
    await world.drain()
    expect(await read(id)).to.include({ status: 'sending', attempts: 1 })
    const shown = await a.set({ fiscal: { credentials: 'right' } })
    expect(shown.fiscal).to.include({ hasCredentials: true })
    expect(JSON.stringify(shown)).not.to.include('right')
    await a.rows(`update provider_gate set closed_until = now() where gate = :gate`, {
      gate: `fiscal-sandbox:${a.bookId}`,
    })
    await world.drain({ aheadMs: 600_000, kinds: ['payments.send-fiscal'] })
    expect(await read(id)).to.include({ status: 'authorised', attempts: 1 })
  })

  it('is one for each source, needs what the city asks for, and an authority', async () => {
    const receivableId = await a.issued(await a.customer(), [[a.day(30), 1_000]])
    const twice = await Promise.all([1, 2].map(() => a.send(a.finance, 'POST', 'fiscal-documents', { receivableId })))
    expect(twice.map(([status]) => status).toSorted((one, other) => one - other)).to.deep.equal([201, 422])
    expect(twice.find(([status]) => status === 422)?.[1].code).to.equal('fiscal_document_alive')
    const poor = await a.issued(await a.customer({ address: null }), [[a.day(30), 1_000]])
    const [status, reply] = await a.send(a.finance, 'POST', 'fiscal-documents', { receivableId: poor })
    expect([status, reply.code]).to.deep.equal([422, 'taker_incomplete'])
    expect(JSON.stringify(reply.errors)).to.include('taker.address.city')
    expect(
      await a.refused(a.finance, 'POST', 'fiscal-documents', { receivableId, folioId: receivableId }),
    ).to.deep.equal([400, 'validation_failed'])
    await a.set({ fiscal: { adapter: 'none' } })
    expect(await a.refused(a.finance, 'POST', 'fiscal-documents', { receivableId: poor })).to.deep.equal([
      422,
      'fiscal_not_configured',
    ])
    await a.set({ fiscal: { adapter: 'sandbox' } })
    const other = await openReceivables(world)
    expect(await other.refused(other.finance, 'POST', 'fiscal-documents', { receivableId })).to.deep.equal([
      422,
      'reference_not_found',
    ])
  })

  it('gives numbers without a hole', async () => {
    await world.drain()
    const found = await a.rows<{ rpsNumber: string }>(
      `select rps_number as "rpsNumber" from fiscal_document where book_id = :bookId and rps_number is not null order by rps_number`,
    )
    expect(found.map(({ rpsNumber }) => Number(rpsNumber))).to.deep.equal(found.map((_, index) => index + 1))
    expect(await a.failing()).not.to.include('series_without_gap')
  })

  it('says what the customer keeps back by the rates of its day, and nothing by one that has ended, is off or of another book', async () => {
    const customerId = await a.customer()
    const code = async (name: string, rates: readonly [number, number, number | null][], more: object = {}) => {
      const [{ id } = { id: '' }] = await a.rows<{ id: string }>(
        `insert into tax_code (tenant_id, book_id, code, name, kind, liability_account_id, active)
         select :tenantId, book_id, :name, :name, 'withheld_by_customers', id, :active from account where book_id = cast(:of as uuid) and code = '1.1.5.03' returning id`,
        { name, active: true, of: a.bookId, ...more },
      )
      for (const [rate, from, to] of rates)
        await a.rows(
          `insert into tax_rate (tenant_id, tax_code_id, rate, valid_from, valid_to) values (:tenantId, :id, :rate, :from, :to)`,
          { id, rate, from: a.day(from), to: to === null ? null : a.day(to) },
        )
      return id
    }
    const [other] = await a.rows<{ id: string }>(
      `select b.id from book b join account c on c.book_id = b.id and c.code = '1.1.5.03' where b.tenant_id = :tenantId and b.id <> :bookId order by b.created_at limit 1`,
    )
    expect(other).not.to.equal(undefined)
    const codes = [
      await code('IRRF', [
        [20_000, -90, -60],
        [15_000, -59, null],
      ]),
      await code('CSRF', [[46_500, -90, -40]]),
      await code('PIS', [[6_500, -90, null]], { active: false }),
      await code('IRRF', [[15_000, -90, null]], { of: other?.id }),
    ]
    await a.rows(`update customer set withholding_tax_code_ids = cast(:codes as uuid[]) where id = :customerId`, {
      codes,
      customerId,
    })
    const receivableId = await a.issued(customerId, [[a.day(30), 100_000]])
    await a.rows(`update receivable set issued_on = :today, posting_on = :today where id = :receivableId`, {
      today: a.day(0),
      receivableId,
    })
    const made = await a.good(a.finance, 'POST', 'fiscal-documents', { receivableId })
    expect((await read(made.id)).snapshot.amounts.withheld).to.equal(1_500)
    await world.drain()
  })
})
