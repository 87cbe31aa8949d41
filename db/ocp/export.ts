import { messagesOfGuests } from '../../config/personal-data.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unseal } from '../lib/sealing/index.ts'
import type { MessageRow } from '../rows.ts'
import { textPlace } from './compose.ts'
import { addressOf } from './messages.ts'
import type { Addressed } from './messages.ts'
import { attemptPlace } from './sending.ts'

type Row = Addressed &
  Pick<MessageRow, 'direction' | 'purpose' | 'status' | 'locale' | 'text' | 'sentAt' | 'createdAt'> & {
    channel: string | null
    subject: Buffer | null
    body: Buffer | null
  }

const rows = `
  select m.id, m.direction, m.purpose, m.status, m.locale, coalesce(last.kind, m.kind, c.kind) as channel, m.text, m.sent_at, m.created_at,
    coalesce(last.kind, m.kind) as kind, m.conversation_id, m.recipient as given, c.address as of_conversation,
    last.id as attempt_id, last.recipient as attempted, last.subject, last.body
  from message m left join conversation c on c.tenant_id = m.tenant_id and c.id = m.conversation_id
  left join lateral (select a.id, a.kind, a.recipient, a.subject, a.body from message_attempt a
    where a.tenant_id = m.tenant_id and a.message_id = m.id order by a.created_at desc, a.id desc limit 1) last on true
  where m.id in (${messagesOfGuests}) order by m.created_at, m.id`

type Said = { subject: string | null; text: string | null }

/** The words of a message: those of its last attempt, else those that were written. Codes and links of an attempt are blotted out, as they are kept. */
const wordsOf = async (trx: Trx, { id, attemptId, subject, body, text }: Row): Promise<Said> => {
  if (attemptId && body) {
    const [title, said] = await Promise.all([
      subject ? unseal<string>(trx, 'tenant', attemptPlace(attemptId, 'subject'), subject) : null,
      unseal<{ text: string; html: string | null }>(trx, 'tenant', attemptPlace(attemptId, 'body'), body),
    ])
    return { subject: title || null, text: said.text || said.html }
  }
  return text ? unseal<Said>(trx, 'tenant', textPlace(id), text) : { subject: null, text: null }
}

/** Messages to and from guests, with their words and addresses while those are kept: the guest's own data, so nothing is masked. */
export const messagesForGuests = async (trx: Trx, guestIds: readonly string[]): Promise<object[]> => {
  const found = await sql<Row>(trx, rows, { ids: guestIds })
  const told: object[] = []
  for (const row of found) {
    const { direction, purpose, status, locale, channel, sentAt, createdAt } = row
    const address = await addressOf(trx, row)
    told.push({ direction, purpose, status, locale, channel, sentAt, createdAt, address, ...(await wordsOf(trx, row)) })
  }
  return told
}
