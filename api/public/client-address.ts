import { invalid } from '../../config/errors.ts'
import { clientOf, isAddress } from '../lib/address.ts'
import type { Caller } from '../lib/caller.ts'
import type { RequestFacts } from '../lib/route.ts'

/** Address to count a request against. A portal's own server, known by its key, names the guest's address (R10 of public.md). */
export const clientAddress = (caller: Caller, tenantId: string, request: RequestFacts): string => {
  const named = request.header('x-client-ip')
  if (caller.kind !== 'api_key' || caller.tenantId !== tenantId || named === '') return clientOf(request.address)
  // Guests whose address cannot be read would all count as one, and shut each other out.
  if (!isAddress(named)) throw invalid([{ field: 'X-Client-Ip', message: 'must be one IPv4 or IPv6 address' }])
  return clientOf(named)
}
