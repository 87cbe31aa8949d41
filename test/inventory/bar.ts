import { randomUUID } from 'node:crypto'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { makeStays } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { HouseOptions } from '../support/factories.ts'
import type { World } from '../support/world.ts'
import { balanceOf, storeOf } from './support.ts'

/** A house with a bar that sells gin by the glass, a store and a kitchen, guests in the house, and the desks of those who work there. */
export const openBar = async (world: World, options: HouseOptions = {}) => {
  const house = await makeHouse({ units: 6, deposit: null, ...options })
  const desk = (role: string) => openDesk(world, house, role)
  const [owner, manager, keeper, reception] = [
    await desk('owner'),
    await desk('manager'),
    await desk('stock'),
    await desk('receptionist'),
  ]
  const { propertyId } = house
  const store = storeOf(keeper, propertyId)
  const categories = await store.categories(
    { code: 'DRINKS', name: 'Drinks', expenseGroup: 'beverage' },
    { code: 'FOOD', name: 'Food', expenseGroup: 'food' },
  )
  const places = await store.locations(
    { code: 'BAR', name: 'Bar', kind: 'bar' },
    { code: 'MAIN', name: 'Main store', kind: 'store' },
  )
  const [bar = '', main = ''] = [places['BAR'], places['MAIN']]
  const outlets = done(
    await keeper.send('PUT', 'inventory/outlets', {
      propertyId,
      outlets: [
        { code: 'BAR', name: 'Bar', kind: 'bar', locationId: bar, roomCharge: true, serviceChargeRate: 1_000 },
        { code: 'MINI', name: 'Minibar', kind: 'minibar', locationId: bar, roomCharge: true },
        { code: 'SHOP', name: 'Shop', kind: 'shop', locationId: bar },
      ],
    }),
  ).data as { id: string; code: string }[]
  const outletOf = (code: string) => outlets.find((one) => one.code === code)?.id ?? ''
  const recipe = async (body: object): Promise<string> =>
    done(await keeper.send('POST', 'inventory/recipes', body), 201).id as string
  const prices = async (outletId: string, ...entries: object[]) =>
    done(await keeper.send('PUT', `inventory/outlets/${outletId}/prices`, { prices: entries }))
  const keyed = (by: typeof owner, path: string, body: object, key: string = randomUUID()) =>
    by.send('POST', `inventory/${path}`, body, { idempotencyKey: key })
  const order = async (body: object, by = reception): Promise<Parsed> => done(await keyed(by, 'orders', body), 201)
  const read = async (id: string): Promise<Parsed> => done(await reception.get(`inventory/orders/${id}`))
  const stay = async (): Promise<{ id: string; folioId: string; unitId: string }> => {
    const [id = ''] = await makeStays(house, 1, { from: 0, nights: 2, checkedIn: true })
    const row = await inTenant(house.tenantId, (trx) =>
      sqlOne<{ folioId: string; unitId: string }>(
        trx,
        `select f.id as folio_id, a.unit_id from folio f join unit_assignment a on a.reservation_id = f.reservation_id and a.status = 'occupied'
         where f.reservation_id = ? and f.is_primary`,
        [id],
      ),
    )
    if (!row) throw new Error('nobody has arrived')
    return { id, ...row }
  }
  const balance = async (folioId: string) => done(await reception.get(`folios/${folioId}`)).balance as number
  /** The balance that postings leave on the account of a role. */
  const ledger = async (role: string) => {
    await world.drain({ kinds: ['ledger.post'], starts: 5_000 })
    return balanceOf(house.tenantId, role)
  }
  const rows = <Row>(text: string, values: unknown[] = []) =>
    inTenant(house.tenantId, (trx) => sql<Row>(trx, text, values))
  return {
    house,
    propertyId,
    owner,
    manager,
    keeper,
    reception,
    desk,
    store,
    drinks: categories['DRINKS'] ?? '',
    food: categories['FOOD'] ?? '',
    bar,
    main,
    outletOf,
    recipe,
    prices,
    keyed,
    order,
    read,
    stay,
    balance,
    ledger,
    rows,
  }
}
export type Bar = Awaited<ReturnType<typeof openBar>>
