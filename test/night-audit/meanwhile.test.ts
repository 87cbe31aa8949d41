import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { sql } from '../../db/lib/connection.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { postWaiting } from '../../db/financial/waiting.ts'
import { advanceNightAudit } from '../../db/night-audit/advance.ts'
import type { AuditStep } from '../../db/night-audit/audits.ts'
import { checkIn } from '../../db/reservations/check-in.ts'
import { checkOut } from '../../db/reservations/check-out.ts'
import type { FolioRow } from '../../db/rows.ts'
import { generateTasks } from '../../db/units/daily-tasks.ts'
import { balanceOf } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import { deadlocks, waitsForLock } from '../support/deadlocks.ts'
import { drain } from '../support/drain.ts'
import type { House } from '../support/factories.ts'
import { eventsOf, miscounted } from '../support/stay.ts'
import { until } from '../support/until.ts'
import {
  arrive,
  linesOf,
  makeLateHouse,
  makeStays,
  payAll,
  readAudit,
  readStay,
  request,
  runAudit,
  setDay,
  unposted,
} from './support.ts'

const unready = { override: { rules: ['early_check_in' as const, 'unit_condition' as const], reason: 'a test' } }
const owing = { override: { rules: ['balance' as const], reason: 'a test' } }

describe('While the night audit runs', () => {
  const held = useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 12 })
  })

  const leave = (id: string, early = false) => house.inHouse((trx) => checkOut(trx, id, { early, ...owing }))
  /** Every night once, every line posted once, debits equal credits, and the guest ledger is what the folios owe. */
  const healthy = async () => {
    const twice = await house.inHouse((trx) =>
      sql(
        trx,
        `select l.source_id, left(l.source_key, 15) from folio_line l where l.source_type = 'reservation_night' and l.source_key like '%:room' group by 1, 2 having count(*) > 1`,
      ),
    )
    expect(twice).to.deep.equal([])
    const open = await house.inHouse((trx) =>
      sql(
        trx,
        `select n.reservation_id, n.date from reservation_night n join reservation r on r.id = n.reservation_id
         where r.status in ('checked_in', 'checked_out') and n.status = 'open' and n.date <= ?`,
        [house.day(-1)],
      ),
    )
    expect(open).to.deep.equal([])
    expect(await unposted(house)).to.deep.equal([])
    expect(await miscounted(house)).to.deep.equal([])
    await house.inHouse((trx) => postWaiting(house.bookId, (work) => work(trx)))
    const results = await house.inHouse((trx) => checkBook(trx, house.bookId))
    expect(results.filter((one) => one.status !== 'passed')).to.deep.equal([])
    const folios = await house.inHouse((trx) => sql<FolioRow>(trx, `select * from folio where stage = 'guest'`))
    expect(await balanceOf({ ...house }, 'guest_ledger')).to.equal(folios.reduce((sum, one) => sum + one.balance, 0))
  }

  /** Runs the audit up to the first transaction of a step. */
  const reach = async (id: string, step: AuditStep, runner: string, atOnce = 200) => {
    for (let at: string | null = null; at !== step;) {
      await house.inHouse((trx) => advanceNightAudit(trx, id, runner, atOnce))
      at = (await readAudit(house, id)).step
    }
  }
  /** Stays that owe a night of the day or before it. */
  const uncharged = async (ids: string[]) =>
    (
      await house.inHouse((trx) =>
        sql<{ id: string }>(
          trx,
          `select distinct reservation_id as id from reservation_night where reservation_id = any(?::uuid[]) and status = 'open' and date <= ?`,
          [ids, house.day(-1)],
        ),
      )
    ).map(({ id }) => id)

  it('a guest leaves and another pays between two batches of step 3, and both are right', async () => {
    await setDay(house, -2)
    const leaving = await makeStays(house, 3, { from: -2, nights: 1, checkedIn: true })
    const early = await makeStays(house, 2, { from: -2, nights: 4, checkedIn: true })
    const staying = await makeStays(house, 3, { from: -2, nights: 3, checkedIn: true })
    await setDay(house, -1)
    const { id } = await request(house, house.day(-1))
    const runner = randomUUID()
    await reach(id, 'room_charges', runner, 3)
    const all = [...leaving, ...early, ...staying]
    expect(
      await uncharged(all),
      'three of eight are charged: some of these are among them, some are not',
    ).to.have.lengthOf(5)
    for (const one of leaving) await leave(one)
    for (const one of early) await leave(one, true)
    for (const one of staying) await payAll(house, one)
    // The step itself forgets nobody; what came after it would be charged as the day closes.
    await reach(id, 'extra_charges', runner, 3)
    expect(await uncharged(all)).to.deep.equal([])
    await runAudit(house, id, { runner, atOnce: 3 })
    for (const one of leaving) {
      const rooms = (await linesOf(house, [one])).filter((line) => line.category === 'room')
      expect(rooms.map((line) => line.key.slice(0, 10))).to.deep.equal([house.day(-2)])
    }
    for (const one of early) {
      const stay = await readStay(house, one)
      expect(stay.postedTotal).to.equal(stay.total)
    }
    for (const one of staying) {
      const { total } = await readStay(house, one)
      const [folio] = await house.inHouse((trx) =>
        sql<FolioRow>(trx, `select * from folio where reservation_id = ?`, [one]),
      )
      expect(folio).to.include({ credits: total })
      expect(folio?.charges).to.be.lessThan(total)
    }
    await healthy()
  })

  it('a sheet made between the last two steps is closed with its day, and a unit that came then has its morning', async () => {
    const { id } = await request(house, house.day(-1))
    const runner = randomUUID()
    await reach(id, 'housekeeping', runner)
    // Jobs that were asked for before come too early for the sheet and the unit.
    await drain({ kinds: ['inventory.generate-tasks'] })
    await house.inHouse(async (trx) => {
      await sql(
        trx,
        `insert into housekeeping_sheet (property_id, date, attendant_id, max_credits) values (?, ?, ?, 20)`,
        [house.propertyId, house.day(-1), randomUUID()],
      )
      await sql(trx, `update unit set rolled_on = null where id = (select id from unit order by id limit 1)`)
    })
    await runAudit(house, id, { runner })
    await drain({ kinds: ['inventory.generate-tasks'] })
    const seen = await house.inHouse((trx) =>
      sql(
        trx,
        `select (select status from housekeeping_sheet) as sheet, count(*) filter (where rolled_on = ?::date) = count(*) as all_rolled
         from unit where property_id = ? and status = 'active'`,
        [house.day(0), house.propertyId],
      ),
    )
    expect(seen).to.deep.equal([{ sheet: 'closed', allRolled: true }])
    expect(await drain({ kinds: ['inventory.generate-tasks'] })).to.deep.equal([])
  })

  it('a guest who comes after the morning was prepared has his stayover, one who leaves then no more, and each unit one task', async () => {
    const [leaving = '', staying = ''] = await makeStays(house, 2, { from: -2, nights: 3, checkedIn: true })
    const [gone = ''] = await makeStays(house, 1, { from: -2, nights: 2, checkedIn: true })
    const { id } = await request(house, house.day(-1))
    const runner = randomUUID()
    await reach(id, 'housekeeping', runner)
    const [coming = ''] = await makeStays(house, 1, { from: -1, checkedIn: true })
    await leave(leaving, true)
    await leave(gone, true)
    await house.inHouse((trx) =>
      sql(
        trx,
        `update unit set condition = 'clean' where id in (select unit_id from unit_assignment where reservation_id = ?)`,
        [gone],
      ),
    )
    await runAudit(house, id, { runner })
    const tasks = () =>
      house.inHouse((trx) =>
        sql(
          trx,
          `select array_position(?::uuid[], t.reservation_id) as stay, t.kind, t.status, u.condition from housekeeping_task t
           join unit u on u.tenant_id = t.tenant_id and u.id = t.unit_id where t.date = ? order by 1, 2`,
          [[coming, staying, leaving, gone], house.day(0)],
        ),
      )
    const morning = [
      { stay: 1, kind: 'stayover', status: 'open', condition: 'dirty' },
      { stay: 2, kind: 'stayover', status: 'open', condition: 'dirty' },
      { stay: 3, kind: 'departure', status: 'open', condition: 'dirty' },
      { stay: 3, kind: 'stayover', status: 'skipped', condition: 'dirty' },
      { stay: 4, kind: 'departure', status: 'skipped', condition: 'clean' },
    ]
    await drain({ kinds: ['inventory.generate-tasks'] })
    expect(await tasks()).to.deep.equal(morning)
    await house.inHouse((trx) => generateTasks(trx, { propertyId: house.propertyId, businessDate: house.day(0) }))
    expect(await tasks()).to.deep.equal(morning)
  })

  it('a guest who is coming as the day closes is waited for, and charged for it', async () => {
    const { id } = await request(house, house.day(-1))
    const runner = randomUUID()
    await reach(id, 'housekeeping', runner)
    const [coming = ''] = await makeStays(house, 1, { from: -1 })
    let closed: Promise<unknown> = Promise.resolve()
    let isOver = false
    await house.inHouse(async (trx) => {
      await checkIn(trx, coming, unready)
      closed = runAudit(house, id, { runner }).finally(() => (isOver = true))
      await until(async () => isOver || (await waitsForLock(held.database.admin)))
    })
    await closed
    expect((await readAudit(house, id)).status).to.equal('succeeded')
    expect(await uncharged([coming])).to.deep.equal([])
    await healthy()
  })

  it('guests come, leave and pay at the same moment, without a deadlock, and each night is charged once', async () => {
    const before = await deadlocks()
    const here = await makeStays(house, 5, { from: -2, nights: 3, checkedIn: true })
    const coming = await makeStays(house, 3, { from: -1 })
    const paying = here.slice(3)
    const { id } = await request(house, house.day(-1))
    const runner = randomUUID()
    const failed: string[] = []
    const note = (error: unknown) => void failed.push(error instanceof ApiError ? error.code : String(error))
    await Promise.all([
      runAudit(house, id, { runner, atOnce: 1 }).catch(note),
      ...coming.map((one) => arrive(house, one).catch(note)),
      ...here.slice(0, 3).map((one) => leave(one, true).catch(note)),
      ...paying.map((one) => payAll(house, one).catch(note)),
    ])
    // The audit may have come first and marked one of them as a no-show.
    expect(failed.filter((code) => code !== 'invalid_transition')).to.deep.equal([])
    const came = await Promise.all(coming.map((one) => readStay(house, one)))
    expect(came.filter((one) => one.status === 'no_show')).to.have.lengthOf(failed.length)
    expect(came.every((one) => one.status === 'no_show' || one.status === 'checked_in')).to.equal(true)
    await runAudit(house, id, { runner, atOnce: 1 })
    expect((await readAudit(house, id)).status).to.equal('succeeded')
    for (const one of here.slice(0, 3)) expect((await readStay(house, one)).status).to.equal('checked_out')
    expect(await eventsOf(house, 'reservation.checked_out')).to.have.lengthOf(3)
    await healthy()
    expect(await deadlocks()).to.equal(before)
  })
})
