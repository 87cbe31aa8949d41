/** The shared parts of documents of both sides: numbers without gaps, installments with their figures, and parties. Other modules import this file alone. */
export { accountTypes, maskBankDetails, normalBankDetails } from './bank-details.ts'
export type { BankDetails } from './bank-details.ts'
export { bookOf, refuseFuture, todayAfter, todayOf } from './book.ts'
export type { BookFacts } from './book.ts'
export {
  changedContacts,
  checkContacts,
  identityOf,
  isPerson,
  maskContacts,
  maskDocument,
  maskParty,
  normalDocument,
  openContacts,
  sealContacts,
  searchOfParty,
  searchTerm,
} from './parties.ts'
export type { PartyContacts, PartyContactsChange } from './parties.ts'
export { installmentsText } from './installments/check.ts'
export { ageing } from './installments/ageing.ts'
export { ofHouses } from './installments/houses.ts'
export { bookToday, dueWithin, listedInstallments, totalDue } from './installments/listed.ts'
export type { InstallmentsAsked } from './installments/listed.ts'
export {
  addInstallments,
  beginVersions,
  installmentsIn,
  replaceInstallments,
  settle,
  storeSchedule,
} from './installments/settle.ts'
export type { Fact, Installment } from './installments/settle.ts'
export type { Side } from './installments/side.ts'
export { statement } from './installments/statement.ts'
export {
  assignNumber,
  gapsText,
  readSeries,
  registerNumbered,
  requestNumber,
  setSeries,
  takeNumber,
} from './numbers.ts'
export type { Numbered } from './numbers.ts'
export { distributed, installmentsOf, rescheduled } from './rules/schedule.ts'
export type { Share } from './rules/schedule.ts'
