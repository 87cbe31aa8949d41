/** Bookings and stays, from hold to check-out, with their folios. Other modules and the edges import this file alone. */
export { followEmail, isGuestTokenLive, sendAccessCode, tokensCalledBack, useAccessCode } from './access.ts'
export { owedToAgency } from './agency-commission.ts'
export { assignUnits } from './assign.ts'
export { bookingSorts, listBookings, readBooking } from './bookings.ts'
export type { BookingShown } from './bookings.ts'
export { cancelReasons, cancelReservations } from './cancel.ts'
export { checkIn } from './check-in.ts'
export { checkOut } from './check-out.ts'
export { bookingOfReservation } from './lock.ts'
export type { CancelReason } from './cancel.ts'
export { chargeExtras } from './charge-extras.ts'
export { chargeNights } from './charge-nights.ts'
export { postCharged } from './folio/write.ts'
export { collectDeposit, collectFee } from './collect.ts'
export { confirmPaid } from './confirm-paid.ts'
export { confirmBooking } from './confirm.ts'
export { depositsToWatch, replaceDeposits, waiveDeposit } from './deposits.ts'
export { readReservation } from './detail.ts'
export type { ReservationShown } from './detail.ts'
export { erasureBlockers } from './erasure.ts'
export { erasableHolds, eraseHolds, purgeAccess, purgeableTenants } from './erase.ts'
export { dueHolds, expireHold, reapHolds } from './expire.ts'
export { flags } from './flags.ts'
export { readDeskSummary } from './desk-summary.ts'
export { listDesk } from './front-desk.ts'
export type { DeskFilter, DeskList } from './front-desk.ts'
export { readGuestBooking, showBooking } from './guest-booking.ts'
export type { GuestBooking } from './guest-booking.ts'
export { listHistory, propertyOfReservation } from './history.ts'
export { holdStay } from './hold.ts'
export { cancelStay, changeStay } from './import-changes.ts'
export { importStay } from './import.ts'
export type { Imported, MappedRoom } from './import.ts'
export { hashAddress } from './limits.ts'
export { dateFields, listReservations, sortFields } from './list.ts'
export type { ReservationListed } from './list.ts'
export { markNoShow, markNoShows } from './no-show.ts'
export { addNote, deleteNote } from './notes.ts'
export { paymentTargets } from './payment-target.ts'
export { statisticsOf } from './guest-stays.ts'
export { createQuote, listQuotes, purgeableQuotes, purgeQuotes, quoteSorts, readQuote } from './quotes.ts'
export type { QuoteListed } from './quotes.ts'
export { guestPayment, payForBooking, shownStatusOf } from './payments.ts'
export { adjustCharge } from './folio/adjust.ts'
export { adjustFolio, adjustableParts, folioCredit } from './folio/adjust-folio.ts'
export { openChecksWith } from './folio/open-checks.ts'
export { postCharges, reverseCharges } from './folio/post-charges.ts'
export type { ChargeSource } from './folio/post-charges.ts'
export {
  billFolios,
  invoiceFolio,
  lockFoliosToBill,
  refuseUnbillable,
  registerBilling,
  returnReceivable,
} from './folio/bill.ts'
export type { BillTerms, FolioToBill } from './folio/bill.ts'
export { changeFolio } from './folio/change.ts'
export { chargeCategories, chargeFolio } from './folio/charge.ts'
export { openFolio } from './folio/create.ts'
export { folioBalances, folioKinds, listFolios, listLines, readFolio, readLines } from './folio/read.ts'
export { readRouting } from './folio/route.ts'
export { routedCategories, setRouting } from './folio/set-routing.ts'
export { registerFolioClosed } from './folio/closed.ts'
export { closeFolio, reopenFolio } from './folio/status.ts'
export { transferLines } from './folio/transfer.ts'
export {
  changeWaitlistEntry,
  closeWaitlistEntry,
  createWaitlistEntry,
  erasableWaitlist,
  eraseWaitlist,
  listWaitlist,
  matchWaitlistEntry,
  openWaitlist,
  readWaitlistEntry,
  waitlistSorts,
} from './waitlist.ts'
export type { WaitlistShown } from './waitlist.ts'
export { addRoom, createBooking } from './create.ts'
export type { Quoted } from './create.ts'
export type { NewRoom } from './take-rooms.ts'
export { changeBooking, confirmHeld, extendHold } from './desk-booking.ts'
export { moveReasons, moveStay } from './move.ts'
export { reinstate } from './reinstate.ts'
export { revertCheckIn, revertCheckOut } from './revert.ts'
export { assignBestFit, promiseUnit, unassignUnits } from './unit-lock.ts'
export { acceptAmendment, proposeAmendment, readAmendment } from './amendments.ts'
export { changeStayFields } from './change.ts'
export { companyUses } from './company-uses.ts'
export { addStayExtra, cancelStayExtra, changeStayExtra } from './stay-extras.ts'
export { addStayGuest, changeStayGuest, removeStayGuest } from './stay-guests.ts'
export { toldAtBooking } from './told.ts'
export { previewTransitions } from './transitions.ts'
export type { Granted } from './rules/blockers.ts'
export { watchDeposits } from './watch-deposits.ts'
export { setAllotment } from './group/allotment.ts'
export { changeGroup } from './group/change.ts'
export { createGroup } from './group/create.ts'
export { listGroups, readGroup } from './group/read.ts'
export { cancelGroup } from './group/cancel.ts'
export {
  advanceGroup,
  confirmGroup,
  dueGroups,
  dueGroupsOf,
  enqueueReleaseGroups,
  optionGroup,
  releaseGroup,
} from './group/status.ts'
export { groupStatuses } from './rules/groups.ts'
export { importRoomingList } from './group/rooming-list.ts'
export { reservationControls } from './controls.ts'
