import { majorText } from '../../config/minor-units.ts'

/** An amount with its currency for mails, such as `1200.00 BRL`. */
export const formatMoney = (amount: number, currency: string): string => `${majorText(amount, currency)} ${currency}`
