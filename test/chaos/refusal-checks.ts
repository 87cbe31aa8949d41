import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import { messageOf } from './evidence.ts'
import type { Check, Evidence } from './evidence.ts'
import type { Refusal } from './no-sayers.ts'

type Heard = Refusal & {
  callback: string | null
  since: Date | null
  suppressions: number
  attempts: { id: string; messageId: string; at: Date; begunAt: Date | null; purpose: string }[]
}

/**
 * Each refusal with the moment from which it counts, the suppressions that follow from it, and every attempt at its address. A refusal by a word counts when
 * the transaction that heard it ends; one that was asked for, from its answer on. An attempt is dated by the start of its transaction, which holds the
 * address from before to after that: no time of grace is needed.
 */
const heardOf = (database: Knex, refusals: readonly Refusal[]) =>
  sql<Heard>(
    database,
    `select r.tenant_id, r.kind, r.address, r.scope, r.word, c.status as callback, coalesce(r.at, c.processed_at) as since, s.count as suppressions,
       (select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'messageId', a.message_id, 'at', a.created_at, 'purpose', a.purpose, 'begunAt', e.started_at)), '[]')
        from message_attempt a left join external_call e on e.operation = 'send' and e.idempotency_key = a.id::text
        where a.tenant_id = r.tenant_id and a.kind = r.kind and a.recipient_index = s.address_index) as attempts
     from jsonb_to_recordset(cast(:refusals as jsonb))
       as g ("tenantId" uuid, kind text, address text, scope text, word text, "messageId" uuid, "suppressionId" uuid, at timestamptz)
     cross join lateral (select g."tenantId" as tenant_id, g.kind, g.address, g.scope, g.word, g."messageId" as message_id, g."suppressionId" as suppression_id, g.at) r
     left join message_callback c on c.tenant_id = r.tenant_id and c.key = r.word
     left join message w on w.tenant_id = c.tenant_id and w.dedupe_key = 'in:' || c.message_channel_id || ':' || substr(c.key, strpos(c.key, ':') + 1)
     cross join lateral (select count(*)::int as count, (array_agg(x.address_index))[1] as address_index from suppression x
       where x.tenant_id = r.tenant_id and x.kind = r.kind and x.lifted_at is null and x.scope in ('all', r.scope)
         and (x.message_id = coalesce(w.id, r.message_id) or x.id = r.suppression_id)) s`,
    { refusals: JSON.stringify(refusals) },
  )

const isMeant = ({ scope }: Heard, { purpose }: { purpose: string }) => scope === 'all' || purpose === 'marketing'
const isAfter = (at: string | Date | null, since: Date) => at !== null && new Date(at).getTime() > since.getTime()

/** Mails and texts that came to an address after a refusal, of no attempt that was begun before it. */
const strayOf = (heard: Heard, since: Date, { mails, texts }: Pick<Evidence, 'mails' | 'texts'>): object[] => {
  const { kind, address, attempts } = heard
  const earlier = attempts.filter((one) => !isAfter(one.at, since))
  if (kind === 'email') {
    // Service mail goes on to those who want no offers; so only offers, and mails of which nothing is known, are looked at.
    const known = new Set(
      attempts
        .filter((one) => !isMeant(heard, one))
        .concat(earlier)
        .map((one) => one.messageId),
    )
    return mails.filter(
      ({ to, messageId, receivedAt }) =>
        to.includes(address) && isAfter(receivedAt, since) && !known.has(messageOf(messageId) ?? ''),
    )
  }
  const to = kind === 'sms' ? address : `whatsapp:${address}`
  const late = texts.filter((text) => text.to === to && isAfter(text.receivedAt, since))
  return late.length > earlier.length ? late : []
}

export const refusalChecks: Record<string, Check> = {
  'who said no is heard once, and nothing to them is begun after that': async (database, evidence) =>
    (await heardOf(database, evidence.refusals)).flatMap((heard): object[] => {
      const { kind, address, word = null, callback, since, suppressions, attempts } = heard
      const who = { kind, address, since }
      if (since === null || suppressions !== 1 || (word !== null && callback !== 'processed'))
        return [{ ...who, callback, suppressions }]
      const begun = attempts.filter(
        (one) => isMeant(heard, one) && (isAfter(one.at, since) || isAfter(one.begunAt, since)),
      )
      const stray = strayOf(heard, since, evidence)
      return begun.length + stray.length === 0 ? [] : [{ ...who, begun: begun.slice(0, 3), stray: stray.slice(0, 3) }]
    }),
}
