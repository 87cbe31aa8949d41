import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { RefundRow } from '../../rows.ts'

export const readRefund = (trx: Trx, refundId: string): Promise<RefundRow | null> =>
  sqlOne<RefundRow>(trx, `select * from refund where id = ?`, [refundId])

export const lockRefund = (trx: Trx, refundId: string): Promise<RefundRow | null> =>
  sqlOne<RefundRow>(trx, `select * from refund where id = ? for no key update`, [refundId])
