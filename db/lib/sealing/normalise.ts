const particles = new Set(['de', 'da', 'do', 'dos', 'das', 'e'])

export const normaliseEmail = (value: string) => value.trim().toLowerCase()

/** E.164: a plus and digits. A leading 00 is a plus. */
export const normalisePhone = (value: string) => {
  const digits = value.replace(/\D/g, '')
  return `+${/^\s*00/.test(value) ? digits.slice(2) : digits}`
}

/** Letters and digits in capitals, so that dots and dashes make no difference. */
export const normaliseDocument = (value: string) =>
  value
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** Lower case without accents, single spaces. */
export const plainText = (value: string) =>
  value
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** A text to look for in stored `plainText`. Signs alone stay as they are, and are found nowhere. */
export const plainTerm = (q: string): string => plainText(q) || q

/** The words of a name in one order, without accents and particles: "João da Silva" and "SILVA, Joao" are one name. */
export const normaliseName = (value: string) =>
  plainText(value)
    .split(' ')
    .filter((word) => word !== '' && !particles.has(word))
    .sort()
    .join(' ')
