import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays, todayIn } from '../../config/time.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { applyTransactions, importCall, reconcile } from '../../db/payment/index.ts'
import type { BalanceEntry } from '../../db/payment/index.ts'
import { useDatabase } from '../support/database.ts'
import { makeTill, within } from './support.ts'
import type { Till } from './support.ts'

describe('the balance of an account at a gateway, by days', () => {
  const world = useDatabase()
  let till: Till
  const today = todayIn('UTC')
  const ago = (days: number) => addDays(today, -days)

  before(async () => {
    till = await makeTill()
  })

  const listed = (day: string, net: number, at = 'T12:00:00Z'): BalanceEntry => ({
    externalId: `txn_${randomUUID()}`,
    kind: 'adjustment',
    gross: net,
    fee: 0,
    platformFee: 0,
    net,
    currency: 'BRL',
    occurredAt: new Date(`${day}${at}`),
    availableAt: new Date(`${day}${at}`),
    source: null,
  })
  const hear = (...entries: BalanceEntry[]) =>
    within(till, async (trx) => {
      const call = await importCall(trx, till.accountId)
      if (call) await applyTransactions(trx, call.account, entries)
    })
  const balances = (date: string) =>
    within(till, async (trx) => {
      const made = await sqlOne<{ id: string }>(
        trx,
        `insert into reconciliation (gateway_account_id, date) values (?, ?)
         on conflict (tenant_id, gateway_account_id, date) do update set updated_at = now() returning id`,
        [till.accountId, date],
      )
      await reconcile(trx, made?.id ?? '')
      const row = await sqlOne<{ openingBalance: number; net: number; closingBalance: number }>(
        trx,
        `select opening_balance, net, closing_balance from reconciliation where id = ?`,
        [made?.id],
      )
      return [row?.openingBalance, row?.net, row?.closingBalance]
    })
  const check = () =>
    within(till, async (trx) => {
      const checks = await checkBook(trx, till.bookId)
      return checks.find((one) => one.check === 'gateway_days')
    })

  it('is the sum of what was listed, also late, twice, and in the last moment of a day', async () => {
    const twice = listed(ago(3), 700)
    await hear(listed(ago(5), 10_000), listed(ago(4), -2_500), twice, listed(ago(3), -1, 'T23:59:59.999Z'))
    expect(await balances(ago(3))).to.deep.equal([7_500, 699, 8_199])
    await hear(twice)
    await hear(listed(ago(5), -400), listed(ago(2), 50, 'T00:00:00Z'))
    expect(await balances(ago(3))).to.deep.equal([7_100, 699, 7_799])
    expect(await balances(ago(2))).to.deep.equal([7_799, 50, 7_849])
    expect(await balances(ago(6))).to.deep.equal([0, 0, 0])
    expect(await check()).to.include({ status: 'passed' })
  })

  it('stands whatever lists of the account come together', async () => {
    const [before] = await balances(today)
    await Promise.all(Array.from({ length: 8 }, (_, index) => hear(listed(ago(1), 100 + index), listed(ago(2), 1))))
    expect((await balances(today))[0]).to.equal((before ?? 0) + 8 * 100 + 28 + 8)
    expect(await check()).to.include({ status: 'passed' })
  })

  it('that is not the sum of its transactions is found by the nightly check', async () => {
    await world.database.admin.raw(
      `update gateway_balance_day set net = net + 1 where gateway_account_id = ? and day = ?`,
      [till.accountId, ago(5)],
    )
    const found = await check()
    expect(found?.status).to.equal('failed')
    expect(found?.findings[0]).to.include({ day: ago(5), net: 9_601, byTransactions: 9_600 })
    const readOnly = await within(till, (trx) =>
      sql(trx, `update gateway_balance_day set net = 0 where gateway_account_id = ?`, [till.accountId]),
    ).catch((error: Error) => error.message)
    expect(readOnly).to.include('permission denied')
  })
})
