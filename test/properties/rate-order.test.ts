import { expect } from 'chai'
import { inPlatform } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { applyRateChange } from '../../db/properties/rates/rate-queue.ts'
import { resumeRates } from '../../jobs/properties.ts'
import { useRates } from './rates.ts'

const kinds = ['inventory.apply-rate-change']

describe('Changes of rates that wait', () => {
  const rates = useRates()
  const { amounts, change, item, world } = rates

  /** More cells than are written at once: two types and a rule of the plan, each on 700 days. */
  const large = async (price: Record<string, unknown>) => {
    const { ratePlanId } = rates.house
    const { status, body } = await change([
      item(1, 700, { ratePlanIds: [ratePlanId], ...price, restrictions: { minStayThrough: 1 } }),
    ])
    expect([status, body.status]).to.deep.equal([201, 'queued'])
    return body.id as string
  }
  const small = (day: number, price: Record<string, unknown>) =>
    change([item(day, day, { ratePlanIds: [rates.house.ratePlanId], ...price })])
  const read = async (id: string) => (await rates.owner.get(`rate-changes/${id}?limit=1`)).body
  const states = async (...ids: string[]) => {
    const found: string[] = []
    for (const id of ids) found.push((await read(id)).status)
    return found
  }
  const jobOf = (id: string) => [...kinds, id]
  const raise = { adjust: { type: 'percent', value: 1_000 } }

  it('are applied in the order in which they were asked for, whichever job comes first, and small ones behind large ones', async () => {
    const first = await large({ amount: 30_000 })
    const second = await large(raise)
    const { body: third } = await small(5, { adjust: { type: 'amount', value: 7 } })
    expect(third.status).to.equal('queued')
    await world.database.admin.raw(
      `update jobs set run_at = run_at + interval '1 hour' where kind = ? and payload ->> 'rateChangeId' = ?`,
      jobOf(first),
    )
    await world.drain({ kinds })
    await world.drain({ kinds, aheadMs: 7_200_000 })
    expect(await states(first, second, third.id)).to.deep.equal(['applied', 'applied', 'applied'])
    expect(await amounts(rates.house.ratePlanId, 4, 6)).to.deep.equal([33_000, 33_007, 33_000])
    const { body: after } = await small(6, { amount: 1 })
    expect(after.status).to.equal('applied')
  })

  it('are applied in that order by two workers at once, and once, though the first try of one was lost', async () => {
    const first = await large({ amount: 30_000 })
    const second = await large(raise)
    const apply = (id: string) => rates.house.inHouse((trx) => applyRateChange(trx, id))
    const lost = rates.house.inHouse(async (trx) => {
      await applyRateChange(trx, first)
      throw new Error('the process died')
    })
    expect(await lost.catch((error: Error) => error.message)).to.equal('the process died')
    expect([...(await states(first, second)), await rates.count('rate_cell')]).to.deep.equal(['queued', 'queued', 0])
    await Promise.all([second, first, second, first].map(apply))
    await world.drain({ kinds })
    expect(await states(first, second)).to.deep.equal(['applied', 'applied'])
    expect(await amounts(rates.house.ratePlanId, 4, 5)).to.deep.equal([33_000, 33_000])
    expect(await rates.count('event', `type = 'rates.changed'`)).to.equal(2)
  })

  it('have one job among them, so that those behind the first take no worker’s time', async () => {
    const asked = [await large({ amount: 30_000 }), await large(raise), await large(raise), await large(raise)]
    expect(await rates.count('jobs', `kind = '${kinds[0]}'`)).to.equal(1)
    const done = await world.drain({ kinds })
    expect(done.map(({ outcome }) => outcome)).to.deep.equal(asked.map(() => 'done'))
    expect(await amounts(rates.house.ratePlanId, 4, 4)).to.deep.equal([39_930])
  })

  it('hold a revert behind them, which then finds what they have overwritten', async () => {
    const { body: early } = await small(5, { amount: 11_000 })
    await large({ amount: 30_000 })
    const revert = await rates.owner.send('POST', `rate-changes/${early.id}/revert`)
    expect([revert.body.status, (await read(early.id)).status]).to.deep.equal(['queued', 'applied'])
    await world.drain({ kinds })
    expect(await read(revert.body.id)).to.include({ status: 'applied', cellCount: 0, skippedCount: 2 })
    expect(await states(early.id)).to.deep.equal(['reverted'])
    expect(await amounts(rates.house.ratePlanId, 5, 5)).to.deep.equal([30_000])
    // Of a revert that found nothing there is nothing to take back.
    const back = await rates.owner.send('POST', `rate-changes/${revert.body.id}/revert`)
    expect([back.status, back.body.status, back.body.cellCount]).to.deep.equal([201, 'applied', 0])
  })

  it('are asked for anew by the next request where an operator took the job of the first away', async () => {
    const first = await large({ amount: 30_000 })
    await world.database.admin.raw(`delete from jobs where kind = ? and payload ->> 'rateChangeId' = ?`, jobOf(first))
    const second = await large(raise)
    await world.drain({ kinds })
    expect(await states(first, second)).to.deep.equal(['applied', 'applied'])
  })

  it('go on without another request where the job of the first was taken away, and where it died without it', async () => {
    const asked = [await large({ amount: 30_000 }), await large(raise), await large({ amount: 40_000 })]
    const resume = async () => {
      await inPlatform((trx) => enqueue(trx, resumeRates, {}))
      await world.drain({ kinds: [...kinds, resumeRates.name] })
    }
    await world.database.admin.raw(`delete from jobs where kind = ?`, kinds)
    await resume()
    expect(await states(...asked)).to.deep.equal(['applied', 'applied', 'applied'])

    const [dies, next] = [await large({ amount: 50_000 }), await large(raise)]
    await world.database.admin.raw(`update jobs set status = 'dead' where kind = ?`, kinds)
    await resume()
    expect(await states(dies, next)).to.deep.equal(['failed', 'applied'])
    expect(await amounts(rates.house.ratePlanId, 4, 4)).to.deep.equal([44_000])
    expect(await rates.count('event', `type = 'rate_change.failed'`)).to.equal(1)
    // A job that an operator brings back by now finds that its change has failed.
    await world.database.admin.raw(`update jobs set status = 'pending' where kind = ?`, kinds)
    await world.drain({ kinds })
    expect(await states(dies)).to.deep.equal(['failed'])
  })

  it('let a request be answered while the first of them is being written', async () => {
    const first = await large({ amount: 30_000 })
    const claimed = await world.database.admin.transaction()
    try {
      await claimed.raw(
        `update jobs set starts = starts where kind = ? and payload ->> 'rateChangeId' = ?`,
        jobOf(first),
      )
      await claimed.raw(`select pg_advisory_xact_lock(hashtextextended('rates ' || ?, 0))`, [rates.house.propertyId])
      const { status, body } = await small(5, { amount: 1 })
      expect([status, body.status]).to.deep.equal([201, 'queued'])
    } finally {
      await claimed.rollback()
    }
    await world.drain({ kinds })
    expect(await amounts(rates.house.ratePlanId, 5, 5)).to.deep.equal([1])
  })

  it('fail one by one: what no calendar takes ends with its reason, and those behind it go on', async () => {
    const beyond = { adjust: { type: 'amount', value: 90_000_000_000 } }
    const refused = await change([
      item(3, 3, { ratePlanIds: [rates.house.ratePlanId], amount: 90_000_000_000 }),
      {
        ...item(3, 3, { ratePlanIds: [rates.house.ratePlanId] }),
        ...beyond,
      },
    ])
    expect([refused.status, refused.body.code]).to.deep.equal([400, 'validation_failed'])
    const first = await large({ amount: 90_000_000_000 })
    const second = await large(beyond)
    const third = await large({ amount: 5 })
    await world.drain({ kinds })
    expect(await states(first, second, third)).to.deep.equal(['applied', 'failed', 'applied'])
    expect(await amounts(rates.house.ratePlanId, 3, 3)).to.deep.equal([5])
  })

  it('fail where the property was archived meanwhile', async () => {
    const first = await large({ amount: 30_000 })
    await world.database.admin.raw(`update property set status = 'archived' where id = ?`, [rates.house.propertyId])
    await world.drain({ kinds })
    expect([...(await states(first)), await rates.count('rate_cell')]).to.deep.equal(['failed', 0])
  })

  it('keep a plan deriving until they are applied, so that it takes along what was asked for before', async () => {
    await large({ amount: 30_000 })
    const plan = `rate-plans/${rates.house.saverPlanId}`
    const early = await rates.owner.send('PATCH', plan, { parentId: null })
    expect([early.status, early.body.code]).to.deep.equal([409, 'invalid_transition'])
    await world.drain({ kinds })
    expect((await rates.owner.send('PATCH', plan, { parentId: null })).status).to.equal(200)
    expect(await amounts(rates.house.saverPlanId, 4, 4)).to.deep.equal([27_000])
  })

  it('write no price of a plan that derives its prices by now, when something is taken back', async () => {
    const { body: plan } = await rates.newPlan('OWN')
    const of = { ratePlanIds: [plan.id] }
    await change([item(5, 5, { ...of, amount: 11_000 })])
    const { body: cleared } = await change([item(5, 5, { ...of, amount: null })])
    const derives = { parentId: rates.house.ratePlanId, derivation: rates.lower(-1_000) }
    expect((await rates.owner.send('PATCH', `rate-plans/${plan.id}`, derives)).status).to.equal(200)
    const { body: revert } = await rates.owner.send('POST', `rate-changes/${cleared.id}/revert`)
    expect(revert).to.include({ status: 'applied', cellCount: 0, skippedCount: 1 })
    expect(await rates.count('rate_cell')).to.equal(0)
  })
})
