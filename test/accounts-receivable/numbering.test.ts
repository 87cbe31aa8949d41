import { expect } from 'chai'
import { createCustomer, createReceivable, issueReceivable } from '../../db/accounts-receivable/index.ts'
import { assignNumber } from '../../db/documents/index.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import { roundTrips } from '../support/trips.ts'
import { useWorld } from '../support/world.ts'

describe('the number of an invoice', function () {
  this.timeout(120_000)
  useWorld()

  it('is taken in the trip before the commit, with the posting: the next of its series waits for no more', async () => {
    const house = await makeHouse({ units: 1 })
    const { userId } = await makeUser({ [house.tenantId]: 'finance' })
    const inDesk = <T>(work: (trx: Trx) => Promise<T>) =>
      inTenant(house.tenantId, work, { actor: { type: 'user', id: userId } })
    const ids = await inDesk(async (trx) => {
      const account = await sqlOne<{ id: string }>(
        trx,
        `select id from account where book_id = ? and code = '4.3.08'`,
        [house.bookId],
      )
      const customerId = await createCustomer(trx, { kind: 'company', legalName: 'Mar S.A.', currency: 'BRL' })
      const made: string[] = []
      for (const unitAmount of [25_000, 25_001]) {
        const lines = [{ description: 'Hall', unitAmount, accountId: account?.id ?? '' }]
        const id = await createReceivable(trx, { bookId: house.bookId, customerId, issuedOn: house.today, lines })
        await issueReceivable(trx, id, null, null)
        made.push(id)
      }
      return made
    })
    const [first = '', second = ''] = ids
    const number = (id: string) => inDesk((trx) => assignNumber(trx, 'receivable', id))
    await number(first)
    // The lock of the invoice, what it needs, posting and number, and the end.
    expect(await roundTrips(() => number(second))).to.be.at.most(4)
    await number(second)
    const rows = await inDesk((trx) =>
      sql<{ number: number; version: number; status: string; told: number; postings: number }>(
        trx,
        `select r.number, r.status, r.version,
           (select (e.entity->>'version')::int from event e where e.type = 'receivable.issued' and e.entity->>'id' = r.id::text) as told,
           (select count(*)::int from posting_event p where p.tenant_id = r.tenant_id and p.source_id = r.id) as postings
         from receivable r where r.id = any(?::uuid[]) order by r.number`,
        [ids],
      ),
    )
    expect(rows.map((row) => [Number(row.number), row.status, row.postings])).to.deep.equal([
      [1, 'issued', 1],
      [2, 'issued', 1],
    ])
    for (const { version, told } of rows) expect(told).to.equal(version)
  })
})
