import type { Schema, Static } from '../schema.ts'
import { Day, List, Matching, Obj, SignedAmount, Text } from '../schema.ts'
import type { SubjectName } from '../subjects.ts'

/**
 * A module that is told of an event in the transaction of the fact, by a job of its own. `ocp` runs automations and plans the dated messages of the stay;
 * `ocp plans` does the latter alone.
 */
export type Listener = 'ocp' | 'ocp plans' | 'issues' | 'issues ended' | 'kits' | 'meals'

/** One thing that can have happened, `<entity>.<past participle>`. The type is permanent. */
export type Event<S extends Schema = Schema> = {
  readonly type: string
  /** The kind of record that it happened to, in snake case. */
  readonly entity: string
  /** The subject whose readers may see it. Module and feature follow from it. */
  readonly subject: SubjectName
  /** Ids, numbers, codes, dates and amounts; never names of people, addresses or free text. */
  readonly data: S
  readonly listeners: readonly Listener[]
  /** Listeners are not told of an event for which this answers false. */
  isHeard?(this: void, data: Static<S>): boolean
}

export type DataOf<E> = E extends Event<infer S> ? Static<S> : never

type Declaration<S extends Schema> = Omit<Event<S>, 'listeners'> & { readonly listeners?: readonly Listener[] }

export const event = <S extends Schema>(declaration: Declaration<S>): Event<S> => ({ listeners: [], ...declaration })

/** A code, a number or a key that we or the tenant have given: one word, so that no sentence passes as one. */
export const Code = Matching('^[^\\s@]{1,100}$', 100)

/** The house's own word for a unit or a pool, such as "101" or "Doubles by the sea". */
export const UnitName = Text(1, 100)

/** Of more nights, events tell the first ones. */
export const mostNights = 92

/** Nights of a pool and how many units each is about. */
export const Nights = List(Obj({ date: Day, units: SignedAmount }), { max: mostNights })
