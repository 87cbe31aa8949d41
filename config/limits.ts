/** Requests a clock minute, per class of rule R28. `api/lib/rate-limit.ts` says what is counted together. */
export const rateLimits = {
  key: 1000,
  session: 100,
  publicRead: 120,
  publicWrite: 20,
  /** Documents and pages that need no credential, or have a session of their own. */
  pages: 600,
  /** Of a gateway, which calls back from a few addresses. */
  callback: 6_000,
  signIn: 20,
  guestAccess: 5,
  /** For the link of one registration form. */
  registrationLink: 10,
  refreshPerSession: 10,
  refreshPerAddress: 30,
  failedAuthentication: 60,
} as const

/** Failures of sign-in, counted alike for known and unknown addresses of mail. */
export const signInLimits = {
  windowSeconds: 15 * 60,
  perAccount: 5,
  mostDelaySeconds: 60,
  perAddress: 20,
  perNetwork: 300,
  signInsPerAddressAndHour: 100,
  perAccountAndDay: 50,
  codesPerUser: 5,
  knownNetworkDays: 30,
} as const

export const sessionLimits = {
  tokenHours: 24,
  lifeDays: 30,
  superuserHours: 12,
  /** The days for which an expired token may still be exchanged. */
  refreshDays: 7,
  superuserRefreshHours: 1,
  /** In which the token before the last refresh still counts. */
  graceSeconds: 30,
  perUser: 20,
  reauthenticatedMinutes: 10,
  lastSeenMinutes: 5,
} as const

/** The life of tokens sent by mail, or shown between two steps of a sign-in. */
export const oneTimeTokenSeconds = {
  invitation: 7 * 86_400,
  password_reset: 30 * 60,
  email_change: 60 * 60,
  mfa: 5 * 60,
} as const

/** A new password is asked for by mail: so often an hour for one account, and not twice within a minute. */
export const passwordMails = { perHour: 5, apartSeconds: 60 } as const

/** Invitations of a tenant in 24 hours, repeats and withdrawn ones included, so that strangers get no more mail than that. */
export const invitationsPerDay = 1_000

/** Links to new addresses, an hour and user. */
export const emailChangesPerHour = 5

/** In characters; the lower bound is another one where a second factor stands beside the password. The last is in bytes of UTF-8. */
export const passwordLimits = { least: 12, leastWithMfa: 8, most: 128, mostBytes: 1_024 } as const

/** Limits of API keys: two years at most, and the hours for which a replaced key still works. */
export const apiKeyLimits = { longestDays: 731, overlapHours: 24, mostOverlapHours: 168 } as const

/** Longest credential that is read at all. */
export const longestCredential = 2_048

/** The feed of events and its deliveries. */
export const webhookLimits = {
  endpointsPerTenant: 10,
  /** Requests under way at once: to an endpoint, of a tenant, and to a host over all tenants. */
  atOncePerEndpoint: 2,
  atOncePerTenant: 4,
  atOncePerHost: 20,
  /** The time for which a start holds its slot, and a delivery that it has in hand, without a sign of life. */
  leaseSeconds: 15,
  /** Deliveries that a sender takes in one transaction. It goes on to the next of them while the first requests took less than `turnMs`. */
  takenAtOnce: 10,
  turnMs: 50,
  connectMs: 3_000,
  timeoutMs: 10_000,
  mostAnswerBytes: 65_536,
  keptCharacters: 200,
  longestRetryAfterMs: 86_400_000,
  /** Without a success for so long, and after so many failures, an endpoint is paused. */
  pausedAfterDays: 3,
  pausedAfterFailures: 20,
  warnedAfterHours: 24,
  overlapHours: 24,
  longestOverlapHours: 168,
  mostReplayed: 100_000,
  keptDays: 90,
} as const

/** Nights of a stay or a group at most; the database refuses more. */
export const mostStayNights = 366
