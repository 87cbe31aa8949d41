import type { Actor } from '../lib/connection.ts'
import { model } from '../lib/models.ts'

export const Customer = model('customer')
export type CustomerRecord = NonNullable<(typeof Customer)['row']>

export const Receivable = model('receivable')
export type ReceivableRecord = NonNullable<(typeof Receivable)['row']>
export const ReceivableLine = model('receivable_line')
export const ReceivableHistory = model<'receivable_history', { changes: object; actor: Actor }>('receivable_history')
export const WriteOff = model('write_off')
