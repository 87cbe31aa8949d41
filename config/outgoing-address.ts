import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { settings } from './env.ts'
import { isPublicAddress } from './public-address.ts'

/** Rules of R14 of webhooks: the one that an address breaks. */
export type AddressRule =
  | 'not_https'
  | 'user_info_refused'
  | 'port_not_allowed'
  | 'address_not_public'
  | 'name_not_found'

export class AddressRefused extends Error {
  readonly code: AddressRule
  constructor(code: AddressRule) {
    super(code)
    this.name = 'AddressRefused'
    this.code = code
  }
}

/** `timeoutMs`: how long calls to it may take where they say nothing else. `ca`: calls go to it by TLS, and this certificate proves it as localhost. */
export type Peer = { host: string; port: number; timeoutMs?: number; ca?: string }
const peers = new Map<string, Omit<Peer, 'host'>>()

/**
 * For code that starts a process of development or a test only: calls to `host` go to a peer on 127.0.0.1, as plain
 * HTTP unless it has a certificate. Every other rule stands. Answers how to take it back.
 */
export const standIn = ({ host, ...peer }: Peer): (() => void) => {
  peers.set(host, peer)
  return () => void peers.delete(host)
}

export const peerOf = (host: string): Omit<Peer, 'host'> | undefined => peers.get(host)

export type Found = { address: string; family: number }[]
export type Resolve = (host: string) => Promise<Found>
export const resolveByDns: Resolve = (host) => lookup(host, { all: true })

export type Judging = {
  /** Lifts all rules; never in production. */
  allowPrivate?: boolean
  resolve?: Resolve
  signal?: AbortSignal
}

const ports = new Set(['', '443', '8443'])

/** Judges an address by its text alone: scheme, user info and port. Throws AddressRefused. */
const judgeText = (url: URL, allowPrivate: boolean): void => {
  const schemes = allowPrivate ? ['https:', 'http:'] : ['https:']
  if (!schemes.includes(url.protocol)) throw new AddressRefused('not_https')
  if (url.username !== '' || url.password !== '') throw new AddressRefused('user_info_refused')
  if (!allowPrivate && !ports.has(url.port)) throw new AddressRefused('port_not_allowed')
}

/** The host without the brackets of an IPv6 address. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

const until = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const give = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    if (signal.aborted) give()
    else signal.addEventListener('abort', give, { once: true })
  })

/** The addresses of a host, judged. One private address is enough to refuse, since any of them might be taken. */
const judgedAddresses = async (
  host: string,
  { allowPrivate = false, resolve = resolveByDns, signal }: Judging,
): Promise<Found> => {
  const asked = () => (signal ? Promise.race([resolve(host), until(signal)]) : resolve(host))
  const found = isIP(host) === 0 ? await asked() : [{ address: host, family: isIP(host) }]
  if (found.length === 0 || (!allowPrivate && !found.every(({ address }) => isPublicAddress(address))))
    throw new AddressRefused('address_not_public')
  return found
}

/**
 * The destination of a call to an address: a peer of this process, or the addresses that its host has now. A caller connects to these very addresses,
 * so that the name cannot lead elsewhere the second time. Throws AddressRefused, or the error of the name service.
 */
export const placeOf = async (url: URL, judging: Judging = {}): Promise<number | Found> => {
  const { allowPrivate = settings.allowPrivateAddresses } = judging
  judgeText(url, allowPrivate)
  return peerOf(url.hostname)?.port ?? (await judgedAddresses(bareHost(url), { ...judging, allowPrivate }))
}

const longestMs = 3_000

/** The rule that an address breaks as it stands now, or null. For the time when it is saved; each call judges it again. */
export const ruleBrokenBy = async (url: URL, judging: Judging = {}): Promise<AddressRule | null> => {
  try {
    await placeOf(url, { signal: AbortSignal.timeout(longestMs), ...judging })
    return null
  } catch (error) {
    return error instanceof AddressRefused ? error.code : 'name_not_found'
  }
}
