const bare = (text: string) => text.replace(/[.\-/ ]/g, '').toUpperCase()

// Letters count as their code less 48, which leaves digits as they are.
const valueOf = (text: string, at: number) => text.charCodeAt(at) - 48

const checkDigit = (text: string, weights: readonly number[]): number => {
  const rest = weights.reduce((sum, weight, at) => sum + weight * valueOf(text, at), 0) % 11
  return rest < 2 ? 0 : 11 - rest
}

const down = (from: number, length: number) => Array.from({ length }, (_, index) => from - index)
const companyWeights = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]

/** Brazil's number of a person, with or without dots: 11 digits, two of them computed. */
export const isCpf = (text: string): boolean => {
  const digits = bare(text)
  if (!/^\d{11}$/.test(digits) || /^(\d)\1+$/.test(digits)) return false
  return (
    checkDigit(digits, down(10, 9)) === valueOf(digits, 9) && checkDigit(digits, down(11, 10)) === valueOf(digits, 10)
  )
}

/** Brazil's number of a company: 12 digits or, since 2026, letters, and two computed digits. */
export const isCnpj = (text: string): boolean => {
  const digits = bare(text)
  if (!/^[0-9A-Z]{12}\d{2}$/.test(digits) || /^(.)\1+$/.test(digits)) return false
  return (
    checkDigit(digits, companyWeights) === valueOf(digits, 12) &&
    checkDigit(digits, [6, ...companyWeights]) === valueOf(digits, 13)
  )
}
