import { receivableSent } from '../../../config/events/accounts-receivable.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { seal } from '../../lib/sealing/index.ts'
import { formatDay, formatMoney } from '../../ocp/index.ts'
import type { MessageOwner } from '../../ocp/index.ts'
import { tell } from '../state.ts'
import { pixCharges } from './pix.ts'
import { addressesOn, debtorsOf } from './recipients.ts'
import { openWords } from './send.ts'
import type { SendingRecord } from './send.ts'

type Facts = SendingRecord & {
  receivable: {
    id: string
    status: string
    number: string | null
    reference: string
    issuedOn: string
    total: number
    open: number
    currency: string
    customerId: string
  }
}

const factsOf = (trx: Trx, sendingId: string): Promise<Facts | null> =>
  sqlOne<Facts>(
    trx,
    `select s.*, jsonb_build_object('id', r.id, 'status', r.status, 'number', r.number_prefix || r.number, 'reference', r.customer_reference,
       'issuedOn', r.issued_on, 'total', r.total, 'open', r.open, 'currency', r.currency, 'customerId', r.customer_id) as receivable
     from receivable_sending s join receivable r on r.tenant_id = s.tenant_id and r.id = s.receivable_id where s.tenant_id = ? and s.id = ?`,
    [contextOf(trx).tenantId, sendingId],
  )

const money = (amount: number, currency: string) => ({ type: 'money', amount, currency }) as const

type Part = { id: string; dueOn: string; open: number }
const openParts = (trx: Trx, receivableId: string): Promise<Part[]> =>
  sql<Part>(
    trx,
    `select id, due_on, open from receivable_installment where tenant_id = ? and receivable_id = ? and open > 0 order by due_on, seq`,
    [contextOf(trx).tenantId, receivableId],
  )

/** Notes what a customer was sent last, and its address. */
const noteSent = async (trx: Trx, { receivable, channels, ...sending }: Facts): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const moved = await sql(
    trx,
    `update receivable_sending set status = 'sent', sent_at = clock_timestamp(), version = version + 1 where tenant_id = ? and id = ? and status <> 'sent' returning id`,
    [tenantId, sending.id],
  )
  if (moved.length === 0) return
  const [debtor] = await debtorsOf(trx, [receivable.customerId])
  const { to } = await openWords(trx, sending)
  const addresses = to === null ? channels.flatMap((one) => (debtor ? addressesOn(debtor, one as 'email') : [])) : [to]
  await sql(
    trx,
    `update receivable set sent_at = clock_timestamp(), sent_to = ?, version = version + 1 where tenant_id = ? and id = ?`,
    [
      await seal(trx, 'tenant', { table: 'receivable', rowId: receivable.id, purpose: 'sent_to' }, addresses),
      tenantId,
      receivable.id,
    ],
  )
  await tell(trx, receivableSent, receivable.id)
}

/** Messages that carry an invoice: written as it stands when they leave, and not sent once it is void. */
export const invoiceMessages: MessageOwner = {
  templateKey: 'receivable-invoice',
  field: 'receivableSendingId',
  refusal: async (trx, { data }) => {
    const facts = await factsOf(trx, data['receivableSendingId'] ?? '')
    return !facts || facts.receivable.status === 'void' ? 'receivable_voided' : null
  },
  values: async (trx, { data }, locale) => {
    const facts = await factsOf(trx, data['receivableSendingId'] ?? '')
    if (!facts) return {}
    const { receivable } = facts
    const [debtor] = await debtorsOf(trx, [receivable.customerId])
    const parts = await openParts(trx, receivable.id)
    const codes = facts.withPix ? ((await pixCharges()?.codes(trx, receivable.id)) ?? []) : []
    const { message } = await openWords(trx, facts)
    const line = ({ dueOn, open }: Part) =>
      `${formatDay(dueOn, locale)}  ${formatMoney(open, receivable.currency, locale)}`
    const pix = parts.flatMap((part) => {
      const code = codes.find(({ installmentId }) => installmentId === part.id)?.code ?? null
      return code === null ? [] : [parts.length > 1 ? `${line(part)}: ${code}` : code]
    })
    return {
      'receivable.customer': debtor?.name ?? null,
      'receivable.number': receivable.number,
      'receivable.reference': receivable.reference || null,
      'receivable.issuedOn': { type: 'day', day: receivable.issuedOn },
      'receivable.dueOn': parts[0] ? { type: 'day', day: parts[0].dueOn } : null,
      'receivable.total': money(receivable.total, receivable.currency),
      'receivable.open': money(receivable.open, receivable.currency),
      'receivable.installments': parts.map(line).join('\n') || null,
      'receivable.pix': pix.length > 0 ? `Pix:\n${pix.join('\n')}` : null,
      'receivable.message': message || null,
    }
  },
  ended: async (trx, { data }, status) => {
    const facts = await factsOf(trx, data['receivableSendingId'] ?? '')
    if (!facts) return
    if (status === 'sent') {
      await noteSent(trx, facts)
      return
    }
    await sql(
      trx,
      `update receivable_sending s set status = 'failed', version = version + 1 where s.tenant_id = ? and s.id = ? and s.status = 'handed_over'
         and not exists (select from message m where m.tenant_id = s.tenant_id and m.id = any(s.message_ids)
           and m.status in ('scheduled', 'queued', 'sending', 'sent', 'delivered', 'read'))`,
      [contextOf(trx).tenantId, facts.id],
    )
  },
}
