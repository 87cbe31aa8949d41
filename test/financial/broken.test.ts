import { expect } from 'chai'
import type { Knex } from 'knex'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { requestIntegrityRuns } from '../../db/financial/sweeps.ts'
import { registerModules } from '../../db/register.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { pay } from '../support/pay.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { closeUntil } from './plans.ts'

describe('a figure that somebody with the rights of the database changes', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: House

  /** The names of the checks that fail in a nightly run. */
  const failing = async (): Promise<string[]> => {
    await inPlatform(requestIntegrityRuns)
    await world.drain({ kinds: ['ledger.check-integrity'] })
    const [run] = await sql<{ results: { check: string; status: string }[] }>(
      world.database.admin,
      `select results from integrity_run where tenant_id = ? and finished_at is not null order by finished_at desc limit 1`,
      [house.tenantId],
    )
    return (run?.results ?? []).flatMap(({ check, status }) => (status === 'failed' ? [check] : []))
  }
  /** Walls are passed by, as a superuser of the database can. */
  const byHand = (work: (trx: Knex.Transaction) => Promise<unknown>) =>
    world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await work(trx)
    })

  before(async () => {
    registerModules()
    house = await makeHouse({ units: 2, amount: 20_000 })
    await pay(house, await makeHold(house))
    await world.drain()
    await closeUntil({ ...house, today: house.today }, 'soft_closed')
    await sql(
      world.database.admin,
      `update fiscal_period p set diary_until = (select coalesce(max(e.sequence), 0) from journal_entry e where e.period_id = p.id), taxes_due = false
       where p.tenant_id = ? and p.status <> 'open'`,
      [house.tenantId],
    )
    const { enqueue } = await import('../../db/lib/enqueue.ts')
    const { ledgerSeal } = await import('../../jobs/financial.ts')
    const { tenantId, bookId } = house
    await house.inHouse((trx) => enqueue(trx, ledgerSeal, { tenantId, bookId, periodId: bookId }))
    await world.drain({ kinds: ['ledger.seal'] })
  })

  it('is none as long as all is as it was written', async () => {
    expect(await failing()).to.deep.equal([])
    const seals = await sql(world.database.admin, `select 1 from journal_seal where tenant_id = ?`, [house.tenantId])
    expect(seals).to.have.length.above(0)
  })

  const cases: Record<string, { text: string; names: string[] }> = {
    'the amount of a line': {
      text: `update journal_line set debit = debit + 1 where tenant_id = :t and debit > 0`,
      names: ['entries_balance', 'balances_equal_lines', 'hash_chain'],
    },
    'a balance': {
      text: `update account_balance set debit = debit + 1 where tenant_id = :t and debit > 0`,
      names: ['balances_equal_lines', 'book_sums_to_zero'],
    },
    'a total beside cash': {
      text: `insert into cash_counterpart (tenant_id, book_id, period_id, account_id, same_property, debit)
        select tenant_id, book_id, period_id, account_id, false, 1 from account_balance where tenant_id = :t limit 1`,
      names: ['counterparts_equal_lines'],
    },
    'the words of a sealed entry': {
      text: `update journal_entry set description = 'Another' where tenant_id = :t`,
      names: ['hash_chain'],
    },
    'a seal that is gone': {
      text: `delete from journal_seal where tenant_id = :t and position = 1`,
      names: ['seals_without_gap', 'hash_chain'],
    },
    'a number of the diary': {
      text: `update journal_seal set number = number + 100 where tenant_id = :t and position = (select max(position) from journal_seal where tenant_id = :t)`,
      names: ['seals_without_gap', 'hash_chain'],
    },
    'the balance of a folio': {
      text: `update folio set credits = credits + 500 where tenant_id = :t`,
      names: ['control_deposit'],
    },
    'what a payment is allocated': {
      text: `update payment set allocated_amount = allocated_amount - 100 where tenant_id = :t`,
      names: ['control_unallocated'],
    },
    'a posting that is parked': {
      text: `update posting_event set status = 'parked', entry_id = null where tenant_id = :t and event = 'payment.payment_captured'`,
      names: ['events_posted'],
    },
    'an account that is archived with a balance': {
      text: `update account set status = 'archived' where tenant_id = :t and role = 'gateway_clearing'`,
      names: ['archived_zero'],
    },
    'the sums of a closed month': {
      text: `update fiscal_period set status = 'closed', frozen_debit = 1, frozen_credit = 1, frozen_lines = 2 where tenant_id = :t and status = 'soft_closed'
        and number = 1`,
      names: ['closed_untouched'],
    },
  }
  for (const [what, { text, names }] of Object.entries(cases))
    it(`is found by name: ${what}`, async () => {
      // Undone afterwards, whatever it was: each case breaks a ledger that is whole.
      const tables = [
        'journal_line',
        'journal_entry',
        'account_balance',
        'cash_counterpart',
        'journal_seal',
        'folio',
        'payment',
        'posting_event',
        'account',
        'fiscal_period',
      ]
      const kept = await Promise.all(
        tables.map((table) =>
          sql<{ rows: unknown }>(
            world.database.admin,
            `select coalesce(jsonb_agg(x), '[]') as rows from ${table} x where tenant_id = ?`,
            [house.tenantId],
          ),
        ),
      )
      try {
        await byHand((trx) => trx.raw(text, { t: house.tenantId }))
        expect(await failing()).to.include.members(names)
      } finally {
        await byHand(async (trx) => {
          for (const [index, table] of tables.entries()) {
            if (!text.includes(` ${table} `)) continue
            await trx.raw(`delete from ${table} where tenant_id = ?`, [house.tenantId])
            const columns = await trx.raw(
              `select string_agg(quote_ident(attname), ', ') as list from pg_attribute where attrelid = ?::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = ''`,
              [table],
            )
            const list = (columns as { rows: { list: string }[] }).rows[0]?.list ?? ''
            await trx.raw(
              `insert into ${table} (${list}) select ${list} from jsonb_populate_recordset(null::${table}, ?::jsonb)`,
              [JSON.stringify(kept[index]?.[0]?.rows)],
            )
          }
        })
      }
      expect(await failing()).to.deep.equal([])
    })
})
