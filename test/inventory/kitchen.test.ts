import { expect } from 'chai'
import { lockDayForRoll, rollBusinessDay } from '../../db/financial/index.ts'
import { consumeKitsOf, consumeMealsOf } from '../../db/inventory/index.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import { useWorld } from '../support/world.ts'
import { openBar } from './bar.ts'
import type { Bar } from './bar.ts'
import { codeOf, differences } from './support.ts'

describe('Recipes, kits and what is used over HTTP', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: Bar
  let count = 0
  before(async () => {
    house = await openBar(world)
  })
  beforeEach(() => forgetLimits(world))
  afterEach(async () => expect(await differences(world, house.house.tenantId)).to.deep.equal([]))

  const item = (base = 'g', more: object = {}) =>
    house.store.item({ sku: `ITEM${(count += 1)}`, name: 'Item', categoryId: house.food, base, ...more })
  const code = () => `R${(count += 1)}`
  const dish = (components: object[], more: object = {}) =>
    house.recipe({ code: code(), name: 'Dish', kind: 'dish', yield: '1', components, ...more })
  const use = (body: object, by = house.keeper) =>
    house.keyed(by, 'consumptions', {
      propertyId: house.propertyId,
      kind: 'department',
      locationId: house.main,
      ...body,
    })

  it('S11: wastes flour at its average to the cent, and gives it back', async () => {
    const flour = await item()
    await house.store.receive(house.main, flour, '3000', 'g', 1_000)
    const waste = (by = house.keeper) =>
      use({ kind: 'waste', reason: 'spoiled', lines: [{ itemId: flour, quantity: '1', measure: 'kg' }] }, by)
    const done3 = [done(await waste(), 201), done(await waste(), 201), done(await waste(), 201)]
    expect(done3.map(({ value }) => value as number)).to.deep.equal([333, 334, 333])
    expect(await house.store.of(flour)).to.deep.equal(['0', 0])
    expect(await house.ledger('stock_waste')).to.equal(1_000)
    expect(codeOf(await waste())).to.deep.equal([422, 'insufficient_stock'])
    expect(codeOf(await use({ kind: 'waste', lines: [{ itemId: flour, quantity: '1' }] }))).to.deep.equal([
      400,
      'validation_failed',
    ])
    done(await house.keyed(house.keeper, `movements/${done3[1]?.movementId}/reverse`, { reason: 'It was not' }))
    expect(await house.store.of(flour)).to.deep.equal(['1000', 334])
    expect(await house.ledger('stock_waste')).to.equal(666)
    const list = done(await house.keeper.get(`inventory/consumptions?itemId=${flour}&reason=spoiled`)).data
    expect(list.map(({ status }: { status: string }) => status).toSorted()).to.deep.equal([
      'posted',
      'posted',
      'reversed',
    ])
  })

  it('takes recipes apart exactly: thirds, losses of 90 %, recipes in recipes', async () => {
    const [a, b] = [await item(), await item('ml')]
    await house.store.receive(house.main, a, '10', 'kg', 10_000)
    await house.store.receive(house.main, b, '10', 'l', 5_000)
    const sauce = await dish(
      [
        { itemId: a, quantity: '100' },
        { itemId: b, quantity: '1', lossRate: 9_000 },
      ],
      { yield: '3' },
    )
    const plate = await dish([{ recipeId: sauce, quantity: '1' }])
    const shown = done(await house.keeper.get(`inventory/recipes/${sauce}`))
    expect(shown.cost).to.deep.equal([{ currency: 'BRL', amount: '35' }])
    const used = done(await use({ kind: 'staff', lines: [{ recipeId: plate, quantity: '1' }] }), 201)
    const quantities = Object.fromEntries(
      used.lines.map(({ itemId, quantity }: { itemId: string; quantity: string }) => [itemId, quantity]),
    )
    expect(quantities).to.deep.equal({ [a]: '33.3333', [b]: '3.3333' })
    // Three thirds are a whole: what is used together is rounded once.
    const whole = done(await use({ kind: 'staff', lines: [{ recipeId: plate, quantity: '3' }] }), 201)
    expect(whole.lines.map(({ quantity }: { quantity: string }) => quantity).toSorted()).to.deep.equal(['10', '100'])
    expect((done(await house.reception.get(`inventory/recipes/${sauce}`)) as { cost: unknown }).cost).to.deep.equal([])
    expect(codeOf(await use({ kind: 'staff', lines: [{ itemId: a, recipeId: plate, quantity: '1' }] }))).to.deep.equal([
      400,
      'validation_failed',
    ])
  })

  it('lets no recipe stand in itself, nor more than five deep, whoever changes them at once', async () => {
    const a = await item()
    const levels = [await dish([{ itemId: a, quantity: '1' }])]
    for (let level = 2; level <= 5; level += 1) levels.push(await dish([{ recipeId: levels.at(-1), quantity: '1' }]))
    const sixth = {
      code: code(),
      name: 'Sixth',
      kind: 'dish',
      yield: '1',
      components: [{ recipeId: levels[4], quantity: '1' }],
    }
    expect(codeOf(await house.keeper.send('POST', 'inventory/recipes', sixth))).to.deep.equal([422, 'recipe_too_deep'])
    const change = (id: string | undefined, recipeId: string | undefined) =>
      house.keeper.send('PATCH', `inventory/recipes/${id}`, { components: [{ recipeId, quantity: '1' }] })
    expect(codeOf(await change(levels[0], levels[4]))).to.deep.equal([422, 'recipe_cycle'])
    const [x, y] = [await dish([{ itemId: a, quantity: '1' }]), await dish([{ itemId: a, quantity: '1' }])]
    const both = await Promise.all([change(x, y), change(y, x)])
    expect(both.map(({ status }) => status).toSorted((p, q) => p - q)).to.deep.equal([200, 422])
    const archive = (id: string | undefined) => house.keeper.send('POST', `inventory/recipes/${id}/archive`)
    expect(codeOf(await archive(levels[0]))).to.deep.equal([422, 'in_use'])
    expect(done(await archive(levels[4]))).to.include({ status: 'archived' })
    expect(codeOf(await house.keeper.send('POST', `inventory/items/${a}/archive`))).to.deep.equal([422, 'in_use'])
  })

  it('makes a preparation at the worth of what it takes, and unmakes it', async () => {
    const [tomato, sauce] = [await item(), await item('ml')]
    await house.store.receive(house.main, tomato, '5', 'kg', 5_000)
    const recipeId = await house.recipe({
      code: code(),
      name: 'Tomato sauce',
      kind: 'preparation',
      outputItemId: sauce,
      yield: '1000',
      components: [{ itemId: tomato, quantity: '1500', lossRate: 2_500 }],
    })
    const make = (batches: number) =>
      house.store.move({ kind: 'production', recipeId, locationId: house.main, outputLocationId: house.bar, batches })
    expect(codeOf(await make(3))).to.deep.equal([422, 'insufficient_stock'])
    const made = done(await make(2), 201)
    expect([await house.store.of(tomato), await house.store.of(sauce)]).to.deep.equal([
      ['1000', 1_000],
      ['2000', 4_000],
    ])
    const pasta = await dish([{ recipeId, quantity: '50', measure: 'ml' }])
    const eaten = done(await use({ locationId: house.bar, lines: [{ recipeId: pasta, quantity: '4' }] }), 201)
    expect(eaten.lines[0]).to.include({ itemId: sauce, quantity: '200', value: 400 })
    done(await house.keyed(house.keeper, `movements/${eaten.movementId}/reverse`, { reason: 'Not eaten' }))
    done(await house.keyed(house.keeper, `movements/${made.id}/reverse`, { reason: 'Not made' }))
    expect(await house.store.of(tomato)).to.deep.equal(['5000', 5_000])
    expect(
      codeOf(await house.store.move({ kind: 'production', recipeId: pasta, locationId: house.main, batches: 1 })),
    ).to.deep.equal([422, 'rule_violated'])
  })

  it('uses a kit up once with a task, and a breakfast for each guest of the night', async () => {
    const [soap, egg] = [await item('un'), await item('un')]
    await house.store.receive(house.main, soap, '10', 'un', 1_000)
    await house.store.receive(house.main, egg, '3', 'un', 300)
    const place = { propertyId: house.propertyId, locationId: house.main }
    await house.recipe({
      code: code(),
      name: 'Welcome kit',
      kind: 'kit',
      yield: '1',
      components: [{ itemId: soap, quantity: '2' }],
      rules: [{ on: 'task', ...place, taskKinds: ['deep'] }],
    })
    await house.recipe({
      code: code(),
      name: 'Breakfast',
      kind: 'kit',
      yield: '1',
      components: [{ itemId: egg, quantity: '2' }],
      rules: [{ on: 'meal', ...place, mealPlans: ['breakfast', 'full_board'] }],
    })
    const guest = await house.stay()
    const tasks = [guest.unitId].map((unitId) => ({ unitId, date: house.house.today, kind: 'deep' }))
    for (const body of tasks) {
      const { id } = done(await house.manager.send('POST', 'housekeeping/tasks', body), 201)
      done(await house.manager.send('POST', `housekeeping/tasks/${id}/start`))
      done(await house.manager.send('POST', `housekeeping/tasks/${id}/complete`, {}))
    }
    const drain = () => world.drain({ kinds: ['inventory.consume-kit', 'inventory.consume-meals'] })
    await drain()
    expect(await house.store.of(soap)).to.deep.equal(['8', 800])
    await house.rows(`update rate_plan set meal_plan = 'breakfast' where id = ?`, [house.house.ratePlanId])
    const { propertyId } = house
    const [night] = await house.rows<{ guests: number; date: string }>(
      `select sum(r.adults + cardinality(r.children_ages))::int as guests, d.date from reservation r join business_day d on d.property_id = r.property_id and d.status = 'open'
       where r.property_id = ? and r.status = 'checked_in' group by d.date`,
      [propertyId],
    )
    const date = night?.date ?? ''
    await inTenant(house.house.tenantId, async (trx) => {
      await lockDayForRoll(trx, propertyId, date)
      await rollBusinessDay(trx, propertyId, date, {})
    })
    await drain()
    const { rows } = await house.store.stock({ itemId: egg })
    // What has been eaten is never refused: what was not there is short.
    expect(rows[0]).to.include({ quantity: '0', short: String(2 * (night?.guests ?? 0) - 3) })
    // The suggestion follows from the use of a night that was let, and from the nights on the books.
    await house.rows(`update reservation_night set status = 'charged' where date = ?`, [date])
    await house.rows(`update property set business_date = business_date + 1 where id = ?`, [propertyId])
    for (const horizonDays of [1, 30]) {
      const [nights] = await house.rows<{ past: number; ahead: number }>(
        `select count(*) filter (where n.date = d.night)::int as past,
           count(*) filter (where n.date > d.night and n.date < d.night + 3 + d.horizon)::int as ahead
         from reservation_night n join reservation r on r.id = n.reservation_id and r.status in ('confirmed', 'checked_in')
         cross join (select ?::date as night, ?::int as horizon) d where r.property_id = ?`,
        [date, horizonDays, propertyId],
      )
      const { past = 0, ahead = 0 } = nights ?? {}
      expect(past * ahead, 'nights before and after').to.be.greaterThan(0)
      const use = (2 * (night?.guests ?? 0) * ahead) / past
      const found = done(
        await house.keeper.get(`inventory/purchase-suggestions?propertyId=${propertyId}&horizonDays=${horizonDays}`),
      ).data.find((one: { itemId: string }) => one.itemId === egg)
      expect(found).to.include({
        onHand: '0',
        expectedUse: String(use),
        suggested: String(use),
        short: String(2 * (night?.guests ?? 0) - 3),
      })
    }
    const meals = await house.rows<{ kind: string; businessDate: string }>(
      `select kind, business_date from inventory_consumption where source_type = ?`,
      [`meal:${date}`],
    )
    expect(meals).to.deep.equal([{ kind: 'meal', businessDate: date }])
    const events = await house.rows<{ id: string; type: string }>(
      `select id, type from event where type in ('business_day.closed', 'housekeeping_task.completed')`,
    )
    // The same event told again changes nothing.
    for (const { id, type } of events)
      await inTenant(house.house.tenantId, (trx) =>
        type === 'business_day.closed' ? consumeMealsOf(trx, id) : consumeKitsOf(trx, id),
      )
    expect(await house.store.of(soap)).to.deep.equal(['8', 800])
    expect((await house.store.stock({ itemId: egg })).rows[0]).to.include({
      short: String(2 * (night?.guests ?? 0) - 3),
    })
  })
})
