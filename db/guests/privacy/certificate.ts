import { createHash } from 'node:crypto'
import { signToken } from '../../../config/tokens.ts'
import type { Trx } from '../../lib/connection.ts'
import { blindIndex } from '../../lib/sealing/index.ts'
import type { PlanItem } from './plan.ts'

/** Proof of what was done, without a word about the person (R24). */
export type Certificate = {
  privacyRequestId: string
  kind: 'erasure' | 'correction' | 'access'
  /** HMAC of the guest's id under a key of the tenant. */
  guest: string
  receivedAt: string
  decidedAt: string
  completedAt: string
  erased: { table: string; rows: number }[]
  kept: Pick<PlanItem, 'table' | 'keep' | 'basis' | 'until'>[]
  /** SHA-256 of all fields above as JSON. */
  sha256: string
}

const lastsSeconds = 50 * 366 * 86_400

/** A certificate, and the same signed by the keys of the service: a token (PASETO v4.public) that anyone can verify. */
export const certify = async (
  trx: Trx,
  facts: Omit<Certificate, 'guest' | 'sha256'> & { guestId: string },
): Promise<{ certificate: Certificate; token: string }> => {
  const { guestId, ...said } = facts
  const guest = blindIndex(trx, 'guest', guestId).toString('hex')
  const { privacyRequestId, kind, receivedAt, decidedAt, completedAt, erased, kept } = said
  const whole = { privacyRequestId, kind, guest, receivedAt, decidedAt, completedAt, erased, kept }
  const sha256 = createHash('sha256').update(JSON.stringify(whole)).digest('hex')
  const token = await signToken(
    'certificate',
    { sub: privacyRequestId, sha256, kind, guest, completedAt },
    lastsSeconds,
  )
  return { certificate: { ...whole, sha256 }, token }
}
