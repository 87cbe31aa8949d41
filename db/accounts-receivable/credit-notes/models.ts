import { model } from '../../lib/models.ts'

export const CreditNote = model('credit_note')
export type CreditNoteRecord = NonNullable<(typeof CreditNote)['row']>
export const CreditNoteLine = model('credit_note_line')
