import { invalid } from '../../../config/errors.ts'

export type TenantAccess = {
  kind: 'tenant'
  action: string
  subject: string
  /** Open to a tenant that is suspended or about to be deleted as well. */
  whileSuspended?: true
  /** For reading and ending records that a tenant has, also after the feature of the subject ended. */
  withoutFeature?: true
}
export type SessionAccess = { kind: 'session'; action: string; subject: string }
export type SuperuserAccess = { kind: 'superuser'; level: 'N1' | 'N2'; action: string; subject: string }
/** A public request when its property is looked up: the body is parsed, and not yet validated. */
export type Unjudged = { params: Record<string, string>; body: unknown }
export type PropertyAccess = {
  kind: 'property'
  feature: string
  property: (input: Unjudged) => string | Promise<string>
}
export type GuestAccess = { kind: 'guest'; feature: string }
export type RegistrationAccess = { kind: 'registration'; feature: string }
export type OpenAccess = { kind: 'open' }
export type CallbackAccess = { kind: 'callback' }
/** Access to an endpoint. The kind decides what the handler's context contains. */
export type Access =
  | TenantAccess
  | SessionAccess
  | SuperuserAccess
  | PropertyAccess
  | GuestAccess
  | RegistrationAccess
  | OpenAccess
  | CallbackAccess

/** A signed-in user or an API key whose role or scopes allow `action` on `subject` in the path's tenant. */
export const can = (
  action: string,
  subject: string,
  options: Pick<TenantAccess, 'whileSuspended' | 'withoutFeature'> = {},
): TenantAccess => ({
  kind: 'tenant',
  action,
  subject,
  ...options,
})
/** Any signed-in user, on their own account. API keys are refused. */
export const signedIn = (action: string, subject: string): SessionAccess => ({ kind: 'session', action, subject })
/** N1 may do all; N2 what says so. */
export const superuser = (level: 'N1' | 'N2', action: string, subject: string): SuperuserAccess => ({
  kind: 'superuser',
  level,
  action,
  subject,
})
/** Open to all, for the property that the function finds in path or body (it may throw); its id leads to the tenant. */
export const publicProperty = (property: PropertyAccess['property'], feature = 'portal'): PropertyAccess => ({
  kind: 'property',
  feature,
  property,
})
/** The property that the path names. */
export const propertyInPath = (input: Unjudged): string => input.params.propertyId ?? ''
/** The property that the body names. A body that names none is a mistake of the caller, not a house that is gone. */
export const propertyInBody = (input: Unjudged): string => {
  const { body } = input
  const named = typeof body === 'object' && body !== null && 'propertyId' in body ? body.propertyId : undefined
  if (typeof named !== 'string')
    throw invalid([{ field: 'propertyId', message: named === undefined ? 'is required' : 'must be a string' }])
  return named.toLowerCase()
}
/** Holders of the guest token of one booking. */
export const publicGuest = (feature = 'portal'): GuestAccess => ({ kind: 'guest', feature })
/** Holders of the link of one registration form. */
export const publicRegistration = (feature = 'portal'): RegistrationAccess => ({ kind: 'registration', feature })
/** Open to all, without a key: signing in, and links in mails. */
export const open = (): OpenAccess => ({ kind: 'open' })
/** A provider, proven by its signature over the raw body. */
export const callback = (): CallbackAccess => ({ kind: 'callback' })
