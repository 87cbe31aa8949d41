/** The feed of events, and its deliveries to addresses of the tenant. Other modules and the edges import this file alone. */
export { listDeliveries, readDelivery, redeliver } from './deliveries.ts'
export {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  pauseEndpoint,
  readEndpoint,
  resumeEndpoint,
  rotateSecret,
  testEndpoint,
} from './endpoints.ts'
export { fixedPlace, hasNews, readFeed } from './feed.ts'
export type { Sight } from './feed.ts'
export { beginReplay, stepReplay } from './replay.ts'
export { eventOf, eventTypes, isExact, isOffered, matchesAny, matchesSome } from './rules/types.ts'
export { signatureOf } from './rules/secrets.ts'
export { pingOf, recordPing } from './pings.ts'
export { isSuccess } from './health.ts'
export type { Answer } from './health.ts'
export { holdEndpoint, recordAnswers } from './record.ts'
export { beginSending, endSending, freeSlot, giveSlot, nextSending } from './send.ts'
export type { Call, Sending } from './send.ts'
export { numberedAtOnce, numberEvents, unnumberedTenants } from './sequence.ts'
