import { contextOf } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertLater, rowsPart } from '../../lib/records.ts'
import type { Part } from '../../lib/records.ts'
import { PaymentHistory } from '../models.ts'
import type { PaymentStatus } from '../rules/states.ts'

/** Origin of what is known of a payment: the answer to a call, a callback, a reading, a person's command, or the clock. */
export type Cause = 'call' | 'callback' | 'read' | 'command' | 'clock'

/** As `noteStatus`, with the statement that makes the payment. */
export const statusPart = (trx: Trx, paymentId: string, status: PaymentStatus, cause: Cause): Part | null =>
  rowsPart(PaymentHistory, [{ paymentId, status, actor: contextOf(trx).actor, cause }])

/** Keeps that a payment has taken a status, in the transaction of the change. */
export const noteStatus = (trx: Trx, paymentId: string, status: PaymentStatus, cause: Cause): void =>
  insertLater(trx, PaymentHistory, { paymentId, status, actor: contextOf(trx).actor, cause })
