import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Knex } from 'knex'
import { addDays } from '../../config/time.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { assertOpen, businessDay } from '../../db/financial/index.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { asRole, makeHouse, refusal } from './support.ts'
import type { House } from './support.ts'

type Work = (trx: Knex.Transaction) => Promise<unknown>

describe('two transactions that meet in the ledger', () => {
  const held = useDatabase()
  let house: House
  let periodId: string
  let travel: string
  let journalId: string
  beforeEach(async () => {
    house = await makeHouse()
    const one = (text: string, ...values: string[]) =>
      inTenant(house.tenantId, async (trx) => (await sqlOne<{ id: string }>(trx, text, values))?.id ?? '')
    periodId = await one(
      `select id from fiscal_period where kind = 'regular' and ?::date between starts_on and ends_on`,
      house.today,
    )
    travel = await one(`select id from account where code = '6.1.10'`)
    journalId = await one(`select id from journal where kind = 'general'`)
    await inTenant(house.tenantId, async (trx) => {
      const before = await trx('fiscal_period')
        .where('endsOn', '<', house.today)
        .where({ kind: 'regular' })
        .orderBy('startsOn')
      for (const period of before) await trx('fiscal_period').where({ id: period.id }).update({ status: 'soft_closed' })
    })
  })

  /** Holds the first transaction open while the second tries; answers what became of the second, which must have waited. */
  const meet = async (
    first: Work,
    second: Work,
    isolation: 'read committed' | 'repeatable read' = 'read committed',
  ): Promise<string> => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let ready = () => {}
    const started = new Promise<void>((resolve) => {
      ready = resolve
    })
    const holding = asRole(held.database, 'service', house.tenantId, async (trx) => {
      await first(trx)
      ready()
      await gate
    })
    await Promise.race([started, holding])
    let settled = false
    const trying = refusal(
      asRole(
        held.database,
        'service',
        house.tenantId,
        async (trx) => {
          // A snapshot of before, where the isolation keeps one.
          await trx.raw('select 1 from book')
          await second(trx)
        },
        isolation,
      ),
    ).finally(() => {
      settled = true
    })
    await until(async () => {
      const waiting = await sql(
        held.database.admin,
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return settled || waiting.length > 0
    })
    expect(settled, 'the second waits for the first').to.equal(false)
    release()
    await holding
    return trying
  }

  const softClose: Work = (trx) => trx('fiscal_period').where({ id: periodId }).update({ status: 'soft_closed' })
  const raise: Work = (trx) =>
    trx('posting_event').insert({
      seq: 0,
      book_id: house.bookId,
      property_id: house.propertyId,
      period_id: randomUUID(),
      event: 'payment.payment_captured',
      source_id: randomUUID(),
      dated: 'day',
      posting_date: house.today,
    })
  const enter: Work = async (trx) => {
    const id = randomUUID()
    await trx('journal_entry').insert({
      id,
      book_id: house.bookId,
      journal_id: journalId,
      period_id: periodId,
      posting_date: house.today,
      currency: 'BRL',
      source_type: 'financial.manual',
      source_id: randomUUID(),
      total: 5,
      description: 'x',
      sequence: 0,
      created_xid: '1',
    })
    const other = await trx('account').where({ book_id: house.bookId, code: '4.4.09' }).first('id')
    const line = { entry_id: id, book_id: house.bookId, period_id: periodId, posting_date: house.today }
    await trx('journal_line').insert([
      { ...line, line_no: 1, account_id: travel, debit: 5 },
      { ...line, line_no: 2, account_id: (other as { id: string }).id, credit: 5 },
    ])
  }
  const archive: Work = (trx) => trx('account').where({ id: travel }).update({ status: 'archived' })
  const lock: Work = (trx) => trx('book').where({ id: house.bookId }).update({ locked_until: house.today })
  const roll: Work = async (trx) => {
    await trx('business_day')
      .where({ property_id: house.propertyId, status: 'open' })
      .update({ status: 'closed', closed_at: new Date() })
    await trx('business_day').insert({ property_id: house.propertyId, date: addDays(house.today, 1) })
  }

  it('raise and soft-close: the closing waits, and finds the event', async () => {
    expect(await meet(raise, softClose)).to.equal('PL015')
  })
  it('soft-close and raise: the event waits, and finds the period closed', async () => {
    expect(await meet(softClose, raise)).to.equal('PL004')
    await inTenant(house.tenantId, (trx) => trx('fiscal_period').where({ id: periodId }).update({ status: 'open' }))
    expect(await meet(softClose, raise, 'repeatable read')).to.equal('40001')
  })
  it('entry and soft-close: the closing waits for the entry', async () => {
    expect(await meet(enter, softClose)).to.equal('done')
  })
  it('soft-close and entry: the entry waits, and is refused', async () => {
    expect(await meet(softClose, enter)).to.equal('PL004')
    await inTenant(house.tenantId, (trx) => trx('fiscal_period').where({ id: periodId }).update({ status: 'open' }))
    expect(await meet(softClose, enter, 'repeatable read')).to.equal('40001')
  })
  it('entry and archive of its account: the archiving waits, and finds the balance', async () => {
    expect(await meet(enter, archive)).to.equal('PL016')
  })
  it('an archiving that could not see the entries of others is refused', async () => {
    expect(await refusal(asRole(held.database, 'service', house.tenantId, archive, 'repeatable read'))).to.equal(
      'PL013',
    )
  })
  it('archive and entry: the lines wait, and are refused', async () => {
    expect(await meet(archive, enter)).to.equal('PL008')
    await inTenant(house.tenantId, (trx) => trx('account').where({ id: travel }).update({ status: 'active' }))
    expect(await meet(archive, enter, 'repeatable read')).to.equal('40001')
  })
  it('entry and lock, lock and entry', async () => {
    expect(await meet(enter, lock)).to.equal('done')
    await inTenant(house.tenantId, (trx) => trx('book').where({ id: house.bookId }).update({ lockedUntil: null }))
    expect(await meet(lock, enter)).to.equal('PL005')
    await inTenant(house.tenantId, (trx) => trx('book').where({ id: house.bookId }).update({ lockedUntil: null }))
    expect(await meet(lock, raise)).to.equal('PL005')
  })
  it('check of a day and lock: the lock waits for what is written on the day', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const order: string[] = []
    let writing = Promise.resolve()
    await new Promise<void>((resolve, reject) => {
      writing = inTenant(house.tenantId, async (trx) => {
        await assertOpen(trx, house.bookId, house.today)
        resolve()
        await gate
        order.push('written')
      })
      writing.catch(reject)
    })
    const locking = asRole(held.database, 'service', house.tenantId, lock).then(() => order.push('locked'))
    await until(async () => {
      const waiting = await sql(
        held.database.admin,
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return order.length > 0 || waiting.length > 0
    })
    release()
    await Promise.all([writing, locking])
    expect(order).to.deep.equal(['written', 'locked'])
  })
  it('lock and check of a day: the check waits, and is refused', async () => {
    expect(
      await meet(lock, () => inTenant(house.tenantId, (trx) => assertOpen(trx, house.bookId, house.today))),
    ).to.equal('date_locked')
  })
  it('raise and roll of the day: the roll waits for the event', async () => {
    expect(await meet(raise, roll)).to.equal('done')
    expect(await inTenant(house.tenantId, (trx) => businessDay(trx, house.propertyId))).to.equal(
      addDays(house.today, 1),
    )
  })
  it('roll and raise: the event waits, and finds another day', async () => {
    expect(await meet(roll, raise)).to.equal('PL012')
  })
  it('roll and a reading of the day: the reading waits, and answers the new day', async () => {
    let day = ''
    expect(
      await meet(roll, async () => {
        day = await inTenant(house.tenantId, (trx) => businessDay(trx, house.propertyId))
      }),
    ).to.equal('done')
    expect(day).to.equal(addDays(house.today, 1))
  })
})
