import { inner, rows, sealed } from './table.ts'

export const ocpData = [
  ...rows('message_template', 'message_template_version', 'automation', 'campaign'),
  sealed('message_channel', { test_recipient: { purpose: 'test_recipient' } }),
  sealed('conversation', { address: { purpose: 'address' } }),
  sealed('message', { text: { purpose: 'text' }, recipient: { purpose: 'recipient' } }),
  sealed('message_attempt', {
    recipient: { purpose: 'recipient' },
    subject: { purpose: 'subject' },
    body: { purpose: 'body' },
  }),
  sealed('suppression', { address: { purpose: 'address' } }),
  ...inner('what a provider sent; the records say what came of it', 'message_callback'),
  ...inner('the words of a mail that was sent', 'notice', 'finance_notice'),
]
