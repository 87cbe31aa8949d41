import { isCountry } from './countries.ts'

const shape = /^([a-z]{2,3})(?:-([A-Z][a-z]{3}))?(?:-([A-Z]{2}|[0-9]{3}))?$/
// No language, several, one without a code, an unknown one.
const noLanguage = new Set(['zxx', 'mul', 'mis', 'und'])
const read = () => ({
  language: new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' }),
  script: new Intl.DisplayNames(['en'], { type: 'script', fallback: 'none' }),
  region: new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' }),
})
let names: ReturnType<typeof read> | null = null
/** Read with the first tag: a start would take 15 ms and 7 MB for them. */
const known = () => (names ??= read())

/** BCP 47: a language that has a name, with its script, and its country or part of the world (`pt-BR`, `zh-Hant`, `es-419`), where they are told. */
export const isLanguage = (tag: string): boolean => {
  const [, language, script, region] = shape.exec(tag) ?? []
  return (
    language !== undefined &&
    !noLanguage.has(language) &&
    known().language.of(language) !== undefined &&
    (script === undefined || known().script.of(script) !== undefined) &&
    (region === undefined || (/^[A-Z]/.test(region) ? isCountry(region) : known().region.of(region) !== undefined))
  )
}
