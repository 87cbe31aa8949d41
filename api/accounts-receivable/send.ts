import { reminderChannels } from '../../config/dunning.ts'
import { Bool, Instant, List, Obj, OneOf, Opt, Text, Uuid } from '../../config/schema.ts'
import { readSending, sendReceivable } from '../../db/accounts-receivable/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'

const ReceivableSending = Obj(
  {
    id: Uuid,
    receivableId: Uuid,
    channels: List(OneOf([...reminderChannels]), { max: 2 }),
    withPix: Bool,
    status: OneOf(['queued', 'handed_over', 'sent', 'failed']),
    createdAt: Instant,
  },
  { title: 'ReceivableSending' },
)

const send = route({
  id: 'receivables.send',
  method: 'POST',
  path: '/api/tenants/:tenantId/accounts-receivable/receivables/:receivableId/send',
  summary: 'Send an invoice, with Pix codes, to the customer',
  description:
    'By the template `receivable-invoice` in the language of the customer: mail to each of `invoiceEmails`, else to `email`; WhatsApp to the telephone. `to` takes the place of the customer’s own addresses on its channel. `withPix` asks for charges of open installments that have none, twelve at most; the message waits for them two minutes, then goes without.',
  access: can('send', 'Receivable'),
  record: { table: 'receivable', param: 'receivableId', lockedBy: 'command' },
  body: Obj({
    channels: List(OneOf([...reminderChannels]), { min: 1, max: 2 }, { uniqueItems: true }),
    to: Opt(Text(3, 254, { cardNumber: 'document' })),
    withPix: Opt(Bool),
    message: Opt(Text(0, 500)),
  }),
  example: { channels: ['email'], message: 'Thank you for staying with us.' },
  returns: ReceivableSending,
  errors: ['invalid_transition', 'recipient_missing', 'pix_not_ready'],
  handle: async ({ trx, params, body, expectedVersion }) => {
    const id = await sendReceivable(trx, params.receivableId, body, expectedVersion)
    return (await readSending(trx, id)) as never
  },
})

export const routes = [send]
