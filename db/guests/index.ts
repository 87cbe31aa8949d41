/**
 * Guest profiles and what is known of them, sealed. Other modules and the edges import this file alone. The stays of a guest belong to reservations,
 * which is a higher module: `db/reservations/guest-stays.ts`.
 */
export { blockAgainst } from './blocks.ts'
export { bookerOf, readBooker, readWords, sealWords } from './booker.ts'
export type { Booker, BookerContact, GuestName, HeldWords } from './booker.ts'
export { findGuests, guestSorts, listGuests } from './list.ts'
export { maskEmail } from './rules/masks.ts'
export { createGuest, findByDocumentAndEmail, profilePlace, recordConsents } from './profiles.ts'
export type { Consent, GuestProfile } from './profiles.ts'
