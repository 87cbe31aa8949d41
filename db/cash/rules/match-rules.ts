/** How a line of a bank statement is booked without a person, or what is suggested for it. The first rule that fits counts. */
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
