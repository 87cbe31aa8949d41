import { inner, rows, sealed } from './table.ts'

const of = (column: string) => ({ guest: { column, key: 'profile' } }) as const

export const guestsData = [
  sealed('guest', { sealed: { purpose: 'profile', ...of('id') } }),
  sealed('guest_document', { sealed: { purpose: 'document', ...of('guest_id') } }),
  sealed('guest_document_file', { blob_id: { purpose: 'image', file: true, ...of('guest_id') } }),
  sealed('guest_consent', { sealed: { purpose: 'evidence', ...of('guest_id') } }),
  sealed('guest_block', { sealed: { purpose: 'reason', ...of('guest_id') } }),
  sealed('guest_note', { sealed: { purpose: 'note', ...of('guest_id') } }),
  sealed('guest_merge', { sealed: { purpose: 'before', ...of('survivor_id') } }),
  sealed('privacy_request', { sealed: { purpose: 'words', ...of('guest_id') } }),
  sealed('guest_registration', {
    sealed: { purpose: 'form', guest: { column: 'guest_id', key: 'retention' } },
  }),
  sealed('company', { sealed: { purpose: 'contacts' } }),
  ...rows('guest_duplicate', 'registration_report'),
  ...inner('how far an erasure has come', 'privacy_checkpoint'),
  ...inner('the names of guests, cut into words', 'guest_word'),
  ...inner('a secret of the house', 'registration_secret'),
]
