import { memo } from '../../../config/memo.ts'
import { moneyText } from '../../../config/minor-units.ts'

// Dates, times and money as a guest reads them. Formatters are costly to make, so they are kept; a locale tag is bounded by its schema.
const dateFormats = memo<Intl.DateTimeFormat>(300)

const dates = (locale: string, timeZone: string) =>
  dateFormats(`date ${locale} ${timeZone}`, () => new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone }))
const times = (locale: string, timeZone: string) =>
  dateFormats(`time ${locale} ${timeZone}`, () => new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone }))

/** A plain day, or the day of an instant in a time zone, with its weekday. */
export const formatDate = (value: string | Date, locale: string, timeZone = 'UTC'): string =>
  typeof value === 'string'
    ? dates(locale, 'UTC').format(new Date(`${value}T12:00:00Z`))
    : dates(locale, timeZone).format(value)

/** A plain day in figures, for lists. */
export const formatDay = (day: string, locale: string): string =>
  dateFormats(`day ${locale}`, () => new Intl.DateTimeFormat(locale, { dateStyle: 'short', timeZone: 'UTC' })).format(
    new Date(`${day}T12:00:00Z`),
  )

// Some locales put a narrow space before "PM"; older mail readers show it as a box.
const plainSpaces = (text: string) => text.replace(/[\u202f\u00a0]/g, ' ')

export const formatTime = (value: Date, locale: string, timeZone: string): string =>
  plainSpaces(times(locale, timeZone).format(value))

/** A time of day, `14:00`, which belongs to no day. */
export const formatClock = (time: string, locale: string): string =>
  plainSpaces(times(locale, 'UTC').format(new Date(`2000-01-01T${time}:00Z`)))

/** Minor units of a currency. */
export const formatMoney = (amount: number, currency: string, locale: string): string =>
  plainSpaces(moneyText(amount, currency, locale))
