/** Figures frozen at the close of a day. Other modules and the edges import this file alone. */
export { dayTotals, snapshotDay } from './snapshot.ts'
