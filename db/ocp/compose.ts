import { settings } from '../../config/env.ts'
import type { MessageContext } from '../../config/message-variables.ts'
import { messageVariables } from '../../config/message-variables.ts'
import { preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { MessageRow } from '../rows.ts'
import { unseal } from '../lib/sealing/index.ts'
import { pathsIn } from './rules/contents.ts'
import type { Content } from './rules/contents.ts'
import type { Reader } from './reader.ts'
import { parseTemplate, renderTemplate } from './rules/template.ts'
import type { Values } from './rules/template.ts'
import { readValues } from './variables.ts'
import type { MessageProperty, Records } from './variables.ts'

export type Written = {
  subject: string
  text: string
  html: string | null
  contentSid: string | null
  contentVariables: Record<string, string> | null
}
/** `sent` is what the guest reads; `kept` is the same with codes and links blotted out. */
export type Composition = { sent: Written; kept: Written }

/** A content with its values filled in. */
export const write = (content: Content, context: MessageContext, values: Values, timeZone: string): Written => {
  const fill = (text: string, as: 'line' | 'text' | 'html') =>
    renderTemplate(parseTemplate(text, messageVariables[context], '').template, values, {
      as,
      locale: content.locale,
      timeZone,
    }).text
  return {
    subject: content.subject === null ? '' : fill(content.subject, 'line'),
    text: content.text === null ? '' : fill(content.text, 'text'),
    html: content.html === null ? null : fill(content.html, 'html'),
    contentSid: content.contentSid,
    contentVariables:
      content.contentVariables === null
        ? null
        : Object.fromEntries(
            Object.entries(content.contentVariables).map(([name, text]) => [name, fill(text, 'line')]),
          ),
  }
}

export const textPlace = (messageId: string) => ({ table: 'message', rowId: messageId, purpose: 'text' })

/** Contents of a message for every channel: its template's fixed version, or the text that staff wrote. */
export const readContents = async (
  trx: Trx,
  message: MessageRow,
): Promise<{ contents: Content[]; context: MessageContext }> => {
  if (message.templateId) {
    const version = await preparedOne<{ contents: Content[]; context: MessageContext }>(
      trx,
      `select v.contents, t.context from message_template_version v join message_template t on t.tenant_id = v.tenant_id and t.id = v.template_id
       where v.template_id = ? and v.number = ?`,
      [message.templateId, message.templateNumber],
    )
    if (!version) throw new Error(`message ${message.id} names a template version that does not exist`)
    return version
  }
  if (!message.text) return { contents: [], context: 'guest' }
  const { subject, text } = await unseal<{ subject: string | null; text: string }>(
    trx,
    'tenant',
    textPlace(message.id),
    message.text,
  )
  // Staff write text and no template: what looks like a tag is what they meant to say.
  const plain = (value: string) => value.replaceAll('{{', '{ {').replaceAll('}}', '} }')
  const content = {
    locale: message.locale ?? 'en',
    text: plain(text),
    html: null,
    contentSid: null,
    contentVariables: null,
  }
  return {
    context: 'guest',
    contents: [
      { ...content, channel: 'email', subject: plain(subject ?? '') },
      { ...content, channel: 'sms', subject: null },
      { ...content, channel: 'whatsapp', subject: null },
    ],
  }
}

type Parts = {
  message: MessageRow
  content: Content
  context: MessageContext
  property: MessageProperty
  reader: Reader
  isSandbox: boolean
  /** Booking and stay, where the caller has read them. */
  records?: Records
}

/** Writes a message with the values of this moment. Under sandbox nothing is blotted out: what is kept is all that there is to see. */
export const compose = async (
  trx: Trx,
  { message, content, context, property, reader, isSandbox, records }: Parts,
): Promise<Composition> => {
  const named = pathsIn(content)
  const about = { message, property, reader, locale: content.locale, kind: content.channel, named, records }
  const values = await readValues(trx, { ...about, masked: false })
  const sent = write(content, context, values, property.timezone)
  const hasSecrets = messageVariables[context].some(({ secret, path }) => secret && values.get(path) && named.has(path))
  if (!hasSecrets || isSandbox) return { sent, kept: sent }
  return { sent, kept: write(content, context, await readValues(trx, { ...about, masked: true }), property.timezone) }
}

/** Domain of the service's own sender, in which Message-IDs are made. */
const mailDomain = () => /@([A-Za-z0-9.-]+)>?\s*$/.exec(settings.mailFrom)?.[1] ?? 'localhost'

/** Message-ID, one per message and step, so that a mail sent twice is shown once. A message that staff sends again is another mail. */
export const messageIdOf = (messageId: string, step: number, round = 0): string =>
  `<${messageId}.${step}${round === 0 ? '' : `r${round}`}@${mailDomain()}>`

/** The message and step that a Message-ID of ours names; null for one of others. */
export const readMessageId = (text: string): { messageId: string; step: number; round: number } | null => {
  const [, messageId, step, round = '0'] =
    /^<?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,2})(?:r(\d{1,6}))?@[^\s<>]+>?$/.exec(text.trim()) ?? []
  return messageId === undefined ? null : { messageId, step: Number(step), round: Number(round) }
}
