import { memo } from '../../../config/memo.ts'
import { moneyText } from '../../../config/minor-units.ts'
import type { CancellationRules, DepositRules, Fee, NoShowRules } from '../../../config/policy-rules.ts'

type Words = {
  none: string
  full: (of: string) => string
  percent: (value: string, of: string) => string
  nights: (count: number) => string
  room: string
  total: string
  upTo: (hours: string, fee: string) => string
  after: (fee: string) => string
  always: (fee: string) => string
  grace: (hours: string) => string
  hours: (count: number) => string
  days: (count: number) => string
  atBooking: string
  daysBefore: (count: number) => string
  remaining: string
  payable: (what: string, when: string) => string
  nothingDue: string
  noShow: (fee: string) => string
}

const english: Words = {
  none: 'free of charge',
  full: (of) => `100% of ${of}`,
  percent: (value, of) => `${value}% of ${of}`,
  nights: (count) => (count === 1 ? 'the first night' : `the first ${count} nights`),
  room: 'the room price',
  total: 'the total',
  upTo: (hours, fee) => `Cancellation up to ${hours} before arrival: ${fee}.`,
  after: (fee) => `After that: ${fee}.`,
  always: (fee) => `Cancellation: ${fee}.`,
  grace: (hours) => `Within ${hours} of booking, cancellation is free of charge.`,
  hours: (count) => (count === 1 ? '1 hour' : `${count} hours`),
  days: (count) => (count === 1 ? '1 day' : `${count} days`),
  atBooking: 'at booking',
  daysBefore: (count) => (count === 0 ? 'on arrival' : `${count === 1 ? '1 day' : `${count} days`} before arrival`),
  remaining: 'the rest',
  payable: (what, when) => `${what} is due ${when}.`,
  nothingDue: 'Nothing is due before arrival.',
  noShow: (fee) => `If you do not arrive: ${fee}.`,
}

const portuguese: Words = {
  none: 'sem custo',
  full: (of) => `100% d${of}`,
  percent: (value, of) => `${value}% d${of}`,
  nights: (count) => (count === 1 ? 'a primeira diária' : `as primeiras ${count} diárias`),
  room: 'o valor da hospedagem',
  total: 'o total',
  upTo: (hours, fee) => `Cancelamento até ${hours} antes da chegada: ${fee}.`,
  after: (fee) => `Depois disso: ${fee}.`,
  always: (fee) => `Cancelamento: ${fee}.`,
  grace: (hours) => `Até ${hours} depois da reserva, o cancelamento não tem custo.`,
  hours: (count) => (count === 1 ? '1 hora' : `${count} horas`),
  days: (count) => (count === 1 ? '1 dia' : `${count} dias`),
  atBooking: 'na reserva',
  daysBefore: (count) => (count === 0 ? 'na chegada' : `${count === 1 ? '1 dia' : `${count} dias`} antes da chegada`),
  remaining: 'o restante',
  payable: (what, when) => `A pagar ${when}: ${what}.`,
  nothingDue: 'Nada a pagar antes da chegada.',
  noShow: (fee) => `Se você não comparecer: ${fee}.`,
}

const spanish: Words = {
  none: 'sin cargo',
  full: (of) => `100% de${of}`,
  percent: (value, of) => `${value}% de${of}`,
  nights: (count) => (count === 1 ? 'la primera noche' : `las primeras ${count} noches`),
  room: 'l precio de la habitación',
  total: 'l total',
  upTo: (hours, fee) => `Cancelación hasta ${hours} antes de la llegada: ${fee}.`,
  after: (fee) => `Después: ${fee}.`,
  always: (fee) => `Cancelación: ${fee}.`,
  grace: (hours) => `Hasta ${hours} después de reservar, la cancelación no tiene cargo.`,
  hours: (count) => (count === 1 ? '1 hora' : `${count} horas`),
  days: (count) => (count === 1 ? '1 día' : `${count} días`),
  atBooking: 'al reservar',
  daysBefore: (count) =>
    count === 0 ? 'a la llegada' : `${count === 1 ? '1 día' : `${count} días`} antes de la llegada`,
  remaining: 'el resto',
  payable: (what, when) => `A pagar ${when}: ${what}.`,
  nothingDue: 'Nada que pagar antes de la llegada.',
  noShow: (fee) => `Si no se presenta: ${fee}.`,
}

/** Languages that policies are worded in; any other reads English. */
const languages: Record<string, Words> = { en: english, pt: portuguese, es: spanish }
const wordsOf = (locale: string) => languages[locale.split('-')[0] ?? ''] ?? english

export type Wording = { locale: string; currency: string }

const rates = memo<Intl.NumberFormat>(100)

const rate = (basisPoints: number, { locale }: Wording) =>
  rates(locale, () => new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })).format(basisPoints / 100)

const feeText = (fee: Fee, wording: Wording): string => {
  const words = wordsOf(wording.locale)
  const of = fee.of === 'room' ? words.room : words.total
  if (fee.type === 'none' || (fee.type !== 'full' && fee.value === 0)) return words.none
  if (fee.type === 'full') return words.full(of)
  if (fee.type === 'percent') return words.percent(rate(fee.value, wording), of)
  if (fee.type === 'nights') return words.nights(fee.value)
  return moneyText(fee.value, wording.currency, wording.locale)
}

const span = (hours: number, words: Words) =>
  hours >= 48 && hours % 24 === 0 ? words.days(hours / 24) : words.hours(hours)

/** Rules do not change: what says them in a language is made once for as long as they are kept. */
const once = <Rules extends object>(textOf: (rules: Rules, wording: Wording) => string) => {
  const texts = new WeakMap<Rules, Map<string, string>>()
  return (rules: Rules, wording: Wording): string => {
    const made = texts.get(rules) ?? new Map<string, string>()
    texts.set(rules, made)
    const key = `${wording.locale} ${wording.currency}`
    const text = made.get(key) ?? textOf(rules, wording)
    made.set(key, text)
    return text
  }
}

export const cancellationText = once((rules: CancellationRules, wording): string => {
  const words = wordsOf(wording.locale)
  const tiers = rules.tiers.map((tier) => words.upTo(span(tier.hoursBeforeArrival, words), feeText(tier.fee, wording)))
  const last = feeText(rules.after, wording)
  const grace = rules.graceHoursAfterBooking > 0 ? [words.grace(span(rules.graceHoursAfterBooking, words))] : []
  return [...tiers, tiers.length > 0 ? words.after(last) : words.always(last), ...grace].join(' ')
})

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

export const depositText = (rules: DepositRules | null, wording: Wording): string =>
  rules ? installmentsText(rules, wording) : wordsOf(wording.locale).nothingDue

const installmentsText = once((rules: DepositRules, wording): string => {
  const words = wordsOf(wording.locale)
  return rules.installments
    .map((entry) => {
      const what =
        entry.type === 'percent'
          ? words.percent(rate(entry.value, wording), words.total)
          : entry.type === 'nights'
            ? words.nights(entry.value)
            : entry.type === 'remaining'
              ? words.remaining
              : moneyText(entry.value, wording.currency, wording.locale)
      return capital(
        words.payable(what, entry.due === 'booking' ? words.atBooking : words.daysBefore(entry.due.daysBeforeArrival)),
      )
    })
    .join(' ')
})

export const noShowText = once((rules: NoShowRules, wording): string =>
  wordsOf(wording.locale).noShow(feeText(rules.fee, wording)),
)
