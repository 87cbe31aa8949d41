/** People and keys: sign-in, sessions, second factors, roles, API keys. Other modules and the edges import this file alone. */
export {
  changeApiKey,
  createApiKey,
  listApiKeys,
  makeApiKey,
  readApiKey,
  revokeApiKey,
  rotateApiKey,
} from './api-keys.ts'
export { presentToken } from './carry-over.ts'
export type { CarriedOver } from './carry-over.ts'
export { keptSeconds } from './rules/changes.ts'
export type { Changes } from './rules/changes.ts'
export { askEmailChange, confirmEmail } from './email-change.ts'
export { tellEnded } from './ended.ts'
export { warnOfKeys } from './expiring-keys.ts'
export { hashPassword, hashingBusy, hashingPlaces, isHashingFull } from './hashing.ts'
export { acceptInvitation, assertAccount, invite, readInvitation, resendInvitation } from './invitations.ts'
export { changedKeys, composeKey, keyHashes, keyIdFrom, keyIdOf, keyMatches, keyRecord } from './keys.ts'
export type { KeyRecord } from './keys.ts'
export { purgeOver, writeLastSeen } from './last-seen.ts'
export { resetMemberMfa, resetUserMfa } from './lost-factor.ts'
export { listMembers, memberStatuses, readMember } from './members/read.ts'
export type { Giver } from './members/checks.ts'
export type { Member } from './members/read.ts'
export { changeMember, deactivateMember, reactivateMember, revokeMemberSessions } from './members/change.ts'
export { takeToken } from './one-time-tokens.ts'
export { askPasswordReset, changePassword, resetPassword, startPasswordReset } from './password.ts'
export { changeRole, createRole, deleteRole, listRoles, readRole } from './roles.ts'
export { rotateSession } from './rotation.ts'
export { beginCodeTry, checkRecoveryCode, checkTotp } from './second-factor.ts'
export {
  changedSessions,
  jtiHash,
  liveSessions,
  revokeAll,
  revokeSessions,
  seenDashboard,
  sessionState,
  setActiveTenant,
} from './sessions.ts'
export type { RevokeReason, SessionState } from './sessions.ts'
export { beginSecondHalf, confirmPassword, openSession, proveIdentity, userOfMfaToken } from './sign-in.ts'
export type { SignedIn } from './sign-in.ts'
export { assertStrong } from './strength.ts'
export type { Origin } from './throttle.ts'
export { assertPending, beginTotp, confirmTotp, removeTotp, renewRecoveryCodes } from './totp.ts'
export { addMembership } from './members/create.ts'
export { createUser, grantSuperuser, membershipsOf, updateProfile, userByEmail } from './users.ts'
export { listUsers, lockUser, readOperatedUser, setLevel, unlockUser } from './superusers.ts'
export {
  endForbiddenSupport,
  endSupportSession,
  listSupportSessions,
  overSupportSessions,
  startSupportSession,
} from './support-sessions.ts'
