import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { recordMovement } from '../../db/cash/index.ts'
import { suggestionsFor } from '../../db/cash/statements/suggest.ts'
import { takeNumber } from '../../db/documents/index.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'
import { as, makeTill } from './support.ts'

describe('statements of money that run again and again', () => {
  useDatabase()

  it('are kept by their connection: a posting, a number and the matches of a line are not planned anew', async () => {
    const till = await makeTill()
    const kept = await as(till, till.cashier, async (trx) => {
      const account = await sqlOne<{ id: string; bookId: string }>(
        trx,
        `select id, book_id from account where code = '6.1.10'`,
      )
      await recordMovement(trx, {
        cashAccountId: till.bankId,
        amount: 500,
        kind: 'manual',
        source: { type: 'manual', id: randomUUID() },
        description: 'A sale',
        accountId: account?.id ?? '',
      })
      await takeNumber(trx, { bookId: account?.bookId ?? '', kind: 'invoice', year: 2026 })
      const line = {
        id: randomUUID(),
        cashAccountId: till.bankId,
        bookedOn: till.today,
        amount: 500,
        text: 'A SALE',
        externalId: null,
        documentNumber: null,
        endToEndId: null,
        counterpartyDocument: null,
      }
      const found = await suggestionsFor(trx, [line])
      expect(found.get(line.id)?.map(({ kind, amount }) => [kind, amount])).to.deep.include(['movement', 500])
      return sql<{ statement: string }>(trx, `select statement from pg_prepared_statements`)
    })
    for (const part of ['insert into posting_event', 'insert into number_series', `'movement' as kind`])
      expect(
        kept.filter(({ statement }) => statement.includes(part)),
        part,
      ).to.have.length(1)
  })
})
