import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { addDays, todayIn } from '../../config/time.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { fromDatabase } from '../../db/lib/errors.ts'
import {
  assertOpen,
  businessDay,
  openBusinessDay,
  raiseDocumentPostings,
  raisePosting,
} from '../../db/financial/index.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from './support.ts'
import type { House } from './support.ts'

describe('the days of the ledger', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeHouse({ open: false })
  })
  const code = (work: (trx: Trx) => Promise<unknown>): Promise<string> =>
    inTenant(house.tenantId, work).then(
      () => 'done',
      (error: unknown) => (error instanceof ApiError ? error.code : (fromDatabase(error)?.code ?? String(error))),
    )
  const softCloseUpTo = (day: string) =>
    inTenant(house.tenantId, async (trx) => {
      const periods = await trx('fiscal_period')
        .where({ kind: 'regular' })
        .andWhere('startsOn', '<=', day)
        .orderBy('startsOn')
      for (const period of periods)
        await trx('fiscal_period').where({ id: period.id }).update({ status: 'soft_closed' })
    })

  it('are today in the zone of a property that never opened', async () => {
    expect(await inTenant(house.tenantId, (trx) => businessDay(trx, house.propertyId))).to.equal(
      todayIn('America/Sao_Paulo'),
    )
    expect(await code((trx) => businessDay(trx, randomUUID()))).to.equal('not_found')
  })

  it('open once, by go-live, and no second time on another date', async () => {
    const open = (date: string) => code((trx) => openBusinessDay(trx, house.propertyId, date))
    expect(await open(house.today)).to.equal('done')
    expect(await open(house.today)).to.equal('done')
    expect(await open(addDays(house.today, 1))).to.not.equal('done')
    const events = await inTenant(house.tenantId, (trx) =>
      sql(trx, `select data->>'date' as date from event where type = 'business_day.opened'`),
    )
    expect(events).to.deep.equal([{ date: house.today }])
  })

  it('are judged before a document is dated on them', async () => {
    const judge = (date: string) => code((trx) => assertOpen(trx, house.bookId, date))
    expect(await judge(house.today)).to.equal('done')
    expect(await judge('2001-01-01')).to.equal('period_missing')
    await inTenant(house.tenantId, (trx) => trx('book').update({ lockedUntil: house.today }))
    expect(await judge(house.today)).to.equal('date_locked')
    await inTenant(house.tenantId, (trx) => trx('book').update({ lockedUntil: null }))
    await softCloseUpTo(house.today)
    expect(await judge(house.today)).to.equal('period_closed')
  })

  it('move to the first open one where the date comes from a gateway', async () => {
    const raise = (postingDate: string, fromOutside: boolean) =>
      inTenant(house.tenantId, async (trx) => {
        const id = randomUUID()
        const payload = { amounts: { amount: 5 }, documents: { payout: id, account: id } }
        const place = { propertyId: house.propertyId, postingDate, fromOutside }
        return (await raisePosting(trx, { event: 'payment.payout_sent', source: { id }, ...place, payload }))
          .postingDate
      })
    expect(await raise(house.today, true)).to.equal(house.today)
    await inTenant(house.tenantId, (trx) => trx('book').update({ lockedUntil: house.today }))
    expect(await raise(house.today, true)).to.equal(addDays(house.today, 1))
    // A journal is locked apart from its book, and the wall of events obeys both.
    await inTenant(house.tenantId, async (trx) => {
      await trx('book').update({ lockedUntil: null })
      await trx('journal')
        .where({ kind: 'cash' })
        .update({ lockedUntil: addDays(house.today, 1) })
    })
    expect(await raise(house.today, true)).to.equal(addDays(house.today, 2))
    expect(await code(() => raise(house.today, false))).to.equal('date_locked')
    const fee = randomUUID()
    const raised = await inTenant(house.tenantId, async (trx) => {
      const payload = { amounts: { amount: 5 }, documents: { account: fee } }
      const posting = { event: 'payment.gateway_fee_charged', source: { id: fee }, date: house.today, payload }
      await raiseDocumentPostings(trx, house.bookId, [posting])
      return sqlOne(trx, `select posting_date, journal_kind from posting_event where source_id = ?`, [fee])
    })
    expect(raised).to.deep.equal({ postingDate: addDays(house.today, 2), journalKind: 'cash' })
    await inTenant(house.tenantId, async (trx) => {
      await trx('journal').update({ lockedUntil: null })
      await trx('posting_event').update({ status: 'posted' })
    })
    await softCloseUpTo(house.today)
    const [period] = await inTenant(house.tenantId, (trx) =>
      trx('fiscal_period').where({ status: 'open', kind: 'regular' }).orderBy('startsOn').limit(1),
    )
    expect(await raise(house.today, true)).to.equal(period.startsOn)
    expect(await code(() => raise(house.today, false))).to.equal('period_closed')
  })
})
