import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import type { ReportKey } from '../../config/reports.ts'
import { sql } from '../../db/lib/connection.ts'
import { report } from '../../db/reports/index.ts'
import { firstOfMonth } from '../../db/reports/rules/dates.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { readsOf, rowsVisited } from '../lib/rows-visited.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeStore } from '../support/stock.ts'
import type { Store } from '../support/stock.ts'
import { useWorld } from '../support/world.ts'

type Values = Record<string, number | null> & { key: string }

/** Days of history on both sides of the range, and movements or payments of each. */
const [days, perDay] = [400, 3]

describe('reports over a range of a long history', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: House
  let store: Store
  const admin = <Row = Record<string, unknown>>(text: string, values: Record<string, unknown> = {}) =>
    sql<Row>(world.database.admin, text, values)
  const read = async (key: ReportKey, parameters: Record<string, unknown>) =>
    house.inHouse(async (trx) => {
      const { rows, totals } = await report(key).open(
        trx,
        { propertyId: [house.propertyId], ...parameters },
        { propertyIds: null },
        null,
      )
      return { rows: [...(rows as Iterable<Values>)], totals: totals() as Values }
    })
  const visits = async (key: ReportKey, parameters: Record<string, unknown>) => {
    const counter = await rowsVisited(world.database)
    try {
      return await counter.of(house.tenantId, await readsOf(() => read(key, parameters)))
    } finally {
      await counter.end()
    }
  }

  before(async () => {
    house = await makeHouse({ units: 1, deposit: null })
    store = await makeStore(house)
    const bound = {
      ...store,
      tenantId: house.tenantId,
      propertyId: house.propertyId,
      from: house.day(-days),
      days,
      perDay,
    }
    const written = (name: string, columns: string, text: string) =>
      world.database.admin.transaction(async (trx) => {
        await trx.raw(
          `set local session_replication_role = ${name === 'inventory_movement_line' ? 'origin' : 'replica'}`,
        )
        const asked = Object.fromEntries(Object.entries(bound).filter(([key]) => text.includes(`:${key}`)))
        await sql(trx, `insert into ${name} (tenant_id, ${columns}) ${text}`, asked)
      })
    const each = `from generate_series(0, :days - 1) d cross join generate_series(1, :perDay) n`
    const id = (kind: string) => `cast(md5('${kind} ' || d || ' ' || n) as uuid)`
    const on = `cast(:from as date) + d`
    await written(
      'inventory_movement',
      'id, property_id, kind, occurred_on, source_type, source_id',
      `select :tenantId::uuid, ${id('moved')}, :propertyId::uuid, case n % 3 when 0 then 'receipt' when 1 then 'consumption' else 'count' end, ${on}, 'test', ${id('moved')} ${each}`,
    )
    await written(
      'inventory_movement_line',
      'movement_id, position, item_id, location_id, quantity, value, entered_quantity, entered_measure, seq, occurred_on',
      `select :tenantId::uuid, ${id('moved')}, 0, :itemId::uuid, :locationId::uuid, v.moved * 100, v.moved, abs(v.moved) * 100, 'ml', 1000 + d * :perDay + n, ${on}
       ${each} cross join lateral (select case n % 3 when 0 then 30 + d % 7 when 1 then -9 else 2 end as moved) v`,
    )
    await written(
      'payment',
      'id, channel, method, property_id, amount, currency, status, captured_amount, captured_at, business_date, gateway_account_id',
      `select :tenantId::uuid, ${id('paid')}, 'desk', case n % 2 when 0 then 'card' else 'pix' end, :propertyId::uuid, 100 + d, 'BRL', 'captured', 100 + d,
         cast(${on} as timestamp) + interval '12 hours', case when n < 3 then ${on} end, :propertyId::uuid ${each}`,
    )
    await written(
      'refund',
      'id, payment_id, property_id, amount, currency, reason, via, status, succeeded_at, requested_by, gateway_account_id',
      `select :tenantId::uuid, ${id('refunded')}, ${id('paid')}, :propertyId::uuid, 10, 'BRL', 'error', 'gateway', 'succeeded', now(), '{}', :propertyId::uuid ${each}`,
    )
    await written(
      'posting_event',
      'id, seq, book_id, property_id, event, source_id, dated, posting_date, period_id, status',
      `select :tenantId::uuid, ${id('posted')}, -(d * :perDay + n), :propertyId::uuid, :propertyId::uuid, 'payment.refund_succeeded', ${id('refunded')}, 'day', ${on}, :propertyId::uuid, 'posted' ${each}`,
    )
    await world.database.admin.raw(`vacuum analyze`)
  })

  it('have the values of stock that a recount of all lines has, before and after each of its days', async () => {
    const month = firstOfMonth(house.day(-200))
    const ranges = [
      [house.day(-days - 40), house.day(-days - 1)],
      [house.day(-days - 3), house.day(-days)],
      [month, addDays(month, 20)],
      [addDays(month, 9), addDays(month, 45)],
      [house.day(-1), house.day(30)],
      [house.day(40), house.day(50)],
    ] as const
    for (const [startDate, endDate] of ranges) {
      const [known] = await admin<{ opening: number; closing: number; received: number; used: number }>(
        `select coalesce(sum(l.value) filter (where l.occurred_on < cast(:startDate as date)), 0)::bigint as opening, coalesce(sum(l.value), 0)::bigint as closing,
           coalesce(sum(l.value) filter (where l.occurred_on >= cast(:startDate as date) and m.kind = 'receipt'), 0)::bigint as received,
           coalesce(-sum(l.value) filter (where l.occurred_on >= cast(:startDate as date) and m.kind = 'consumption'), 0)::bigint as used
         from inventory_movement_line l join inventory_movement m on m.tenant_id = l.tenant_id and m.id = l.movement_id
         where l.tenant_id = cast(:tenantId as uuid) and l.occurred_on <= cast(:endDate as date)`,
        { tenantId: house.tenantId, startDate, endDate },
      )
      for (const by of ['group', 'location']) {
        const { rows, totals } = await read('inventory_cost', { startDate, endDate, by })
        const told = ({ opening, closing, receipts, used }: Values) => ({ opening, closing, received: receipts, used })
        expect(told(totals), `${by} from ${startDate}`).to.deep.equal(known)
        if (known?.opening !== 0 || known.closing !== 0) {
          expect(rows.map(({ key }) => key)).to.deep.equal([by === 'group' ? 'beverage' : store.locationId])
          expect(rows.map(told)).to.deep.equal([known])
        } else expect(rows).to.deep.equal([])
      }
    }
  })

  it('visit the lines of the range and sums of months alone', async () => {
    const range = { startDate: firstOfMonth(house.day(-200)), endDate: addDays(firstOfMonth(house.day(-200)), 9) }
    for (const by of ['group', 'location', 'outlet'])
      expect(await visits('inventory_cost', { ...range, by }), by).to.be.lessThan((days * perDay) / 3)
    const sums = () =>
      house.inHouse(async (trx) => (await checkBook(trx, house.bookId)).find(({ check }) => check === 'stock_sums'))
    const before = await sums()
    expect(before?.count).to.equal(0)
    await admin(
      `update inventory_stock_month set value = value + 1 where item_id = cast(:itemId as uuid) and month = cast(:month as date)`,
      {
        itemId: store.itemId,
        month: range.startDate,
      },
    )
    expect((await sums())?.count).to.equal(1)
  })

  it('visit the payments and refunds of the range alone, with the figures of a recount', async () => {
    const range = { startDate: house.day(-203), endDate: house.day(-200) }
    const { rows, totals } = await read('payments_by_method', range)
    const amount = [197, 198, 199, 200].reduce((sum, d) => sum + 100 + d, 0)
    expect(totals).to.include({ count: 12, received: 3 * amount, refunded: 120, net: 3 * amount - 120 })
    expect(rows).to.have.length(8)
    expect(await visits('payments_by_method', range)).to.be.lessThan((days * perDay) / 8)
  })
})
