import type { Knex } from 'knex'
import { sqlOne } from '../../db/lib/connection.ts'
import { createRateChange } from '../../db/properties/rates/rate-changes.ts'
import { addDays } from '../../config/time.ts'
import type { Asked } from '../../test/support/channel-simulator/store.ts'
import { toldSince, untilTold } from './shops.ts'
import type { BigShop } from './shops.ts'

export type Bulk = {
  /** Milliseconds from the commit of the change to the channel's having each of its prices. */
  lags: number[]
  pushes: Asked[]
  /** From the first push to the last. */
  pushedMs: number
}

/** Raises every price of a shop by one bulk change, and waits until its channel has all of them. */
export const changeInBulk = async (admin: Knex, shop: BigShop): Promise<Bulk> => {
  const { house, ratePlanIds, unitTypeIds, from, to, cells } = shop
  const startedAt = Date.now()
  const id = await house.inHouse((trx) =>
    createRateChange(trx, {
      propertyId: house.propertyId,
      items: [{ ratePlanIds, unitTypeIds, from, to, adjust: { type: 'percent', value: 500 } }],
    }),
  )
  await untilTold(admin, 180_000)
  const row = await sqlOne<{ finishedAt: Date }>(
    admin,
    `select finished_at from job_archive where kind = 'inventory.apply-rate-change' and payload->>'rateChangeId' = ?`,
    [id],
  )
  if (!row) throw new Error('the change was not applied by a job')
  const committedAt = row.finishedAt.getTime()
  const pushes = ([...(await toldSince([shop], startedAt)).values()][0] ?? []).filter((one) => one.kind === 'rates')
  const heard = new Map<string, number>()
  for (const push of pushes)
    for (const { unitType, ratePlan, from: first, to: last } of push.ranges)
      for (let date = first; date <= last; date = addDays(date, 1)) {
        const place = `${unitType} ${ratePlan} ${date}`
        if (!heard.has(place)) heard.set(place, push.at - committedAt)
      }
  if (heard.size < cells) throw new Error(`the channel heard of ${heard.size} prices out of ${cells}`)
  return {
    lags: [...heard.values()],
    pushes,
    pushedMs: (pushes.at(-1)?.at ?? 0) - (pushes[0]?.at ?? 0),
  }
}
