import { plainWords } from './statement-text.ts'

/** A rule that books a line of a bank statement without a person, or suggests a booking. The first rule that fits counts. */
export type MatchRule = {
  name: string
  when: {
    direction: 'in' | 'out' | 'any'
    /** Words that must all occur; accents and capitals do not matter. */
    textContains: string[]
    /** Minor units, without their sign. */
    amountFrom?: number
    amountTo?: number
    counterpartyDocument?: string
  }
  then: { accountId: string; costCenterId?: string | null; description?: string }
  /** Books by itself; else it is a suggestion. */
  automatic: boolean
}

const digits = (document: string) => document.replaceAll(/\D/g, '')

/** The first rule that fits a line; null where none does. */
export const ruleFor = (
  rules: readonly MatchRule[],
  line: { amount: number; text: string; counterpartyDocument: string | null },
): MatchRule | null => {
  const words = plainWords(line.text)
  const size = Math.abs(line.amount)
  const fits = ({ when }: MatchRule) =>
    (when.direction === 'any' || (when.direction === 'in') === line.amount > 0) &&
    when.textContains.every((word) => plainWords(word) !== '' && words.includes(plainWords(word))) &&
    size >= (when.amountFrom ?? 0) &&
    size <= (when.amountTo ?? Number.MAX_SAFE_INTEGER) &&
    (when.counterpartyDocument === undefined ||
      (line.counterpartyDocument !== null && digits(line.counterpartyDocument) === digits(when.counterpartyDocument)))
  return rules.find(fits) ?? null
}
