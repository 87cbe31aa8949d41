/** Figures frozen at the close of a day, and what is read from the ledger. Other modules and the edges import this file alone. */
export { dayTotals, snapshotDay } from './snapshot.ts'
export { markRates } from './exchange.ts'
export { readReport } from './read.ts'
