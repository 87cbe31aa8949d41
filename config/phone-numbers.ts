import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min'

const defaultOf = (country: string | null) =>
  country !== null && isSupportedCountry(country) ? { defaultCountry: country } : {}

/**
 * A telephone number as people write it, in E.164; null if it is none. Without a plus it is a number of `country`. The length must be one that the
 * country has; its ranges are not asked for, since countries open new ones.
 */
export const toE164 = (text: string, country: string | null = null): string | null => {
  const number = parsePhoneNumberFromString(text, { ...defaultOf(country), extract: false })
  return number?.isPossible() ? number.number : null
}
