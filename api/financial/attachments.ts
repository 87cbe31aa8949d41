import { sampleId } from '../../config/samples.ts'
import { lockDraftForFiles, readDraft, readEntry } from '../../db/financial/index.ts'
import { attachments } from '../lib/attachments.ts'
import { asJudged } from '../lib/record.ts'

export const routes = attachments({
  name: 'financialAttachments',
  module: 'financial',
  path: '/api/tenants/:tenantId/financial',
  subject: 'FinancialAttachment',
  summaries: {
    add: 'Attach a file to a draft or entry',
    read: 'Download an attachment',
    remove: 'Delete an attachment, or hide it after posting',
  },
  example: { entityType: 'draft', entityId: sampleId('entryDraftId') },
  errors: ['invalid_transition'],
  owners: {
    draft: async ({ trx, id, admission, lock }) => {
      if (lock) await lockDraftForFiles(trx, id)
      const record = await readDraft(trx, id)
      admission.check(lock ? 'update' : 'read', 'EntryDraft', asJudged('entry_draft', id, record))
      return { record, isKept: false }
    },
    // Entries never end. Their lines are those of several properties: the entry is there for all who read one of them.
    entry: async ({ trx, id, admission }) => {
      await readEntry(trx, id, admission.scope('read', 'LedgerEntry'))
      return { record: {}, isKept: true }
    },
  },
})
