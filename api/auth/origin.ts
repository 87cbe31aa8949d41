import type { Origin } from '../../db/auth/index.ts'
import { clientOf, neighbourhoodOf } from '../lib/address.ts'

/** The origin of a sign-in: the client's address, and its neighbourhood. */
export const originOf = ({ address }: { address: string }): Origin => ({
  address: clientOf(address).replace(/\/\d+$/, ''),
  network: neighbourhoodOf(address),
})
