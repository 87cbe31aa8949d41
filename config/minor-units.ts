import { memo } from './memo.ts'

const digits = memo<number>(200)

/** Places after the point of a currency: 2 for BRL, 0 for JPY. */
export const minorDigits = (currency: string): number =>
  digits(
    currency,
    () => new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2,
  )
