/**
 * Guest profiles and what is known of them, sealed. Other modules and the edges import this file alone. The stays of a guest belong to reservations,
 * which is a higher module: `db/reservations/guest-stays.ts`.
 */
export { agesFor, fillAges, moveAges } from './ages.ts'
export { hasAuthoritySecret, keepAuthoritySecret } from './authority.ts'
export { blockAgainst, blocksAmong } from './blocks.ts'
export { blockGuest, liftBlock, listBlocks, readBlockFacts } from './blocklist.ts'
export { bookerOf, readBooker, readWords, sealWords } from './booker.ts'
export type { Booker, BookerContact, GuestName, HeldWords } from './booker.ts'
export {
  archiveCompany,
  changeCompany,
  createCompany,
  listCompanies,
  nameFirms,
  plainSearch,
  readCompany,
  registerCompanyUses,
  restoreCompany,
} from './companies.ts'
export type { CompanyUse } from './companies.ts'
export { consentSources, purposes, recordConsent, recordFirst as recordFirstConsents } from './consents.ts'
export { createGuest, createGuests } from './create.ts'
export type { NewGuest } from './create.ts'
export { deleteGuest } from './delete.ts'
export { addDocument, deleteDocument, readDocument, verifyDocument } from './documents/documents.ts'
export { sides, storeFile } from './documents/files.ts'
export { documentKinds } from './documents/numbers.ts'
export { dismissDuplicate, listDuplicates, readDuplicate } from './duplicates.ts'
export { findProfiles, guestSorts, listGuests } from './list.ts'
export { matchGuests } from './match.ts'
export { mergeFields, mergeGuests } from './merge.ts'
export { addNote, alertMoments, alertsOf, deleteNote, readNoteFacts } from './notes.ts'
export type { AlertMoment } from './notes.ts'
export { beforeErasing, blockerCodes, erasureBlockersWith, exportGuestsWith } from './privacy/doors.ts'
export type { Blocker } from './privacy/doors.ts'
export { completeErasure, eraseStep, erasureSteps } from './privacy/erase.ts'
export { makeExport, openExport } from './privacy/export.ts'
export {
  deleteOldExports,
  deleteOldImages,
  destroyOldKeys,
  dueTenants,
  forgetBlocks,
  proposeErasures,
  tellDueDates,
} from './privacy/limits.ts'
export { listRequests, readRequest } from './privacy/read.ts'
export { approveRequest, refuseRequest, registerRequest } from './privacy/requests.ts'
export { preferenceCategories, profilePlace } from './profile.ts'
export type { GuestProfile } from './profile.ts'
export { findByDocumentAndEmail } from './profiles.ts'
export { listTags, readGuest } from './read.ts'
export type { Viewer } from './read.ts'
export {
  formsToInvite,
  formToLink,
  inviteGuest,
  isLinkLive,
  linkChannels,
  linkInForce,
  linkOf,
  sendLink,
} from './registration-links.ts'
export { correctStays } from './registration-corrections.ts'
export { returnForms } from './registration-returns.ts'
export { beginReport, endLinks, recordAnswer, reportStays, submitRegistration } from './registration-reports.ts'
export type { AuthorityAnswer, AuthorityCall } from './registration-reports.ts'
export { closeForms, fillRegistration, listRegistrations, openForms, readRegistration } from './registrations.ts'
export { isOfGuest, profilesOf, resolveGuest, resolveGuests, survivorOf } from './resolve.ts'
export { reveal, revealFields, revealReasons } from './reveal.ts'
export { audiences, audiencesOf } from './rules/audiences.ts'
export type { Audience } from './rules/audiences.ts'
export { maskEmail, maskPhone } from './rules/masks.ts'
export { matchKinds } from './rules/scores.ts'
export { taxpayerOf } from './taxpayer.ts'
export { unmergeGuest } from './unmerge.ts'
export { registerEmailChange, updateGuest } from './update.ts'
