import { reapHoldsWith } from '../units/inventory.ts'
import { reapHolds } from './expire.ts'

/** Whoever imports this sells rooms, and finds those that overdue holds still take. */
reapHoldsWith(reapHolds)
