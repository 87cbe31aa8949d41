import { appendFileSync } from 'node:fs'

/** Commands of the desk that the campaign knows, by the ids of their routes. */
export type DeskAction =
  | 'reservations.checkIn'
  | 'reservations.revertCheckIn'
  | 'reservations.move'
  | 'reservations.checkOut'
  | 'reservations.revertCheckOut'
  | 'reservations.noShow'

/** A command that a client asked for, and the answer that it got in the end. */
export type Command = {
  /** Of all its tries: the service writes it beside every effect. */
  requestId: string
  action:
    | 'public.reservations.hold'
    | 'public.createPayment'
    | 'public.reservations.cancel'
    | 'bookings.create'
    | DeskAction
  key: string
  /** accepted: told so; refused: told no; unknown: no answer, or none that says whether it was done. */
  outcome: 'accepted' | 'refused' | 'unknown'
  status: number | null
  code: string | null
  /** Of the booking, of the payment, or of the reservation at the desk. */
  subject: string | null
  bookingId: string | null
  email: string
  tries: number
  /** Replies that said yes and did not say the same. */
  differing: number
}

/** A reply that no fault excuses: 5xx that is not 503. */
export type Wrong = { at: string; method: string; path: string; status: number; body: string; requestId: string }

export type Ledger = {
  commands: Command[]
  wrong: Wrong[]
  command: (command: Command) => void
  fail: (wrong: Wrong) => void
}

/** The clients' own record, in a file too. */
export const openLedger = (file: string): Ledger => {
  const commands: Command[] = []
  const wrong: Wrong[] = []
  const write = (line: object) => appendFileSync(file, `${JSON.stringify(line)}\n`)
  return {
    commands,
    wrong,
    command: (command) => {
      commands.push(command)
      write(command)
    },
    fail: (one) => {
      wrong.push(one)
      write({ wrong: one })
    },
  }
}
