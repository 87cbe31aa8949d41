import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { writeEntries, writeLines } from '../../db/financial/entries.ts'
import { accountFor } from '../../db/financial/index.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'
import { planOf } from './plans.ts'
import { makeHouse } from './support.ts'

describe('the first batch of a ledger', function () {
  this.timeout(60_000)
  useDatabase()

  it('reads a few entries for each line of it, and not all that stand before', async () => {
    const house = await makeHouse()
    const { entry } = await planOf(house)
    const most = 3_000
    const read = await inTenant(house.tenantId, async (trx) => {
      const line = (accountId: string, side: 'debit' | 'credit') => ({
        accountId,
        side,
        amount: 100,
        propertyId: house.propertyId,
        memo: '',
        costCenterId: null,
        partyType: null,
        partyId: null,
        documentType: null,
        documentId: null,
        taxCodeId: null,
        taxBase: null,
      })
      const lines = [
        line(await accountFor(trx, house.bookId, 'doubtful_allowance'), 'debit'),
        line(await accountFor(trx, house.bookId, 'revenue_other'), 'credit'),
      ]
      const entries = Array.from({ length: most }, () => ({
        id: randomUUID(),
        bookId: house.bookId,
        currency: 'BRL',
        kind: 'standard' as const,
        lines,
        journalId: String(entry['journal_id']),
        periodId: String(entry['period_id']),
        postingDate: house.today,
        reversesEntryId: null,
        sourceType: 'test.batch',
        sourceId: randomUUID(),
        sourceSeq: 0,
        description: 'Batch',
      }))
      await writeEntries(trx, entries)
      const count = async () =>
        (
          await sqlOne<{ read: number }>(
            trx,
            `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_all_tables where relname ~ '^journal_entry_p'`,
          )
        )?.read ?? 0
      const before = await count()
      await writeLines(trx, entries)
      return (await count()) - before
    })
    expect(read).to.be.within(most, 20 * most)
  })
})
