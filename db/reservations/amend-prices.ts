import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ReservationNightRow } from '../rows.ts'
import { fixedNights, listedPrices, salesOf } from './amend-nights.ts'
import { targetOf } from './amend-checks.ts'
import type { StayChange } from './amend.ts'
import { refusePrices } from './desk-prices.ts'
import type { LockedStay } from './lock.ts'
import type { Granted } from './rules/blockers.ts'

/** 403 for prices set by hand that go further below the plan's of today than the role of the caller allows (R17). A night without a price has no limit. */
export const refuseLowPrices = async (
  trx: Trx,
  { stay, property, businessDate }: LockedStay,
  change: StayChange,
  override: Granted | null,
): Promise<void> => {
  const { manualNights = [] } = change
  if (manualNights.length === 0 || !override || override.priceCutBps === null) return
  const cut = override.priceCutBps
  const nights = await sql<ReservationNightRow>(
    trx,
    `select * from reservation_night where reservation_id = ? and status <> 'released' order by date`,
    [stay.id],
  )
  const target = targetOf(stay, change)
  const sales = salesOf(target, { nights, isFixed: fixedNights(stay, businessDate) })
  const listed = await listedPrices(trx, property, target, sales)
  refusePrices(
    manualNights
      .filter(({ date, amount }) => amount * 10_000 < (listed.get(date) ?? 0) * (10_000 - cut))
      .map(({ date }) => `changes.manualNights.${date}`),
    override,
  )
}
