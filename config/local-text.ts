/** Locale → text. The property's first locale is always there. */
export type LocalText = Readonly<Record<string, string>>

const languageOf = (locale: string) => locale.split('-')[0] ?? locale

/** The text in a locale; else in another variety of its language, else in the first of `fallbacks`, else any; '' where there is none. */
export const textIn = (text: LocalText, locale: string, ...fallbacks: string[]): string => {
  for (const wanted of [locale, ...fallbacks]) {
    const exact = text[wanted]
    if (exact !== undefined) return exact
    const related = Object.keys(text).find((key) => languageOf(key) === languageOf(wanted))
    if (related !== undefined) return text[related] ?? ''
  }
  return Object.values(text)[0] ?? ''
}
