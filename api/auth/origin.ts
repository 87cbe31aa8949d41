import type { Origin } from '../../db/auth/index.ts'
import { clientOf, neighbourhoodOf } from '../lib/address.ts'

/** Where a sign-in comes from: the client, and its neighbourhood. */
export const originOf = ({ address }: { address: string }): Origin => ({
  address: clientOf(address).replace(/\/\d+$/, ''),
  network: neighbourhoodOf(address),
})
