import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { builtInTemplates } from '../../config/message-texts/templates.ts'
import { builtInAutomations, builtInTexts } from '../../config/message-texts/texts.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { callbackToken, hashOfToken, isConfigured } from './channel-accounts.ts'
import { channelKinds, checkContents, htmlOf } from './rules/contents.ts'
import type { Content } from './rules/contents.ts'

const contentsOf = ({ key, context }: (typeof builtInTemplates)[number]): Content[] =>
  builtInTexts.flatMap(({ locale, texts }): Content[] => {
    const { subject, text, sms } = texts[key]
    const none = { contentSid: null, contentVariables: null }
    return [
      { channel: 'email', locale, subject, text, html: htmlOf(text), ...none },
      { channel: 'sms', locale, subject: null, text: sms, html: null, ...none },
      // Customers ask for invoices and reminders by WhatsApp; it goes to those who have just written.
      ...(context === 'receivable'
        ? [{ channel: 'whatsapp' as const, locale, subject: null, text: sms, html: null, ...none }]
        : []),
    ]
  })

/**
 * The published templates and the automations that a tenant starts with (R3), each once by its key: what was changed or archived stays so. `needed` names one
 * that must be there, also where it was archived.
 */
export const provisionMessages = async (trx: Trx, needed?: string): Promise<void> => {
  const known = new Set(
    (await sql<{ key: string }>(trx, `select distinct key from message_template`)).map(({ key }) => key),
  )
  const templateIds = new Map<string, string>()
  for (const template of builtInTemplates) {
    const { key, name, urgency, context } = template
    if (known.has(key) && key !== needed) continue
    const contents = contentsOf(template)
    const { variables, problems } = checkContents(context, contents)
    if (problems[0]) throw new Error(`built-in template ${key}: ${problems[0].field} ${problems[0].message}`)
    const id = randomUUID()
    const made = await sqlOne(
      trx,
      `insert into message_template (id, key, name, purpose, urgency, context, published_number) values (?, ?, ?, 'service', ?, ?, 1)
       on conflict (tenant_id, key) where status = 'active' do nothing returning id`,
      [id, key, name, urgency, context],
    )
    if (!made) continue
    templateIds.set(key, id)
    await sql(
      trx,
      `insert into message_template_version (template_id, number, status, contents, variables, published_at) values (?, 1, 'published', ?::jsonb, ?, now())`,
      [id, JSON.stringify(contents), variables],
    )
  }
  for (const { name, template, enabled, trigger } of builtInAutomations) {
    const templateId = templateIds.get(template)
    if (!templateId) continue
    await sql(
      trx,
      `insert into automation (name, enabled, trigger, template_id) values (?, ?, ?::jsonb, ?) on conflict do nothing`,
      [name, enabled, JSON.stringify(trigger), templateId],
    )
  }
}

/**
 * The three channels of a new property: e-mail is on. Outside production, what the service has no account for goes to the sandbox; in
 * production it is not sent and says so, rather than be taken for delivered.
 */
export const provisionChannels = async (trx: Trx, propertyId: string): Promise<void> => {
  for (const kind of channelKinds) {
    const id = randomUUID()
    await sql(
      trx,
      `insert into message_channel (id, property_id, kind, enabled, transport, reply_to, callback_hash, daily_cap, countries)
       select ?, p.id, ?, ?, ?, case when ? = 'email' then p.email end, ?, ?,
         case when ? = 'email' or p.address->>'countryCode' is null then '{}'::text[] else array[p.address->>'countryCode'] end
       from property p where p.id = ? on conflict do nothing`,
      [
        id,
        kind,
        kind === 'email',
        settings.production || isConfigured[kind]() ? 'platform' : 'sandbox',
        kind,
        hashOfToken(callbackToken(id)),
        kind === 'email' ? 5_000 : 1_000,
        kind,
        propertyId,
      ],
    )
  }
}
