import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { closeSession, recordMovement, reverseMovement } from '../../db/cash/index.ts'
import type { NewMovement } from '../../db/cash/index.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import { asRole, balanceOf, post, refusal as stateOf } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import { roundTrips } from '../support/trips.ts'
import { addAccount, as, makeTill, numbersOf, openTill, refusal } from './support.ts'
import type { Till } from './support.ts'

describe('money in and out of an account', () => {
  const held = useDatabase()
  let till: Till
  beforeEach(async () => {
    till = await makeTill()
  })

  const accountOf = (code: string) =>
    inTenant(
      till.tenantId,
      async (trx) => (await sqlOne<{ id: string }>(trx, `select id from account where code = ?`, [code]))?.id ?? '',
    )
  const record = (given: Partial<NewMovement> & { amount: number }, accountId = till.registerId) =>
    as(till, till.cashier, (trx) =>
      recordMovement(trx, {
        cashAccountId: accountId,
        kind: 'guest_payment',
        source: { type: 'payment', id: randomUUID() },
        description: 'A sale',
        ...given,
      }),
    )

  it('a register takes money while its session is open, and its expected sum follows', async () => {
    expect(await refusal(record({ amount: 500 }))).to.equal('session_required')
    const sessionId = await openTill(till)
    const booked = await record({ amount: 500 })
    expect(booked).to.include({ sessionId, bookedOn: till.today, currency: 'BRL', amount: 500 })
    expect(await numbersOf(till, till.registerId)).to.include({ balance: 20_500, summed: 20_500, movementCount: 2 })
    const session = await inTenant(till.tenantId, (trx) =>
      sqlOne<{ expected: number }>(trx, `select expected from cash_session where id = ?`, [sessionId]),
    )
    expect(session?.expected).to.equal(20_500)
  })

  it('a drawer never goes below zero, a bank may', async () => {
    await openTill(till)
    expect(await refusal(record({ amount: -20_001 }))).to.equal('cash_short')
    await record({ amount: -20_000 })
    await record({ amount: -100_001 }, till.bankId)
    expect(await numbersOf(till, till.bankId)).to.include({ balance: -1, summed: -1 })
  })

  it('the same source is booked once', async () => {
    const source = { type: 'payment', id: randomUUID() }
    await record({ amount: 500, source }, till.bankId)
    expect(await refusal(record({ amount: 500, source }, till.bankId))).to.equal('duplicate')
  })

  it('goes with the end of its command: others wait for the account no longer than for the commit', async () => {
    await record({ amount: 500 }, till.bankId)
    // The beginning with the account, the day in the books, and the movement with the end.
    expect(await roundTrips(() => record({ amount: 500 }, till.bankId))).to.be.at.most(3)
    expect(await numbersOf(till, till.bankId)).to.include({ movementCount: 3 })
  })

  it('other money is posted against its account, and turned by its reversal', async () => {
    const travel = await accountOf('6.1.10')
    const booked = await record({ amount: -1_000, kind: 'manual', accountId: travel }, till.bankId)
    await post(till)
    expect(await balanceOf(till, 'bank')).to.equal(99_000)
    await as(till, till.cashier, (trx) => reverseMovement(trx, { movementId: booked.movementId, description: 'Wrong' }))
    await post(till)
    expect(await balanceOf(till, 'bank')).to.equal(100_000)
    expect(await numbersOf(till, till.bankId)).to.include({ balance: 100_000, summed: 100_000 })
    const again = as(till, till.cashier, (trx) =>
      reverseMovement(trx, { movementId: booked.movementId, description: 'Wrong' }),
    )
    expect(await refusal(again)).to.equal('already_reversed')
  })

  it('money of a session is turned while it is open alone', async () => {
    const sessionId = await openTill(till)
    const { movementId } = await record({ amount: 500 })
    await as(till, till.cashier, (trx) =>
      closeSession(trx, sessionId, { count: { '10000': 2, '500': 1 } }, { mayApprove: false }),
    )
    const turn = as(till, till.cashier, (trx) => reverseMovement(trx, { movementId, description: 'Wrong' }))
    expect(await refusal(turn)).to.equal('session_closed')
  })

  it('a second bank has a ledger account of its own beside the first', async () => {
    const second = await addAccount(till, {
      kind: 'bank',
      name: 'Second bank',
      opening: { amount: 700, on: till.today },
    })
    await post(till)
    expect(await balanceOf(till, 'bank')).to.equal(100_000)
    const made = await inTenant(till.tenantId, (trx) =>
      sqlOne<{ code: string; name: string; control: string }>(
        trx,
        `select a.code, a.name, a.control from cash_account c join account a on a.id = c.ledger_account_id where c.id = ?`,
        [second],
      ),
    )
    expect(made).to.include({ code: '1.1.2.03', name: 'Second bank', control: 'cash' })
  })

  it('a book takes money on its open days alone', async () => {
    const ahead = { amount: 1, bookedOn: '2199-01-01' }
    expect(await refusal(record(ahead, till.bankId))).to.equal('date_out_of_range')
    await asRole(held.database, 'service', till.tenantId, (trx) =>
      trx.raw(`update book set locked_until = ? where id = ?`, [till.today, till.bookId]),
    )
    expect(await refusal(record({ amount: 1, bookedOn: till.today }, till.bankId))).to.equal('date_locked')
  })

  it('sums are changed by movements alone, and movements never', async () => {
    const tries = [
      `update cash_account set balance = 5 where id = '${till.bankId}'`,
      `update cash_movement set amount = 5 where cash_account_id = '${till.bankId}'`,
      `delete from cash_movement where cash_account_id = '${till.bankId}'`,
      `update cash_account set kind = 'safe' where id = '${till.bankId}'`,
    ]
    for (const role of ['service', 'owner'] as const)
      for (const text of tries)
        expect(
          await stateOf(asRole(held.database, role, till.tenantId, (trx) => trx.raw(text))),
          `${role}: ${text}`,
        ).to.be.oneOf(['PL010', '42501'])
  })
})
