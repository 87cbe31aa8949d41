import { createHash } from 'node:crypto'
import { InspectFooter, PublicProtocol } from 'paseto'
import {
  GetPublicKeyFactory,
  ImportPublicKeyFactory,
  ImportSecretKeyFactory,
  SignFactory,
  VerifyFactory,
} from 'paseto/v4/public'
import type { PublicKey, SecretKey } from 'paseto/v4/public'
import { openClaims, sealClaims } from './derived-secrets.ts'
import { settings } from './env.ts'

/** PASETO v4.public behind one file: what a token is for is part of what is signed, so none passes for another. */
export type Purpose = 'access' | 'quote' | 'guest' | 'registration' | 'certificate'

export type Claims = { [key: string]: unknown; iat: string; exp: string; jti?: string; sub?: string }
export type Verified = { ok: true; claims: Claims; issuedAt: Date; expiresAt: Date } | { ok: false; expired: boolean }

const protocol = new PublicProtocol(
  SignFactory,
  VerifyFactory,
  ImportSecretKeyFactory,
  ImportPublicKeyFactory,
  GetPublicKeyFactory,
)

type Keyring = { active: { id: string; secret: SecretKey } | null; verifying: Map<string, PublicKey> }
let ring: Promise<Keyring> | null = null

const load = async (): Promise<Keyring> => {
  const verifying = new Map<string, PublicKey>()
  let active: Keyring['active'] = null
  for (const { id, status, paserk } of settings.pasetoKeys) {
    if (verifying.has(id)) throw new Error(`PASETO_KEYS: the id ${id} stands twice`)
    if (paserk.startsWith('k4.secret.')) {
      const secret = await protocol.ImportSecretKey(paserk as `k4.secret.${string}`)
      verifying.set(id, await protocol.GetPublicKey(secret))
      if (status === 'active') {
        if (active) throw new Error('PASETO_KEYS: exactly one key is active')
        active = { id, secret }
      }
    } else verifying.set(id, await protocol.ImportPublicKey(paserk as `k4.public.${string}`))
  }
  return { active, verifying }
}

const keyring = () => (ring ??= load())

const encoder = new TextEncoder()
const audience: Record<Purpose, string> = {
  access: `pousada-api:${settings.env}`,
  quote: `pousada-quote:${settings.env}`,
  guest: `pousada-guest:${settings.env}`,
  registration: `pousada-registration:${settings.env}`,
  certificate: `pousada-certificate:${settings.env}`,
}
const longest: Record<Purpose, number> = {
  access: 2_048,
  guest: 2_048,
  quote: 40_000,
  registration: 2_048,
  certificate: 20_000,
}
/** Strangers hold these: they read when a token ends, and nothing else of it. */
const sealed = new Set<Purpose>(['quote', 'guest', 'registration'])

const assertion = (purpose: Purpose) => encoder.encode(`pousada:${purpose}:v1`)

/** Signs claims for a purpose, sealed where strangers hold the token. `ttlSeconds` is the life of the token; what is given as `jti` or `sub` is kept. */
export const signToken = async (
  purpose: Purpose,
  claims: Record<string, unknown>,
  ttlSeconds: number,
  now = new Date(),
): Promise<string> => {
  const { active } = await keyring()
  if (!active) throw new Error('PASETO_KEYS holds no active secret key')
  return protocol.Sign(
    active.secret,
    {
      ...((sealed.has(purpose) ? { sealed: sealClaims(claims) } : claims) as Record<string, string>),
      iss: 'pousada',
      aud: audience[purpose],
    },
    {
      footer: encoder.encode(JSON.stringify({ kid: active.id })),
      implicitAssertion: assertion(purpose),
      now,
      expiresIn: ttlSeconds,
      addIssuedAt: true,
    },
  )
}

const refused: Verified = { ok: false, expired: false }

const keyOf = async (token: string): Promise<PublicKey | undefined> => {
  const footer = InspectFooter(token)
  if (footer.length === 0 || footer.length > 64) return undefined
  const parsed: unknown = JSON.parse(new TextDecoder().decode(footer))
  if (
    typeof parsed !== 'object' ||
    parsed === null ||
    Object.keys(parsed).length !== 1 ||
    !('kid' in parsed) ||
    typeof parsed.kid !== 'string'
  )
    return undefined
  return (await keyring()).verifying.get(parsed.kid)
}

const verify = async (purpose: Purpose, token: string, now: Date): Promise<Verified> => {
  if (token.length > longest[purpose] || !token.startsWith('v4.public.')) return refused
  const key = await keyOf(token)
  if (!key) return refused
  // The clock is looked at here and not in the library, so that an otherwise good token can be told from a bad one.
  const { claims } = await protocol.Verify(key, token, {
    implicitAssertion: assertion(purpose),
    audience: audience[purpose],
    issuer: 'pousada',
    requiredClaims: ['iat', 'exp'],
    clockTolerance: 400 * 86_400,
    now,
  })
  const issuedAt = new Date(String(claims.iat))
  const expiresAt = new Date(String(claims.exp))
  if (
    Number.isNaN(issuedAt.getTime()) ||
    Number.isNaN(expiresAt.getTime()) ||
    issuedAt.getTime() > now.getTime() + 60_000
  )
    return refused
  if (!sealed.has(purpose)) return { ok: true, claims: claims as Claims, issuedAt, expiresAt }
  const { sealed: inside, ...outside } = claims as Claims & { sealed: string }
  return { ok: true, claims: { ...openClaims(inside), ...outside }, issuedAt, expiresAt }
}

/**
 * Verifies a token of a purpose: signature, key id, audience, times. An expired one is refused with `expired: true`, or, where
 * `allowExpired` is set, answered as it is.
 */
export const verifyToken = async (
  purpose: Purpose,
  token: string,
  { allowExpired = false, now = new Date() } = {},
): Promise<Verified> => {
  try {
    const result = await verify(purpose, token, now)
    if (!result.ok || result.expiresAt > now || allowExpired) return result
    return { ok: false, expired: true }
  } catch {
    return refused
  }
}

/** Names a token in a cache without keeping it. */
export const tokenDigest = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** Reads the keys again; for a process whose settings changed. */
export const reloadKeys = (): void => {
  ring = null
}
