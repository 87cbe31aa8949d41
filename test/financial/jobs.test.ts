import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { ledgerEnsureYears, ledgerPost, ledgerSweepIntegrity, ledgerSweepPostings } from '../../jobs/financial.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { postWaiting, raisePosting } from '../../db/financial/index.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from './support.ts'

const ledger = {
  kinds: [
    'ledger.post',
    'ledger.sweep-postings',
    'ledger.ensure-years',
    'ledger.sweep-integrity',
    'ledger.check-integrity',
  ],
}

describe('the jobs of the ledger', () => {
  useDatabase()
  const raise = async (house: Awaited<ReturnType<typeof makeHouse>>, accounts: Record<string, string> = {}) => {
    const payment = randomUUID()
    const event = accounts['money'] ? 'payment.payment_recorded' : 'payment.payment_captured'
    await inTenant(house.tenantId, (trx) =>
      raisePosting(trx, {
        event,
        source: { id: payment },
        propertyId: house.propertyId,
        payload: { amounts: { amount: 5 }, documents: { payment }, accounts },
      }),
    )
  }
  const states = (tenantId: string) =>
    inTenant(tenantId, (trx) => sql<{ status: string }>(trx, `select status from posting_event order by seq`)).then(
      (rows) => rows.map(({ status }) => status),
    )

  it('post what was raised, in the transaction that ends the job', async () => {
    const house = await makeHouse()
    await raise(house)
    await raise(house)
    const done = await drain(ledger)
    expect(done.map(({ kind, outcome }) => [kind, outcome])).to.deep.equal([
      ['ledger.post', 'done'],
      ['ledger.post', 'done'],
    ])
    expect(await states(house.tenantId)).to.deep.equal(['posted', 'posted'])
  })

  it('end with one of them where several of a book wait, and stay where it fails', async () => {
    const house = await makeHouse()
    const other = await makeHouse()
    for (const one of [house, house, house, other]) await raise(one)
    const inHouse = <T>(work: (trx: Trx) => Promise<T>) => inTenant(house.tenantId, work)
    const failing = postWaiting(house.bookId, (work) =>
      inHouse(async (trx) => {
        await work(trx)
        throw new Error('the process fails before the commit')
      }),
    )
    expect(await failing.catch((error: unknown) => String(error))).to.include('before the commit')
    const live = () =>
      inPlatform((trx) => sql(trx, `select tenant_id from jobs where kind = 'ledger.post' order by seq`))
    expect(await live()).to.have.length(4)
    await postWaiting(house.bookId, inHouse)
    expect(await live()).to.deep.equal([{ tenantId: other.tenantId }])
    const filed = await inPlatform((trx) =>
      sql(trx, `select outcome, reason from job_archive where tenant_id = ?`, [house.tenantId]),
    )
    expect(filed).to.deep.equal(Array.from({ length: 3 }, () => ({ outcome: 'skipped', reason: 'taken_along' })))
    expect([await states(house.tenantId), await states(other.tenantId)]).to.deep.equal([
      ['posted', 'posted', 'posted'],
      ['pending'],
    ])
    await drain(ledger)
  })

  it('change nothing when they run again', async () => {
    const house = await makeHouse()
    await raise(house)
    await drain(ledger)
    await inTenant(house.tenantId, (trx) =>
      enqueue(trx, ledgerPost, { tenantId: house.tenantId, bookId: house.bookId }),
    )
    expect((await drain(ledger)).map(({ outcome }) => outcome)).to.deep.equal(['done'])
    const [count] = await inTenant(house.tenantId, (trx) => sql(trx, `select count(*) as entries from journal_entry`))
    expect(count).to.deep.equal({ entries: 1 })
  })

  it('leave a poison event among twenty behind, post the others in their order, and end well', async () => {
    const house = await makeHouse()
    const [group] = await inTenant(house.tenantId, (trx) =>
      sql<{ id: string }>(trx, `select id from account where code = '1.1'`),
    )
    for (let count = 0; count < 20; count += 1) await raise(house, count === 7 ? { money: group?.id ?? '' } : {})
    expect((await drain(ledger)).every(({ outcome }) => outcome === 'done')).to.equal(true)
    expect(await states(house.tenantId)).to.deep.equal(
      Array.from({ length: 20 }, (_, count) => (count === 7 ? 'failed' : 'posted')),
    )
    const [inOrder] = await inTenant(house.tenantId, (trx) =>
      sql<{ raised: string[]; posted: string[] }>(
        trx,
        `select array_agg(v.id order by v.seq) as raised, array_agg(v.id order by e.sequence) as posted from posting_event v
         join journal_entry e on e.tenant_id = v.tenant_id and e.id = v.entry_id`,
      ),
    )
    expect(inOrder?.posted).to.deep.equal(inOrder?.raised)
    expect(await inPlatform((trx) => sql(trx, `select id from jobs where kind = 'ledger.post'`))).to.deep.equal([])
  })

  it('sweep what is due, make years and run the checks by the clock', async () => {
    const house = await makeHouse()
    await raise(house)
    await inTenant(house.tenantId, (trx) => sql(trx, `update posting_event set next_at = now()`))
    await inPlatform(async (trx) => {
      await sql(trx, `delete from jobs`)
      for (const job of [ledgerSweepPostings, ledgerEnsureYears, ledgerSweepIntegrity]) await enqueue(trx, job, {})
    })
    const done = await drain(ledger)
    expect(done.filter(({ outcome }) => outcome !== 'done')).to.deep.equal([])
    expect(await states(house.tenantId)).to.deep.equal(['posted'])
    const runs = await inTenant(house.tenantId, (trx) =>
      sql<{ finished: boolean }>(trx, `select finished_at is not null as finished from integrity_run`),
    )
    expect(runs).to.deep.equal([{ finished: true }])
  })
})
