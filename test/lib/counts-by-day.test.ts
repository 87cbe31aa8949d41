import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import { wrongTotals } from '../support/counts.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { grantWebhooks, makeDelivery } from '../webhooks/support.ts'

describe('Lists of days', function () {
  this.timeout(60_000)
  const world = useWorld()
  let house: House
  let owner: Desk

  beforeEach(async () => {
    house = await makeHouse({ units: 4, deposit: null })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })

  const rows = <Row = Record<string, unknown>>(text: string, values: Record<string, unknown> = {}) =>
    sql<Row>(world.database.admin, text, { tenantId: house.tenantId, ...values })
  const expectRight = async () => {
    expect(await rows(wrongTotals)).to.deep.equal([])
    await inPlatform((trx) => sql(trx, `select fold_list_counts(1)`))
    expect(await rows(wrongTotals)).to.deep.equal([])
  }
  const totalOf = async (path: string): Promise<number> => done(await owner.get(`${path}&limit=1`)).meta.total

  it('have bookings and issues of the whole days of UTC, also where they are moved to others', async () => {
    const [first, second] = [await makeHold(house, {}), await makeHold(house, {})]
    const times = [
      '2026-03-01 23:59:59.999999',
      '2026-03-02 00:00:00',
      '2026-03-02 23:59:59.999999',
      '2026-03-03 00:00:00',
    ]
    const move = (id: string, time: string) =>
      rows(`update booking set created_at = timestamptz '${time}+00' where id = :id`, { id })
    const bookings = (query: string) => totalOf(`bookings?${query}`)
    await move(first, times[0]!)
    for (const [time, isInside] of [
      [times[0]!, false],
      [times[1]!, true],
      [times[2]!, true],
      [times[3]!, false],
    ] as const) {
      await move(second, time)
      expect(await bookings('createdFrom=2026-03-02&createdTo=2026-03-02'), time).to.equal(isInside ? 1 : 0)
    }
    expect(await bookings('createdFrom=2026-03-02')).to.equal(1)
    expect(await bookings('createdTo=2026-03-03&held=true')).to.equal(2)
    expect(await bookings('createdTo=2026-03-03&held=false')).to.equal(0)
    expect(await bookings(`createdTo=2026-03-01&propertyId=${house.propertyId}`)).to.equal(1)
    await expectRight()

    const { data } = done(await owner.get('issues/categories?limit=1'))
    const issue = { propertyId: house.propertyId, categoryId: data[0].id, title: 'A noise' }
    for (const time of times) {
      const { id } = done(await owner.send('POST', 'issues', issue), 201)
      await rows(`update issue set created_at = timestamptz '${time}+00' where id = :id`, { id })
    }
    const [last] = done(await owner.get('issues?sort=-createdAt&limit=1')).data as { id: string }[]
    done(await owner.send('POST', `issues/${last?.id}/close`, { outcome: 'withdrawn', reason: 'It went away' }))
    const issues = (query: string) => totalOf(`issues?${query}`)
    expect(await issues('from=2026-03-02&to=2026-03-02')).to.equal(2)
    expect(await issues('from=2026-03-02&status=open')).to.equal(2)
    expect(await issues('from=2026-03-03&status=closed&late=false')).to.equal(1)
    await expectRight()
  })

  it('have issues of any days, at the ends of months and within one', async () => {
    const { data } = done(await owner.get('issues/categories?limit=1'))
    const issue = { propertyId: house.propertyId, categoryId: data[0].id, title: 'A noise' }
    const times = [
      '2025-12-31 23:59:59.999999',
      '2026-01-01 00:00:00',
      '2026-01-15 12:00:00',
      '2026-01-31 23:59:59.999999',
      '2026-02-01 00:00:00',
      '2026-02-28 08:00:00',
      '2026-03-01 00:00:00',
    ]
    for (const time of times) {
      const { id } = done(await owner.send('POST', 'issues', issue), 201)
      await rows(`update issue set created_at = timestamptz '${time}+00' where id = :id`, { id })
    }
    await expectRight()
    const days = ['2025-12-31', '2026-01-01', '2026-01-15', '2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01']
    const among = (from: string, to: string) =>
      times.filter((time) => time.slice(0, 10) >= from && time.slice(0, 10) <= to).length
    for (const [at, from] of days.entries()) {
      await forgetLimits(world)
      expect(await totalOf(`issues?from=${from}`), from).to.equal(among(from, '2090-01-01'))
      expect(await totalOf(`issues?to=${from}`), from).to.equal(among('2001-01-01', from))
      for (const to of days.slice(at))
        expect(await totalOf(`issues?from=${from}&to=${to}`), `${from} ${to}`).to.equal(among(from, to))
    }
  })

  it('have deliveries to the moment, at the ends of days that are cut and within one', async () => {
    await grantWebhooks(house.tenantId)
    const { webhookDeliveryId: id } = await makeDelivery(house)
    const day = house.day(-2)
    const made = await rows(
      `insert into webhook_delivery (tenant_id, webhook_endpoint_id, event_id, event_at, sequence, type, property_id, status, delivered_at, created_at)
       select tenant_id, webhook_endpoint_id, gen_random_uuid(), event_at, sequence + n, type, property_id,
         case when n % 3 = 0 then 'delivered' else 'dropped' end, case when n % 3 = 0 then now() end, timestamptz '${day} 00:00:00+00' + (n - 10) * interval '6 hours'
       from webhook_delivery, generate_series(1, 20) n where id = :id returning created_at`,
      { id },
    )
    expect(made).to.have.length(20)
    await rows(`update webhook_delivery set created_at = timestamptz '${day} 11:59:59.999+00' where id = :id`, { id })
    await expectRight()
    const times = [house.day(-5), house.day(-4), day, house.day(-1), house.day(2)].flatMap((on) =>
      ['00:00:00.000', '11:59:59.999', '12:00:00.000'].map((time) => `${on}T${time}Z`),
    )
    const all = await rows<{ createdAt: Date; status: string }>(
      `select created_at, status from webhook_delivery where tenant_id = :tenantId`,
    )
    const among = (from: string, to: string, status?: string) =>
      all.filter(
        (one) => one.createdAt >= new Date(from) && one.createdAt <= new Date(to) && (!status || one.status === status),
      ).length
    const deliveries = (query: string) => totalOf(`webhooks/deliveries?${query}`)
    for (const [at, from] of times.entries()) {
      await forgetLimits(world)
      expect(await deliveries(`from=${from}`), from).to.equal(among(from, '2090-01-01'))
      expect(await deliveries(`to=${from}`), from).to.equal(among('2001-01-01', from))
      for (const to of times.slice(at)) {
        expect(await deliveries(`from=${from}&to=${to}`), `${from} ${to}`).to.equal(among(from, to))
        expect(await deliveries(`from=${from}&to=${to}&status=dropped`)).to.equal(among(from, to, 'dropped'))
      }
    }
    const [{ eventId } = { eventId: '' }] = await rows<{ eventId: string }>(
      `select event_id from webhook_delivery where tenant_id = :tenantId and status = 'dropped' limit 1`,
    )
    expect(await deliveries(`eventId=${eventId}`)).to.equal(1)
    expect(await deliveries(`eventId=${house.tenantId}`)).to.equal(0)
  })
})
