import { invalid } from '../../config/errors.ts'
import { pixKeyOf } from '../../config/pix-keys.ts'
import type { PixKeyType } from '../../config/pix.ts'

export const accountTypes = ['checking', 'savings', 'payment'] as const
/** The destination of money: a Pix key, or an account at a bank. */
export type BankDetails =
  | { keyType: PixKeyType; key: string }
  | { ispb: string; branch: string; number: string; accountType: (typeof accountTypes)[number] }

/** Bank details as they are kept: a Pix key in the form of its type. 400 with `field` for a key that is none. */
export const normalBankDetails = (details: BankDetails, field = 'details'): BankDetails => {
  if (!('keyType' in details)) return details
  const key = pixKeyOf(details.keyType, details.key.trim())
  if (key === null) throw invalid([{ field: `${field}.key`, message: `is no Pix key of the type ${details.keyType}` }])
  return { keyType: details.keyType, key }
}

/** Bank details for readers who do not see them whole: the kind, and the last characters. */
export const maskBankDetails = (details: BankDetails): BankDetails =>
  'keyType' in details
    ? { keyType: details.keyType, key: `***${details.key.slice(-3)}` }
    : { ...details, branch: '***', number: `***${details.number.slice(-2)}` }
