import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sqlOne } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import { useWorld } from '../support/world.ts'
import { watchWrites } from '../support/writes.ts'
import type { Writes } from '../support/writes.ts'
import type { Bar } from './bar.ts'
import { useOrders } from './orders-support.ts'

describe('A command of stock whose connection dies', function () {
  this.timeout(240_000)
  const world = useWorld()
  const { gins, made } = useOrders(world, { stocked: true })
  let house: Bar
  let gin: string
  let cash: string
  let writes: Writes
  let counted = 400
  const keyed = (path: string, body: object, by = house.manager, key: string = randomUUID()) =>
    by.send('POST', path, body, { idempotencyKey: key })
  before(async () => {
    ;({ house, gin } = made())
    const { admin } = world.database
    const account = { kind: 'register', code: 'REG', name: 'Bar', propertyId: house.propertyId }
    const opening = { amount: 0, on: house.house.today }
    const register = done(await keyed('cash/accounts', { ...account, opening }, house.owner), 201).id
    cash = done(await keyed('cash/sessions', { registerId: register, count: {} }), 201).id
    await admin.raw(`create function die() returns trigger language plpgsql security definer as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`)
    writes = await watchWrites(admin)
  })

  type Target = { path: string; body: object; by: Bar['manager'] }
  const order = async (): Promise<Target> => {
    const guest = await house.stay()
    const { id } = await house.order({ ...gins('3'), reservationId: guest.id })
    const settlements = [
      { type: 'folio', amount: 1_000 },
      { type: 'house', reason: 'Sorry', amount: 1_000 },
      { type: 'payment', method: 'cash', cashSessionId: cash },
    ]
    return { path: `inventory/orders/${id}/close`, body: { settlements }, by: house.manager }
  }
  const commands: Record<string, () => Promise<Target>> = {
    'close of an order': order,
    'void of an order': async () => {
      const { path, body, by } = await order()
      done(await keyed(path, body, by))
      return { path: path.replace('/close', '/cancel'), body: { reason: 'A mistake' }, by }
    },
    'receipt that settles a shortage': async () => {
      const rum = await house.store.item({
        sku: `RUM-${randomUUID().slice(0, 6).toUpperCase()}`,
        name: 'Rum',
        categoryId: house.drinks,
        base: 'ml',
      })
      const outletId = house.outletOf('SHOP')
      await house.prices(outletId, {
        code: 'RUM',
        name: 'Rum',
        itemId: rum,
        quantity: '50',
        amount: 900,
        revenueGroup: 'beverage',
      })
      const close = { settlements: [{ type: 'house', reason: 'Tasting' }] }
      done(
        await house.keyed(house.manager, 'orders', { outletId, lines: [{ priceCode: 'RUM', quantity: '1' }], close }),
        201,
      )
      const lines = [{ itemId: rum, quantity: '1', measure: 'l', value: 9_000 }]
      const body = { kind: 'receipt', propertyId: house.propertyId, locationId: house.bar, lines }
      return { path: 'inventory/movements', body, by: house.keeper }
    },
    'approval of a count': async () => {
      const count = done(await house.keyed(house.keeper, 'counts', { locationId: house.bar, itemIds: [gin] }), 201).id
      const lines = [{ itemId: gin, counted: String((counted -= 1)), measure: 'ml' }]
      done(await house.keeper.send('PUT', `inventory/counts/${count}/lines`, { lines }))
      return { path: `inventory/counts/${count}/approve`, body: {}, by: house.manager }
    },
  }

  /** All rows of these tables, as one text. */
  const stateOf = async (tables: readonly string[]): Promise<string> => {
    const parts = tables.map(
      (table) => `(select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from ${table} t)`,
    )
    const row = await sqlOne<{ state: string }>(
      world.database.admin,
      `select concat_ws(' ', ${parts.join(', ')}) as state`,
    )
    return row?.state ?? ''
  }

  for (const [name, make] of Object.entries(commands))
    it(`leaves nothing half done, wherever it dies: ${name}`, async () => {
      const { admin } = world.database
      const known = await make()
      await writes.written()
      expect((await keyed(known.path, known.body, known.by)).status).to.be.oneOf([200, 201])
      const tables = await writes.written()
      expect(tables).to.include('inventory_movement_line').and.to.have.length.above(5)
      const target = await make()
      const before = await stateOf(tables)
      const key = randomUUID()
      for (const table of tables) {
        await forgetLimits(world)
        await admin.raw(
          `create trigger dies after insert or update or delete on ${table} for each statement execute function die()`,
        )
        try {
          const reply = await keyed(target.path, target.body, target.by, key)
          expect(reply.status, `${table} ${JSON.stringify(reply.body)}`).to.be.at.least(500)
        } finally {
          await admin.raw(`drop trigger dies on ${table}`)
        }
        expect(await stateOf(tables), table).to.equal(before)
      }
      expect((await keyed(target.path, target.body, target.by, key)).status).to.be.oneOf([200, 201])
      expect(await stateOf(tables)).not.to.equal(before)
    })
})
