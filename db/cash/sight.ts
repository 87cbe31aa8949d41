/** The rights of a caller over registers. */
export type Sight = {
  /** They approve sessions, so blind ones hide nothing from them. */
  mayApprove: boolean
  /** Set where the caller sees and records money of their own sessions alone. */
  ownOf: string | null
  /** Documents of other parties are shown whole. */
  reveals: boolean
}

/** A number of another party, with what tells it from others left. */
export const maskDocument = (document: string): string => `***${document.slice(-2)}`
