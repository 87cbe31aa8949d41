import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow } from '../../lib/records.ts'
import { stillOnItsWay } from '../../payment/index.ts'
import type { OverReturnable } from '../../payment/index.ts'
import { Receipt } from './models.ts'
import { lockReceipt } from './state.ts'

const isMoving = async (trx: Trx, id: string): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select id from receipt_refund where tenant_id = ? and receipt_id = ? and status = 'requested' limit 1`,
    [contextOf(trx).tenantId, id],
  )) !== null

/** Amount that a bank took back of a receipt beyond what was left of it, as a person writes it off. */
export const overReturnedReceipt: OverReturnable = {
  event: 'accounts-receivable.over_return_written_off',
  hold: async (trx, id) => void (await lockReceipt(trx, id)),
  writeOff: async (trx, id) => {
    const { overReturned, overWrittenOff, bookId } = await lockReceipt(trx, id)
    if (await isMoving(trx, id)) throw stillOnItsWay()
    await changeRow(trx, Receipt, id, { overWrittenOff: overReturned })
    return { amount: overReturned - overWrittenOff, bookId }
  },
}
