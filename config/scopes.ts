import { actionsOf, subjectFacts, subjects } from './subjects.ts'

/** Subjects that no API key reaches, whatever its scopes. */
export const neverByKey: ReadonlySet<string> = new Set(['User', 'Role', 'ApiKey', 'Subscription', 'AddOn'])

const ofPeople = new Set(['approve', 'override', 'reveal', 'purchase'])
const withoutScope = new Set(['auth', 'admin', 'public'])

const scopedModules = [...new Set(Object.values(subjects).map(({ module }) => module))]
  .filter((module) => !withoutScope.has(module))
  .toSorted()

/** Every scope that a key can have. */
export const scopes: readonly string[] = [
  'read',
  'write',
  'guests:reveal',
  'channel:deliver',
  ...scopedModules.flatMap((module) => [`${module}:read`, `${module}:write`]),
]

/** Tells whether these scopes give an action on a subject. Every key may read its tenant. */
export const scopesAllow = (given: readonly string[], action: string, subject: string): boolean => {
  if (neverByKey.has(subject)) return false
  const { module } = subjectFacts(subject)
  if (subject === 'Tenant' && action === 'read') return true
  if (given.includes('guests:reveal') && subject === 'Guest' && action === 'reveal') return true
  if (
    given.includes('channel:deliver') &&
    ((subject === 'ChannelBooking' && action === 'create') ||
      (['Availability', 'RateCalendar'].includes(subject) && action === 'read'))
  )
    return true
  if (withoutScope.has(module) || ofPeople.has(action)) return false
  const verb = action === 'read' ? 'read' : 'write'
  return given.includes(verb) || given.includes(`${module}:${verb}`)
}

/** Permissions that scopes give, subject by subject. */
export const permissionsOfScopes = (given: readonly string[]): { subject: string; actions: string[] }[] =>
  Object.keys(subjects)
    .map((subject) => ({
      subject,
      actions: actionsOf(subject).filter((action) => scopesAllow(given, action, subject)),
    }))
    .filter(({ actions }) => actions.length > 0)
