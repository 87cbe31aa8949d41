import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import {
  cancelTransfer,
  closeSession,
  createTransfer,
  openSession,
  readSession,
  sessionsText,
} from '../../db/cash/index.ts'
import { openBusinessDay } from '../../db/financial/index.ts'
import { always } from '../../db/lib/conditions.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { addProperty, balanceOf, post } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import { addAccount, as, makeTill, numbersOf, openTill, refusal } from './support.ts'
import type { Till } from './support.ts'

describe('transfers of a register', () => {
  const held = useDatabase()
  let till: Till
  beforeEach(async () => {
    till = await makeTill()
  })

  const move = (fromAccountId: string, toAccountId: string, more: object = {}) =>
    as(till, till.cashier, (trx) =>
      createTransfer(
        trx,
        { fromAccountId, toAccountId, method: 'manual', amount: 5_000, purpose: 'Change', ...more },
        { ownOf: null, scope: always, judge: () => {} },
      ),
    )
  const sidesOf = (transferId: string) =>
    inTenant(till.tenantId, (trx) =>
      sql<{ cashAccountId: string; amount: number; bookedOn: string; sessionId: string | null }>(
        trx,
        `select cash_account_id, amount, booked_on, session_id from cash_movement where transfer_id = ? order by source_seq`,
        [transferId],
      ),
    )
  const readTransfer = (id: string) =>
    inTenant(till.tenantId, (trx) =>
      sqlOne<{ status: string; sentOn: string; receivedOn: string; propertyId: string }>(
        trx,
        `select status, sent_on, received_on, property_id from cash_transfer where id = ?`,
        [id],
      ),
    )
  /** A register of another house of the book, on another business day, opened by another cashier. */
  const elsewhere = async (days: number) => {
    const day = addDays(till.today, days)
    const propertyId = await inTenant(till.tenantId, async (trx) => {
      const id = await addProperty(trx, till.bookId)
      await openBusinessDay(trx, id, day)
      return id
    })
    const registerId = await addAccount(till, {
      kind: 'register',
      propertyId,
      opening: { amount: 10_000, on: addDays(till.today, -2) },
    })
    const sessionId = await as(till, randomUUID(), (trx) => openSession(trx, registerId, { '10000': 1 }))
    return { day, registerId, sessionId }
  }

  for (const days of [-1, 1])
    it(`between two houses book each side on the business day of its register, ${days} day apart`, async () => {
      const sessionId = await openTill(till)
      const other = await elsewhere(days)
      for (const [from, to] of [
        [till.registerId, other.registerId],
        [other.registerId, till.registerId],
      ] as const) {
        const id = await move(from, to)
        const [out, into] = await sidesOf(id)
        const ofRegister = {
          [till.registerId]: { bookedOn: till.today, sessionId },
          [other.registerId]: { bookedOn: other.day, sessionId: other.sessionId },
        }
        expect(out).to.include({ cashAccountId: from, amount: -5_000, ...ofRegister[from] })
        expect(into).to.include({ cashAccountId: to, amount: 5_000, ...ofRegister[to] })
        const made = await readTransfer(id)
        expect(made).to.include({ status: 'completed', sentOn: out?.bookedOn })
        const [left, arrived] = [out?.bookedOn ?? '', into?.bookedOn ?? '']
        expect(made?.receivedOn).to.equal(left > arrived ? left : arrived)
      }
      await post(till)
      expect(await balanceOf(till, 'money_in_transit')).to.equal(0)
      expect(await numbersOf(till, other.registerId)).to.include({ balance: 10_000, summed: 10_000 })
    })

  it('with a bank book both sides on the business day of the register', async () => {
    const other = await elsewhere(-1)
    const [out, into] = await sidesOf(await move(till.bankId, other.registerId))
    expect(out).to.include({ cashAccountId: till.bankId, bookedOn: other.day, sessionId: null })
    expect(into).to.include({ bookedOn: other.day, sessionId: other.sessionId })
    expect(await refusal(move(till.bankId, other.registerId, { sentOn: till.today }))).to.equal('validation_failed')
  })

  for (const days of [-1, 1])
    it(`with a bank are undone on the business day of the register, ${days} day from today`, async () => {
      const other = await elsewhere(days)
      const id = await move(till.bankId, other.registerId)
      await as(till, till.cashier, (trx) => cancelTransfer(trx, id, { reason: 'Never moved', expected: null }))
      const undone = await inTenant(till.tenantId, (trx) =>
        sql<{ bookedOn: string }>(
          trx,
          `select booked_on from cash_movement where transfer_id = ? and kind = 'reversal'`,
          [id],
        ),
      )
      expect(undone).to.deep.equal([{ bookedOn: other.day }, { bookedOn: other.day }])
      await post(till)
      expect(await balanceOf(till, 'money_in_transit')).to.equal(0)
      // Neither day has money between the two.
      const between = await inTenant(till.tenantId, (trx) =>
        sql(
          trx,
          `select l.posting_date from journal_line l join account a on a.tenant_id = l.tenant_id and a.id = l.account_id and a.role = 'money_in_transit'
           group by 1 having sum(l.debit) <> sum(l.credit)`,
        ),
      )
      expect(between).to.deep.equal([])
    })

  it('lose no more with their fee than one movement holds', async () => {
    const safeId = await addAccount(till, { kind: 'safe' })
    const big = { amount: 10_000_000_000_000, fee: 1 }
    expect(await refusal(move(till.bankId, safeId, big))).to.equal('validation_failed')
  })

  it('as a drop at closing stand for themselves, and go to a safe alone', async () => {
    const sessionId = await openTill(till)
    const close = (drop: { amount: number; toAccountId?: string }) =>
      as(till, till.cashier, (trx) =>
        closeSession(trx, sessionId, { count: { '10000': 2 }, drop }, { mayApprove: false }),
      )
    const other = await elsewhere(0)
    for (const toAccountId of [till.bankId, other.registerId])
      expect(await refusal(close({ amount: 15_000, toAccountId }))).to.equal('reference_not_found')
    expect(await refusal(close({ amount: 20_001 }))).to.equal('cash_short')
    await close({ amount: 15_000 })
    const [drop] = await inTenant(till.tenantId, (trx) =>
      sql<{ id: string; status: string; amount: number; toAccountId: string; receivedOn: string }>(
        trx,
        `select id, status, amount, to_account_id, received_on from cash_transfer where from_account_id = ?`,
        [till.registerId],
      ),
    )
    expect(drop).to.include({
      status: 'completed',
      amount: 15_000,
      toAccountId: till.safeId,
      receivedOn: till.today,
    })
    const [out, into] = await sidesOf(drop?.id ?? '')
    expect(out).to.include({ amount: -15_000, sessionId, bookedOn: till.today })
    expect(into).to.include({ cashAccountId: till.safeId, amount: 15_000, sessionId: null })
    const session = await inTenant(till.tenantId, (trx) =>
      sqlOne<{ expected: number; difference: number }>(
        trx,
        `select expected, difference from cash_session where id = ?`,
        [sessionId],
      ),
    )
    // The drop is no part of the count: it was in the drawer when that was counted.
    expect(session).to.deep.equal({ expected: 20_000, difference: 0 })
  })

  it('tell the drop from other money that went in the same moment, whatever the clock says of the closing', async () => {
    const sessionId = await openTill(till)
    await as(till, till.cashier, async (trx) => {
      const asked = { fromAccountId: till.registerId, toAccountId: till.safeId, method: 'manual' as const }
      await createTransfer(
        trx,
        { ...asked, amount: 2_000, purpose: 'Too much' },
        { ownOf: null, scope: always, judge: () => {} },
      )
      await closeSession(
        trx,
        sessionId,
        { count: { '10000': 1, '2000': 4 }, drop: { amount: 15_000 } },
        { mayApprove: false },
      )
    })
    const told = () =>
      inTenant(till.tenantId, async (trx) => ({
        dropped: (await readSession(trx, sessionId, { mayApprove: true, ownOf: null, reveals: true })).dropped,
        wrong: await sql(trx, sessionsText(), { tenantId: till.tenantId, bookId: till.bookId }),
      }))
    expect(await told()).to.deep.equal({ dropped: 15_000, wrong: [] })
    // As after a move to another house of rows that were written with their times rounded.
    await held.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(
        `update cash_session set closed_at = date_trunc('second', closed_at) - interval '1 hour' where id = ?`,
        [sessionId],
      )
    })
    expect(await told()).to.deep.equal({ dropped: 15_000, wrong: [] })
    const others = inTenant(till.tenantId, (trx) =>
      sql(trx, `update cash_transfer set closing_session_id = ? where amount = 2000`, [sessionId]),
    )
    expect(await refusal(others)).to.equal('PL010')
  })

  it('by Pix are refused: a drawer has no Pix', async () => {
    for (const toAccountId of [till.registerId, till.safeId])
      expect(await refusal(move(till.bankId, toAccountId, { method: 'pix' }))).to.equal('reference_not_found')
  })
})
