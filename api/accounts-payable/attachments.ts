import { sampleId } from '../../config/samples.ts'
import { lockPayable, readPayable } from '../../db/accounts-payable/index.ts'
import { attachments } from '../lib/attachments.ts'
import { path } from './schemas.ts'

export const routes = attachments({
  name: 'payableAttachments',
  module: 'accounts-payable',
  path,
  subject: 'Payable',
  actions: { add: 'update', read: 'read', remove: 'update' },
  summaries: {
    add: 'Attach an invoice, receipt or contract file',
    read: 'Download an attachment',
    remove: 'Delete an attachment of a draft, or hide it',
  },
  example: { entityType: 'payable', entityId: sampleId('payableId') },
  owners: {
    payable: async ({ trx, id, lock }) => {
      const record = lock ? await lockPayable(trx, id) : await readPayable(trx, id)
      return { record, isKept: record.status !== 'draft' }
    },
  },
})
