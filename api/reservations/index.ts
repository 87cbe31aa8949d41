import { routes as amendments } from './amendments.ts'
import { routes as bookingCommands } from './booking-commands.ts'
import { routes as deposits } from './deposits.ts'
import { routes as frontDesk } from './front-desk.ts'
import { routes as list } from './list.ts'
import { routes as notes } from './notes.ts'
import { routes as quotes } from './quotes.ts'
import { routes as read } from './read.ts'
import { routes as stayCommands } from './stay-commands.ts'
import { routes as stayExtras } from './stay-extras.ts'
import { routes as stayParts } from './stay-parts.ts'
import { routes as waitlist } from './waitlist.ts'

/** Endpoints of bookings, stays and the front desk. */
export const routes = [
  ...list,
  ...read,
  ...notes,
  ...frontDesk,
  ...waitlist,
  ...bookingCommands,
  ...stayCommands,
  ...deposits,
  ...quotes,
  ...stayParts,
  ...stayExtras,
  ...amendments,
]
