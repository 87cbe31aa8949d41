import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { postWaiting } from '../../db/financial/waiting.ts'
import type { OverrideRule } from '../../db/reservations/rules/blockers.ts'
import { checkIn } from '../../db/reservations/check-in.ts'
import { checkOut } from '../../db/reservations/check-out.ts'
import { markNoShow } from '../../db/reservations/no-show.ts'
import type { FolioRow } from '../../db/rows.ts'
import { readStay, unposted } from '../night-audit/support.ts'
import type { House } from '../support/factories.ts'
import { refusal } from '../support/refusals.ts'
import { miscounted } from '../support/stay.ts'

/** Codes of what stands in the way, sorted. */
export const blockersOf = async (work: Promise<unknown>) => {
  const error = await refusal(work)
  expect(error.code).to.equal('transition_blocked')
  return (error.errors ?? []).map(({ field }) => field.replace('blockers.', '')).sort()
}

/** Actions of the front desk of a house, and reads that show their results. */
export const deskOf = (house: () => House) => {
  const enter = (id: string, ...rules: OverrideRule[]) =>
    house().inHouse((trx) => checkIn(trx, id, { override: { rules, reason: 'the guest waits' } }))
  const leave = (id: string, early = false, ...rules: OverrideRule[]) =>
    house().inHouse((trx) => checkOut(trx, id, { early, override: { rules, reason: 'pays later' } }))
  const miss = (id: string) => house().inHouse((trx) => markNoShow(trx, id))
  const change = (text: string, values: unknown[] = []) => house().inHouse((trx) => sql(trx, text, values))
  const folioOf = async (id: string) => {
    const folio = await house().inHouse((trx) =>
      sqlOne<FolioRow>(trx, `select * from folio where reservation_id = ? and is_primary`, [id]),
    )
    if (!folio) throw new Error('no folio')
    return folio
  }
  const unitsOf = (id: string) =>
    house().inHouse((trx) =>
      sql<{ status: string; condition: string; name: string }>(
        trx,
        `select a.status, u.condition, u.name from unit_assignment a join unit u on u.id = a.unit_id where a.reservation_id = ?`,
        [id],
      ),
    )
  const owe = (id: string) =>
    change(
      `insert into deposit (reservation_id, position, due_at, amount) values (?, 1, now() - interval '1 day', 5000)`,
      [id],
    )
  const bar = async (id: string) => {
    const { primaryGuestId } = await readStay(house(), id)
    await change(
      `insert into guest_block (guest_id, level, starts_on, sealed, created_by) values (?, 'refuse', ?, 'x', ?)`,
      [primaryGuestId, house().day(-5), randomUUID()],
    )
  }
  /** `orders: false` where charges stand for orders that nobody has opened: their clearing account has no record then. */
  const healthy = async ({ orders = true }: { orders?: boolean } = {}) => {
    await house().inHouse((trx) => postWaiting(house().bookId, (work) => work(trx)))
    const results = await house().inHouse((trx) => checkBook(trx, house().bookId))
    expect(results.filter((one) => one.status !== 'passed' && (orders || one.check !== 'control_pos'))).to.deep.equal(
      [],
    )
    expect(await unposted(house())).to.deep.equal([])
    expect(await miscounted(house())).to.deep.equal([])
  }
  return { enter, leave, miss, change, folioOf, unitsOf, owe, bar, healthy }
}
