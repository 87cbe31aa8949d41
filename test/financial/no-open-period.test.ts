import { expect } from 'chai'
import { firstOpenDay } from '../../db/financial/index.ts'
import { openReceipts } from '../accounts-receivable/receipts-desk.ts'
import { ofxFile } from '../cash/statement-files.ts'
import { useWorld } from '../support/world.ts'
import { verdictOf } from '../../workers/lib/retry.ts'

describe('a book without an open period', function () {
  this.timeout(60_000)
  const world = useWorld()

  it('refuses what banks and gateways date, leaves all as it was, and has jobs try again', async () => {
    const a = await openReceipts(world)
    const bankId = await a.bank(100_000, a.on('01-02'))
    const lines = [{ on: a.on('12-20'), amount: '-10,00', id: '1', memo: 'TARIFA' }]
    const file = ofxFile(lines, { balance: '990,00', to: a.on('12-20') })
    const sent = await a.good(a.finance, 'POST', 'cash/bank-statements', {
      cashAccountId: bankId,
      format: 'ofx',
      fileName: 'extrato.ofx',
      content: file.toString('base64'),
    })
    await world.drain()
    const [line] = (await a.good(a.finance, 'GET', `cash/bank-statement-lines?bankStatementId=${sent.id}`)).data
    await world.database.admin.raw(
      `update fiscal_period set status = 'soft_closed' where book_id = ? and kind = 'regular'`,
      [a.bookId],
    )
    const kept = () =>
      a.rows(
        `select (select count(*) from cash_movement where tenant_id = :tenantId) as movements, (select count(*) from statement_match where tenant_id = :tenantId) as matches,
           (select count(*) from posting_event where tenant_id = :tenantId) as events, (select status from bank_statement_line where id = :id) as line`,
        { id: line.id },
      )
    const before = await kept()
    const fees = [{ book: { accountId: await a.account('6.1.10'), amount: -1_000, description: 'Fee' } }]
    const match = `cash/bank-statement-lines/${line.id}/match`
    expect(await a.refused(a.finance, 'POST', match, { targets: fees })).to.deep.equal([422, 'period_closed'])
    expect(await kept()).to.deep.equal(before)
    const error = await a.house
      .inHouse((trx) => firstOpenDay(trx, { bookId: a.bookId }, a.on('12-20')))
      .then(() => null)
      .catch((thrown: unknown) => thrown)
    expect(verdictOf(error)).to.deep.equal({ next: 'retry', atLeastMs: 3_600_000, isContended: false })

    // The latest month opens first.
    for (const { id } of await a.rows(
      `select id from fiscal_period where book_id = :bookId and kind = 'regular' order by starts_on desc`,
    ))
      await world.database.admin.raw(`update fiscal_period set status = 'open' where id = ?`, [id])
    const [status, matched] = await a.send(a.finance, 'POST', match, { targets: fees })
    expect([status, matched.status], JSON.stringify(matched)).to.deep.equal([200, 'matched'])
  })
})
