import { createHmac, timingSafeEqual } from 'node:crypto'
import { required, settings } from '../../../config/env.ts'

/** Tickets and manifests are of one kind each: the code of one is none of the other. */
export type Sealed = 'ticket' | 'manifest'

/** Proves that bytes come from an installation that has the same MOVE_KEY. */
export const macOf = (kind: Sealed, bytes: Buffer): Buffer =>
  createHmac('sha256', required(settings.moveKey, 'MOVE_KEY')).update(`pousada move ${kind}\0`).update(bytes).digest()

export const isMac = (kind: Sealed, bytes: Buffer, mac: Buffer): boolean => {
  const right = macOf(kind, bytes)
  return mac.length === right.length && timingSafeEqual(mac, right)
}
