import type { FieldError } from '../../../config/errors.ts'
import { messageVariables } from '../../../config/message-variables.ts'
import type { MessageContext } from '../../../config/message-variables.ts'
import { escapeHtml, parseTemplate, variablesOf } from './template.ts'

export const channelKinds = ['email', 'sms', 'whatsapp'] as const
export type ChannelKind = (typeof channelKinds)[number]

/** Content of a template version on one channel in one locale. */
export type Content = {
  channel: ChannelKind
  locale: string
  subject: string | null
  text: string | null
  html: string | null
  contentSid: string | null
  contentVariables: Record<string, string> | null
}

/** The templates of a content, by the names of their fields. */
export const textsOf = ({ subject, text, html, contentVariables }: Content): [field: string, text: string | null][] => [
  ['subject', subject],
  ['text', text],
  ['html', html],
  ...Object.entries(contentVariables ?? {}).map(([name, value]): [string, string] => [
    `contentVariables.${name}`,
    value,
  ]),
]

/** Paths of the variables that a content names. */
export const pathsIn = (content: Content): Set<string> =>
  new Set(
    textsOf(content).flatMap(([, text]) => (text === null ? [] : variablesOf(parseTemplate(text, [], '').template))),
  )

/** Every variable that the contents name, and everything that is wrong with them. */
export const checkContents = (
  context: MessageContext,
  contents: readonly Content[],
): { variables: string[]; problems: FieldError[] } => {
  const problems: FieldError[] = []
  const variables = new Set<string>()
  contents.forEach((content, index) => {
    for (const [name, text] of textsOf(content)) {
      if (text === null) continue
      const parsed = parseTemplate(text, messageVariables[context], `contents.${index}.${name}`)
      problems.push(...parsed.problems)
      for (const path of variablesOf(parsed.template)) variables.add(path)
    }
  })
  return { variables: [...variables].sort(), problems }
}

/** The plain text of a built-in template as paragraphs. Its variables stay as they are, and are escaped when they are filled in. */
export const htmlOf = (text: string): string => {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => {
    const lines = paragraph
      .split(/(\{\{[^{}]*\}\})/)
      .map((part) => (part.startsWith('{{') ? part : escapeHtml(part).replaceAll('\n', '<br>\n')))
    return `<p style="margin:0 0 16px">${lines.join('')}</p>`
  })
  return `<div style="font-family:Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5;color:#222;max-width:600px">\n${paragraphs.join('\n')}\n</div>`
}

/** The content of a channel in the reader's language, its base language, the property's locales in order, or the first there is. */
export const contentFor = (
  contents: readonly Content[],
  channel: ChannelKind,
  language: string | null,
  locales: readonly string[],
): Content | null => {
  const offered = contents.filter((content) => content.channel === channel)
  const wanted = [language, ...locales].flatMap((locale) => [locale, locale?.split('-')[0]])
  for (const locale of wanted) {
    const found = offered.find((content) => content.locale === locale)
    if (found) return found
  }
  return offered[0] ?? null
}
