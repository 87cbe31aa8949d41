import { inner, sealed } from './table.ts'

/** Files of any module, and the keys that seal. */
export const libData = [
  sealed('attachment', { blob_id: { purpose: 'content', file: true } }),
  ...inner('keys, which open what is exported open', 'tenant_key', 'guest_key'),
  ...inner('files stand where they are named', 'blob'),
  ...inner('follows from the rows that it counts', 'list_count'),
]
