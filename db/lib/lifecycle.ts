import { conflict } from '../../config/errors.ts'

/** A command of a document: the states it may be given in, and the state it leads to where it changes the state. */
type Move<Status> = { from: readonly Status[]; to?: Status }

const words = (status: string) => status.replaceAll('_', ' ')

/**
 * The moves of a document in one declaration, keyed by the participles of their commands. `isDue` tells whether a move is still to be made:
 * false in its target state, so that a repeated command changes nothing. In a state that a move does not start from, `isDue` and `allow`
 * refuse it with 409 `invalid_transition`.
 *
 * @param document with its article, such as `A promo code`
 */
export const lifecycle =
  <Status extends string>(document: string) =>
  <Command extends string>(moves: Record<Command, Move<Status>>) => {
    const allow = (command: Command, status: Status): void => {
      const { from } = moves[command]
      if (from.includes(status)) return
      throw conflict('invalid_transition', `${document} that is ${words(status)} cannot be ${command}`, [
        { field: 'status', message: `must be ${from.map(words).join(' or ')}` },
      ])
    }
    const isDue = (command: Command, status: Status): boolean => {
      if (status === moves[command].to) return false
      allow(command, status)
      return true
    }
    return { isDue, allow }
  }

/** The moves of a document that is in use until it is archived, and may be restored. */
export const archivable = (document: string) =>
  lifecycle<'active' | 'archived'>(document)({
    changed: { from: ['active'] },
    archived: { from: ['active'], to: 'archived' },
    restored: { from: ['archived'], to: 'active' },
  })
