/** Personal data at rest: sealed by keys that can be destroyed, found by blind indexes. */
export { blindIndex, blindIndexOf } from './blind-index.ts'
export { blobs } from './blob.ts'
export {
  createGuestKeys,
  destroyGuestKey,
  KeyDestroyed,
  renewRetentionKey,
  rewrapKeys,
  tenantsToRewrap,
} from './keys.ts'
export { sealForService, unsealForService } from './master.ts'
export { normaliseName, plainTerm, plainText } from './normalise.ts'
export { seal, sealBytes, unseal, unsealBytes, unsealGuests } from './seal.ts'
export type { SealingKey } from './seal.ts'
export {
  isReceipt,
  makeTransportPair,
  receiptHash,
  receiveIndexKey,
  receiveKey,
  receiveSealed,
  sendIndexKey,
  sendKey,
  sendSealed,
  transportFrom,
  transportTo,
} from './transport.ts'
export type { Transport } from './transport.ts'
