import { expect } from 'chai'
import { ApiError } from '../../config/errors.ts'
import { addDays, localInstant } from '../../config/time.ts'
import { inPlatform, inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { fromDatabase } from '../../db/lib/errors.ts'
import { businessDay } from '../../db/financial/index.ts'
import { daysDue, previewNightAudit, requestNightAudit } from '../../db/night-audit/request.ts'
import { changeSettings } from '../../db/properties/house/properties/settings.ts'
import { addLines } from '../../db/reservations/folio/lines.ts'
import { tickBusinessDays } from '../../jobs/night-audit.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import type { House } from '../support/factories.ts'
import { makeHouse } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { until } from '../support/until.ts'
import {
  closeOpenDay,
  linesOf,
  makeLateHouse,
  makeStays,
  openDay,
  readAudit,
  request,
  runAudit,
  setDay,
} from './support.ts'

const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof ApiError ? error.code : (fromDatabase(error)?.code ?? String(error))),
  )

const kinds = ['maintenance.tick-business-days', 'ledger.close-business-day']
const tick = async () => {
  await inPlatform((trx) => enqueue(trx, tickBusinessDays, {}))
  return drain({ kinds })
}
const auditsOf = (house: House) =>
  house.inHouse((trx) =>
    sql<{ businessDate: string; status: string; startedBy: string | null }>(
      trx,
      `select business_date, status, started_by from night_audit where property_id = ? order by business_date`,
      [house.propertyId],
    ),
  )

describe('The close of business days', () => {
  const world = useDatabase()

  it('comes by the clock, and missed days close one after another, each with its own charges', async () => {
    const house = await makeLateHouse(3)
    const ids = await makeStays(house, 1, { from: -3, nights: 5, checkedIn: true })
    await tick()
    const due = new Date() >= localInstant(house.today, '03:00', 'America/Sao_Paulo') ? [-3, -2, -1] : [-3, -2]
    expect((await auditsOf(house)).map((one) => [one.businessDate, one.status, one.startedBy])).to.deep.equal(
      due.map((day) => [house.day(day), 'succeeded', null]),
    )
    expect(await openDay(house)).to.equal(house.day(due.length - 3))
    const rooms = (await linesOf(house, ids)).filter((line) => line.category === 'room')
    expect(rooms.map((line) => [line.key.slice(0, 10), line.businessDate])).to.deep.equal(
      due.map((day) => [house.day(day), house.day(day)]),
    )
    const before = await auditsOf(house)
    await tick()
    expect(await auditsOf(house)).to.deep.equal(before)
  })

  it('waits for a person where the house wants it so, but an archived house closes its days by itself', async () => {
    const house = await makeLateHouse(2)
    await house.inHouse((trx) => changeSettings(trx, house.propertyId, { nightAudit: { automatic: false } }))
    await tick()
    expect(await auditsOf(house)).to.deep.equal([])
    // An audit that a person has begun is finished by the clock. The next day waits for a person again.
    const { id } = await request(house, house.day(-2))
    await house.inHouse((trx) =>
      sql(trx, `update night_audit set status = 'failed', error = 'a test', finished_at = now() where id = ?`, [id]),
    )
    await tick()
    expect((await auditsOf(house)).map((one) => one.status)).to.deep.equal(['succeeded'])
    expect(await openDay(house)).to.equal(house.day(-1))

    const archived = await makeLateHouse(4)
    await archived.inHouse((trx) => changeSettings(trx, archived.propertyId, { nightAudit: { automatic: false } }))
    await archived.inHouse((trx) =>
      sql(trx, `update property set status = 'archived' where id = ?`, [archived.propertyId]),
    )
    await tick()
    expect((await auditsOf(archived)).length).to.be.greaterThan(2)
    expect([house.day(-1), house.today]).to.include(await openDay(archived))
  })

  it('goes on for a tenant that is suspended', async () => {
    const house = await makeLateHouse(2)
    await world.database.admin('tenant').where({ id: house.tenantId }).update({ status: 'suspended' })
    await tick()
    expect((await auditsOf(house)).map((one) => one.status)).to.include('succeeded')
  })

  it('is refused for another day than the open one, before it is over, and where there is no day yet', async () => {
    const house = await makeLateHouse(1)
    const ask = (businessDate: string, of: House = house) =>
      code(of.inHouse((trx) => requestNightAudit(trx, { propertyId: of.propertyId, businessDate })))
    expect(await ask(house.day(-2))).to.equal('wrong_business_date')
    expect(await ask(house.today)).to.equal('wrong_business_date')
    await setDay(house, 0)
    expect(await ask(house.today)).to.equal('business_date_not_over')
    await setDay(house, 3)
    expect(await ask(house.day(3))).to.equal('business_date_not_over')
    const draft = await makeHouse({ draft: true })
    expect(await ask(draft.today, draft)).to.equal('wrong_business_date')
    const preview = (of: House, businessDate: string) =>
      code(of.inHouse((trx) => previewNightAudit(trx, { propertyId: of.propertyId, businessDate })))
    expect(await preview(house, house.today)).to.equal('wrong_business_date')
    const other = await makeHouse()
    expect(
      await code(
        other.inHouse((trx) => requestNightAudit(trx, { propertyId: house.propertyId, businessDate: house.day(3) })),
      ),
    ).to.equal('not_found')
  })

  it('comes at the hour of the house in its own zone, also where clocks change', async () => {
    const zones = [
      'America/Sao_Paulo',
      'Europe/Lisbon',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Tokyo',
      'America/Santiago',
    ]
    const times = ['00:00', '00:30', '01:30', '02:30', '03:00', '11:59']
    // Sao Paulo changed at midnight in 2018; the others in 2026.
    const days = [
      ...Array.from({ length: 3 }, (_, index) => addDays('2018-11-03', index)),
      ...Array.from({ length: 366 }, (_, index) => addDays('2026-01-01', index)),
    ]
    const rows = await sql<{ day: string; time: string; zone: string; at: Date; isSkipped: boolean }>(
      world.database.admin,
      `select d::date as day, t as time, z as zone, local_time_not_before(d::date + t::time, z) as at,
         ((d::date + t::time) at time zone z) at time zone z <> d::date + t::time as is_skipped
       from unnest(?::date[]) d cross join unnest(?::text[]) t cross join unnest(?::text[]) z`,
      [days, times, zones],
    )
    const wrong = rows.filter(({ day, time, zone, at, isSkipped }) => {
      const late = localInstant(day, time, zone).getTime() - at.getTime()
      return isSkipped ? late < 0 || late > 3_600_000 : late !== 0
    })
    expect(wrong).to.deep.equal([])
    expect(rows.filter((row) => row.isSkipped).length).to.be.greaterThan(5)
  })

  it('is found due by one look across tenants, in pages', async () => {
    const house = await makeLateHouse(2)
    const notDue = await makeHouse()
    const first = '00000000-0000-0000-0000-000000000000'
    const found: string[] = []
    for (let after: string | undefined = first; after !== undefined;) {
      const from: string = after
      const page: { propertyId: string }[] = await inPlatform((trx) => daysDue(trx, from, 2))
      found.push(...page.map((one) => one.propertyId))
      after = page.at(-1)?.propertyId
    }
    expect(found).to.include(house.propertyId)
    expect(found).to.not.include(notDue.propertyId)
    expect(new Set(found).size).to.equal(found.length)
  })

  it('fails where the ledger takes no more on the day, says so once, and goes on where it stopped', async () => {
    const house = await makeLateHouse(1)
    await house.inHouse((trx) => changeSettings(trx, house.propertyId, { nightAudit: { automatic: false } }))
    const ids = await makeStays(house, 1, { from: -1, checkedIn: true })
    await house.inHouse((trx) =>
      sql(trx, `update book set locked_until = ? where id = ?`, [house.day(-1), house.bookId]),
    )
    const { id } = await request(house, house.day(-1))
    for (let tries = 0; tries < 2; tries += 1) {
      await drain({ kinds })
      const audit = await readAudit(house, id)
      expect(audit).to.include({ status: 'failed', step: 'no_shows' })
      expect(audit.error).to.match(/^date_locked: /)
      expect(await request(house, house.day(-1))).to.deep.equal({ id, isNew: false })
    }
    expect(await eventsOf(house, 'night_audit.failed')).to.have.lengthOf(1)
    expect(await linesOf(house, ids)).to.deep.equal([])
    await house.inHouse((trx) => sql(trx, `update book set locked_until = null where id = ?`, [house.bookId]))
    await drain({ kinds })
    expect(await readAudit(house, id)).to.include({ status: 'succeeded', error: null })
    expect((await linesOf(house, ids)).length).to.be.greaterThan(3)
  })

  it('waits for commands that are dated by the day, and nothing is dated on a day after it closed', async () => {
    const house = await makeLateHouse(1)
    const [stay = ''] = await makeStays(house, 1, { from: -1, checkedIn: true })
    const { id } = await request(house, house.day(-1))
    const folio = await house.inHouse((trx) =>
      sqlOne<{ id: string }>(trx, `select id from folio where reservation_id = ?`, [stay]),
    )
    const line = (trx: Trx, businessDate: string, key: string) =>
      addLines(trx, [
        {
          folioId: folio?.id ?? '',
          kind: 'charge',
          category: 'minibar',
          description: 'Water',
          amount: 500,
          businessDate,
          source: { type: 'test', id: stay, key },
        },
      ])
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let isHeld = false
    const command = house.inHouse(async (trx) => {
      const day = await businessDay(trx, house.propertyId)
      isHeld = true
      await held
      await line(trx, day, 'before')
      return day
    })
    await until(() => isHeld)
    const closing = runAudit(house, id)
    await until(() => readAudit(house, id).then((audit) => audit.step === 'housekeeping'))
    release()
    expect(await command).to.equal(house.day(-1))
    await closing
    expect(await house.inHouse((trx) => businessDay(trx, house.propertyId))).to.equal(house.today)
    expect(await code(house.inHouse((trx) => line(trx, house.day(-1), 'after')))).to.equal('business_day_changed')
    expect(await code(house.inHouse((trx) => line(trx, house.today, 'today')))).to.equal('done')
    const totals = await house.inHouse((trx) =>
      sqlOne<{ sum: number; count: number }>(
        trx,
        `select (totals ->> 'lineSum')::bigint as sum, (totals ->> 'lineCount')::int as count from business_day where status = 'closed'`,
      ),
    )
    const lines = (await linesOf(house, [stay])).filter((one) => one.businessDate === house.day(-1))
    expect(totals).to.deep.equal({ sum: lines.reduce((sum, one) => sum + one.amount, 0), count: lines.length })
    expect(lines.some((one) => one.category === 'minibar')).to.equal(true)
  })

  it('comes to its turn though commands of the day never stop to overlap', async () => {
    const house = await makeLateHouse(1)
    const { id } = await request(house, house.day(-1))
    let isOver = false
    const seen = new Set<string>()
    const busy = Array.from({ length: 5 }, async (_, index) => {
      while (!isOver)
        await house.inHouse(async (trx) => {
          seen.add(await businessDay(trx, house.propertyId))
          await sql(trx, `select pg_sleep(?)`, [0.05 + index * 0.02])
        })
    })
    const closed = await code(runAudit(house, id))
    await until(() => seen.size > 1 || closed !== 'done').finally(() => (isOver = true))
    await Promise.all(busy)
    expect(closed).to.equal('done')
    expect([...seen].sort()).to.deep.equal([house.day(-1), house.today])
  })

  it('raises the first day with go-live, and closes it like any other', async () => {
    const house = await makeHouse()
    expect(await openDay(house)).to.equal(house.today)
    expect(await inTenant(house.tenantId, (trx) => businessDay(trx, house.propertyId))).to.equal(house.today)
    await setDay(house, -1)
    await closeOpenDay(house)
    expect((await eventsOf(house, 'business_day.closed')).map((one) => one.data['date'])).to.deep.equal([house.day(-1)])
    expect(await openDay(house)).to.equal(house.today)
  })
})
