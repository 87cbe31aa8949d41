import { events } from '../../../config/events/all.ts'
import type { Event } from '../../../config/events/event.ts'
import { subjectFacts } from '../../../config/subjects.ts'

const byType = new Map(events.map((event) => [event.type, event]))
const prefixOf = (type: string) => type.slice(0, type.indexOf('.'))
const prefixes = new Set(events.map(({ type }) => prefixOf(type)))

/** All types in the order of their names. */
export const eventTypes: readonly Event[] = events.toSorted((one, other) => (one.type < other.type ? -1 : 1))

export const eventOf = (type: string): Event | undefined => byType.get(type)

/** Tells whether a pattern (a type, `<entity>.*` or `*`) matches some type. */
export const matchesSome = (pattern: string): boolean =>
  pattern === '*' || (pattern.endsWith('.*') ? prefixes.has(pattern.slice(0, -2)) : byType.has(pattern))

export const isExact = (pattern: string): boolean => !pattern.endsWith('*')

/** Tells whether a type is shown where these features are active. */
export const isOffered = ({ subject }: Event, features: readonly string[]): boolean => {
  const { feature } = subjectFacts(subject)
  return feature === null || features.includes(feature)
}

const matches = (pattern: string, type: string) =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && prefixOf(type) === pattern.slice(0, -2))

/** Tells whether one of the patterns means the type. */
export const matchesAny = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => matches(pattern, type))

/** A choice of events: patterns of types, the subjects that it may tell of, and properties; an empty list means all of them. */
export type Choice = { types: readonly string[]; subjects: readonly string[]; propertyIds: readonly string[] }

/** Tells whether a choice holds an event. Events without a property always pass. */
export const isChosen = (
  { types, subjects, propertyIds }: Choice,
  { type, propertyId }: { type: string; propertyId: string | null },
): boolean => {
  const event = byType.get(type)
  if (!event || !subjects.includes(event.subject)) return false
  if (propertyId !== null && propertyIds.length > 0 && !propertyIds.includes(propertyId)) return false
  return matchesAny(types, type)
}

/** Types of a choice that are shown where these features are active. */
export const typesChosen = (choice: Pick<Choice, 'types' | 'subjects'>, features: readonly string[]): string[] =>
  eventTypes
    .filter((event) => isOffered(event, features))
    .filter(({ type }) => isChosen({ ...choice, propertyIds: [] }, { type, propertyId: null }))
    .map(({ type }) => type)
