import { statusOf } from '../../config/error-codes.ts'
import type { ErrorCode } from '../../config/error-codes.ts'
import { neverByKey } from '../../config/scopes.ts'
import type { Access } from './access/kinds.ts'
import { keyModeOf } from './reply-key.ts'
import type { AnyRoute } from './route.ts'

/** A trait of endpoints, with the codes that it brings. Its name is part of the names of replies in the document. */
type Kind = { name: string; codes: readonly ErrorCode[] }

const kinds = {
  any: {
    name: '',
    codes: ['internal_error', 'rate_limited', 'request_invalid', 'service_unavailable', 'validation_failed'],
  },
  /** Every kind of access takes a key, if only to refuse it. */
  key: { name: '', codes: ['address_not_allowed', 'ambiguous_credentials', 'unauthenticated'] },
  session: { name: 'Session', codes: ['token_expired'] },
  /** A support session touches no account of a person. */
  ownAccount: { name: 'Account', codes: ['forbidden'] },
  tenant: {
    name: 'Tenant',
    codes: ['feature_not_enabled', 'forbidden', 'tenant_context_required', 'tenant_not_active'],
  },
  active: { name: 'Active', codes: ['tenant_suspended'] },
  scoped: { name: 'Scoped', codes: ['scope_missing'] },
  keyless: { name: 'Keyless', codes: ['key_not_allowed'] },
  superuser: { name: 'Superuser', codes: ['forbidden', 'mfa_required'] },
  level: { name: 'Level', codes: ['level_required'] },
  portal: { name: 'Portal', codes: ['feature_not_enabled', 'property_not_found'] },
  portalKey: { name: 'Key', codes: ['tenant_not_active'] },
  guest: { name: 'Guest', codes: ['guest_token_invalid', 'guest_token_missing'] },
  registration: { name: 'Registration', codes: ['registration_token_invalid', 'registration_token_missing'] },
  write: { name: 'Write', codes: ['body_invalid', 'inventory_contended'] },
  ledger: { name: 'Ledger', codes: ['ledger_busy'] },
  body: { name: 'Body', codes: ['card_data_refused'] },
  record: { name: 'Record', codes: ['not_found'] },
  version: { name: 'Version', codes: ['version_conflict'] },
  hashing: { name: 'Hashing', codes: ['hashing_busy'] },
  repeatable: { name: 'Repeatable', codes: ['idempotency_key_reused', 'request_in_progress'] },
  keyed: { name: 'Keyed', codes: ['idempotency_key_required'] },
} as const satisfies Record<string, Kind>

/** Kinds of the credential and of the way in. */
const ofAccess = (access: Access): Kind[] => {
  switch (access.kind) {
    case 'tenant':
      return [
        kinds.session,
        kinds.tenant,
        ...(access.whileSuspended ? [] : [kinds.active]),
        neverByKey.has(access.subject) ? kinds.keyless : kinds.scoped,
      ]
    case 'session':
      return [kinds.session, kinds.keyless, kinds.ownAccount]
    case 'superuser':
      return [kinds.session, kinds.keyless, kinds.superuser, ...(access.level === 'N1' ? [kinds.level] : [])]
    case 'property':
      return [kinds.portal, kinds.portalKey]
    case 'guest':
      return [kinds.portal, kinds.guest]
    case 'registration':
      return [kinds.portal, kinds.registration]
    case 'open':
      return [kinds.keyless]
    case 'callback':
      return []
  }
}

/** Tells whether the path, or the guest's token, names a record beside the tenant and the property of a public call. */
const namesRecord = ({ access, path }: AnyRoute): boolean =>
  access.kind === 'guest' ||
  [...path.matchAll(/:([A-Za-z]+)/g)].some(
    ([, name]) => name !== 'tenantId' && !(access.kind === 'property' && name === 'propertyId'),
  )

/** Tells whether the endpoint changes the ledger: a lock that it does not get has a code of its own. */
export const changesLedger = ({ method, path }: AnyRoute): boolean =>
  method !== 'GET' && path.startsWith('/api/tenants/:tenantId/financial/')

const kindsOf = (route: AnyRoute): Kind[] => {
  const found: Kind[] = [kinds.any, kinds.key, ...ofAccess(route.access)]
  if (route.method !== 'GET') found.push(kinds.write)
  if (changesLedger(route)) found.push(kinds.ledger)
  if (route.body) found.push(kinds.body)
  if (namesRecord(route)) found.push(kinds.record)
  if (route.record) found.push(kinds.version)
  if (route.hashes) found.push(kinds.hashing)
  const mode = keyModeOf(route)
  if (mode !== 'off') found.push(kinds.repeatable)
  if (mode === 'required') found.push(kinds.keyed)
  return found
}

/** Every code that an endpoint may answer, sorted: those of its kinds and those that it declares. */
export const codesOf = (route: AnyRoute): ErrorCode[] =>
  [...new Set([...kindsOf(route).flatMap(({ codes }) => codes), ...(route.errors ?? [])])].toSorted()

/** Codes that stand on a route twice, or although its kinds have them. */
export const needlessCodes = (route: AnyRoute): ErrorCode[] => {
  const known = new Set(kindsOf(route).flatMap(({ codes }) => codes))
  return (route.errors ?? []).filter((code, at, all) => known.has(code) || all.indexOf(code) !== at)
}

export type Refusal = {
  status: number
  codes: ErrorCode[]
  /** Sentence about the kinds that bring these codes; null if the route declares one itself. */
  kind: string | null
}

/** The error replies of an endpoint by status, ascending. */
export const refusalsOf = (route: AnyRoute): Refusal[] => {
  const codes = codesOf(route)
  const found = kindsOf(route)
  return [...new Set(codes.map(statusOf))]
    .toSorted((a, b) => a - b)
    .map((status) => {
      const here = (some: readonly ErrorCode[]) => some.filter((code) => statusOf(code) === status)
      const bringing = found.filter((kind) => here(kind.codes).length > 0)
      const isOwn = here(route.errors ?? []).length > 0
      return { status, codes: here(codes), kind: isOwn ? null : bringing.map(({ name }) => name).join('') }
    })
}
