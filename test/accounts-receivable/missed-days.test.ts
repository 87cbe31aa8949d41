import { expect } from 'chai'
import { tickBooks } from '../../db/financial/index.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'

describe('days on which no process ran', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceivables>>
  before(async () => {
    a = await openReceivables(world)
    await inPlatform(tickBooks)
    await world.drain()
  })

  const missed = 8
  const asLeft = (days: number) =>
    a.rows(`update book_tick set ticked_on = ticked_on - ${days} where tenant_id = :tenantId returning book_id`)
  const tick = async () => {
    // Two schedulers at once ask once.
    await Promise.all([inPlatform(tickBooks), inPlatform(tickBooks)])
    await world.drain()
  }
  const told = async (id: string): Promise<string[]> => {
    const rows = await a.rows<{ type: string }>(
      `select type from event where tenant_id = :tenantId and type like '%due_date%' and entity ->> 'id' = :id order by 1`,
      { id },
    )
    return rows.map(({ type }) => type)
  }

  it('are caught up on: due dates are told, and customers of the month get their invoice', async () => {
    const issuedOn = a.house.day(-20)
    const dues = [a.house.day(-4), a.house.day(0)]
    const invoice = await a.invoice({
      customerId: (await a.customer()).id,
      issuedOn,
      lines: [await a.line(1_000)],
      installments: dues.map((dueOn) => ({ dueOn, amount: 500 })),
    })
    const bill = await a.good(a.finance, 'POST', 'accounts-payable/payables', {
      bookId: a.bookId,
      payeeName: 'Companhia de Luz',
      kind: 'bill',
      issuedOn,
      lines: [{ description: 'Light', accountId: await a.account('6.4.03'), amount: 1_000 }],
      installments: dues.map((dueOn) => ({ dueOn, amount: 500 })),
      submit: true,
    })
    await a.good(a.owner, 'POST', `accounts-payable/payables/${bill.id}/approve`, {})
    // A day of the month that every month has, and that was missed.
    const back = Array.from({ length: missed - 1 }, (_, index) => index + 1).find(
      (days) => Number(a.house.day(-days).slice(8)) <= 28,
    )
    const billingDay = Number(a.house.day(-(back ?? 0)).slice(8))
    const { id: customerId } = await a.customer({ billing: 'monthly', billingDay, creditLimit: 100_000 })
    const [, closed] = await a.bill(await a.folio(customerId, 2_000))
    await a.rows(`update receivable set departed_on = departed_on - 20 where id = :id returning id`, {
      id: closed.receivableId as string,
    })
    await world.drain()

    await asLeft(missed)
    await tick()
    expect(await told(invoice.id)).to.deep.equal(['receivable.due_date_passed'])
    expect(await told(bill.id)).to.deep.equal([
      'payable.due_date_neared',
      'payable.due_date_neared',
      'payable.due_date_passed',
    ])
    expect(await a.read(closed.receivableId as string)).to.include({ status: 'consolidated' })
    await tick()
    expect(await told(bill.id), 'each day once').to.have.length(3)
  })

  it('of a long pause are caught up on as far as 60 of them', async () => {
    await asLeft(400)
    await inPlatform(tickBooks)
    const days = await a.rows<{ kind: string; days: number }>(
      `select kind, count(distinct payload ->> 'date')::int as days from jobs where tenant_id = :tenantId and queue = 'ledger'
         and payload ->> 'bookId' = cast(:bookId as text) group by 1 order by 1`,
    )
    expect(Object.fromEntries(days.map((one) => [one.kind, one.days]))).to.deep.equal({
      // The job of today does all that is due up to today.
      'ledger.collect-withholdings': 1,
      'ledger.generate-recurring': 1,
      'ledger.run-due': 1,
      'ledger.notice-payables-due': 61,
      'ledger.tick-receivables': 61,
    })
    await world.drain()
  })
})
