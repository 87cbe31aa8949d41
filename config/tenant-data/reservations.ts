import { inner, rows, sealed } from './table.ts'

export const reservationsData = [
  ...rows(
    'reservation_night', 'reservation_guest', 'reservation_extra', 'deposit', 'reservation_event', 'folio', 'folio_line',
    'folio_route', 'amendment', 'quote', 'booking_group_night',
  ), // oxfmt-ignore
  sealed('booking', { sealed: { purpose: 'hold' } }),
  sealed('reservation', { requests: { purpose: 'requests' } }),
  sealed('reservation_note', { sealed: { purpose: 'note' } }),
  sealed('waitlist_entry', { sealed: { purpose: 'waitlist' } }),
  sealed('booking_group', { sealed: { purpose: 'contact' } }),
  ...inner('a code that was mailed', 'guest_access_code'),
  ...inner('counts tries of strangers', 'hold_strike'),
]
