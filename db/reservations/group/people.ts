import { ApiError, invalid } from '../../../config/errors.ts'
import { createGuests, resolveGuests } from '../../guests/index.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Named } from '../party.ts'

/** Guests of a room, its booker first. */
export type People = { guestId: string; age: number | null }[]
type WithGuests = { guests: readonly Named[] }

const refuseNamedTwice = (people: People): People => {
  const twice = people.findIndex((one, place) => people.findIndex((other) => other.guestId === one.guestId) < place)
  if (twice >= 0) throw invalid([{ field: `guests.${twice}`, message: 'is named twice' }])
  return people
}

/** The people of rows: those that are named by id are held against erasure, those that are described are made, all in the same few statements. */
export const peopleOf = async (trx: Trx, rows: readonly WithGuests[], language: string): Promise<People[]> => {
  const guests = rows.flatMap((row) => row.guests)
  if (rows.some((row) => row.guests.length === 0)) throw invalid([{ field: 'guests', message: 'must not be empty' }])
  // Errors are told of one row at a time, so fields begin at the row.
  const placeOf = (one: Named) => `guests.${rows.find((row) => row.guests.includes(one))?.guests.indexOf(one) ?? 0}.`
  const byId = (id: string) => guests.find((one) => 'guestId' in one && one.guestId === id)
  const known = await resolveGuests(
    trx,
    guests.flatMap((one) => ('guestId' in one ? [one.guestId] : [])),
    (id) => `${placeOf(byId(id) ?? guests[0]!)}guestId`,
  )
  const described = guests.flatMap((one) => ('guestId' in one ? [] : [one]))
  const made = await createGuests(
    trx,
    described.map(({ age: _age, ...person }) => ({ language, ...person, source: 'staff' as const })),
    { fieldOf: (index) => (described[index] ? placeOf(described[index]) : '') },
  )
  const idOf = new Map<Named, string>(described.map((one, index) => [one, made[index]!]))
  return rows.map((row) =>
    refuseNamedTwice(
      row.guests.map((one) => ({
        guestId: ('guestId' in one ? known.get(one.guestId) : idOf.get(one)) ?? '',
        age: one.age ?? null,
      })),
    ),
  )
}

/**
 * Does something for all rows at once. Where that is refused, nothing of it is left, and each half of the rows is tried by itself, down to the rows that are
 * at fault: the others are done as if those were not there.
 */
export const inHalves = async <Row>(
  trx: Trx,
  rows: readonly Row[],
  work: (rows: readonly Row[]) => Promise<void>,
  refused: (row: Row, error: ApiError) => void,
): Promise<void> => {
  const [first] = rows
  if (first === undefined) return
  await sql(trx, `savepoint rooming_rows`)
  try {
    await work(rows)
    await sql(trx, `release savepoint rooming_rows`)
    return
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await sql(trx, `rollback to savepoint rooming_rows`)
    await sql(trx, `release savepoint rooming_rows`)
    if (rows.length === 1) return refused(first, error)
  }
  const half = Math.ceil(rows.length / 2)
  await inHalves(trx, rows.slice(0, half), work, refused)
  await inHalves(trx, rows.slice(half), work, refused)
}
