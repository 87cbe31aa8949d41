import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { settings } from '../../config/env.ts'

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

const networkOf = (text: string): Network =>
  text.includes('/') ? ipaddr.parseCIDR(text) : [ipaddr.process(text), ipaddr.process(text).kind() === 'ipv4' ? 32 : 128]

const trusted: Network[] = settings.trustedProxies.map(networkOf)

const plain = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | null => {
  const bare = text.trim().replace(/^\[|\](:\d+)?$/g, '').replace(/%.*$/, '')
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null
}

export const isWithin = (address: string, networks: readonly string[]): boolean => {
  const parsed = plain(address)
  return parsed !== null && networks.map(networkOf).some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
}

const isTrusted = (address: ipaddr.IPv4 | ipaddr.IPv6) => trusted.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))

/** The address of the client: the last hop that is not a trusted proxy. A forged X-Forwarded-For in front of it is not read. */
export const clientAddress = (message: IncomingMessage): string => {
  const socket = plain(message.socket.remoteAddress ?? '') ?? ipaddr.parse('0.0.0.0')
  if (!isTrusted(socket)) return socket.toString()
  const hops = String(message.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map(plain)
  let last: ipaddr.IPv4 | ipaddr.IPv6 = socket
  for (const hop of hops.reverse()) {
    if (!hop) break
    last = hop
    if (!isTrusted(hop)) break
  }
  return last.toString()
}

const masked = (address: string, v4: number, v6: number): string => {
  const parsed = plain(address) ?? ipaddr.parse('0.0.0.0')
  const bits = parsed.kind() === 'ipv4' ? v4 : v6
  const network = parsed.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${bits}`) : ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${bits}`)
  return `${network.toString()}/${bits}`
}

/** What counts as one client: an IPv4 address, or an IPv6 network of 64 bits. */
export const clientOf = (address: string): string => masked(address, 32, 64)
/** The neighbourhood of a client: /24 or /48. Also how addresses are shown and kept in the trail. */
export const neighbourhoodOf = (address: string): string => masked(address, 24, 48)
