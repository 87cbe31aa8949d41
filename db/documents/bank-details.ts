import { invalid } from '../../config/errors.ts'
import { toE164 } from '../../config/phone-numbers.ts'
import { isCnpj, isCpf } from '../../config/tax-ids.ts'

export const pixKeyTypes = ['cpf', 'cnpj', 'email', 'phone', 'random'] as const
export const accountTypes = ['checking', 'savings', 'payment'] as const
/** The destination of money: a Pix key, or an account at a bank. */
export type BankDetails =
  | { keyType: (typeof pixKeyTypes)[number]; key: string }
  | { ispb: string; branch: string; number: string; accountType: (typeof accountTypes)[number] }

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const bare = (text: string) => text.toUpperCase().replace(/[^0-9A-Z]/g, '')
const keys: Readonly<Record<(typeof pixKeyTypes)[number], (key: string) => string | null>> = {
  cpf: (key) => (isCpf(key) ? bare(key) : null),
  cnpj: (key) => (isCnpj(key) ? bare(key) : null),
  email: (key) => (/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(key) && key.length <= 77 ? key.toLowerCase() : null),
  phone: (key) => (toE164(key) === key ? key : null),
  random: (key) => (uuid.test(key.toLowerCase()) ? key.toLowerCase() : null),
}

/** Bank details as they are kept: a Pix key in the form of its type. 400 with `field` for a key that is none. */
export const normalBankDetails = (details: BankDetails, field = 'details'): BankDetails => {
  if (!('keyType' in details)) return details
  const key = keys[details.keyType](details.key.trim())
  if (key === null) throw invalid([{ field: `${field}.key`, message: `is no Pix key of the type ${details.keyType}` }])
  return { keyType: details.keyType, key }
}

/** Bank details for readers who do not see them whole: the kind, and the last characters. */
export const maskBankDetails = (details: BankDetails): BankDetails =>
  'keyType' in details
    ? { keyType: details.keyType, key: `***${details.key.slice(-3)}` }
    : { ...details, branch: '***', number: `***${details.number.slice(-2)}` }
