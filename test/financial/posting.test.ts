import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inPlatform, inTenant, openDatabase, sql, sqlOne } from '../../db/lib/connection.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { raisePosting } from '../../db/financial/index.ts'
import { postBatch } from '../../db/financial/poster.ts'
import { sweepPostings } from '../../db/financial/sweeps.ts'
import { useDatabase } from '../support/database.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { addProperty, makeHouse, post, raiseMany } from './support.ts'
import type { House } from './support.ts'

const accountId = (house: House, condition: string) =>
  inTenant(
    house.tenantId,
    async (trx) => (await sqlOne<{ id: string }>(trx, `select id from account where ${condition}`))?.id ?? '',
  )

/** A payment into an account that is a group: it can be raised, and PostgreSQL refuses its lines. */
const raisePoison = async (house: House) => {
  const group = await accountId(house, `code = '1.1'`)
  const payment = randomUUID()
  return inTenant(house.tenantId, (trx) =>
    raisePosting(trx, {
      event: 'payment.payment_recorded',
      source: { id: payment },
      propertyId: house.propertyId,
      payload: { amounts: { amount: 5 }, documents: { payment }, accounts: { money: group } },
    }),
  )
}

const statuses = (house: House) =>
  inTenant(house.tenantId, (trx) =>
    sql<{ status: string; count: number }>(
      trx,
      `select status, count(*) as count from posting_event group by status order by status`,
    ),
  )
const healthy = async (house: House) => {
  const results = await inTenant(house.tenantId, (trx) => checkBook(trx, house.bookId))
  // Events of these tests have no payments and folios that control accounts could be compared with.
  const own = results.filter(({ check }) => !check.startsWith('control_'))
  expect(own.filter(({ status }) => status !== 'passed')).to.deep.equal([])
}

describe('the poster', () => {
  const held = useDatabase()

  it('writes one entry per event though sixteen posters share a book and some are killed', async function () {
    this.timeout(120_000)
    await openDatabase(settings.databaseUrl, 20)
    const house = await makeHouse()
    const others = await inTenant(house.tenantId, async (trx) => [
      await addProperty(trx, house.bookId),
      await addProperty(trx, house.bookId),
    ])
    for (let n = 0; n < 10; n += 1) await raiseMany(house, 200, [house.propertyId, ...others])
    let working = true
    const poster = async () => {
      for (let idle = 0, rounds = 0; idle < 3; rounds += 1) {
        if (rounds > 2_000) throw new Error('the poster does not end')
        const taken = await inTenant(house.tenantId, (trx) => postBatch(trx, house.bookId, { limit: 40 })).catch(
          () => -1,
        )
        idle = taken === 0 ? idle + 1 : 0
        if (taken === 0) await wait(20)
      }
    }
    const killer = async () => {
      for (let n = 0; n < 6 && working; n += 1) {
        await wait(30)
        await sql(
          held.database.admin,
          `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'pousada_service' and datname = current_database() order by random() limit 1`,
        )
      }
    }
    const killing = killer()
    await Promise.all(Array.from({ length: 16 }, poster))
    working = false
    await killing
    await post(house)
    expect(await statuses(house)).to.deep.equal([{ status: 'posted', count: 2000 }])
    const found = await inTenant(house.tenantId, (trx) =>
      sqlOne<{ entries: number; sources: number }>(
        trx,
        `select count(*) as entries, count(distinct (source_type, source_id)) as sources from journal_entry`,
      ),
    )
    expect(found).to.deep.equal({ entries: 2000, sources: 2000 })
    await healthy(house)
    expect(await deadlocks()).to.equal(0)
  })

  it('sets a poison event apart, posts the rest, and parks it at the 8th try', async () => {
    const house = await makeHouse()
    await raiseMany(house, 5)
    const poison = await raisePoison(house)
    await raiseMany(house, 5)
    await post(house)
    expect(await statuses(house)).to.deep.equal([
      { status: 'failed', count: 1 },
      { status: 'posted', count: 10 },
    ])
    const state = () =>
      inTenant(house.tenantId, (trx) =>
        sqlOne(
          trx,
          `select status, attempts, error_code, round(extract(epoch from next_at - now()) / 60)::int as minutes from posting_event where id = ?`,
          [poison.id],
        ),
      )
    expect(await state()).to.deep.equal({ status: 'failed', attempts: 1, errorCode: 'account_not_usable', minutes: 1 })
    const waits: unknown[] = []
    for (let attempt = 2; attempt <= 8; attempt += 1) {
      await inTenant(house.tenantId, (trx) =>
        sql(trx, `update posting_event set next_at = now() where id = ?`, [poison.id]),
      )
      await post(house)
      waits.push((await state())?.['minutes'])
    }
    expect(waits).to.deep.equal([2, 4, 8, 16, 32, 60, null])
    expect(await state()).to.include({ status: 'parked', attempts: 8 })
    const parked = await inTenant(house.tenantId, (trx) =>
      sql(trx, `select data->>'postingEventId' as id from event where type = 'posting_event.parked'`),
    )
    expect(parked).to.deep.equal([{ id: poison.id }])
    const checks = await inTenant(house.tenantId, (trx) => checkBook(trx, house.bookId))
    const failing = checks.filter(({ status, check }) => status === 'failed' && !check.startsWith('control_'))
    expect(failing.map(({ check }) => check)).to.deep.equal(['events_posted'])
  })

  it('goes on with another job where more than a batch waits', async () => {
    const house = await makeHouse()
    await raiseMany(house, 201)
    const jobs = () =>
      inTenant(house.tenantId, (trx) =>
        sqlOne<{ count: number }>(trx, `select count(*) as count from jobs where kind = 'ledger.post'`),
      )
    expect((await jobs())?.count).to.equal(1)
    await post(house)
    expect(await statuses(house)).to.deep.equal([
      { status: 'pending', count: 1 },
      { status: 'posted', count: 200 },
    ])
    // The one that was asked for is done with; another takes its place.
    expect((await jobs())?.count).to.equal(1)
    await post(house)
    expect(await statuses(house)).to.deep.equal([{ status: 'posted', count: 201 }])
  })

  it('announces each entry, and posts an event of nothing without one', async () => {
    const house = await makeHouse()
    const payment = randomUUID()
    await inTenant(house.tenantId, (trx) =>
      raisePosting(trx, {
        event: 'payment.payment_captured',
        source: { id: payment },
        propertyId: house.propertyId,
        payload: { amounts: { amount: 0 }, documents: { payment } },
      }),
    )
    await raiseMany(house, 3)
    await post(house)
    expect(await statuses(house)).to.deep.equal([{ status: 'posted', count: 4 }])
    const [counts] = await inTenant(house.tenantId, (trx) =>
      sql(
        trx,
        `select (select count(*) from journal_entry) as entries, (select count(*) from event where type = 'ledger_entry.posted') as announced`,
      ),
    )
    expect(counts).to.deep.equal({ entries: 3, announced: 3 })
  })

  it('puts the account of a posting rule in the place of the usual one, and its cost centre', async () => {
    const house = await makeHouse()
    const target = await accountId(house, `code = '4.4.09'`)
    const wrong = await accountId(house, `code = '6.1.10'`)
    const [{ id: costCenterId }, rule] = await inTenant(house.tenantId, async (trx) => {
      const [center] = await sql<{ id: string }>(
        trx,
        `insert into cost_center (book_id, code, name) values (?, 'R', 'Rooms') returning id`,
        [house.bookId],
      )
      const rules = (property: string | null, account: string) =>
        sql<{ id: string }>(
          trx,
          `insert into posting_rule (book_id, event, line, match, account_id, cost_center_id, valid_from) values (?, 'reservations.extra_charged', '@revenue', ?::jsonb, ?, ?, '2020-01-01') returning id`,
          [
            house.bookId,
            JSON.stringify(property ? { propertyId: property } : { category: 'spa' }),
            account,
            center?.id,
          ],
        )
      const [made] = await rules(house.propertyId, target)
      await rules(null, wrong)
      return [center ?? { id: '' }, made?.id] as const
    })
    const charge = (category: string) =>
      inTenant(house.tenantId, (trx) =>
        raisePosting(trx, {
          event: 'reservations.extra_charged',
          source: { id: randomUUID() },
          propertyId: house.propertyId,
          payload: {
            amounts: { amount: 10 },
            documents: { folio: randomUUID() },
            context: { folioStage: 'guest', category },
          },
        }),
      )
    await charge('laundry')
    await post(house)
    const lines = await inTenant(house.tenantId, (trx) =>
      sql(trx, `select account_id, cost_center_id from journal_line where credit > 0`),
    )
    expect(lines).to.deep.equal([{ accountId: target, costCenterId }])
    const [event] = await inTenant(house.tenantId, (trx) =>
      sql<{ ruleIds: string[] }>(trx, `select rule_ids from posting_event`),
    )
    expect(event?.ruleIds).to.deep.equal([rule])
    await inTenant(house.tenantId, (trx) =>
      sql(trx, `update posting_rule set valid_to = '2020-01-02' where match ->> 'propertyId' is not null`),
    )
    await charge('spa')
    await post(house)
    const [refused] = await inTenant(house.tenantId, (trx) =>
      sql(trx, `select status, error_code from posting_event order by seq desc limit 1`),
    )
    expect(refused).to.deep.equal({ status: 'failed', errorCode: 'rule_not_allowed' })
  })

  it('is asked again by the sweep for what is due, and left alone otherwise', async () => {
    const house = await makeHouse()
    await raiseMany(house, 1)
    const jobs = () =>
      inTenant(house.tenantId, (trx) =>
        sqlOne<{ count: number }>(trx, `select count(*) as count from jobs where kind = 'ledger.post'`),
      )
    await inPlatform(sweepPostings)
    expect((await jobs())?.count).to.equal(1)
    await inTenant(house.tenantId, (trx) => sql(trx, `update posting_event set next_at = now() - interval '1 second'`))
    await inPlatform(sweepPostings)
    await inPlatform(sweepPostings)
    expect((await jobs())?.count).to.equal(2)
  })
})
