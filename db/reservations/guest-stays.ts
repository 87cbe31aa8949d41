/**
 * The stays that a guest is named in, first or as a companion: a condition on `reservation r` with the guest's id as its value. `listReservations`
 * takes it as its filter `guestId`; a list of a guest's stays is that list.
 */
export const isGuestStay = 'r.id in (select g.reservation_id from reservation_guest g where g.guest_id = ?)'
