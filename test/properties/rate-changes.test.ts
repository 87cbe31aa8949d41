import { expect } from 'chai'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { readKeptCells } from '../../db/properties/rates/rate-cells.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import { openDesk } from './support.ts'
import { useRates } from './rates.ts'

describe('Changes of rates', () => {
  const rates = useRates()
  const { amounts, change, count, days, item, quote, world } = rates

  describe('a bulk change', () => {
    it('shows what it would do and stores nothing, then does it; later items win', async () => {
      const items = [
        item(30, 36, { ratePlanIds: [rates.house.ratePlanId], amount: 30_000 }),
        item(32, 33, { ratePlanIds: [rates.house.ratePlanId], adjust: { type: 'percent', value: 1_001 } }),
        item(36, 37, {
          ratePlanIds: [rates.house.ratePlanId],
          unitTypeIds: [rates.house.unitTypeId],
          adjust: { type: 'amount', value: -25_000 },
        }),
      ]
      const preview = await change(items, { dryRun: true })
      // Seven days of two types, and the eighth of one.
      expect([preview.status, preview.body.dryRun, preview.body.cellCount]).to.deep.equal([200, true, 15])
      expect(preview.body.waiting).to.equal(0)
      expect([await count('rate_cell'), await count('rate_change')]).to.deep.equal([0, 0])
      const { status, body } = await change(items, { note: 'Carnival' })
      expect([status, body.status, body.cellCount]).to.deep.equal([201, 'applied', 15])
      // 20000 without a cell, less 25000, is not below nothing.
      const wanted = [30_000, 30_000, 33_003, 33_003, 30_000, 30_000, 5_000, 0, 20_000]
      expect(await amounts(rates.house.ratePlanId, 30, 38)).to.deep.equal(wanted)
      expect((await quote(30, 9)).body.rooms[0].nights.map((night: { amount: number }) => night.amount)).to.deep.equal(
        wanted,
      )
      const kept = await rates.owner.get(`rate-changes/${body.id}`)
      expect(kept.body.cells.map((cell: object) => ({ ...cell }))).to.deep.equal(
        preview.body.cells.map((cell: object) => ({ ...cell })),
      )
      expect((await change([item(37, 37, { ratePlanIds: [rates.house.ratePlanId], amount: null })])).status).to.equal(
        201,
      )
      expect((await days(rates.house.ratePlanId, 37, 37))[0]).to.include({ amount: 20_000, source: 'standard' })
    })

    it('is for some days of the week, and refuses what no calendar takes', async () => {
      const weekend = [5, 6]
      await change([item(30, 43, { ratePlanIds: [rates.house.ratePlanId], weekDays: weekend, amount: 40_000 })])
      for (const { date, amount } of await days(rates.house.ratePlanId, 30, 43)) {
        const day = new Date(`${date}T12:00:00Z`).getUTCDay()
        expect(amount, date).to.equal(day === 5 || day === 6 ? 40_000 : 20_000)
      }
      const plan = { ratePlanIds: [rates.house.ratePlanId] }
      for (const [wrong, status, code] of [
        [item(-2, 3, { ...plan, amount: 1 }), 422, 'date_out_of_range'],
        [item(3, 731, { ...plan, amount: 1 }), 422, 'date_out_of_range'],
        [item(3, 2, { ...plan, amount: 1 }), 400, 'validation_failed'],
        [item(3, 4, { amount: 1 }), 400, 'validation_failed'],
        [item(3, 4, plan), 400, 'validation_failed'],
        [item(3, 4, { ratePlanIds: [rates.house.saverPlanId], amount: 1 }), 422, 'rate_plan_derived'],
        [
          item(3, 4, { unitTypeIds: [rates.house.ratePlanId], restrictions: { stopSell: true } }),
          422,
          'reference_not_found',
        ],
      ] as const) {
        const { status: answered, body } = await change([wrong])
        expect([answered, body.code]).to.deep.equal([status, code])
      }
    })

    it('writes restrictions at the level that it names; the strictest holds, and the trace says where it stands', async () => {
      const { ratePlanId, unitTypeId } = rates.house
      await change([
        item(50, 50, { restrictions: { minStayThrough: 2 } }),
        item(50, 50, { unitTypeIds: [unitTypeId], restrictions: { minStayThrough: 4, closedToDeparture: false } }),
        item(50, 50, { ratePlanIds: [ratePlanId], restrictions: { minStayThrough: 3 } }),
        item(50, 50, { ratePlanIds: [ratePlanId], unitTypeIds: [unitTypeId], restrictions: { stopSell: true } }),
      ])
      const [day] = await days(rates.house.saverPlanId, 50, 50, '&trace=true')
      expect(day?.restrictions).to.include({
        minStayThrough: 4,
        stopSell: true,
        closedToDeparture: false,
        closedToArrival: null,
      })
      expect(day?.trace).to.deep.equal([
        { kind: 'minStayThrough', level: 'property', value: 2 },
        { kind: 'closedToDeparture', level: 'unit_type', value: false },
        { kind: 'minStayThrough', level: 'unit_type', value: 4 },
        { kind: 'minStayThrough', level: 'parent_rate_plan', value: 3 },
        { kind: 'stopSell', level: 'parent_rate_plan_unit_type', value: true },
      ])
      const refused = await quote(50, 1)
      expect(refused.body.code).to.equal('restriction_violated')
      expect(refused.body.errors.map((error: { message: string }) => error.message.split(':')[0])).to.deep.equal([
        'stop_sell',
        'min_stay_through',
      ])
      const suite = await days(rates.house.saverPlanId, 50, 50, '', rates.house.suiteTypeId ?? '')
      expect(suite[0]?.restrictions).to.include({ minStayThrough: 3, stopSell: null })
      await change([
        item(50, 50, { ratePlanIds: [ratePlanId], unitTypeIds: [unitTypeId], restrictions: { stopSell: null } }),
        item(50, 50, { unitTypeIds: [unitTypeId], restrictions: { minStayThrough: null } }),
      ])
      expect((await days(ratePlanId, 50, 50))[0]?.restrictions).to.include({
        stopSell: null,
        minStayThrough: 3,
        closedToDeparture: false,
      })
      // The cell that said only stopSell says nothing any more, and is gone.
      expect(await count('restriction_cell')).to.equal(3)
    })

    it('is taken back where nothing was changed since, once', async () => {
      const plan = { ratePlanIds: [rates.house.ratePlanId], unitTypeIds: [rates.house.unitTypeId] }
      await change([item(60, 60, { ...plan, amount: 11_000 })])
      const { body } = await change([
        item(60, 63, { ...plan, amount: 30_000, restrictions: { minStayArrival: 2, closedToArrival: true } }),
      ])
      await change([item(62, 62, { ...plan, amount: 44_000, restrictions: { minStayArrival: 5 } })])
      const replies = await Promise.all([1, 2, 3].map(() => rates.owner.send('POST', `rate-changes/${body.id}/revert`)))
      expect(new Set(replies.map((reply) => reply.body.id)).size).to.equal(1)
      expect(replies[0]?.body).to.include({ status: 'applied', revertsId: body.id, cellCount: 7, skippedCount: 2 })
      expect(await amounts(rates.house.ratePlanId, 60, 63)).to.deep.equal([11_000, 20_000, 44_000, 20_000])
      const restricted = (await days(rates.house.ratePlanId, 60, 63)).map(({ restrictions }) => restrictions)
      expect(restricted.map((one) => [one.minStayArrival, one.closedToArrival])).to.deep.equal([
        [null, null],
        [null, null],
        [5, null],
        [null, null],
      ])
      expect((await rates.owner.get(`rate-changes/${body.id}`)).body.status).to.equal('reverted')
      const back = await rates.owner.get(`rate-changes/${replies[0]?.body.id}`)
      const skipped = back.body.cells.filter((cell: { skipped: boolean }) => cell.skipped)
      expect(skipped.map((cell: { date: string; after: unknown }) => [cell.date, cell.after])).to.deep.equal([
        [rates.house.day(62), 44_000],
        [rates.house.day(62), { minStayArrival: 5 }],
      ])
    })

    it('leaves each cell whole where several run at once, and none waits for another’s cells', async () => {
      const values = Array.from({ length: 8 }, (_, n) => 30_000 + n)
      const replies = await Promise.all(
        values.map((amount, n) =>
          change([
            item(70 + n, 120 - n, {
              ratePlanIds: [rates.house.ratePlanId],
              amount,
              restrictions: { minStayArrival: n + 1, minStayThrough: n + 1 },
            }),
          ]),
        ),
      )
      expect(replies.map(({ status }) => status)).to.deep.equal(values.map(() => 201))
      for (const { amount, restrictions, date } of await days(rates.house.ratePlanId, 78, 112)) {
        const n = (amount ?? 0) - 30_000
        expect([restrictions.minStayArrival, restrictions.minStayThrough], date).to.deep.equal([n + 1, n + 1])
      }
      const seen = await Promise.all(
        replies.map(({ body }) => rates.house.inHouse((trx) => readKeptCells(trx, body.id))),
      )
      const prices = seen.flat().filter(({ kind }) => kind === 'price')
      const overwritten = prices.map(({ unitTypeId, date, before }) => JSON.stringify([unitTypeId, date, before]))
      expect(new Set(overwritten).size, 'no two have found the same price').to.equal(prices.length)
      expect(await deadlocks()).to.equal(0)
    })

    it('is nobody’s who has other properties only', async () => {
      const { body } = await change([item(30, 31, { ratePlanIds: [rates.house.ratePlanId], amount: 1 })])
      const other = await makeHouse({ tenantId: rates.house.tenantId })
      const stranger = await openDesk(world, rates.house, 'manager', [other.propertyId])
      expect((await stranger.get(`rate-changes/${body.id}`)).status).to.equal(404)
      expect((await stranger.send('POST', `rate-changes/${body.id}/revert`)).status).to.equal(404)
      expect((await stranger.get('rate-changes')).body.data).to.deep.equal([])
      expect((await stranger.get(`rate-plans/${rates.house.ratePlanId}`)).status).to.equal(404)
      const own = { ...item(1, 2, { ratePlanIds: [rates.house.ratePlanId], amount: 1 }) }
      const named = await stranger.send('POST', 'rate-changes', { propertyId: other.propertyId, items: [own] })
      expect([named.status, named.body.code]).to.deep.equal([422, 'reference_not_found'])
    })
  })

  describe('a change of a hundred thousand cells', () => {
    const nights = 714
    let planIds: string[]

    const prepare = () =>
      inTenant(rates.house.tenantId, async (trx) => {
        const types: string[] = []
        for (let n = 0; n < 8; n += 1) {
          const type = await createUnitType(trx, {
            propertyId: rates.house.propertyId,
            code: `T${n}`,
            name: { 'pt-BR': `T${n}` },
            kind: 'private',
            baseOccupancy: 2,
            maxAdults: 2,
            maxChildren: 0,
            maxOccupancy: 2,
          })
          types.push(type.id)
        }
        const unitTypes = [rates.house.unitTypeId, rates.house.suiteTypeId ?? '', ...types]
        const made = await sql<{ id: string }>(
          trx,
          `insert into rate_plan (property_id, code, name, cancellation_policy_id, no_show_policy_id)
           select r.property_id, 'P' || n, r.name, r.cancellation_policy_id, r.no_show_policy_id from rate_plan r cross join generate_series(1, 14) n
           where r.id = ? returning id`,
          [rates.house.ratePlanId],
        )
        planIds = made.map((row) => row.id)
        await sql(
          trx,
          `insert into rate_plan_unit_type (rate_plan_id, unit_type_id) select p, t from unnest(?::uuid[]) p cross join unnest(?::uuid[]) t`,
          [planIds, unitTypes],
        )
      })
    const large = (amount: number) => [item(1, nights, { ratePlanIds: planIds, amount })]

    it('is written by a job, all of it or none, and taken back by another', async function () {
      this.timeout(120_000)
      await prepare()
      const beyond = await change([item(1, nights + 1, { ratePlanIds: planIds, amount: 1 })])
      expect([beyond.status, beyond.body.code]).to.deep.equal([400, 'range_too_long'])
      const { status, body } = await change(large(25_000))
      expect([status, body.status, body.cellCount]).to.deep.equal([201, 'queued', 99_960])
      const next = await change([item(30, 30, { ratePlanIds: [rates.house.ratePlanId], amount: 1 })], { dryRun: true })
      expect(
        [next.status, next.body.waiting],
        'who asks for one more is told that it does not come first',
      ).to.deep.equal([200, 1])
      expect(await count('rate_cell')).to.equal(0)

      const second = await change(large(26_000))
      await world.drain({ kinds: ['inventory.apply-rate-change'] })
      expect(await count('rate_cell')).to.equal(99_960)
      expect((await rates.owner.get(`rate-changes/${body.id}?limit=1`)).body).to.include({ status: 'applied' })
      expect((await rates.owner.get(`rate-changes/${second.body.id}?limit=1`)).body).to.include({ status: 'applied' })

      // Everything was overwritten by the second one: the first has nothing to take back, and says so of each cell.
      const none = await rates.owner.send('POST', `rate-changes/${body.id}/revert`)
      expect(none.body.status).to.equal('queued')
      await world.drain({ kinds: ['inventory.apply-rate-change'] })
      const reverted = await rates.owner.get(`rate-changes/${none.body.id}?limit=1`)
      expect(reverted.body).to.include({ status: 'applied', cellCount: 0, skippedCount: 99_960 })
    })

    it('fails as a whole where a plan is not sold any more', async function () {
      this.timeout(120_000)
      await prepare()
      const { body } = await change(large(25_000))
      expect((await rates.owner.send('POST', `rate-plans/${planIds[0]}/archive`)).status).to.equal(200)
      await world.drain({ kinds: ['inventory.apply-rate-change'] })
      const failed = await rates.owner.get(`rate-changes/${body.id}`)
      expect([failed.body.status, failed.body.cells]).to.deep.equal(['failed', []])
      expect([await count('rate_cell'), await count('event', `type = 'rate_change.failed'`)]).to.deep.equal([0, 1])
    })
  })
})
