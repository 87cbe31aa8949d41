import { english } from './en.ts'
import { spanish } from './es.ts'
import type { Mail, UserMailKind, Words } from './kinds.ts'
import { portuguese } from './pt.ts'

const languages: Record<string, Record<UserMailKind, Mail>> = { en: english, pt: portuguese, es: spanish }

// Names of people, properties and keys are user input: they stay on one line.
const line = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
const oneLine = ({ name, house, key, host, label, ...words }: Words): Words => ({
  ...words,
  name: line(name),
  house: line(house),
  key: line(key),
  host: line(host),
  label: line(label),
})

/** Subject and text of a mail in the user's language, else English. */
export const writeUserMail = (kind: UserMailKind, locale: string, words: Words): { subject: string; text: string } => {
  const { subject, text } = (languages[locale.split('-')[0] ?? ''] ?? english)[kind]
  const clean = oneLine(words)
  return { subject: subject(clean), text: `${text(clean)}\n\nPousada\n` }
}
