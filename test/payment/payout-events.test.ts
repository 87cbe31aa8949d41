import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { applyPayout, importCall } from '../../db/payment/index.ts'
import type { PayoutEntry } from '../../db/payment/index.ts'
import { useDatabase } from '../support/database.ts'
import { makeTill, within } from './support.ts'
import type { Till } from './support.ts'

describe('a payout', () => {
  useDatabase()
  let till: Till

  before(async () => {
    till = await makeTill()
  })

  const hear = async (externalId: string, status: PayoutEntry['status'], createdAt = new Date()) => {
    await within(till, async (trx) => {
      const call = await importCall(trx, till.accountId)
      if (!call) throw new Error('the account is not open')
      await applyPayout(trx, call.account, {
        externalId,
        amount: 9_000,
        currency: 'BRL',
        status,
        arrivesOn: null,
        complete: false,
        failure: null,
        createdAt,
      })
    })
  }
  const told = (externalId: string) =>
    within(till, async (trx) =>
      (
        await sql<{ type: string }>(
          trx,
          `select e.type from event e join payout p on p.tenant_id = e.tenant_id and e.entity->>'id' = p.id::text
           where p.external_id = ? order by e.occurred_at`,
          [externalId],
        )
      ).map(({ type }) => type),
    )

  it('that waits first and is sent then is told of as sent once, however often and in whatever order it is heard', async () => {
    for (const status of ['pending', 'in_transit', 'in_transit', 'pending', 'paid', 'in_transit', 'paid'] as const)
      await hear('po_slow', status)
    expect(await told('po_slow')).to.deep.equal(['payout.sent', 'payout.paid'])
    for (const status of ['pending', 'in_transit', 'cancelled', 'failed', 'in_transit'] as const)
      await hear('po_failed', status)
    expect(await told('po_failed')).to.deep.equal(['payout.sent', 'payout.failed'])
  })

  it('that is first heard of as paid was sent as well, unless it is older than the connection', async () => {
    for (const status of ['paid', 'paid', 'in_transit'] as const) await hear('po_quick', status)
    expect(await told('po_quick')).to.deep.equal(['payout.sent', 'payout.paid'])
    await hear('po_old', 'paid', new Date(Date.now() - 86_400_000))
    expect(await told('po_old')).to.deep.equal(['payout.paid'])
  })

  it('that imports hear of in the same moment is made once', async () => {
    await Promise.all(
      Array.from({ length: 6 }, (_, index) => hear('po_six', index % 2 === 0 ? 'pending' : 'in_transit')),
    )
    expect(await told('po_six')).to.deep.equal(['payout.sent'])
    const [row] = await within(till, (trx) =>
      sql<{ status: string; postings: number }>(
        trx,
        `select p.status, (select count(*)::int from posting_event g where g.event = 'payment.payout_sent' and g.source_id = p.id) as postings
         from payout p where p.external_id = 'po_six'`,
      ),
    )
    expect(row).to.deep.equal({ status: 'in_transit', postings: 1 })
  })
})
