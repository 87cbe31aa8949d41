import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { templatePublished } from '../../config/events/ocp.ts'
import type { MessageContext } from '../../config/message-variables.ts'
import { messageVariables } from '../../config/message-variables.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { archivable } from '../lib/lifecycle.ts'
import { contains, equal, pageOf } from '../lib/lists.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import type { MessageTemplateRow, MessageTemplateVersionRow } from '../rows.ts'
import { planTemplate } from './plan-automation.ts'
import { MessageTemplate, MessageTemplateVersion } from './models.ts'
import { checkContents, textsOf } from './rules/contents.ts'
import type { Content } from './rules/contents.ts'
import { judgeHtml } from './rules/html.ts'
import { isUnknownName, parseTemplate } from './rules/template.ts'

export type TemplateVersion = Pick<
  MessageTemplateVersionRow,
  'number' | 'variables' | 'publishedAt' | 'publishedBy'
> & { status: 'draft' | 'published' | 'replaced'; contents: Content[] }
type Urgency = { urgency: 'immediate' | 'normal' }
export type TemplateRecord = Omit<MessageTemplateRow, 'tenantId' | 'urgency'> &
  Urgency & { versions: TemplateVersion[] }
/** A content as it is sent: what a channel does not have is left out. */
export type GivenContent = Pick<Content, 'channel' | 'locale'> & {
  [Field in 'subject' | 'text' | 'html' | 'contentSid' | 'contentVariables']?: Content[Field] | undefined
}

const moves = archivable('A template')

export const listTemplates = pageOf(MessageTemplate, {
  order: ['key', 'id'],
  filters: {
    purpose: equal('purpose'),
    context: equal('context'),
    status: equal('status'),
    q: contains('key', 'name'),
  },
})

/** A template with its versions, the newest first. 404 */
export const readTemplate = async (trx: Trx, id: string): Promise<TemplateRecord> => {
  const [template, versions] = await Promise.all([
    readRow(trx, MessageTemplate, id),
    sql<TemplateVersion>(
      trx,
      `select number, status, contents, variables, published_at, published_by from message_template_version
       where template_id = ? order by number desc`,
      [id],
    ),
  ])
  return { ...template, versions }
}

const longest = { email: 10_000, sms: 1_000, whatsapp: 4_096 }
const parts = ['subject', 'text', 'html', 'contentSid', 'contentVariables'] as const
const fits: Record<Content['channel'], readonly (typeof parts)[number][]> = {
  email: ['subject', 'text', 'html'],
  sms: ['text'],
  whatsapp: ['text', 'contentSid', 'contentVariables'],
}

const shapeProblems = (content: Content, at: number, all: readonly Content[]): FieldError[] => {
  const field = (name: string) => `contents.${at}.${name}`
  const { channel, locale, text } = content
  const found: FieldError[] = parts.flatMap((name) =>
    content[name] !== null && !fits[channel].includes(name)
      ? [{ field: field(name), message: `is not for ${channel}` }]
      : [],
  )
  const needed = channel === 'email' ? (['subject', 'text'] as const) : channel === 'sms' ? (['text'] as const) : []
  for (const name of needed)
    if (!content[name]?.trim()) found.push({ field: field(name), message: `is required for ${channel}` })
  if (channel === 'whatsapp' && content.contentSid === null)
    found.push({ field: field('contentSid'), message: 'is required: WhatsApp begins with an approved content' })
  if (content.contentVariables !== null && content.contentSid === null)
    found.push({ field: field('contentVariables'), message: 'go with a contentSid' })
  if ((text?.length ?? 0) > longest[channel])
    found.push({ field: field('text'), message: `must have at most ${longest[channel]} characters for ${channel}` })
  if (/[\r\n]/.test(content.subject ?? '')) found.push({ field: field('subject'), message: 'is one line' })
  if (all.findIndex((one) => one.channel === channel && one.locale === locale) < at)
    found.push({ field: field('locale'), message: `${channel} in ${locale} stands there already` })
  return found
}

/** Judges contents as they are saved: 400 `variable_unknown`, `html_not_allowed` or `validation_failed`. Answers them whole, with their variables. */
const judge = (
  context: MessageContext,
  given: readonly GivenContent[],
): { contents: Content[]; variables: string[] } => {
  const contents = given.map(({ channel, locale, ...of }): Content => ({
    channel,
    locale,
    subject: of.subject ?? null,
    text: of.text ?? null,
    html: of.html ?? null,
    contentSid: of.contentSid ?? null,
    contentVariables: of.contentVariables ?? null,
  }))
  const shape = contents.flatMap(shapeProblems)
  if (shape.length > 0) throw invalid(shape)
  const { variables, problems } = checkContents(context, contents)
  const unknown = problems.filter(isUnknownName)
  if (unknown.length > 0)
    throw invalid(unknown, 'variable_unknown', `The context ${context} does not have a variable that is named`)
  if (problems.length > 0) throw invalid(problems)
  const active = contents.flatMap(({ html }, at) =>
    html === null ? [] : judgeHtml(html, messageVariables[context], `contents.${at}.html`),
  )
  if (active.length > 0) throw invalid(active, 'html_not_allowed', 'The HTML has something that mail must not have')
  return { contents, variables }
}

export type NewTemplate = {
  key: string
  name: string
  purpose: 'service' | 'marketing'
  urgency: 'immediate' | 'normal'
  context: MessageContext
  contents: GivenContent[]
}

/** Makes a template with a first draft. 400 for contents that cannot be; 409 `duplicate_key`. */
export const createTemplate = async (trx: Trx, { contents: given, ...template }: NewTemplate): Promise<string> => {
  if (template.purpose === 'marketing' && template.urgency === 'immediate')
    throw invalid([{ field: 'urgency', message: 'marketing is never immediate' }])
  const judged = judge(template.context, given)
  const id = randomUUID()
  const made = await sqlOne(
    trx,
    `insert into message_template (id, key, name, purpose, urgency, context) values (?, ?, ?, ?, ?, ?)
     on conflict (tenant_id, key) where status = 'active' do nothing returning id`,
    [id, template.key, template.name, template.purpose, template.urgency, template.context],
  )
  if (!made) throw conflict('duplicate_key', 'An active template has this key', [{ field: 'key', message: 'is taken' }])
  await insertRow(trx, MessageTemplateVersion, { templateId: id, number: 1, ...judged })
  return id
}

/** Changes the name, or the draft: one is made where there is none. Messages keep the version that they were queued with. The caller holds the row. */
export const changeTemplate = async (
  trx: Trx,
  id: string,
  { name, contents }: { name?: string | undefined; contents?: GivenContent[] | undefined },
): Promise<void> => {
  const template = await readRow(trx, MessageTemplate, id)
  moves.allow('changed', template.status)
  if (contents) {
    const judged = judge(template.context, contents)
    const [draft] = await sql(
      trx,
      `update message_template_version set contents = ?::jsonb, variables = ? where template_id = ? and status = 'draft' returning number`,
      [JSON.stringify(judged.contents), judged.variables, id],
    )
    if (!draft) {
      const last = await sqlOne<{ number: number }>(
        trx,
        `select max(number) as number from message_template_version where template_id = ?`,
        [id],
      )
      await insertRow(trx, MessageTemplateVersion, { templateId: id, number: (last?.number ?? 0) + 1, ...judged })
    }
  }
  await changeRow(trx, MessageTemplate, id, { name })
  if (name === undefined) await sql(trx, `update message_template set version = version + 1 where id = ?`, [id])
}

/** Reasons that keep a draft from being published (R16): a variable that may be empty without a default, languages that say different things, no way out of marketing. */
const missingOf = (context: MessageContext, purpose: string, contents: readonly Content[]): FieldError[] => {
  const nullable = new Set(messageVariables[context].flatMap(({ path, nullable: may }) => (may ? [path] : [])))
  const found: FieldError[] = []
  const said = contents.map((content, at) => {
    const paths = new Set<string>()
    for (const [name, text] of textsOf(content)) {
      if (text === null) continue
      for (const part of parseTemplate(text, messageVariables[context], '').template.parts) {
        if (typeof part === 'string') continue
        paths.add(part.path)
        if (part.fallback === null && nullable.has(part.path))
          found.push({ field: `contents.${at}.${name}`, message: `{{${part.path}}} may be empty and needs a default` })
      }
    }
    return paths
  })
  contents.forEach((content, at) => {
    const first = contents.findIndex(({ channel }) => channel === content.channel)
    for (const path of said[first] ?? [])
      if (!said[at]?.has(path))
        found.push({ field: `contents.${at}`, message: `lacks {{${path}}}, which ${contents[first]?.locale} has` })
    for (const path of said[at] ?? [])
      if (!said[first]?.has(path))
        found.push({ field: `contents.${first}`, message: `lacks {{${path}}}, which ${content.locale} has` })
    if (purpose !== 'marketing' || content.channel !== 'email') return
    for (const name of ['text', 'html'] as const)
      if (content[name] !== null && !/\{\{\s*unsubscribe\.link/.test(content[name]))
        found.push({ field: `contents.${at}.${name}`, message: 'needs {{unsubscribe.link}}: marketing has a way out' })
  })
  return found
}

/** Makes the draft the version in use. 422 `template_incomplete`. Nothing where the published one is the newest. The caller holds the row. */
export const publishTemplate = async (trx: Trx, id: string): Promise<void> => {
  const template = await readRow(trx, MessageTemplate, id)
  moves.allow('changed', template.status)
  const draft = await sqlOne<{ number: number; contents: Content[] }>(
    trx,
    `select number, contents from message_template_version where template_id = ? and status = 'draft'`,
    [id],
  )
  if (!draft) return
  const missing = missingOf(template.context, template.purpose, draft.contents)
  if (missing.length > 0)
    throw unprocessable('template_incomplete', 'The draft cannot be published as it is', missing.slice(0, 50))
  const { actor } = contextOf(trx)
  await sql(
    trx,
    `update message_template_version set status = 'replaced' where template_id = ? and status = 'published'`,
    [id],
  )
  await sql(
    trx,
    `update message_template_version set status = 'published', published_at = clock_timestamp(), published_by = ? where template_id = ? and number = ?`,
    [actor.type === 'user' ? actor.id : null, id, draft.number],
  )
  const version = await changeRow(trx, MessageTemplate, id, { publishedNumber: draft.number })
  await emit(trx, templatePublished, {
    propertyId: null,
    id,
    version,
    data: { messageTemplateId: id, key: template.key, number: draft.number },
  })
  await planTemplate(trx, id)
}

/** Retires a template. 422 `template_in_use` where an enabled automation or a campaign that is not over uses it. The caller holds the row. */
export const archiveTemplate = async (trx: Trx, id: string): Promise<void> => {
  const template = await readRow(trx, MessageTemplate, id)
  if (!moves.isDue('archived', template.status)) return
  const users = await sql<{ name: string }>(
    trx,
    `select name from automation where template_id = ? and enabled
     union all select name from campaign where template_id = ? and status in ('scheduled', 'running') limit 10`,
    [id, id],
  )
  if (users.length > 0)
    throw unprocessable(
      'template_in_use',
      'An automation or a campaign uses the template',
      users.map(({ name }) => ({ field: 'status', message: `${name} uses it` })),
    )
  await changeRow(trx, MessageTemplate, id, { status: 'archived' })
}

/** The template for a message or an automation, locked against its retirement. 404; 422 `template_not_published`. */
export const usableTemplate = async (
  trx: Trx,
  id: string,
): Promise<
  Pick<MessageTemplateRow, 'id' | 'key' | 'purpose' | 'urgency' | 'context'> & { publishedNumber: number }
> => {
  const template = await sqlOne<MessageTemplateRow>(trx, `select * from message_template where id = ? for share`, [id])
  if (!template) throw notFound('There is no such template')
  const { publishedNumber } = template
  if (template.status !== 'active' || publishedNumber === null)
    throw unprocessable('template_not_published', 'The template is archived, or has no published version', [
      { field: 'templateId', message: 'must name an active template with a published version' },
    ])
  return { ...template, publishedNumber }
}
