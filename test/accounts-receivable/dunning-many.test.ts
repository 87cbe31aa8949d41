import { expect } from 'chai'
import { planNotices, storeNotices } from '../../db/accounts-receivable/dunning/plan.ts'
import { writeNotices } from '../../db/accounts-receivable/index.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './desk.ts'

describe('reminders of many customers', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('are planned and written in one statement each, which locks no document', async () => {
    const a = await openReceivables(world)
    const dueOn = a.day(-10)
    await a.rows(
      `with made as (insert into customer (tenant_id, kind, legal_name, search, currency)
         select :tenantId, 'company', 'Cliente ' || n, 'cliente', 'BRL' from generate_series(1, 5000) n returning id),
       billed as (insert into receivable (tenant_id, book_id, customer_id, kind, series, number, issued_on, posting_on, currency, total, status, posted_at)
         select :tenantId, :bookId, m.id, 'invoice', '1990', row_number() over (), '2020-01-01', '2020-01-01', 'BRL', 1000, 'issued', now() from made m returning id)
       insert into receivable_installment (tenant_id, receivable_id, seq, due_on, amount)
       select :tenantId, b.id, s, cast(:dueOn as date) - s, 500 from billed b cross join generate_series(1, 2) s`,
      { dueOn },
    )
    const steps = [{ level: 1, days: 5, channels: ['email' as const], stopCredit: false }]
    const rules = { bookId: a.bookId, runOn: a.day(0), steps, minimum: 0 }
    await inTenant(a.house.tenantId, async (trx) => {
      expect(await planNotices(trx, rules, 1_000)).to.have.length(1_000)
      const run = await sqlOne<{ id: string }>(
        trx,
        `insert into dunning_run (book_id, run_on, steps, minimum) values (?, ?, '[]', 0) returning id`,
        [a.bookId, a.day(0)],
      )
      await storeNotices(trx, run?.id ?? '', rules)
      // Somebody else may take each document meanwhile: no row of them is held for change.
      await a.rows(`select id from receivable where book_id = :bookId for no key update nowait`)
    })
    const [made] = await a.rows<{ count: string }>(
      `select count(*) from dunning_notice n join receivable r on r.id = n.receivable_id where r.book_id = :bookId and n.status = 'queued'`,
    )
    expect(Number(made?.count)).to.equal(10_000)

    // Messages are asked for by the customer, but notices are read by the run: none again for each customer, nor those of other customers.
    const [run] = await a.rows<{ id: string }>(`select id from dunning_run where book_id = :bookId`)
    await inTenant(a.house.tenantId, async (trx) => {
      expect(await writeNotices(trx, run?.id ?? '')).to.be.a('string')
      const read = await sqlOne<{ rows: number; changed: number }>(
        trx,
        `select seq_tup_read + idx_tup_fetch as rows, n_tup_upd as changed from pg_stat_xact_user_tables where relname = 'dunning_notice'`,
      )
      expect(Number(read?.changed)).to.equal(500)
      expect(Number(read?.rows)).to.be.greaterThan(0).and.at.most(2_000)
    })
  })
})
