import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'

// All that is given out for the public IPv6 internet; ranges outside are not all known by a name.
const given = ipaddr.IPv6.parseCIDR('2000::/3')

/** Tells whether an IP address belongs to the public internet. False for text that is none, and for one that leads on to an address inside it. */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(given))
}
