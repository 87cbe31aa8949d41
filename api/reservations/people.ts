import { invalid } from '../../config/errors.ts'
import type { Static } from '../../config/schema.ts'
import type { NewRoom, Quoted } from '../../db/reservations/index.ts'
import type { NamedPerson, QuotedRoomWords, Room } from './requests.ts'

type Person = Static<typeof NamedPerson>
type Named = NonNullable<NewRoom['guests']>[number]

/** A person of a request: by `guestId` alone, or by a first name and what is known of them. */
export const personOf = ({ guestId, age, ...person }: Person, field: string): Named => {
  const { firstName, ...rest } = person
  const given = Object.keys(person)
  if (guestId !== undefined) {
    if (given.length > 0)
      throw invalid([{ field: `${field}.${given[0]}`, message: 'is not sent beside guestId: the profile has it' }])
    return { guestId, age }
  }
  if (firstName === undefined) throw invalid([{ field: `${field}.firstName`, message: 'is required without guestId' }])
  return { firstName, age, ...rest }
}

/** A room of a request as the commands take it. */
export const roomOf = ({ guests, extras = [], requests, ...room }: Room, field: string): NewRoom => ({
  ...room,
  extras,
  guests: guests?.map((person, place) => personOf(person, `${field}guests.${place}`)),
  requests: requests === undefined || requests.trim() === '' ? null : requests,
})

/** Details of a quoted room, as the commands take them. */
export const quotedOf = ({ guests, requests, ...room }: Static<typeof QuotedRoomWords>, field: string): Quoted => ({
  ...room,
  guests: guests?.map((person, place) => personOf(person, `${field}guests.${place}`)),
  requests: requests === undefined || requests.trim() === '' ? null : requests,
})
