import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { linesOf } from '../../db/financial/entries.ts'
import { raisePosting } from '../../db/financial/index.ts'
import { useDatabase } from '../support/database.ts'
import { balanceOf, makeHouse, post } from './support.ts'
import type { House } from './support.ts'

describe('an event that turns another', () => {
  useDatabase()
  let house: House
  let payment = ''
  beforeEach(async () => {
    house = await makeHouse()
    payment = randomUUID()
  })

  it('turns a recorded payment line for line, once, and not before it is posted', async () => {
    const bank = await inTenant(
      house.tenantId,
      async (trx) => (await sql<{ id: string }>(trx, `select id from account where role = 'bank'`))[0]?.id ?? '',
    )
    const original = await inTenant(house.tenantId, (trx) =>
      raisePosting(trx, {
        event: 'payment.payment_recorded',
        source: { id: payment },
        propertyId: house.propertyId,
        payload: {
          amounts: { amount: 700 },
          documents: { payment: payment },
          accounts: { money: bank },
          memo: 'At the desk',
        },
      }),
    )
    const turn = () =>
      inTenant(house.tenantId, (trx) =>
        raisePosting(trx, {
          event: 'payment.payment_reversed',
          source: { id: randomUUID() },
          propertyId: house.propertyId,
          reversesEventId: original.id,
        }),
      )
    // Somebody else is posting the original: its mirror waits, and counts no attempt.
    await inTenant(house.tenantId, (trx) =>
      sql(trx, `update posting_event set next_at = now() + interval '1 hour' where id = ?`, [original.id]),
    )
    await turn()
    await post(house)
    const waiting = await inTenant(house.tenantId, (trx) =>
      sql(trx, `select status, attempts, next_at > now() as later from posting_event order by seq`),
    )
    expect(waiting).to.deep.equal([
      { status: 'pending', attempts: 0, later: true },
      { status: 'pending', attempts: 0, later: true },
    ])
    await inTenant(house.tenantId, (trx) => sql(trx, `update posting_event set next_at = null`))
    await post(house)
    const entries = await inTenant(house.tenantId, (trx) =>
      sql<{ id: string; kind: string; reversesEntryId: string | null }>(
        trx,
        `select id, kind, reverses_entry_id from journal_entry order by sequence`,
      ),
    )
    expect(entries.map(({ kind }) => kind)).to.deep.equal(['standard', 'reversal'])
    expect(entries[1]?.reversesEntryId).to.equal(entries[0]?.id)
    const lines = await inTenant(house.tenantId, (trx) =>
      linesOf(
        trx,
        entries.map(({ id }) => id),
      ),
    )
    const [first = [], second = []] = entries.map(({ id }) => lines.get(id))
    expect(second.map(({ side, ...line }) => ({ ...line, side: side === 'debit' ? 'credit' : 'debit' }))).to.deep.equal(
      first,
    )
    expect(await balanceOf(house, 'bank')).to.equal(0)
    const again = await turn().then(
      () => null,
      (error: Error & { constraint?: string }) => error.constraint,
    )
    expect(again).to.match(/reverses/)
  })

  it('parks the mirror of a dismissed event', async () => {
    const [original] = await inTenant(house.tenantId, async (trx) => [
      await raisePosting(trx, {
        event: 'cash.movement_recorded',
        source: { id: randomUUID() },
        propertyId: house.propertyId,
        postingDate: house.today,
        payload: {
          amounts: { amount: 5 },
          documents: { movement: randomUUID() },
          accounts: { money: randomUUID(), account: randomUUID() },
        },
      }),
    ])
    await inTenant(house.tenantId, (trx) =>
      sql(trx, `update posting_event set status = 'dismissed', dismiss_reason = 'test' where id = ?`, [original?.id]),
    )
    await inTenant(house.tenantId, (trx) =>
      raisePosting(trx, {
        event: 'cash.movement_reversed',
        source: { id: randomUUID() },
        propertyId: house.propertyId,
        postingDate: house.today,
        reversesEventId: original?.id ?? '',
      }),
    )
    await post(house)
    const [mirror] = await inTenant(house.tenantId, (trx) =>
      sql(trx, `select status, error_code from posting_event where reverses_event_id is not null`),
    )
    expect(mirror).to.deep.equal({ status: 'parked', errorCode: 'original_dismissed' })
  })
})
