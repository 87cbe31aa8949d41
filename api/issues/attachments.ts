import { sampleId } from '../../config/samples.ts'
import { readItem, requireIssueSight } from '../../db/issues/index.ts'
import { attachments } from '../lib/attachments.ts'
import { asJudged } from '../lib/record.ts'
import { path } from './schemas.ts'

export const routes = attachments({
  name: 'issueAttachments',
  module: 'issues',
  path,
  subject: 'Issue',
  actions: { add: 'update', read: 'read', remove: 'update' },
  summaries: {
    add: 'Attach an image or document to an issue or item',
    read: 'Read an attachment with its content',
    remove: 'Remove an attachment',
  },
  example: { entityType: 'issue', entityId: sampleId('issueId') },
  owners: {
    issue: async ({ trx, id, admission, lock }) => {
      const record = await requireIssueSight(trx, id, { role: admission.role, lock })
      return { record, isKept: false }
    },
    lost_item: async ({ trx, id, admission, lock }) => {
      const record = await readItem(trx, id)
      admission.check(lock ? 'update' : 'read', 'LostItem', asJudged('lost_item', id, record))
      return { record, isKept: false }
    },
  },
})
