import type { AnyRoute } from './route.ts'

/** Ids that begin with a noun, or with a verb of two words. */
const worded: Record<string, readonly [verb: string, rest: string]> = {
  access: ['request', 'Access'],
  allotment: ['set', 'Allotment'],
  callback: ['receive', 'Callback'],
  checkIn: ['checkIn', ''],
  checkOut: ['checkOut', ''],
  fromFolios: ['create', 'FromFolios'],
  goLive: ['goLive', ''],
  list: ['list', ''],
  noShow: ['mark', 'NoShow'],
  onboardingLink: ['create', 'OnboardingLink'],
  paymentMethod: ['set', 'PaymentMethod'],
  read: ['get', ''],
  readExport: ['get', 'Export'],
  roomingList: ['import', 'RoomingList'],
  routing: ['set', 'Routing'],
  satisfaction: ['rate', ''],
  signIn: ['signIn', ''],
  signOut: ['signOut', ''],
  softClose: ['softClose', ''],
  tenantContext: ['set', 'TenantContext'],
  writeOff: ['writeOff', ''],
}

const pascal = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

const singular = (word: string): string => {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.replace(/(?<=ss|sh|ch|x)es$|(?<!s)s$/, '')
}

/** Tells whether an endpoint acts on several records of its group: a list, a set that is replaced, an act on the collection. */
const isOfMany = ({ id, method, path, access: { kind } }: AnyRoute): boolean => {
  if (id.endsWith('.list')) return true
  if (id.endsWith('.create') || (kind !== 'tenant' && kind !== 'superuser')) return false
  const [beforeLast = '', last = ''] = path.split('/').slice(-2)
  const namesRecord = last.startsWith(':') || (beforeLast.startsWith(':') && beforeLast !== ':tenantId')
  const group = id.split('.').at(-2) ?? ''
  const isCollection = group.toLowerCase().endsWith(last.replaceAll('-', '').toLowerCase())
  // A set is replaced whole; what else is put belongs to the record before it.
  if (method === 'PUT') return isCollection || !namesRecord
  return !namesRecord && !(isCollection && method === 'POST')
}

/**
 * The name of a route's operation in the document, and so of a method in generated clients: verb, record and rest, such as `listReservations`,
 * `getUnitType`, `archivePolicy`, `updatePropertySettings` or `signIn`. The words are those of the route's id; path and method say whether the
 * record stands in the plural.
 */
export const operationName = (route: AnyRoute): string => {
  const [act = '', ...reversed] = route.id.split('.').toReversed()
  const group = reversed
    .toReversed()
    .filter((word) => word !== 'auth')
    .map(pascal)
    .join('')
  const record = isOfMany(route) ? group : singular(group)
  const known = worded[act]
  if (known) return `${known[0]}${record}${known[1]}`
  if (route.method === 'GET') return `get${record}${pascal(act)}`
  const verb = act.replace(/[A-Z].*$/, '')
  return `${verb}${record}${act.slice(verb.length)}`
}
