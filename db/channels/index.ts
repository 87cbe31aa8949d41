/** Sales channels: connections, mappings, and what passes in both directions. Other modules and the edges import this file alone. */
export type { ChannelAccount } from './account.ts'
export { applyNow, applyStored } from './apply.ts'
export { changeConnection, createConnection, listConnections, readConnection } from './connections.ts'
export {
  accountToTest,
  activateConnection,
  connected,
  disconnect,
  notConnected,
  pauseConnection,
  syncConnection,
} from './lifecycle.ts'
export { writeMarks } from './marks.ts'
export type { Kind } from './marks.ts'
export { acknowledged, beginPull, pullFailed, storePulled, unacknowledged } from './pull.ts'
export type { Fetched } from './pull.ts'
export { beginPush, isClosingOut, listPushes, pushArrived, pushFailed, pushLater } from './push.ts'
export type { Refusal } from './push.ts'
export { deliverRevision, dismissRevision, listRevisions, readRevision, revealPayloads } from './revisions.ts'
export { dueChannels, erasablePayloads, erasePayloads, keepUp, purgePushes, tenantsWithOldPushes } from './upkeep.ts'
