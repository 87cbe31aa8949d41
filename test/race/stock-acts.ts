import {
  approveCount,
  archiveItem,
  cancelCount,
  cancelOrder,
  changeOrder,
  closeOrder,
  enterLines,
  openOrder,
  recordArrival,
  recordTransfer,
  recordUse,
  reverseMovement,
  startCount,
} from '../../db/inventory/index.ts'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import type { Random } from '../chaos/random.ts'
import type { House } from '../support/factories.ts'
import type { Finder } from './desk-acts.ts'

/** A bar, its store, the things that both keep, and the two people who count them. */
export type StockGround = {
  outletId: string
  barId: string
  storeId: string
  itemIds: string[]
  userIds: string[]
  cashSessionId: string
}

/** All that waiters and storekeepers do at once: orders and their closes and voids, receipts, transfers, use, waste and counts. */
export const stockActsOn = (
  { house, stock }: { house: House; stock: StockGround },
  random: Random,
  { one, on }: Pick<Finder, 'one' | 'on'>,
) => {
  const { propertyId, tenantId } = house
  const { outletId, barId, storeId, itemIds } = stock
  const as = <T>(userId: string, work: (trx: Trx) => Promise<T>) =>
    inTenant(tenantId, work, { actor: { type: 'user', id: userId } })
  const byOne = <T>(work: (trx: Trx) => Promise<T>) => as(stock.userIds[0] ?? '', work)
  const order = (status: string) => one(`select id from pos_order where status = ?`, [status])
  const count = () => one(`select id from inventory_count where status = 'open'`)
  const some = () => random.pick([itemIds, itemIds.slice(0, 2), itemIds.slice(1), [random.pick(itemIds)]])
  const quantity = () => random.pick(['0.3333', '1', '2.5', '7', '40'])
  const lines = () =>
    some().map((itemId) => ({ itemId, quantity: quantity(), measure: random.pick(['g', 'kg', 'oz']) }))
  const priceCodes = ['PART0', 'PART1', 'PART2', 'MIXED']
  const sold = () =>
    Array.from({ length: random.between(1, 4) }, () => ({
      priceCode: random.pick(priceCodes),
      quantity: random.pick(['0.5', '1', '2', '3']),
    }))
  const dated = () => (random.chance(0.7) ? {} : { occurredOn: house.day(-random.between(1, 5)) })

  return {
    order: async () => {
      await byOne((trx) => openOrder(trx, { outletId, lines: sold(), serviceCharge: random.chance(0.5) }))
      return true
    },
    changeOrder: () =>
      on(order('open'), (id) =>
        byOne(async (trx) => {
          const line = await sqlOne<{ id: string }>(
            trx,
            `select id from pos_order_line where order_id = ? and status = 'live' order by position limit 1`,
            [id],
          )
          const voided = line !== null && random.chance(0.4)
          return changeOrder(trx, id, {
            addLines: sold(),
            ...(voided ? { voidLines: [{ lineId: line.id, reason: 'a race', wasted: random.chance(0.5) }] } : {}),
            ...(random.chance(0.3) ? { discount: 1, discountReason: 'a race' } : {}),
          })
        }),
      ),
    closeOrder: () =>
      on(order('open'), async (id) => {
        const reservationId = await one(`select id from reservation where status = 'checked_in'`)
        const house_ = { type: 'house' as const, reason: 'a race' }
        const cash = { type: 'payment' as const, method: 'cash' as const, cashSessionId: stock.cashSessionId }
        const folio = { type: 'folio' as const, reservationId: reservationId ?? '' }
        const settlements = random.pick([
          [house_],
          [cash],
          [{ ...house_, amount: 1 }, cash],
          ...(reservationId ? [[folio], [{ ...folio, amount: 1 }, cash], [{ ...cash, amount: 1 }, folio]] : []),
        ])
        await byOne((trx) => closeOrder(trx, id, settlements))
      }),
    voidOrder: () =>
      on(order(random.pick(['closed', 'closed', 'open'])), (id) =>
        byOne((trx) => cancelOrder(trx, id, { reason: 'a race', wasted: random.chance(0.3) })),
      ),
    receive: async () => {
      await byOne((trx) =>
        recordArrival(trx, {
          kind: 'receipt',
          propertyId,
          locationId: random.pick([barId, barId, storeId]),
          lines: lines().map((line) => ({ ...line, value: random.between(0, 999) })),
          ...dated(),
        }),
      )
      return true
    },
    transferStock: async () => {
      const [fromLocationId, toLocationId] = random.pick<[string, string]>([
        [barId, storeId],
        [storeId, barId],
      ])
      await byOne((trx) =>
        recordTransfer(trx, { kind: 'transfer', propertyId, fromLocationId, toLocationId, lines: lines(), ...dated() }),
      )
      return true
    },
    use: async () => {
      const kind = random.pick(['department', 'waste', 'staff'] as const)
      const what = {
        ...(kind === 'waste' ? { reason: 'spilled' as const } : {}),
        locationId: random.pick([barId, storeId]),
      }
      await byOne((trx) => recordUse(trx, { propertyId, kind, ...what, lines: lines(), ...dated() }))
      return true
    },
    reverseStock: () =>
      on(
        one(
          `select id from inventory_movement where status = 'posted' and kind in ('receipt', 'transfer', 'consumption')`,
        ),
        (id) => byOne((trx) => reverseMovement(trx, id, { reason: 'a race' })),
      ),
    startCount: async () => {
      await byOne((trx) =>
        startCount(trx, { locationId: random.pick([barId, storeId]), itemIds: some(), blind: random.chance(0.5) }),
      )
      return true
    },
    countStock: () =>
      on(count(), (id) =>
        byOne((trx) =>
          enterLines(
            trx,
            id,
            itemIds.map((itemId) => ({ itemId, counted: random.pick(['0', '3', '12.3456', '60']), measure: 'g' })),
            null,
          ),
        ),
      ),
    endCount: () =>
      on(count(), (id) =>
        random.chance(0.8)
          ? as(stock.userIds[1] ?? '', (trx) => approveCount(trx, id, { isOwner: false, expectedVersion: null }))
          : byOne((trx) => cancelCount(trx, id, null)),
      ),
    /** It stands in recipes and price lists: refused whatever else goes on. */
    archiveStock: () => on(Promise.resolve(random.pick(itemIds)), (id) => byOne((trx) => archiveItem(trx, id, null))),
  } satisfies Record<string, () => Promise<boolean>>
}

/** The frequency of each beside the others. */
export const stockWeights: Readonly<Record<keyof ReturnType<typeof stockActsOn>, number>> = {
  order: 5,
  changeOrder: 2,
  closeOrder: 6,
  voidOrder: 2,
  receive: 4,
  transferStock: 2,
  use: 2,
  reverseStock: 2,
  startCount: 1,
  countStock: 2,
  endCount: 2,
  archiveStock: 1,
}
