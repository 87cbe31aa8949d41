import { model } from '../lib/models.ts'

export const Guest = model('guest')
export const GuestDocument = model('guest_document')
export const GuestDocumentFile = model('guest_document_file')
export const GuestNote = model('guest_note')
export const GuestConsent = model('guest_consent')
export const GuestBlock = model('guest_block')
export const GuestMerge = model('guest_merge')
