import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import { readSheet } from 'read-excel-file/node'
import { extractText, getDocumentProxy } from 'unpdf'
import { createCompany } from '../../db/guests/index.ts'
import { up } from '../../db/migrations/1021_commissions_of_agencies.ts'
import { sql } from '../../db/lib/connection.ts'
import { postWaiting } from '../../db/financial/waiting.ts'
import { verifyFacts } from '../../db/reports/index.ts'
import { readPart } from '../../db/reports/runs.ts'
import { arrive, closeOpenDay, makeLateHouse, makeStays } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { sumDays } from './recounts.ts'

type Row = { key: string; commission: number; netRevenue: number; roomRevenue: number }

describe('the commission of agencies in production', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let [agency, other] = ['', '']
  let stays: string[]
  const every = ['agency', 'company', 'source', 'segment', 'channel', 'ratePlan', 'unitType', 'country']

  /** Commission of a range by key, which is one figure by every key. */
  const commissions = async (from: number, to: number) => {
    const asked = async (by: string) => {
      const range = `startDate=${house.day(from)}&endDate=${house.day(to)}`
      const { status, body } = await owner.get(`reports/production?propertyId=${house.propertyId}&${range}&by=${by}`)
      expect(status, JSON.stringify(body)).to.equal(200)
      return body as { data: Row[]; totals: Row }
    }
    const { data, totals } = await asked('agency')
    for (const by of every) {
      const told = await asked(by)
      expect(told.totals.commission, by).to.equal(totals.commission)
      expect(told.totals.netRevenue, by).to.equal(told.totals.roomRevenue - told.totals.commission)
      expect(
        told.data.reduce((sum, row) => sum + row.commission, 0),
        by,
      ).to.equal(totals.commission)
    }
    const of = (key: string) => data.find((row) => row.key === key)?.commission ?? 0
    return { first: of(agency), second: of(other), all: totals.commission }
  }
  /** Commission that the books have accrued for the stays of an agency, less what was taken back. */
  const accrued = (agencyId: string) =>
    house.inHouse(async (trx) => {
      const [row] = await sql<{ amount: number }>(
        trx,
        `select coalesce(sum(case when e.event like '%accrued' then (e.payload #>> '{amounts,amount}')::bigint
           else -(o.payload #>> '{amounts,amount}')::bigint end), 0)::bigint as amount
         from posting_event e left join posting_event o on o.tenant_id = e.tenant_id and o.id = e.reverses_event_id
         join reservation r on r.id = e.source_id join booking b on b.id = r.booking_id
         where e.event like 'reservations.agency_commission%' and b.agency_id = ?`,
        [agencyId],
      )
      return row?.amount
    })
  const payable = () =>
    house.inHouse(async (trx) => {
      await postWaiting(house.bookId, (work) => work(trx))
      const [row] = await sql<{ amount: number }>(
        trx,
        `select coalesce(sum(l.credit - l.debit), 0)::bigint as amount from journal_line l
         join account a on a.id = l.account_id where a.role = 'commissions_payable' and l.property_id = ?`,
        [house.propertyId],
      )
      return row?.amount
    })
  const leave = async (stay: string) => {
    const override = { rules: ['balance'], reason: 'a test' }
    const { status, body } = await owner.send('POST', `reservations/${stay}/check-out`, { early: true, override })
    expect(status, JSON.stringify(body)).to.equal(200)
  }

  before(async () => {
    house = await makeLateHouse(3, { units: 4 })
    owner = await openDesk(world, house, 'owner')
    stays = await makeStays(house, 4, { from: -3, nights: 2 })
    const make = (legalName: string) =>
      house.inHouse((trx) => createCompany(trx, { kind: 'agency', legalName, commissionRate: 1_250 }))
    ;[agency, other] = [await make('Agência'), await make('Outra')]
    const sold = async (stay: string | undefined, agencyId: string, rate: number) =>
      house.inHouse((trx) =>
        sql(
          trx,
          `update booking set agency_id = ?, commission_rate = ? where id = (select booking_id from reservation where id = ?)`,
          [agencyId, rate, stay ?? ''],
        ),
      )
    await sold(stays[0], agency, 1_250)
    await sold(stays[1], agency, 1_001)
    await sold(stays[2], other, 1_250)
    await house.inHouse((trx) => sql(trx, `select record_on_the_books(?::uuid[])`, [stays]))
    for (const id of stays) await arrive(house, id)
  })

  it('is expected on the day of departure, and follows corrections of the nights', async () => {
    const nights = await house.inHouse((trx) =>
      sql<{ id: string; room: number }>(
        trx,
        `select n.reservation_id as id, sum(n.amount - (select coalesce(sum((x ->> 'amount')::bigint), 0) from jsonb_array_elements(n.components) x))::bigint as room
         from reservation_night n where n.reservation_id = any(?::uuid[]) group by 1`,
        [stays],
      ),
    )
    const roomOf = (stay: string | undefined) => nights.find(({ id }) => id === stay)?.room ?? 0
    const share = (stay: string | undefined, rate: number, less = 0) =>
      Math.floor(((roomOf(stay) - less) * rate) / 10_000 + 0.5)
    const due = [share(stays[0], 1_250), share(stays[1], 1_001), share(stays[2], 1_250)] as const
    expect(Math.min(...due)).to.be.above(0)
    expect(await commissions(-3, -2)).to.deep.equal({ first: 0, second: 0, all: 0 })
    const whole = { first: due[0] + due[1], second: due[2], all: due[0] + due[1] + due[2] }
    expect(await commissions(-3, 0)).to.deep.equal(whole)
    expect(await commissions(-1, -1)).to.deep.equal(whole)
    await closeOpenDay(house)
    expect(await commissions(-3, 0)).to.deep.equal(whole)
    const [line] = await house.inHouse((trx) =>
      sql<{ id: string; folioId: string }>(
        trx,
        `select id, folio_id from folio_line where source_type = 'reservation_night' and source_id = ? and category = 'room' and kind = 'charge'`,
        [stays[0] ?? ''],
      ),
    )
    const less = { lineId: line?.id, amount: 3_333, reason: 'noise' }
    const adjusted = await owner.send('POST', `folios/${line?.folioId}/adjustments`, less, {
      idempotencyKey: crypto.randomUUID(),
    })
    expect(adjusted.status, JSON.stringify(adjusted.body)).to.equal(201)
    const lessened = share(stays[0], 1_250, 3_333)
    expect(lessened).to.be.below(due[0])
    expect(await commissions(-3, 0)).to.deep.equal({
      first: lessened + due[1],
      second: due[2],
      all: lessened + due[1] + due[2],
    })
    await closeOpenDay(house)
  })

  it('is what the books accrue when the guests leave, while the day is open and when it has closed', async () => {
    for (const stay of stays.slice(0, 3)) await leave(stay)
    const back = await owner.send('POST', `reservations/${stays[2]}/revert-check-out`, { reason: 'a test' })
    expect(back.status, JSON.stringify(back.body)).to.equal(200)
    const open = await commissions(-1, -1)
    expect(open.first).to.equal(await accrued(agency))
    expect(await accrued(other)).to.equal(0)
    expect(open.second).to.be.above(0)
    await leave(stays[2] ?? '')
    expect(await commissions(-1, -1)).to.deep.equal(open)
    await leave(stays[3] ?? '')
    await closeOpenDay(house)
    expect(await commissions(-1, -1)).to.deep.equal(open)
    expect(await commissions(-3, 5)).to.deep.equal(open)
    expect([open.first, open.second]).to.deep.equal([await accrued(agency), await accrued(other)])
    expect(open.all).to.equal(await payable())
    await sumDays(house)
    expect(await commissions(-1, -1)).to.deep.equal(open)
    expect(await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).to.deep.equal([])
  })

  it('is written alike by a file of each format', async () => {
    const { first } = await commissions(-1, -1)
    const plain = (first / 100).toFixed(2)
    const written: Record<string, Buffer> = {}
    for (const format of ['csv', 'xlsx', 'pdf']) {
      const parameters = {
        propertyId: [house.propertyId],
        startDate: house.day(-1),
        endDate: house.day(-1),
        by: 'agency',
      }
      const { status, body } = await owner.send('POST', 'reports/runs', {
        report: 'production',
        format,
        locale: 'en',
        parameters,
      })
      expect(status, JSON.stringify(body)).to.equal(201)
      await world.drain({ kinds: ['reports.run'] })
      written[format] = await house.inHouse((trx) => readPart(trx, String(body.id), 1))
    }
    const rowOf = (rows: unknown[][]) => rows.find((row) => row.includes('Agência'))
    expect(rowOf(parse(written['csv'] ?? '', { bom: true, relax_column_count: true }))).to.include(plain)
    expect(rowOf((await readSheet(written['xlsx'] ?? Buffer.alloc(0))) as unknown[][])).to.include(Number(plain))
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(written['pdf'] ?? [])), {
      mergePages: true,
    })
    expect(text.split(/\s+/)).to.include(plain.replace(/\B(?=(\d{3})+\.)/g, ','))
  })

  it('is filled in for days that closed without it, and is proved each night', async () => {
    const known = await commissions(-3, 0)
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(`delete from night_fact where source_type = 'agency_commission'`)
      await trx.raw(`update night_sum set commission = 0`)
    })
    expect(await commissions(-3, 0)).to.include({ all: 0 })
    await world.database.admin.transaction(up)
    expect(await commissions(-3, 0)).to.deep.equal(known)
    await world.database.admin.transaction(up)
    expect(await commissions(-3, 0)).to.deep.equal(known)
    expect(await house.inHouse((trx) => verifyFacts(trx, house.propertyId))).to.deep.equal([])
  })

  it('is filled in by the nightly proof where a day has closed without any, and is missed where it lacks one', async () => {
    const known = await commissions(-3, 0)
    const at = house.day(-1)
    const lose = (which: string) =>
      world.database.admin.transaction(async (trx) => {
        await trx.raw(`set local session_replication_role = replica`)
        const lost = `tenant_id = '${house.tenantId}' and source_type = 'agency_commission'`
        await trx.raw(
          `delete from night_fact where ${lost} and id in (select id from night_fact where ${lost} order by commission, id limit ${which})`,
        )
      })
    const proof = () => house.inHouse((trx) => verifyFacts(trx, house.propertyId))
    await lose('all')
    await world.database.admin.raw(`update night_sum set commission = 0 where tenant_id = ?`, [house.tenantId])
    expect(await commissions(-3, 0)).to.include({ all: 0 })
    expect(await proof()).to.deep.equal([])
    expect(await commissions(-3, 0)).to.deep.equal(known)
    expect(await proof()).to.deep.equal([])
    await lose('1')
    expect(await proof()).to.deep.include({ report: 'production', from: at, to: at })
  })
})
