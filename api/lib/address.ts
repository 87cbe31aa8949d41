import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { settings } from '../../config/env.ts'

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Reads `192.0.2.0/24`, or one address. */
export const networkOf = (text: string): Network =>
  text.includes('/')
    ? ipaddr.parseCIDR(text)
    : [ipaddr.process(text), ipaddr.process(text).kind() === 'ipv4' ? 32 : 128]

const octet = '(0|[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-5])'
const quad = new RegExp(`^${Array(4).fill(octet).join('\\.')}$`)

/** One plain address; a port behind it and the zone of an IPv6 address are cut off. Short and octal forms of IPv4 are none. */
const plain = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | null => {
  const bare = text
    .trim()
    .replace(/^\[(.*)\](:\d{1,5})?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/, '$1')
    .replace(/%.*$/, '')
  if (bare.includes(':')) return ipaddr.IPv6.isValid(bare) ? ipaddr.process(bare) : null
  // Each request comes by here, most without a hop: the parser's way to say no is to throw and catch, which costs more than all the rest.
  const octets = quad.exec(bare)
  return octets ? new ipaddr.IPv4(octets.slice(1).map(Number)) : null
}

const covers = (address: ipaddr.IPv4 | ipaddr.IPv6, networks: readonly Network[]) =>
  networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))

export const isAddress = (text: string): boolean => plain(text) !== null

/** Tells whether a text is one address, or a network with nothing behind its mask. */
export const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...more] = text.split('/')
  const isPlain = address.includes(':') ? ipaddr.IPv6.isValid(address) : ipaddr.IPv4.isValidFourPartDecimal(address)
  if (!isPlain || address.includes('%') || more.length > 0) return false
  if (bits === undefined) return true
  const parsed = ipaddr.parse(address)
  const longest = parsed.kind() === 'ipv4' ? 32 : 128
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > longest) return false
  const kind = parsed.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return kind.networkAddressFromCIDR(text).toNormalizedString() === parsed.toNormalizedString()
}

export const isWithin = (address: string, networks: readonly string[]): boolean => {
  const parsed = plain(address)
  return parsed !== null && covers(parsed, networks.map(networkOf))
}

/** The last hop that is not a trusted proxy, of a connection's own address and what X-Forwarded-For says; what was forged in front of it is not read. */
export const lastUntrusted = (connected: string, forwardedFor: string, trusted: readonly Network[]): string => {
  let last = plain(connected) ?? ipaddr.parse('0.0.0.0')
  for (const hop of forwardedFor.split(',').map(plain).reverse()) {
    if (!hop || !covers(last, trusted)) break
    last = hop
  }
  return last.toString()
}

const trustedProxies = settings.trustedProxies.map(networkOf)

export const isTrustedProxy = (address: string): boolean => {
  const parsed = plain(address)
  return parsed !== null && covers(parsed, trustedProxies)
}

/** The address of the client. */
export const clientAddress = (message: IncomingMessage): string =>
  lastUntrusted(message.socket.remoteAddress ?? '', String(message.headers['x-forwarded-for'] ?? ''), trustedProxies)

const masked = (address: string, v4: number, v6: number): string => {
  const parsed = plain(address) ?? new ipaddr.IPv4([0, 0, 0, 0])
  if (parsed instanceof ipaddr.IPv4) {
    const kept = parsed.octets.map((part, at) => part & (0xff00 >> Math.min(8, Math.max(0, v4 - 8 * at))) & 0xff)
    return `${kept.join('.')}/${v4}`
  }
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${v6}`).toString()}/${v6}`
}

/** The client of an address: an IPv4 address, or an IPv6 network of 64 bits. */
export const clientOf = (address: string): string => masked(address, 32, 64)
/** The neighbourhood of a client: /24 or /48. Also how addresses are shown and kept in the trail. */
export const neighbourhoodOf = (address: string): string => masked(address, 24, 48)
