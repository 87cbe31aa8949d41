/** Bank, branch and account as a file writes them; null for what it does not say. */
export type WrittenAccount = { bank: string | null; branch?: string | null; account: string | null }
/** Bank, branch and number as a person has typed them. */
export type OwnAccount = {
  bankCode: string | null
  ispb: string | null
  branch: string | null
  number: string | null
}

const significant = (number: string): string =>
  number
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replace(/^0+/, '')

/** Digits of a branch without its check digit, which is the fifth or stands behind a hyphen. */
const branchOf = (text: string): string => {
  const digits = significant(text.replace(/\s*-\s*[0-9A-Z]\s*$/i, ''))
  return digits.length === 5 ? digits.slice(0, 4) : digits
}

const isBank = (bank: string | null, { bankCode, ispb }: OwnAccount): boolean => {
  const codes = [bankCode, ispb].flatMap((code) => (code === null ? [] : [significant(code)]))
  return bank === null || codes.length === 0 || codes.includes(significant(bank))
}

const isBranch = (branch: string | null, own: OwnAccount): boolean => {
  const [written, typed] = [branchOf(branch ?? ''), branchOf(own.branch ?? '')]
  return written === '' || typed === '' || written === typed
}

/** Code of Caixa, which writes the kind of the account, three or four digits, between branch and number. */
const caixa = '104'

/** Tells whether a number begins with the branch: "0341123456" for account 12345-6 of branch 0341. */
const isAfterBranch = (written: string, { bankCode, branch }: OwnAccount, number: string): boolean => {
  const kind = bankCode === caixa ? '([0-9]{3,4})?' : ''
  return [significant(branch ?? ''), branchOf(branch ?? '')].some(
    (prefix) => prefix !== '' && new RegExp(`^${prefix}${kind}0*${number}$`).test(written),
  )
}

/**
 * Tells whether a file speaks of an account. Banks write its number with its check digit, alone or after the branch, with zeros before either, and with or
 * without hyphens. A longer number that merely ends alike is another account. Details that the account does not have are not compared.
 */
export const isOfAccount = ({ bank, branch = null, account }: WrittenAccount, own: OwnAccount): boolean => {
  if (!isBank(bank, own)) return false
  const apart = /^\s*([0-9A-Z-]+)\s*[/\s]\s*([0-9A-Z.-]+)\s*$/i.exec(account ?? '')
  if (!isBranch(apart?.[1] ?? branch, own)) return false
  const [written, number] = [significant(apart?.[2] ?? account ?? ''), significant(own.number ?? '')]
  return written === '' || number === '' || written === number || isAfterBranch(written, own, number)
}
